"""Who holds which position on a disputed question: labels propose groups, and each handbook's own sentence must state it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from audit.metrics._disputes import Dispute, clashes_of
from audit.text.amount_names import as_written
from audit.text.clashing import MIN_TOPIC, Clash
from audit.text.comparison import GENERIC_STEMS, find_negations
from audit.text.position_quotes import coverage, overlap, rarity_of, sentences_of
from audit.text.quantity import Quantity, find_quantities
from audit.text.statements import Statement
from audit.text.tokens import stems, without_citations

# Two sentences say the same with this share of their words; less is enough where the judge calls their answers consistent,
# and less still where both state one amount
EQUAL_WORDS, SAME_WORDS, LIKE_WORDS, CONSISTENT_WORDS, SAME_AMOUNT_WORDS = 0.95, 0.6, 0.3, 0.3, 0.1
# A sentence that answers the question has this share of its words
MIN_ASKED = 0.25
SHARED = 0.5
MAX_AMOUNTS = 100
"""Of one sentence: no sentence of a handbook has more, and comparing thousands with thousands would take minutes."""
REFERENCE_HANDBOOKS, REFERENCE_SENTENCES = 8, 3


class Sentence(NamedTuple):
    """A sentence of one answer, read: its stems without those of the question, its quantities, and what it denies."""

    handbook_id: str
    statement: Statement
    words: frozenset[str]
    quantities: tuple[Quantity, ...]
    denied: frozenset[str]

    def states(self, value: Quantity) -> bool:
        """Whether it gives this value."""
        return any(map(value.agrees, self.quantities))


@dataclass(frozen=True)
class Held:
    """A position: the sentences of its holders, one each, the one to print first, and the value that all of them state."""

    sentences: tuple[Sentence, ...]
    value: str | None
    by_value: bool = False


@dataclass(frozen=True)
class WhoHoldsWhat:
    """What is known of one question: positions, sentences that say something else, and the pair that shows the clash best."""

    held: tuple[Held, ...]
    others: tuple[Sentence, ...]
    clearest: tuple[Dispute, Clash] | None


Pairs = Collection[frozenset[str]]


def read_positions(
    question: str,
    aspect: str,
    answers: Mapping[str, str],
    groups: Mapping[str, int],
    disputes: Sequence[Dispute],
    consistent: Pairs = (),
) -> WhoHoldsWhat:
    """Who holds what on a question, from the labels of its pairs and the handbooks' own words.

    answers, groups  by handbook id: those of `position_groups`
    disputes         the pairs that disagree, with the judge's words; consistent  the handbook ids of each pair that agrees
    """
    texts = _Texts(question, aspect, answers)
    if not disputes:
        return WhoHoldsWhat(tuple(texts.agreed(consistent)), (), None)
    clashes = clashes_of(question, aspect, answers, groups, disputes)
    on_it = [(dispute, clash) for dispute, clash in clashes if texts.is_on_the_aspect(dispute.topic)]
    quoted = texts.quoted(on_it)
    groups = texts.merged(groups, quoted)
    held = [one for number in sorted(set(groups.values())) if (one := texts.held(number, groups, quoted, consistent)).sentences]
    clearest = max(on_it, key=lambda entry: (entry[1].certain, _evidence(entry[1])), default=None)
    if len(held) < 2:
        return WhoHoldsWhat((), (), clearest)
    holding = {sentence.handbook_id for one in held for sentence in one.sentences}
    others = [texts.on_the_aspect(handbook_id, quoted) for handbook_id in answers if handbook_id not in holding]
    by_size = sorted(held, key=lambda one: -len(one.sentences))
    return WhoHoldsWhat(tuple(by_size), tuple(sentence for sentence in others if sentence), clearest)


def _evidence(clash: Clash) -> float:
    return clash.first.evidence + clash.second.evidence


class _Texts:
    """The answers to one question, read once."""

    def __init__(self, question: str, aspect: str, answers: Mapping[str, str]) -> None:
        self.asked = frozenset(stems(question))
        self.names = frozenset(stem for handbook_id in answers for stem in stems(handbook_id.replace("_", " ")))
        self.aspect = frozenset(stems(aspect)) - self.asked - self.names
        self.rarity = rarity_of(list(answers.values()))
        self.sentences = {
            handbook_id: [self._read(handbook_id, statement) for statement in sentences_of(answer)]
            for handbook_id, answer in answers.items()
        }

    def _read(self, handbook_id: str, statement: Statement) -> Sentence:
        text = without_citations(statement.quoted)
        words = frozenset(stems(text)) - self.asked - self.names
        denied = frozenset(stem for negation in find_negations(text) for stem in negation.subject)
        return Sentence(handbook_id, statement, words, find_quantities(text)[:MAX_AMOUNTS], denied)

    def is_on_the_aspect(self, topic: str) -> bool:
        """Whether a topic has a word of the aspect; a judge words one topic in many ways."""
        words = frozenset(stems(topic)) - self.asked - self.names
        return not words or not self.aspect or bool(words & self.aspect)

    def quoted(self, clashes: Sequence[tuple[Dispute, Clash]]) -> dict[str, Sentence]:
        """Handbook id -> the sentence that clashes with those of others, of those that state what the judge says of it."""
        found: dict[str, Counter[int]] = {}
        for dispute, clash in clashes:
            for handbook_id, sentence in zip((dispute.a, dispute.b), clash, strict=True):
                if sentence.stated:
                    found.setdefault(handbook_id, Counter())[sentence.start] += sentence.evidence  # type: ignore[assignment]
        starts = {handbook_id: max(counted, key=lambda start: (counted[start], -start)) for handbook_id, counted in found.items()}
        return {
            handbook_id: next(one for one in self.sentences[handbook_id] if one.statement.start == start)
            for handbook_id, start in starts.items()
        }

    def merged(self, groups: Mapping[str, int], quoted: Mapping[str, Sentence]) -> dict[str, int]:
        """The groups; those that clash with others in the same words are one, whatever the judge says of them."""
        typical: dict[int, Sentence] = {}
        same: dict[int, int] = {}
        for number in sorted(set(groups.values())):
            inside = [sentence for handbook_id, sentence in quoted.items() if groups[handbook_id] == number]
            if inside:
                own = self._position(inside, None).sentences[0]
                twin = next((other for other, sentence in typical.items() if self._is_same(own, sentence)), number)
                same[number] = twin
                typical.setdefault(twin, own)
        return {handbook_id: same.get(number, number) for handbook_id, number in groups.items()}

    def _is_same(self, one: Sentence, other: Sentence) -> bool:
        agree = all(other.states(quantity) for quantity in one.quantities) and all(map(one.states, other.quantities))
        enough = SAME_WORDS if one.quantities else EQUAL_WORDS
        return agree and overlap(one.words, other.words, self.rarity) >= enough and not _denies_the_other(one, other)

    def held(self, number: int, groups: Mapping[str, int], quoted: Mapping[str, Sentence], consistent: Pairs) -> Held:
        """The position of one group; without sentences where nobody in it states one."""
        members = [handbook_id for handbook_id, group in groups.items() if group == number]
        inside = [quoted[handbook_id] for handbook_id in members if handbook_id in quoted]
        outside = [sentence for handbook_id, sentence in quoted.items() if groups[handbook_id] != number]
        value = _value(inside, outside)
        found = [self._stating(handbook_id, value, quoted, inside, consistent) for handbook_id in members]
        return self._like_the_first(self._position([sentence for sentence in found if sentence], value), consistent)

    def _like_the_first(self, held: Held, consistent: Pairs) -> Held:
        """Without holders that share neither the amount, nor words, nor a label with the one whose words are printed."""
        first = held.sentences[0] if held.sentences else None
        if first is None or held.by_value:
            return held
        fits = [
            one
            for one in held.sentences
            if frozenset((one.handbook_id, first.handbook_id)) in consistent
            or overlap(one.words, first.words, self.rarity) >= LIKE_WORDS
        ]
        return Held(tuple(dict.fromkeys((first, *fits))), held.value)

    def _position(self, sentences: Sequence[Sentence], value: Quantity | None) -> Held:
        ordered = sorted(sentences, key=lambda one: (-self._likeness(one, sentences), len(one.statement.text)))
        name = as_written(value, [one.statement.quoted for one in ordered]) if value else None
        return Held(tuple(ordered), name, value is not None)

    def _likeness(self, sentence: Sentence, sentences: Sequence[Sentence]) -> float:
        return round(sum(overlap(sentence.words, other.words, self.rarity) for other in sentences[:60]), 6)

    def _stating(
        self, handbook_id: str, value: Quantity | None, quoted: Mapping[str, Sentence], inside: list[Sentence], consistent: Pairs
    ) -> Sentence | None:
        """The sentence by which a member of a group holds its position, or None."""
        own = quoted.get(handbook_id)
        if own and (value is None or own.states(value)):
            return own
        fits = [
            (likeness, sentence)
            for sentence in self.sentences[handbook_id]
            for other in inside
            if (likeness := overlap(sentence.words, other.words, self.rarity))
            >= _enough(sentence, other, value, frozenset((handbook_id, other.handbook_id)) in consistent)
            and not _denies_the_other(sentence, other)
        ]
        return max(fits, key=lambda entry: (entry[0], -entry[1].statement.start))[1] if fits else None

    def on_the_aspect(self, handbook_id: str, quoted: Mapping[str, Sentence]) -> Sentence | None:
        """The best sentence of a handbook on what the others dispute; None where it says nothing on it."""
        if handbook_id in quoted:
            return quoted[handbook_id]
        rated = [
            (coverage(sentence.words, self.aspect, self.rarity), self._nearness(sentence, quoted), sentence)
            for sentence in self.sentences[handbook_id]
        ]
        best = max(rated, key=lambda entry: (round(entry[0] + entry[1], 6), -entry[2].statement.start), default=None)
        return best[2] if best and best[0] >= MIN_TOPIC and best[1] >= SAME_AMOUNT_WORDS else None

    def _nearness(self, sentence: Sentence, quoted: Mapping[str, Sentence]) -> float:
        return max((overlap(sentence.words, other.words, self.rarity) for other in quoted.values()), default=0.0)

    def agreed(self, consistent: Pairs) -> Iterator[Held]:
        """Where nobody disagrees: what most handbooks with consistent answers state on the question in nearly the same words."""
        for members in _connected(consistent)[:1]:
            known = [handbook_id for handbook_id in members if handbook_id in self.sentences]
            shared = [(self._on_the_question(one), self._sharing(one, known)) for one in self._references(known)]
            rated = [(round(on_it * len(sharing), 6), len(sharing), sharing) for on_it, sharing in shared if on_it >= MIN_ASKED]
            _, count, best = max(rated, key=lambda entry: entry[:2], default=(0, 0, []))
            if count > 1:
                value = _value(best, [])
                yield self._position(best, value if value and all(one.states(value) for one in best) else None)

    def _on_the_question(self, sentence: Sentence) -> float:
        # Each word counts the same: the subject is what most answers share, so what is rare among them is beside it
        return coverage(frozenset(stems(sentence.statement.quoted)), self.asked, Counter(self.asked))

    def _references(self, members: Sequence[str]) -> Iterator[Sentence]:
        for handbook_id in members[:REFERENCE_HANDBOOKS]:
            yield from sorted(self.sentences[handbook_id], key=lambda one: -self._on_the_question(one))[:REFERENCE_SENTENCES]

    def _sharing(self, reference: Sentence, members: Sequence[str]) -> list[Sentence]:
        found = [self._stating(handbook_id, None, {}, [reference], ()) for handbook_id in members]
        return [one for one in found if one]


def _enough(sentence: Sentence, other: Sentence, value: Quantity | None, agree: bool) -> float:
    """The share of words that a sentence needs in common with one that states the position, to state it too."""
    if value is not None:
        return SAME_AMOUNT_WORDS if sentence.states(value) else 2.0
    same = all(other.states(quantity) for quantity in sentence.quantities)
    return 2.0 if not same else CONSISTENT_WORDS if agree else SAME_WORDS


def _denies_the_other(sentence: Sentence, other: Sentence) -> bool:
    shared = (sentence.words & other.words) - GENERIC_STEMS
    return bool(sentence.denied & shared) != bool(other.denied & shared)


def _value(inside: Sequence[Sentence], outside: Sequence[Sentence]) -> Quantity | None:
    """The quantity that most of a group's sentences state, and others of its kind but not this one those of other groups."""
    rated = [
        (share, share - elsewhere, quantity)
        for sentence in inside
        for quantity in sentence.quantities
        if (share := sum(one.states(quantity) for one in inside) / len(inside)) >= SHARED
        and (elsewhere := _share_agreeing(quantity, outside)) < SHARED
    ]
    return max(rated, key=lambda entry: (entry[1], -entry[2].start), default=(0.0, 0.0, None))[2]


def _share_agreeing(quantity: Quantity, outside: Sequence[Sentence]) -> float:
    """The share of the other groups' quantities of its kind that agree with it; 1 where they have none of its kind."""
    others = [
        one for sentence in outside for one in sentence.quantities if one.kind == quantity.kind and one.comparable(quantity)
    ]
    return sum(map(quantity.agrees, others)) / len(others) if others else float(bool(outside))


def _connected(pairs: Pairs) -> list[list[str]]:
    """The ids that pairs join, each group in the order of its first."""
    parts: list[set[str]] = []
    for pair in pairs:
        joined = [part for part in parts if part & pair]
        parts = [part for part in parts if not part & pair] + [set(pair).union(*joined)]
    return sorted((sorted(part) for part in parts), key=lambda part: (-len(part), part))
