"""The sentences of two answers that clash, by the judge's words on each: one of each, with their places. Texts in, spans out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from audit.text.agreement import without_counterpart
from audit.text.cited_amounts import cited_amounts
from audit.text.comparison import GENERIC_STEMS, Negation, find_negations
from audit.text.position_quotes import coverage, overlap, rarity_of, sentences_of
from audit.text.quantity import Quantity, find_quantities
from audit.text.quotes import find_quote
from audit.text.sentences import sentence_spans
from audit.text.statements import Statement
from audit.text.tokens import stems, without_citations

OWN_WEIGHT, TOPIC_WEIGHT, QUESTION_WEIGHT = 2.0, 1.0, 0.3
CITED_AMOUNT_WEIGHT, DIFFERING_WEIGHT = 1.2, 2.4
SHARED_WEIGHT, AMOUNT_WEIGHT, DENIAL_WEIGHT = 1.0, 0.8, 0.6
# A sentence states what the judge says of its answer if it has an amount that the judge cites of it; where they differ in no
# such amount, also if it has this share of the judge's words, or that of the words of the topic.
# On 30 questions with gold quotes every sentence above either is right; the only wrong one has .24 and .67
MIN_OWN, MIN_TOPIC = 0.4, 0.7
# Two sentences that share a smaller part of their words are about different things, whatever their amounts
MIN_SHARED = 0.08
# More than any sentence that is found by the words of a reason
QUOTED = 10.0
MAX_SENTENCES = 120
MAX_CITED_AMOUNTS = 2
TOKEN, LETTER = re.compile(r"[^\W_]+"), re.compile(r"\b[AB]\b")
# A name that ends its clause belongs to the words before it: "6 weeks (Alder) against 3 weeks (Birch)"
CLAUSE_ENDS = re.compile(r"\s*(?:[),;.]|$)")
# A name of fewer letters may be a part of another word
LONG_NAME = 6


class ClashSentence(NamedTuple):
    """The sentence of one answer: `answer[start:end]`, and whether it states what the judge says of that answer."""

    start: int
    end: int
    stated: bool
    evidence: float


class Clash(NamedTuple):
    """A sentence of one answer and the sentence of the other that it clashes with."""

    first: ClashSentence
    second: ClashSentence

    @property
    def certain(self) -> bool:
        """Whether both state what the judge says of them."""
        return self.first.stated and self.second.stated


@dataclass(frozen=True)
class _Wanted:
    """What is sought in one answer: the judge's words on it, its amounts that the judge cites, words of topic and question."""

    own: frozenset[str]
    topic: frozenset[str]
    question: frozenset[str]
    amounts: tuple[Quantity, ...]
    amount_weight: float
    amount_needed: bool


@dataclass(frozen=True)
class _ReadSentence:
    statement: Statement
    stems: frozenset[str]
    quantities: tuple[Quantity, ...]
    negations: tuple[Negation, ...]
    pull: float
    own: float
    topic: float
    amounts: int
    amount_needed: bool

    @property
    def content(self) -> tuple[frozenset[str], frozenset[tuple[float, float]]]:
        """Equal for two sentences that say the same in the same words and figures."""
        return self.stems, frozenset((one.low, one.high) for one in self.quantities)

    def found(self) -> ClashSentence:
        stated = self.amounts > 0 or (not self.amount_needed and (self.own >= MIN_OWN or self.topic >= MIN_TOPIC))
        evidence = round(self.amounts + self.own + self.topic, 6)
        return ClashSentence(self.statement.start, self.statement.end, stated, evidence)


def quoted_clash(a: str, b: str, quote_a: str, quote_b: str) -> Clash | None:
    """The words of two answers that the judge quotes for its verdict; None unless both stand in their answers."""
    places = find_quote(quote_a, a), find_quote(quote_b, b)
    if places[0] is None or places[1] is None:
        return None
    return Clash(ClashSentence(*places[0], True, QUOTED), ClashSentence(*places[1], True, QUOTED))


def clashing_sentences(
    question: str, a: str, b: str, reasoning: str = "", topic: str = "", names: tuple[Iterable[str], Iterable[str]] = ((), ())
) -> Clash | None:
    """The two sentences in which answers to a question disagree; None without evidence.

    reasoning, topic   the judge's words on the pair. The sentences that they refer to are found by these words, of which those
                       that are rare in both answers count most
    names              of center and handbook of each answer: what the judge says of one of them is sought only in its answer
    Without a word of the judge, only two sentences on one subject that differ in an amount of one kind, or of which one alone
    denies what they share, are taken to clash.
    """
    rarity, asked = rarity_of([a, b]), frozenset(stems(question))
    left, right = (
        [_read(sentence, wanted, frozenset(stems(text)), rarity) for sentence in sentences_of(text)[:MAX_SENTENCES]]
        for text, wanted in zip((a, b), _wanted(asked, a, b, reasoning, topic, names), strict=True)
    )
    if not left or not right:
        return None
    # What both say in the same words is no clash, however often the judge mentions it
    left, right = (
        [one for one in own if one.content not in said] or own
        for own, said in ((left, {s.content for s in right}), (right, {s.content for s in left}))
    )
    rated = [(_score(first, second, asked, rarity), first, second) for first, second in product(left, right)]
    if not (reasoning or topic):
        rated = [entry for entry in rated if _conflict(entry[1], entry[2])]
    # The earlier sentences among equals, whichever answer comes first
    best = max(rated, key=lambda entry: (round(entry[0], 6), -entry[1].statement.start - entry[2].statement.start), default=None)
    return Clash(best[1].found(), best[2].found()) if best else None


def _wanted(
    asked: frozenset[str], a: str, b: str, reasoning: str, topic: str, names: tuple[Iterable[str], Iterable[str]]
) -> Iterator[_Wanted]:
    own_names = [frozenset(stem for name in of_side for stem in stems(name.replace("_", " "))) for of_side in names]
    left_out = asked | own_names[0] | own_names[1]
    (*clauses, of_both), cited = said_of_each(reasoning, own_names), cited_amounts(a, b, reasoning, topic)
    # Where the judge says first that both state an amount, they differ in what they say with it
    shared = find_quantities(of_both) if cited.shared else ()
    for clause, differing, answer in zip(clauses, (cited.first, cited.second), (a, b), strict=True):
        sought, in_it = differing or shared or find_quantities(clause), find_quantities(without_citations(answer))
        yield _Wanted(
            frozenset(stems(clause)) - left_out - GENERIC_STEMS,
            frozenset(stems(topic)) - left_out,
            asked - GENERIC_STEMS,
            tuple(one for one in sought if any(map(one.agrees, in_it))),
            DIFFERING_WEIGHT if differing else 0.0 if shared else CITED_AMOUNT_WEIGHT,
            bool(differing or shared),
        )


def said_of_each(reasoning: str, names: Sequence[frozenset[str]]) -> tuple[str, str, str]:
    """What a reasoning says of each of two answers, the clause after the first mention of its name or before it; and of both.

    names  stems of the names of each. The whole reasoning stands for each where it does not name both, or says nothing of one
    """
    marks = _mentions(reasoning, names)
    sides = [side for side, _, _ in marks]
    if len(set(sides)) < 2:
        return reasoning, reasoning, ""
    first = {side: sides.index(side) for side in (0, 1)}
    closing = CLAUSE_ENDS.match(reasoning, marks[max(first.values())][2]) is not None
    ends = [span.end for span in sentence_spans(reasoning)]
    clauses = [_clause(reasoning, marks, first[side], ends, closing) for side in (0, 1)]
    of_both = "" if closing else _clause(reasoning, marks, 0, ends, closing=True)
    if not all(stems(one) or find_quantities(one) for one in clauses):
        clauses = [reasoning, reasoning]
    return clauses[0], clauses[1], of_both


def _clause(reasoning: str, marks: list[tuple[int, int, int]], number: int, ends: list[int], closing: bool) -> str:
    _, start, end = marks[number]
    if closing:
        before = [0, *(stop for stop in ends if stop <= start), *(stop for _, _, stop in marks[:number])]
        return reasoning[max(before) : start]
    after = [*(stop for stop in ends if stop >= end), *(following for _, following, _ in marks[number + 1 :]), len(reasoning)]
    return reasoning[end : min(after)].split(";")[0]


def _mentions(reasoning: str, names: Sequence[frozenset[str]]) -> list[tuple[int, int, int]]:
    """(side, start, end) of every word that names one of the answers and not the other."""
    only = (names[0] - names[1], names[1] - names[0])
    by_name = [
        (side, *match.span())
        for match in TOKEN.finditer(reasoning)
        for stem in stems(match.group())[:1]
        for side in (0, 1)
        if any(_is_name(stem, name) for name in only[side])
    ]
    # A judge that saw no names calls the answers A and B
    by_letter = [("AB".index(match.group()), *match.span()) for match in LETTER.finditer(reasoning)]
    return by_name if len({side for side, _, _ in by_name}) == 2 else by_letter


def _is_name(stem: str, name: str) -> bool:
    # "SeniorHealth" is short for NIHSeniorHealth
    return stem == name or (min(len(stem), len(name)) >= LONG_NAME and (stem in name or name in stem))


def _read(statement: Statement, wanted: _Wanted, whole: frozenset[str], rarity: Mapping[str, float]) -> _ReadSentence:
    text = without_citations(statement.quoted)
    words, quantities = frozenset(stems(text)), find_quantities(text)
    # Words of the judge that the answer has nowhere find no sentence in it
    own, topic = (coverage(words, sought & whole, rarity) for sought in (wanted.own, wanted.topic))
    amounts = min(len(quantities) - len(without_counterpart(quantities, wanted.amounts)), MAX_CITED_AMOUNTS)
    pull = OWN_WEIGHT * own + TOPIC_WEIGHT * topic + QUESTION_WEIGHT * coverage(words, wanted.question, rarity)
    pull += wanted.amount_weight * amounts
    return _ReadSentence(
        statement,
        words,
        quantities,
        find_negations(text),
        pull,
        own,
        topic,
        amounts,
        wanted.amount_needed and bool(wanted.amounts),
    )


def _score(first: _ReadSentence, second: _ReadSentence, asked: frozenset[str], rarity: Mapping[str, float]) -> float:
    # The words of the question are in every answer, whatever it is about
    shared = overlap(first.stems - asked, second.stems - asked, rarity)
    return first.pull + second.pull + SHARED_WEIGHT * shared + _conflict(first, second)


def _conflict(first: _ReadSentence, second: _ReadSentence) -> float:
    """How far two sentences conflict by themselves: by an amount of one kind, or by a denial of what they share."""
    common = (first.stems & second.stems) - GENERIC_STEMS
    if len(common) < MIN_SHARED * len(first.stems | second.stems):
        return 0.0
    return AMOUNT_WEIGHT * _amounts_differ(first, second) + DENIAL_WEIGHT * _one_denies(first, second, common)


def _amounts_differ(first: _ReadSentence, second: _ReadSentence) -> bool:
    """Whether one states an amount for which the other only has amounts of the same kind that do not agree."""
    kinds = {own.kind for own in first.quantities} & {other.kind for other in second.quantities}
    return any(
        without_counterpart(*([one for one in side.quantities if one.kind == kind] for side in (first, second))) for kind in kinds
    )


def _one_denies(first: _ReadSentence, second: _ReadSentence, common: frozenset[str]) -> bool:
    denied = [any(negation.subject & common for negation in sentence.negations) for sentence in (first, second)]
    return denied[0] != denied[1]
