"""The simulated handbooks as texts, and simulated retrieval in them.

The section that answers a question is known, so the measures of retrieval can be tested. Ranks have their own
random stream; a question that is hard for one strategy tends to be hard for the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.simulator.policies import ASK, DETAIL_SETS, HOW, Policy, phrases, policies
from tests.simulator.world import Handbook, World

FIRST_PAGE = 3
SECTIONS_PER_PAGE = 3


@dataclass(frozen=True)
class HandbookTexts:
    """The handbooks of a world as texts. A handbook has a section on a policy when it answers any question about it."""

    world: World

    @cached_property
    def states(self) -> NDArray[np.bool_]:
        """Whether a handbook states its value of a policy: it answers a question that turns on it. Bool, policies x handbooks."""
        return self._answers(ASK)

    @cached_property
    def advises(self) -> NDArray[np.bool_]:
        """Whether it gives the advice that all share on a policy: it answers a question about that."""
        return self._answers(HOW)

    @cached_property
    def speaks(self) -> NDArray[np.bool_]:
        """Whether a handbook has a section on a policy."""
        return self.states | self.advises

    def _answers(self, aspect: str) -> NDArray[np.bool_]:
        stated = np.zeros((len(policies()), len(self.world.handbooks)), dtype=bool)
        for question, present in zip(self.world.questions, self.world.present, strict=True):
            if question.aspect == aspect:
                stated[question.policy] |= present
        return stated

    @cached_property
    def position(self) -> NDArray[np.intp]:
        """Position of each section in its handbook, from 0; for a policy without a section, where one would be inserted."""
        return np.asarray(np.cumsum(self.speaks, axis=0) - self.speaks)

    @cached_property
    def held(self) -> list[list[int]]:
        """Per handbook the policies that it has sections on, in reading order."""
        return [np.flatnonzero(column).tolist() for column in self.speaks.T]

    @cached_property
    def style(self) -> NDArray[np.int64]:
        """The wording that each center chose for each policy, from its own random stream."""
        n_centers = max(book.center for book in self.world.handbooks) + 1
        return np.random.default_rng([self.world.config.seed, 6]).integers(2**16, size=(len(policies()), n_centers))

    def size(self, handbook: int) -> int:
        """How many sections a handbook has."""
        return len(self.held[handbook])

    def sentences(self, policy: int, handbook: int) -> list[str]:
        """The sentences of a section; the last one gives the contact."""
        rule, book = policies()[policy], self.world.handbooks[handbook]
        style = int(self.style[policy, book.center])
        core = rule.says[self.world.value[policy, handbook]]
        details = [rule.details[i].sentence for i in DETAIL_SETS[self.world.details[policy, handbook]]]
        line, phone = contact(book)
        return [
            *([rule.guidance[style % len(rule.guidance)]] if self.advises[policy, handbook] else []),
            *([core[style // 4 % len(core)]] if self.states[policy, handbook] else []),
            *details,
            f"Questions about this: {line}, {phone}.",
        ]


def contact(book: Handbook) -> tuple[str, str]:
    """The contact line of a center and its phone number."""
    lines = phrases()["answer"]["lines"]
    return lines[book.center % len(lines)], f"555-01{10 + book.center % 90}"


def section_title(policy: Policy) -> str:
    """The heading of the section on a policy, after its chapter."""
    return f"{policy.chapter} / {policy.section}"


def section_id(index: int) -> str:
    """The id of the section at `index` in its handbook."""
    return f"s{index + 1:03}"


def sections(library: HandbookTexts) -> Iterator[dict[str, Any]]:
    """The records of sections.jsonl, handbook by handbook in reading order."""
    for number, book in enumerate(library.world.handbooks):
        for index, policy in enumerate(library.held[number]):
            rule = policies()[policy]
            page = FIRST_PAGE + index // SECTIONS_PER_PAGE
            yield {
                "handbook_id": book.id, "section_id": section_id(index), "heading": rule.section, "above": [rule.chapter],
                "text": " ".join(library.sentences(policy, number)), "pages": [page, page],
            }  # fmt: skip


# Per strategy, the share of questions whose section ranks among the first 1, 2, ... 5. Our choice: no values are published.
HIT_RATES: Mapping[str, tuple[float, ...]] = {
    "hero": (0.62, 0.78, 0.86, 0.90, 0.93),
    "fusion": (0.55, 0.72, 0.80, 0.85, 0.89),
    "dense": (0.50, 0.66, 0.74, 0.80, 0.84),
    "bm25": (0.44, 0.60, 0.69, 0.75, 0.80),
}
SECONDS: Mapping[str, float] = {"hero": 0.041, "fusion": 0.022, "dense": 0.017, "bm25": 0.004}
# Chance that a strategy shares the random draw of the others, so hard searches are hard for all.
SHARED = 0.7
# Passages given to the generator; a section ranked lower is found only in full-document mode.
GIVEN = 5
# A handbook of at most this many sections is given in full (full-document mode).
SHORT = 6
SHOWN = 3
# Pairs of question and handbook on which all strategies are tried.
N_TRIALS = 300
# Share of answers with a further citation of a passage that was not given.
CITES_NOTHING = 0.02
FALLBACK = "the passages found do not speak of what is asked"
NO_RERANKER = "no reranker was given"
K = 60

Record = dict[str, Any]


@dataclass(frozen=True)
class SimulatedSearches:
    """The results of every strategy for every question in every handbook."""

    library: HandbookTexts

    @cached_property
    def rank(self) -> Mapping[str, NDArray[np.intp]]:
        """Per strategy the rank, from 0, of the gold section (questions x handbooks); GIVEN: not found."""
        shape = self.library.world.present.shape
        rng = np.random.default_rng([self.library.world.config.seed, 7])
        shared = rng.random(shape)
        # Some questions are hard for every strategy; independent luck would make all strategies look complementary.
        luck = {name: np.where(rng.random(shape) < SHARED, shared, rng.random(shape)) for name in HIT_RATES}
        return {name: np.searchsorted(HIT_RATES[name], luck[name]) for name in HIT_RATES}

    @cached_property
    def chance(self) -> NDArray[np.float64]:
        """Random numbers for the other parts of an answer's record: questions x handbooks."""
        return np.random.default_rng([self.library.world.config.seed, 8]).random(self.library.world.present.shape)

    def ranked(self, strategy: str, question: int, handbook: int, max_sections: int, *, known: bool) -> list[str]:
        """The ids of the best sections, at most `max_sections`; with `known`, the gold section has the rank drawn for it."""
        policy, size = self.library.world.questions[question].policy, self.library.size(handbook)
        own = int(self.library.position[policy, handbook])
        # The other hits are neighbours of the gold section, which mostly belong to the same chapter.
        turn = list(HIT_RATES).index(strategy) % 2
        nearby = [(own + (step // 2 + 1) * (1 if (step + turn) % 2 else -1)) % size for step in range(2 * size)]
        ranking = [index for index in dict.fromkeys(nearby) if index != own or not self.library.speaks[policy, handbook]]
        rank = int(self.rank[strategy][question, handbook])
        if known and rank < GIVEN:
            ranking.insert(min(rank, len(ranking)), own)
        return [section_id(index) for index in ranking[:max_sections]]


def retrieval_record(searches: SimulatedSearches, question: int, handbook: int, cited: tuple[int, int] | None) -> Record | None:
    """An answer's retrieval record, or None where the handbook has no section.

    `cited` is the span of the answer's text that its section supports; None for an answer that does not address the question.
    """
    library = searches.library
    if not library.size(handbook):
        return None
    short = library.size(handbook) <= SHORT
    is_found = int(searches.rank["hero"][question, handbook]) < GIVEN
    mode = "full_document" if short else "passages" if is_found or cited is None else "full_document_fallback"
    passages = _sections_read(searches, question, handbook, mode, known=cited is not None)
    record: Record = {"strategy": "hero", "mode": mode, **({"reason": FALLBACK} if mode.endswith("fallback") else {})}
    record["passages"] = [_passage(library, handbook, number, name, mode) for number, name in enumerate(passages, 1)]
    if cited is not None:
        own = section_id(int(library.position[library.world.questions[question].policy, handbook]))
        start, end = cited
        record["citations"] = [{"passage": passages.index(own) + 1, "section_id": own, "known": True, "start": start, "end": end}]
        if searches.chance[question, handbook] < CITES_NOTHING:
            record["citations"].append({"passage": len(passages) + 1, "known": False})
        if library.world.config.traces and mode != "full_document":
            record |= _trace(searches, question, handbook)
    return record


def _sections_read(searches: SimulatedSearches, question: int, handbook: int, mode: str, *, known: bool) -> list[str]:
    """The sections whose passages the generator was given, best first."""
    if mode == "passages":
        rank = int(searches.rank["hero"][question, handbook])
        max_sections = max(SHOWN, rank + 1) if known else SHOWN - 1
        return searches.ranked("hero", question, handbook, max_sections, known=known)
    policy = searches.library.world.questions[question].policy
    return [section_id(int(searches.library.position[policy, handbook]))] if known else [section_id(0)]


def _passage(library: HandbookTexts, handbook: int, number: int, name: str, mode: str) -> Record:
    """A passage: the section without its contact line; further down the list, only its first two sentences."""
    sentences = library.sentences(library.held[handbook][int(name[1:]) - 1], handbook)
    shown = sentences[:-1] if number <= 2 else sentences[:2]
    origin = "document" if mode != "passages" else "parent" if number <= 2 else "hit"
    return {"passage": number, "section_id": name, "start": 0, "end": len(" ".join(shown)), "origin": origin}


def _trace(searches: SimulatedSearches, question: int, handbook: int) -> Record:
    """The layers in the order in which they ran, with the best few of each."""
    layers: list[Record] = [
        _layer(name, strategy, searches, question, handbook)
        for name, strategy in (("dense", "dense"), ("bm25", "bm25"), ("fused", "hero"))
    ]
    layers.append({"layer": "reranked", "skipped": NO_RERANKER})
    policy = policies()[searches.library.world.questions[question].policy]
    return {"queries": [policy.theme], "layers": layers, "seconds": seconds("hero", float(searches.chance[question, handbook]))}


def _layer(name: str, strategy: str, searches: SimulatedSearches, question: int, handbook: int) -> Record:
    best = searches.ranked(strategy, question, handbook, SHOWN, known=True)
    scores = [1 / (K + rank) if name == "fused" else 0.9 / (1 + 0.2 * rank) for rank in range(1, len(best) + 1)]
    top = [{"section_id": section, "score": round(score, 4)} for section, score in zip(best, scores, strict=True)]
    return {"layer": name, "kept": 20, "top": top}


def seconds(strategy: str, chance: float) -> float:
    """Simulated CPU seconds of a search."""
    return round(SECONDS[strategy] * (0.7 + 0.6 * chance), 4)


def trials(searches: SimulatedSearches) -> Iterator[Record]:
    """The records of trials.jsonl: every strategy on N_TRIALS present answers, drawn from their own random stream."""
    world = searches.library.world
    cells = np.argwhere(world.present)
    rng = np.random.default_rng([world.config.seed, 9])
    # Sorted, so the trials are in release order.
    for question, handbook in cells[np.sort(rng.choice(len(cells), min(N_TRIALS, len(cells)), replace=False))].tolist():
        for strategy in HIT_RATES:
            yield _trial(searches, strategy, question, handbook)


def _trial(searches: SimulatedSearches, strategy: str, question: int, handbook: int) -> Record:
    world, library = searches.library.world, searches.library
    gold = section_id(int(library.position[world.questions[question].policy, handbook]))
    short, chance = library.size(handbook) <= SHORT, float(searches.chance[question, handbook])
    # Only HERO-QA falls back on the full document; a baseline simply misses.
    lost = strategy == "hero" and searches.rank[strategy][question, handbook] >= GIVEN
    mode = "full_document" if short and strategy == "hero" else "full_document_fallback" if lost else "passages"
    return {
        "question_id": world.questions[question].id, "handbook_id": world.handbooks[handbook].id, "strategy": strategy,
        "mode": mode, "ranked": searches.ranked(strategy, question, handbook, GIVEN, known=True), "gold": [gold],
        **({"reason": FALLBACK} if mode.endswith("fallback") else {}), "seconds": seconds(strategy, chance),
    }  # fmt: skip
