"""Each group's position in its own words: the sentence of every answer that states it.

Texts in, spans out. Nothing is rephrased: a position is named by a sentence from one of its answers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log
from typing import NamedTuple

from audit.text.comparison import GENERIC_STEMS, find_negations
from audit.text.quantity import Quantity, find_quantities
from audit.text.sentences import SentenceSpan, sentence_spans
from audit.text.statements import Statement, statements
from audit.text.tokens import stems, without_citations

YES, NO = "Yes", "No"
CLOSED = re.compile(r"^\W*(?:and |but |so )?(?:can|may|could|should|is|are|do|does|did|will|would|must|am|has|have)\b", re.I)
OPENING = re.compile(r"^\W*(yes|no)\b", re.I)
# A sentence that gives no position: a question, a greeting, a telephone number, a pointer to another place or to what follows
ASIDE = re.compile(
    r"\?\W*$|\b\d{3}-\d{4}\b|^\W*(?:thank|welcome|see (?:also|page|the)|for more information)\b|"
    r"\b(?:the following|about this|here is what .{0,60})\W*$",
    re.I,
)
MIN_WORDS = 2
LONG = 45
DISTINCT_WORDS = 4
# Weights of a sentence's features: the group's own quantity and the subject of the dispute outweigh the rest
QUANTITY_WEIGHT, ASPECT_WEIGHT, QUESTION_WEIGHT, CITED_WEIGHT = 2.0, 2.0, 1.0, 2.0
# An additional weight for a quantity that is at issue: others may be unrelated to the dispute
AT_ISSUE_WEIGHT = 2.0
NEGATION_WEIGHT, OPENING_WEIGHT, FIRST_WEIGHT, LONG_COST = 0.6, 0.4, 0.15, 0.4
CLASH_WEIGHT = 3.0
LIKENESS_WEIGHT = 3.0


class QuotedPosition(NamedTuple):
    """One answer's sentence: `answer[start:end]`, and the lead of its list ("Avoid:"), which stands before it in the answer."""

    start: int
    end: int
    lead: str
    score: float


@dataclass(frozen=True)
class AnswerGroup:
    """Answers that take one position, and the quantity that distinguishes them from the other groups, if one does."""

    answers: tuple[str, ...]
    quantity: Quantity | None = None


@dataclass(frozen=True)
class _Evidence:
    """What distinguishes a group's sentences: the share of stems inside minus outside the group, and the judge's words."""

    group: AnswerGroup
    margins: dict[str, float]
    rarity: Counter[str]
    question: frozenset[str]
    aspect: frozenset[str]
    cited: frozenset[str]
    is_closed: bool
    quantity_weight: float

    def coverage(self, words: frozenset[str], wanted: frozenset[str]) -> float:
        """The share of `wanted` that is in `words`, rare words counting more."""
        total = sum(self.rarity[stem] for stem in wanted)
        return sum(self.rarity[stem] for stem in words & wanted) / total if total else 0.0


def position_quotes(
    question: str,
    groups: Sequence[AnswerGroup],
    reasonings: Sequence[str] = (),
    aspect: str = "",
    proper_names: Iterable[str] = (),
    clashing: Sequence[Sequence[Mapping[SentenceSpan, float]]] = (),
) -> list[list[QuotedPosition]]:
    """For every answer of every group, the sentence that takes its position.

    aspect         what the groups disagree about, if known
    proper_names   of centers and handbooks: the judge says whose answer is meant by them, and not what it states
    clashing       for every answer of every group, the sentences that clash with another group's, each with its weight in [0, 1]

    A sentence scores by the quantity that distinguishes its group, by the words of the aspect, by words that its group uses and
    the others do not, by clashing with an answer of another group, by what the judge's `reasonings` speak of, by the words of
    the question, and by a yes or no to a closed question. An answer of one sentence is quoted whole; an empty answer gives an
    empty span.
    """
    shares = [_shares(group.answers) for group in groups]
    rarity = rarity_of([answer for group in groups for answer in group.answers])
    names = {stem for name in proper_names for stem in stems(name.replace("_", " "))}
    cited = frozenset(stem for text in reasonings for stem in stems(text)) - GENERIC_STEMS - names
    asked = frozenset(stems(question)) - GENERIC_STEMS
    disputed = frozenset(stems(aspect)) - GENERIC_STEMS
    amounts = [amount for text in reasonings for amount in find_quantities(text)]
    closed = CLOSED.match(_last_question(question)) is not None
    marked = clashing or [[{} for _ in group.answers] for group in groups]
    return [
        [_best(answer, clashes, evidence) for answer, clashes in zip(evidence.group.answers, marked[number], strict=True)]
        for number, evidence in enumerate(
            _Evidence(
                group,
                _margins(number, shares, groups),
                rarity,
                asked,
                disputed,
                cited,
                closed,
                QUANTITY_WEIGHT + AT_ISSUE_WEIGHT * _is_at_issue(number, groups, amounts),
            )
            for number, group in enumerate(groups)
        )
    ]


def _is_at_issue(index: int, groups: Sequence[AnswerGroup], amounts: Sequence[Quantity]) -> bool:
    """Whether the judge cites a group's quantity, and another group has one of its kind: one alone may be an aside."""
    own = groups[index].quantity
    others = [group.quantity for number, group in enumerate(groups) if number != index and group.quantity]
    return own is not None and any(map(own.agrees, amounts)) and any(own.kind == other.kind for other in others)


def most_typical(quotes: Sequence[str], scores: Sequence[float]) -> int:
    """The index of the most representative quote: a good score, and similar to the others; then the shortest."""
    words = [frozenset(stems(quote)) for quote in quotes]
    likeness = [sum(similarity(own, other) for other in words) / len(words) for own in words]
    # The best-scored quote may be atypical, and the most similar one may be a statement on which all groups agree
    return max(
        range(len(quotes)), key=lambda index: (round(scores[index] + LIKENESS_WEIGHT * likeness[index], 6), -len(quotes[index]))
    )


def own_quantities(statements_of_groups: Sequence[str]) -> list[Quantity | None]:
    """For each statement the quantity that sets it apart: of a kind that another one has too, and agreeing with none of those."""
    every = [find_quantities(without_citations(text)) for text in statements_of_groups]
    return [
        next(
            (quantity for quantity in own if _sets_apart(quantity, [o for index, o in enumerate(every) if index != number])), None
        )
        for number, own in enumerate(every)
    ]


def _sets_apart(quantity: Quantity, others: Sequence[Sequence[Quantity]]) -> bool:
    same_kind = [other for stated in others for other in stated if other.kind == quantity.kind and other.comparable(quantity)]
    return bool(same_kind) and not any(quantity.agrees(other) for other in same_kind)


def yes_or_no(answers: Sequence[str]) -> str | None:
    """Yes or No where more than half of the answers begin so, and none of the others with the opposite."""
    openings = Counter(match[1].capitalize() for answer in answers if (match := OPENING.match(answer)))
    word, count = next(iter(openings.most_common(1)), ("", 0))
    return word if len(openings) == 1 and 2 * count > len(answers) else None


def _last_question(text: str) -> str:
    # Patients describe themselves first
    sentences = [text[start:end] for start, end in sentence_spans(text) if text[start:end].endswith("?")]
    return sentences[-1] if sentences else text


def _shares(answers: Sequence[str]) -> Counter[str]:
    """In what share of a group's answers each stem occurs."""
    counts = Counter(stem for answer in answers for stem in set(stems(answer)))
    return Counter({stem: count / max(len(answers), 1) for stem, count in counts.items()})


def rarity_of(answers: Sequence[str]) -> Counter[str]:
    """How rare each stem is among the sentences of all answers: the logarithm of sentences over sentences that have it."""
    having = Counter(stem for answer in answers for sentence in sentences_of(answer) for stem in set(stems(sentence.text)))
    count = sum(len(sentences_of(answer)) for answer in answers)
    return Counter({stem: log((count + 1) / number) for stem, number in having.items()})


def _margins(number: int, shares: Sequence[Counter[str]], groups: Sequence[AnswerGroup]) -> dict[str, float]:
    others = [
        (share, len(group.answers)) for index, (share, group) in enumerate(zip(shares, groups, strict=True)) if index != number
    ]
    total = max(sum(size for _, size in others), 1)
    return {stem: share - sum(other[stem] * size for other, size in others) / total for stem, share in shares[number].items()}


def _best(answer: str, clashes: Mapping[SentenceSpan, float], evidence: _Evidence) -> QuotedPosition:
    candidates = sentences_of(answer)
    if not candidates:
        return QuotedPosition(0, len(answer), "", 0.0)
    scored = [
        (
            _score(statement, index, evidence) + CLASH_WEIGHT * clashes.get(SentenceSpan(statement.start, statement.end), 0.0),
            -index,
            statement,
        )
        for index, statement in enumerate(candidates)
    ]
    score, _, statement = max(scored, key=lambda entry: entry[:2])
    return QuotedPosition(statement.start, statement.end, " ".join(statement.leads), round(score, 6))


@lru_cache(maxsize=4096)
def sentences_of(answer: str) -> tuple[Statement, ...]:
    """The statements of an answer that may be quoted as its position; all of them where none is left."""
    every = [statement for statement in statements(answer) if statement.end > statement.start]
    telling = [s for s in every if not ASIDE.search(s.text) and len(stems(s.quoted)) >= MIN_WORDS]
    return tuple(telling or every)


def _score(statement: Statement, index: int, evidence: _Evidence) -> float:
    text = without_citations(statement.quoted)
    words = frozenset(stems(text))
    score = evidence.quantity_weight * _statedness(evidence.group.quantity, find_quantities(text))
    score += (
        sum(sorted((max(evidence.margins.get(stem, 0.0), 0.0) for stem in words), reverse=True)[:DISTINCT_WORDS]) / DISTINCT_WORDS
    )
    score += ASPECT_WEIGHT * evidence.coverage(words, evidence.aspect)
    score += CITED_WEIGHT * evidence.coverage(words, evidence.cited)
    score += QUESTION_WEIGHT * evidence.coverage(words, evidence.question)
    score += NEGATION_WEIGHT * any(negation.subject & evidence.question for negation in find_negations(text))
    score += OPENING_WEIGHT * (evidence.is_closed and OPENING.match(statement.text) is not None)
    # The first sentence mostly answers; later ones explain
    return score + FIRST_WEIGHT * (index == 0) - LONG_COST * (len(statement.text.split()) > LONG)


def _statedness(own: Quantity | None, stated: Sequence[Quantity]) -> float:
    """1 where a sentence states the group's quantity, a half where another of its kind: a member that was grouped by mistake."""
    if own is None:
        return 0.0
    return 1.0 if any(map(own.agrees, stated)) else 0.5 * any(other.kind == own.kind for other in stated)


def similarity(first: frozenset[str], second: frozenset[str]) -> float:
    """The share of the stems of two sentences that both have."""
    return len(first & second) / max(len(first | second), 1)
