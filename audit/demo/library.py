"""The text of each simulated handbook, section by section: what its answers are drawn from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit.demo.phrases import phrases
from audit.demo.policies import DETAIL_SETS, Policy, policies
from audit.demo.questions import ASK, HOW
from audit.demo.roster import Handbook
from audit.demo.world import World

FIRST_PAGE = 3
PER_PAGE = 3
"""Sections that stand on one page."""


@dataclass(frozen=True)
class Library:
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
        found = np.zeros((len(policies()), len(self.world.handbooks)), dtype=bool)
        for question, present in zip(self.world.questions, self.world.present, strict=True):
            if question.aspect == aspect:
                found[question.policy] |= present
        return found

    @cached_property
    def place(self) -> NDArray[np.intp]:
        """The place of each section in its handbook, from 0; of a policy without one, where it would stand."""
        return np.asarray(np.cumsum(self.speaks, axis=0) - self.speaks)

    @cached_property
    def held(self) -> list[list[int]]:
        """Per handbook the policies that it has sections on, in reading order."""
        return [np.flatnonzero(column).tolist() for column in self.speaks.T]

    @cached_property
    def style(self) -> NDArray[np.int64]:
        """Which wording each center chose for each policy; a stream of chance of its own."""
        n_centers = max(book.center for book in self.world.handbooks) + 1
        return np.random.default_rng([self.world.config.seed, 6]).integers(2**16, size=(len(policies()), n_centers))

    def size(self, handbook: int) -> int:
        """How many sections a handbook has."""
        return len(self.held[handbook])

    def sentences(self, policy: int, handbook: int) -> list[str]:
        """A section's sentences, the last of them whom to call."""
        told, book = policies()[policy], self.world.handbooks[handbook]
        style = int(self.style[policy, book.center])
        core = told.says[self.world.value[policy, handbook]]
        details = [told.details[i].sentence for i in DETAIL_SETS[self.world.details[policy, handbook]]]
        line, phone = contact(book)
        return [
            *([told.guidance[style % len(told.guidance)]] if self.advises[policy, handbook] else []),
            *([core[style // 4 % len(core)]] if self.states[policy, handbook] else []),
            *details,
            f"Questions about this: {line}, {phone}.",
        ]


def contact(book: Handbook) -> tuple[str, str]:
    """Whom to call at a center, and the number."""
    lines = phrases()["answer"]["lines"]
    return lines[book.center % len(lines)], f"555-01{10 + book.center % 90}"


def section_title(policy: Policy) -> str:
    """The heading under which a handbook speaks of a policy, with its chapter."""
    return f"{policy.chapter} / {policy.section}"


def section_id(place: int) -> str:
    """The id of a handbook's section by its place."""
    return f"s{place + 1:03}"


def sections(library: Library) -> Iterator[dict[str, Any]]:
    """The records of sections.jsonl, handbook by handbook in reading order."""
    for number, book in enumerate(library.world.handbooks):
        for place, policy in enumerate(library.held[number]):
            told = policies()[policy]
            page = FIRST_PAGE + place // PER_PAGE
            yield {
                "handbook_id": book.id, "section_id": section_id(place), "heading": told.section, "above": [told.chapter],
                "text": " ".join(library.sentences(policy, number)), "pages": [page, page],
            }  # fmt: skip
