"""The sentences of two answers that clash: one of each, with their places. Texts in, spans out; standard library only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from audit.text.cited_amounts import cited_amounts
from audit.text.comparison import GENERIC_STEMS, Negation, find_negations
from audit.text.position_quotes import rarity_of, sentences_of
from audit.text.quantity import Quantity, find_quantities
from audit.text.sentences import SentenceSpan
from audit.text.statements import Statement
from audit.text.tokens import stems, without_citations

# The judge's reasoning is the best evidence; without it, two sentences must conflict by themselves
REASON_WEIGHT, CITED_AMOUNT_WEIGHT, DIFFERING_WEIGHT, TOPIC_WEIGHT, QUESTION_WEIGHT = 2.0, 1.2, 2.4, 1.0, 0.3
SHARED_WEIGHT, AMOUNT_WEIGHT, DENIAL_WEIGHT = 1.0, 0.8, 0.6
# Two sentences that share a smaller part of their words are about different things, whatever their amounts
MIN_SHARED = 0.08
SAME = 0.8
MAX_SENTENCES = 120
MAX_CITED_AMOUNTS = 2


class Clash(NamedTuple):
    """A sentence of one answer and the sentence of the other that it clashes with."""

    first: SentenceSpan
    second: SentenceSpan


@dataclass(frozen=True)
class _ReadSentence:
    statement: Statement
    stems: frozenset[str]
    quantities: tuple[Quantity, ...]
    negations: tuple[Negation, ...]
    pull: float

    @property
    def span(self) -> SentenceSpan:
        return SentenceSpan(self.statement.start, self.statement.end)


def clashing_sentences(
    question: str, a: str, b: str, reasoning: str = "", topic: str = "", names: tuple[Iterable[str], Iterable[str]] = ((), ())
) -> Clash | None:
    """The two sentences in which answers to a question disagree; None without evidence.

    reasoning, topic   the judge's words on the pair. The sentences that they refer to are found by these words, of which those
                       that are rare in both answers count most
    names              of center and handbook of each answer: the judge's words after a name are sought only in that answer
    Without a word of the judge, only two sentences on one subject that differ in an amount of one kind, or of which one alone
    denies what they share, are taken to clash.
    """
    rarity = rarity_of([a, b])
    own_names = [frozenset(stem for name in of_side for stem in stems(name.replace("_", " "))) for of_side in names]
    cited, differing = find_quantities(f"{topic}. {reasoning}"), cited_amounts(a, b, reasoning, topic)
    # An amount that both answers state, or that is only a stage of the other's, explains no disagreement if another one does
    amounts = (differing.first or cited, differing.second or cited)
    weight = DIFFERING_WEIGHT if differing.first else CITED_AMOUNT_WEIGHT
    left, right = (
        [_read(sentence, wanted, rarity, of_side, weight) for sentence in sentences_of(text)[:MAX_SENTENCES]]
        for text, wanted, of_side in zip((a, b), _wanted(question, reasoning, topic, own_names), amounts, strict=True)
    )
    if not left or not right:
        return None
    left, right = _not_said_by_both(left, right, rarity), _not_said_by_both(right, left, rarity)
    rated = [(_score(first, second, rarity), first, second) for first, second in product(left, right)]
    if not (reasoning or topic):
        rated = [entry for entry in rated if _conflict(entry[1], entry[2])]
    # The earlier sentences among equals, whichever answer comes first
    best = max(rated, key=lambda entry: (round(entry[0], 6), -entry[1].statement.start - entry[2].statement.start), default=None)
    return Clash(best[1].span, best[2].span) if best else None


def _wanted(
    question: str, reasoning: str, topic: str, names: Sequence[frozenset[str]]
) -> list[list[tuple[float, frozenset[str]]]]:
    """For each answer the words that its sentence should have, with their weight."""
    every_name = names[0] | names[1]
    both = [
        (weight, frozenset(stems(text)) - GENERIC_STEMS - every_name)
        for weight, text in ((TOPIC_WEIGHT, topic), (QUESTION_WEIGHT, question))
    ]
    return [[(REASON_WEIGHT, words - GENERIC_STEMS - every_name), *both] for words in _stems_by_answer(reasoning, names)]


def _stems_by_answer(reasoning: str, names: Sequence[frozenset[str]]) -> tuple[frozenset[str], frozenset[str]]:
    """The stems that a reasoning has for each answer: those after its name, and those before any name."""
    first, second = names[0] - names[1], names[1] - names[0]
    words = stems(reasoning)
    if first.isdisjoint(words) or second.isdisjoint(words):
        return frozenset(words), frozenset(words)
    own: tuple[set[str], set[str]] = (set(), set())
    sides: tuple[int, ...] = (0, 1)
    for stem in words:
        sides = (0,) if stem in first else (1,) if stem in second else sides
        for side in sides:
            own[side].add(stem)
    return frozenset(own[0]), frozenset(own[1])


def _read(
    statement: Statement,
    wanted: Sequence[tuple[float, frozenset[str]]],
    rarity: Counter[str],
    cited: Sequence[Quantity],
    weight: float,
) -> _ReadSentence:
    text = without_citations(statement.quoted)
    words, quantities = frozenset(stems(text)), find_quantities(text)
    pull = sum(weight * _coverage(words, words_wanted, rarity) for weight, words_wanted in wanted)
    pull += weight * sum(any(map(own.agrees, cited)) for own in quantities[:MAX_CITED_AMOUNTS])
    return _ReadSentence(statement, words, quantities, find_negations(text), pull)


def _coverage(words: frozenset[str], wanted: frozenset[str], rarity: Counter[str]) -> float:
    total = sum(rarity[stem] for stem in wanted)
    return sum(rarity[stem] for stem in words & wanted) / total if total else 0.0


def _score(first: _ReadSentence, second: _ReadSentence, rarity: Counter[str]) -> float:
    return first.pull + second.pull + SHARED_WEIGHT * _shared(first, second, rarity) + _conflict(first, second)


def _not_said_by_both(sentences: list[_ReadSentence], others: list[_ReadSentence], rarity: Counter[str]) -> list[_ReadSentence]:
    """Without words that the other answer shares, even if the judge mentions them often; all words if none is left."""
    own = [one for one in sentences if not any(_shared(one, two, rarity) > SAME and not _conflict(one, two) for two in others)]
    return own or sentences


def _shared(first: _ReadSentence, second: _ReadSentence, rarity: Counter[str]) -> float:
    both, common = first.stems | second.stems, first.stems & second.stems
    return sum(rarity[stem] for stem in common) / max(sum(rarity[stem] for stem in both), 1e-9)


def _conflict(first: _ReadSentence, second: _ReadSentence) -> float:
    """How far two sentences conflict by themselves: by an amount of one kind, or by a denial of what they share."""
    common = (first.stems & second.stems) - GENERIC_STEMS
    if len(common) < MIN_SHARED * len(first.stems | second.stems):
        return 0.0
    return AMOUNT_WEIGHT * _amounts_differ(first, second) + DENIAL_WEIGHT * _one_denies(first, second, common)


def _amounts_differ(first: _ReadSentence, second: _ReadSentence) -> bool:
    """Whether one states an amount for which the other only has amounts of the same kind that do not agree."""
    for own in first.quantities:
        same_kind = [other for other in second.quantities if other.kind == own.kind]
        if same_kind and not any(map(own.agrees, same_kind)):
            return True
    return False


def _one_denies(first: _ReadSentence, second: _ReadSentence, common: frozenset[str]) -> bool:
    denied = [any(negation.subject & common for negation in sentence.negations) for sentence in (first, second)]
    return denied[0] != denied[1]
