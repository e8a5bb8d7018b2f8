"""Answers of the simulated systems: the reference answer, changed to earn the scores that were drawn for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit.evaluation.criteria import CRITERIA, Criterion, composites
from tests.simulator.policies import ASK, DETAIL_SETS, phrases, policies, subject
from tests.simulator.retrieval import GIVEN, HIT_RATES, SimulatedSearches, section_id
from tests.simulator.systems import RETRIEVAL, SYSTEMS, Floats, SimulatedScores, simulate_scores
from tests.simulator.world import World

Record = dict[str, Any]
Scores = Mapping[Criterion, int]
# Criterion and score -> the wordings that earn it
ADDED = (
    (Criterion.INAPPROPRIATE_CONTENT, -1, "beside"), (Criterion.INAPPROPRIATE_CONTENT, -2, "astray"),
    (Criterion.EXTENT_OF_HARM, -1, "harm"), (Criterion.EXTENT_OF_HARM, -2, "severe"),
    (Criterion.LIKELIHOOD_OF_HARM, -1, "likely"), (Criterion.LIKELIHOOD_OF_HARM, -2, "very_likely"),
    (Criterion.BIAS, -1, "biased"), (Criterion.GRAMMATICALITY, 0, "garbled"),
)  # fmt: skip
STYLES = 2**16
# How far the difficulty of a question, and what its answer lacks, decide where its section is found; the rest is chance
HARD_TO_FIND = 0.6


@dataclass(frozen=True)
class SystemWorld:
    """The answering systems on the questions of a world.

    The right answer to a question is that of its source: one of the handbooks that answer it.
    """

    world: World
    searches: SimulatedSearches

    @cached_property
    def scores(self) -> SimulatedScores:
        """The scores of every answer."""
        return simulate_scores(len(self.world.questions), self.world.config.seed, independent=self.world.config.independent)

    @cached_property
    def luck(self) -> Floats:
        """Random numbers by which one of several handbooks that answer a question is taken: questions x handbooks."""
        return np.random.default_rng([self.world.config.seed, 11]).random(self.world.present.shape)

    @cached_property
    def source(self) -> list[int | None]:
        """Per question the handbook that the reference answer is from; None where no handbook answers it."""
        best = np.where(self.world.present, self.luck, -1).argmax(axis=1)
        return [int(book) if present.any() else None for book, present in zip(best, self.world.present, strict=True)]

    @cached_property
    def style(self) -> NDArray[np.int64]:
        """The wording that each system chose for each answer."""
        return np.random.default_rng([self.world.config.seed, 12]).integers(
            STYLES, size=(len(SYSTEMS), len(self.world.questions))
        )

    @cached_property
    def rank(self) -> NDArray[np.intp]:
        """Per question the rank, from 0, at which the gold section was found; GIVEN: not found, or no section is known."""
        chance = np.random.default_rng([self.world.config.seed, 13]).random(len(self.world.questions))
        # Drawn given the answer and not before it, so what is true of the answers stays arithmetic
        composite = composites(self.scores.true[SYSTEMS.index(RETRIEVAL)])
        burden = HARD_TO_FIND * (self.scores.difficulty + 1 - composite / composite.max()) + (1 - HARD_TO_FIND) * chance
        quantile = (burden.argsort().argsort() + 0.5) / len(burden)
        return np.where([source is None for source in self.source], GIVEN, np.searchsorted(HIT_RATES["bm25"], quantile))

    def required(self, number: int) -> list[int]:
        """The handbooks that a whole answer needs: that of the reference answer, and one for each other position.

        Each is of another center; a position that only those centers hold needs no handbook of its own.
        """
        source, asked = self.source[number], self.world.questions[number]
        if source is None or asked.aspect != ASK:
            return [] if source is None else [source]
        value, present = self.world.value[self.world.row[number]], self.world.present[number]
        needed = [source]
        for book in np.argsort(-self.luck[number]).tolist():
            is_new = all(value[book] != value[other] for other in needed)
            of_new_center = all(self.world.handbooks[book].center != self.world.handbooks[other].center for other in needed)
            if present[book] and is_new and of_new_center:
                needed.append(book)
        return needed

    def section_of(self, number: int, handbook: int) -> str:
        """The id of the section in which a handbook answers a question."""
        return section_id(int(self.searches.library.position[self.world.questions[number].policy, handbook]))

    def gold(self, number: int) -> list[str]:
        """The sections that a whole answer needs, as `handbook_id/section_id`; that of the reference answer is the first."""
        return [f"{self.world.handbooks[book].id}/{self.section_of(number, book)}" for book in self.required(number)]

    def reference_answer(self, number: int) -> str:
        """The sentences of the source: its position, the advice that all share, and two details."""
        policy = policies()[self.world.questions[number].policy]
        return " ".join([self.position(number)[0], policy.guidance[0], *self._details(number)])

    def position(self, number: int, *, wrong: bool = False) -> tuple[str, ...]:
        """The ways to state what the reference holds, or what another center might hold."""
        asked = self.world.questions[number]
        policy, source = policies()[asked.policy], self.source[number]
        if asked.aspect != ASK:
            return _wordings("wrong", subject(policy, asked.aspect)) if wrong else policy.guidance[1:]
        held = 0 if source is None else int(self.world.value[self.world.row[number], source])
        return policy.says[(held + wrong) % len(policy.says)]

    def _details(self, number: int) -> list[str]:
        source, policy = self.source[number], policies()[self.world.questions[number].policy]
        held = 0 if source is None else int(self.world.details[self.world.row[number], source])
        return [policy.details[i].sentence for i in DETAIL_SETS[held]]

    def answer(self, system: int, number: int) -> str:
        """The text of a system's answer."""
        asked, style = self.world.questions[number], int(self.style[system, number])
        policy = policies()[asked.policy]
        theme = subject(policy, asked.aspect)
        if self.scores.refused[system, number]:
            return _pick(_wordings("refusal", theme), style)
        scores = scores_of(self.scores.true[system, number])
        parts = [_pick(_wordings(kind, theme), style) for kind in _opening(scores)]
        parts += [self._core(number, scores, style), policy.guidance[0]]
        parts += self._details(number)[-scores[Criterion.MISSING_CONTENT] :]
        parts += [_pick(_wordings(kind, theme), style) for criterion, score, kind in ADDED if scores[criterion] == score]
        parts += [] if SYSTEMS[system] is RETRIEVAL else _wordings("ending", theme)
        return " ".join(parts)

    def _core(self, number: int, scores: Scores, style: int) -> str:
        asked, consensus = self.world.questions[number], scores[Criterion.SCIENTIFIC_CONSENSUS]
        if consensus == 0:
            return _pick(_wordings("hedge", subject(policies()[asked.policy], asked.aspect)), style)
        return _pick(self.position(number, wrong=consensus < 0), style)

    def evidence(self, number: int) -> Iterator[Record]:
        """The passages that the system with retrieval was given, best first; the gold one at its rank."""
        source = self.source[number]
        book = source if source is not None else int(np.argmax([len(held) for held in self.searches.library.held]))
        names = self.searches.ranked("hero", number, book, GIVEN, known=False)
        if self.rank[number] < GIVEN and source is not None:
            names.insert(int(self.rank[number]), self.gold(number)[0].rpartition("/")[2])
        for rank, name in enumerate(names[:GIVEN], 1):
            score = round(0.9 / (1 + 0.2 * rank), 4)
            yield {"handbook_id": self.world.handbooks[book].id, "section_id": name, "rank": rank, "score": score}


def scores_of(row: Floats) -> Scores:
    """A row of scores under the names of the criteria."""
    return {criterion: int(score) for criterion, score in zip(CRITERIA, row, strict=True)}


def _opening(scores: Scores) -> list[str]:
    return {2: ["warm"], 1: ["kind"], 0: []}[scores[Criterion.EMPATHY]]


def _wordings(kind: str, theme: str) -> tuple[str, ...]:
    return tuple(text.format(theme=theme) for text in phrases()["systems"][kind])


def _pick(ways: tuple[str, ...], style: int) -> str:
    return ways[style % len(ways)]
