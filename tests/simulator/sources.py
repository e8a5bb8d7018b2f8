"""Two simulated systems that search several sources: one routes questions to them, one searches all as a single index.

A source is a center. Which centers a question needs follows from what their handbooks say: the center of the reference answer,
and one for each other position. How often a system ranks the first of them first, and covers the others, are rates of our choice,
so that the true values of the measures of routing are known.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audit.vocabulary import SystemMode
from tests.simulator.retrieval import GIVEN
from tests.simulator.system_answers import SystemWorld

# Centers in the evidence for a question, at most
SOURCES_GIVEN = 4
# Chance that both systems share the random draw of a question, so questions are hard for both or for neither
SHARED = 0.6
# Authorities, dealt to the centers in turn
AUTHORITIES = (1.0, 0.5, 0.5, 0.25)


@dataclass(frozen=True)
class RoutingSystem:
    """A system that searches several sources.

    first, second  share of questions whose primary source is ranked first, and second
    covers         share of questions with several required sources of which the evidence has all
    finds          share of questions for which the primary source brings the section that answers
    dominated      share of questions whose remaining passages are all from the densest source
    """

    id: str
    name: str
    mode: SystemMode
    retriever: str
    first: float
    second: float
    covers: float
    finds: float
    dominated: float


ROUTED = RoutingSystem(
    "demo-sources", "Demo model, several sources", SystemMode.MULTI_SOURCE, "simulated routing",
    first=0.70, second=0.18, covers=0.75, finds=0.90, dominated=0.15,
)  # fmt: skip
MERGED = RoutingSystem(
    "demo-merged", "Demo model, one index", SystemMode.RETRIEVAL, "simulated index of everything",
    first=0.48, second=0.20, covers=0.40, finds=0.75, dominated=0.55,
)  # fmt: skip
ROUTING_SYSTEMS = (ROUTED, MERGED)


@dataclass(frozen=True)
class SimulatedRoutes:
    """The systems' results on Q questions, in the order of `ROUTING_SYSTEMS`: rank int (2, Q), 0 first, 1 second, 2 later;
    covers, finds and dominated bool (2, Q).
    """

    rank: NDArray[np.intp]
    covers: NDArray[np.bool_]
    finds: NDArray[np.bool_]
    dominated: NDArray[np.bool_]


def simulate_routes(n_questions: int, seed: int) -> SimulatedRoutes:
    """Draw what both systems make of every question; the same arguments give the same draws."""
    rng = np.random.default_rng([seed, 16])

    def luck() -> NDArray[np.float64]:
        shape = len(ROUTING_SYSTEMS), n_questions
        return np.where(rng.random(n_questions) < SHARED, rng.random(n_questions), rng.random(shape))

    rank = np.stack(
        [
            np.searchsorted([system.first, system.first + system.second], own, side="right")
            for system, own in zip(ROUTING_SYSTEMS, luck(), strict=True)
        ]
    )
    chances = {name: np.array([[getattr(one, name)] for one in ROUTING_SYSTEMS]) for name in ("covers", "finds", "dominated")}
    return SimulatedRoutes(rank, luck() < chances["covers"], luck() < chances["finds"], luck() < chances["dominated"])


class GivenPassage(NamedTuple):
    """A section in the evidence: number of its handbook, its id, and whether it answers the question."""

    handbook: int
    section_id: str
    is_gold: bool


@dataclass(frozen=True)
class SourceWorld:
    """The systems of `ROUTING_SYSTEMS` on the questions of a world, whose sources are its centers."""

    systems: SystemWorld

    @cached_property
    def routes(self) -> SimulatedRoutes:
        """The systems' results on every question."""
        return simulate_routes(len(self.systems.world.questions), self.systems.world.config.seed)

    @cached_property
    def center_of(self) -> list[int]:
        """The center of each handbook."""
        return [book.center for book in self.systems.world.handbooks]

    @cached_property
    def centers(self) -> tuple[int, ...]:
        """The centers in the order of their first handbook."""
        return tuple(dict.fromkeys(self.center_of))

    @cached_property
    def source_ids(self) -> dict[int, str]:
        """Center -> the id of its source."""
        return {book.center: book.center_name for book in self.systems.world.handbooks}

    @cached_property
    def densest(self) -> int:
        """The center with the shortest sections, in words."""
        texts = self.systems.searches.library
        words: dict[int, list[int]] = {center: [] for center in self.centers}
        for book, center in enumerate(self.center_of):
            words[center] += [len(" ".join(texts.sentences(policy, book)).split()) for policy in texts.held[book]]
        return min((center for center in self.centers if words[center]), key=lambda center: np.mean(words[center]))

    def ranking(self, row: int, number: int) -> list[int]:
        """The centers as a system ranks them for a question, best first: those of its evidence, then the others."""
        centers = [self.center_of[book] for book in self.books(row, number)]
        others = (self.center_of[book] for book in self._other_handbooks(number, set(centers)))
        return [*centers, *others]

    def books(self, row: int, number: int) -> list[int]:
        """The handbooks of different centers that the evidence is from, in the order of their first passage."""
        needed = self.systems.required(number)
        others = self._other_handbooks(number, {self.center_of[book] for book in needed})
        if self.routes.dominated[row, number]:
            others.sort(key=lambda book: self.center_of[book] != self.densest)
        # A system that does not cover a question has nothing of the sources after the primary one
        books = [*(needed[1:] if self.routes.covers[row, number] else []), *others]
        rank = int(self.routes.rank[row, number])
        return [*books[:rank], *needed[:1], *books[rank:]][:SOURCES_GIVEN]

    def _other_handbooks(self, number: int, needed: set[int]) -> list[int]:
        """The best handbook of each center that is not needed, those that answer the question first."""
        world, texts = self.systems.world, self.systems.searches.library
        matches = np.array([book.organ == world.questions[number].organ for book in world.handbooks])
        merit = world.present[number] * 2.0 + matches + self.systems.luck[number]
        best: dict[int, int] = {}
        for book in np.argsort(-merit).tolist():
            if texts.size(book) and self.center_of[book] not in needed:
                best.setdefault(self.center_of[book], book)
        return list(best.values())

    @cached_property
    def evidence(self) -> list[list[list[GivenPassage]]]:
        """By system and question the five passages that were gathered, best first."""
        return [
            [self._evidence(row, number) for number in range(len(self.systems.world.questions))]
            for row in range(len(ROUTING_SYSTEMS))
        ]

    def _evidence(self, row: int, number: int) -> list[GivenPassage]:
        """One passage of each handbook, then more in turn."""
        books = self.books(row, number)
        shown = {book: self._passages(row, number, book) for book in books}
        first = [shown[book].pop(0) for book in books]
        dense = [book for book in books if self.center_of[book] == self.densest]
        turn = dense if dense and self.routes.dominated[row, number] else books
        more = [passages.pop(0) for _ in range(GIVEN) for passages in (shown[book] for book in turn) if passages]
        return [*first, *more][:GIVEN]

    def _passages(self, row: int, number: int, book: int) -> list[GivenPassage]:
        """The sections found in a handbook for a question, best first: the one that answers it if it was found, then others."""
        needed = self.systems.required(number)
        names = self.systems.searches.ranked("bm25", number, book, GIVEN, known=False)
        is_found = book in needed and (book != needed[0] or bool(self.routes.finds[row, number]))
        gold = [GivenPassage(book, self.systems.section_of(number, book), True)] if is_found else []
        own = self.systems.section_of(number, book) if book in needed else None
        return gold + [GivenPassage(book, name, False) for name in names if name != own]
