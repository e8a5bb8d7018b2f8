"""Pairs of claims of one handbook that may be about the same thing, in time that grows with the length of the handbook."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from audit.pipeline.rules.within.claims import Claim, ComparedPassage, claims_of, passages_of
from audit.pipeline.rules.within.similarity import MIN_SHARED, aspect_of, on_one_thing, says_the_same, similarity
from audit.text.documents import Document

# A claim is looked up by its rarest words, among the first claims with each, and compared with those that share most of them.
# More would take time that grows with the square of the length, and find only what is alike in the words of every page.
LOOKED_UP, PER_WORD, PARTNERS = 5, 60, 30
# A pair that is less alike is not worth a question to a model.
MIN_CANDIDATE = 0.25
# More values than this on "one thing" are cases that the words do not distinguish: doses by weight, limits by stage
MAX_VALUES = 3

Pair = tuple[int, int]
"""Two claims by their numbers in `Candidates.claims`, in reading order."""


@dataclass(frozen=True)
class CandidatePair:
    """Two claims that may be about the same thing and do not say the same.

    alike    the share of the words of both statements, by weight, that both have: 0 to 1
    certain  whether rules may take them to be about one thing, in one case
    """

    first: int
    second: int
    alike: float
    certain: bool


@dataclass(frozen=True)
class Candidates:
    """The statements to compare in one handbook.

    statements  how many statements it has
    claims      what they state, in reading order
    agreeing    pairs of claims on one thing, in different places, that say the same
    pairs       the pairs to be judged: those of which rules are certain, then the most alike first
    """

    statements: int
    claims: Sequence[Claim]
    agreeing: Sequence[Pair]
    pairs: Sequence[CandidatePair]


def find_candidates(document: Document) -> Candidates:
    """The pairs of statements of a handbook, each of another section, that are to be compared."""
    passages = list(passages_of(document))
    weights = _weights(passages)
    claims = [claim for passage in passages for claim in claims_of(passage)]
    sorted_pairs = _Sorted()
    for first, second in _looked_up(claims, weights):
        sorted_pairs.add(claims, first, second, weights)
    unclear = _unclear(claims, sorted_pairs)
    pairs = [
        CandidatePair(*pair, alike, pair in sorted_pairs.differing and unclear.isdisjoint(pair))
        for pair, alike in sorted_pairs.candidates.items()
    ]
    pairs.sort(key=lambda pair: (not pair.certain, -pair.alike, pair.first, pair.second))
    return Candidates(len(passages), claims, sorted_pairs.agreeing, pairs)


def _weights(passages: Sequence[ComparedPassage]) -> Mapping[str, float]:
    """Stem -> its weight: higher the fewer statements of the handbook have it."""
    counts = Counter(name for passage in passages for name in passage.stems)
    return {name: math.log(1 + len(passages) / count) for name, count in counts.items()}


def _looked_up(claims: Sequence[Claim], weights: Mapping[str, float]) -> Iterator[Pair]:
    """Pairs of claims of one kind that share a rare word or are about one aspect, each once."""
    with_key: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, claim in enumerate(claims):
        sharing: Counter[int] = Counter()
        for key in _keys(claim, weights):
            sharing.update(with_key[key][:PER_WORD])
            with_key[key].append(number)
        yield from ((other, number) for other, _ in sharing.most_common(PARTNERS))


def _keys(claim: Claim, weights: Mapping[str, float]) -> list[tuple[str, str]]:
    rarest = sorted(claim.passage.stems, key=lambda name: (-weights[name], name))[:LOOKED_UP]
    aspect = aspect_of(claim)
    return [*((claim.kind, name) for name in rarest), *([("aspect", aspect.name)] if aspect else [])]


@dataclass
class _Sorted:
    """Pairs by kind.

    agreeing, differing  pairs on one thing, of two sections, that say the same or not
    in_one_section       pairs on one thing that one section states differently: it tells cases apart that the words do not
    candidates           pair -> how alike it is, of those that do not say the same
    """

    agreeing: list[Pair] = field(default_factory=list)
    differing: set[Pair] = field(default_factory=set)
    in_one_section: list[Pair] = field(default_factory=list)
    candidates: dict[Pair, float] = field(default_factory=dict)

    def add(self, claims: Sequence[Claim], first: int, second: int, weights: Mapping[str, float]) -> None:
        """Sort in one pair."""
        a, b = claims[first], claims[second]
        shared = len(a.passage.stems & b.passage.stems)
        on_one, same = on_one_thing(a, b, weights), says_the_same(a, b)
        if a.passage.section.section_id == b.passage.section.section_id:
            if on_one and not same:
                self.in_one_section.append((first, second))
            return
        if same:
            self.agreeing += [(first, second)] if on_one else []
            return
        alike = similarity(a, b, weights)
        if on_one:
            self.differing.add((first, second))
        if on_one or (alike >= MIN_CANDIDATE and shared >= MIN_SHARED):
            self.candidates[first, second] = alike


def _unclear(claims: Sequence[Claim], pairs: _Sorted) -> set[int]:
    """The claims of which the words do not tell the case: one section states two values of them, or there are too many."""
    unclear = {number for pair in pairs.in_one_section for number in pair}
    for group in groups([*pairs.differing, *pairs.agreeing]):
        clear = [number for number in group if number not in unclear]
        if len(by_value(claims, clear)) > MAX_VALUES:
            unclear.update(clear)
    return unclear


def groups(pairs: Iterable[Pair]) -> list[list[int]]:
    """The numbers that pairs connect, directly or through others, each group in order."""
    pairs = list(pairs)
    numbers = sorted({number for pair in pairs for number in pair})
    if not numbers:
        return []
    position = {number: index for index, number in enumerate(numbers)}
    rows, columns = zip(*((position[a], position[b]) for a, b in pairs), strict=True)
    graph = coo_array(([1] * len(pairs), (rows, columns)), shape=(len(numbers), len(numbers)))
    connected: dict[int, list[int]] = defaultdict(list)
    for number, group in zip(numbers, connected_components(graph, directed=False)[1], strict=True):
        connected[group].append(number)
    return list(connected.values())


def by_value(claims: Sequence[Claim], numbers: Iterable[int]) -> list[list[int]]:
    """The claims of some numbers, together with those that say the same; in the order in which values first occur."""
    values: list[list[int]] = []
    for number in numbers:
        same = next((value for value in values if says_the_same(claims[value[0]], claims[number])), None)
        if same is None:
            values.append([number])
        else:
            same.append(number)
    return values
