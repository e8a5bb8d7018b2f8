"""The truth of a simulated corpus: who answers what, who holds which value, and the true relation of every pair."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from audit.demo.policies import DETAIL_SETS, policies
from audit.demo.questions import ASK, Question, draw_questions
from audit.demo.roster import Handbook, draw_handbooks
from audit.demo.shape import WorldConfig
from audit.vocabulary import GENERAL, Label, Phase

Codes = NDArray[np.int8]

KINDRED = ({"kidney", "pancreas", "liver"}, {"heart", "lung"})
"""Abdominal and thoracic organs: their programs work together, so one's handbook often speaks to the other's patients."""
NEVER = -99.0
"""Effect of a policy on a handbook of an organ that it does not concern: a heart handbook is silent on kidney biopsies."""
USUAL_SPLIT = (0.7, 0.3)
"""How the centers that leave the commonest value share the second and the third."""


@dataclass(frozen=True)
class World:
    """A simulated corpus. Rows are policies (in an independent world, questions); H handbooks, Q questions.

    present  bool (Q, H): the handbook answers the question
    row      int (Q,): the row of each question in `value` and `details`
    value    int8 (rows, H): place of the value that a handbook holds in its policy's `values`
    details  int8 (rows, H): place in DETAIL_SETS of the couple of details it gives
    """

    config: WorldConfig
    handbooks: tuple[Handbook, ...]
    questions: tuple[Question, ...]
    present: NDArray[np.bool_]
    row: NDArray[np.intp]
    value: Codes
    details: Codes

    @cached_property
    def pairs(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Places of the first and the second handbook of each of the H(H-1)/2 pairs, in release order."""
        first, second = np.triu_indices(len(self.handbooks), k=1)
        return first, second

    def relation(self, question: int) -> Codes:
        """True label codes (int8, one a pair) of a question's pairs.

        ABSENT when a handbook is silent; otherwise, where the question turns on the value, DIVERGENT for different
        values and CONTRADICTORY for opposite stances; otherwise CONSISTENT for the same details, else COMPLEMENTARY.
        """
        first, second = self.pairs
        asked, row = self.questions[question], self.row[question]
        same = self.details[row, first] == self.details[row, second]
        codes = np.where(same, Label.CONSISTENT.code, Label.COMPLEMENTARY.code).astype(np.int8)
        if asked.aspect == ASK:
            apart = Label.DIVERGENT if asked.contested else Label.CONTRADICTORY
            codes[self.value[row, first] != self.value[row, second]] = apart.code
        codes[~(self.present[question, first] & self.present[question, second])] = Label.ABSENT.code
        return codes


def draw_world(config: WorldConfig) -> World:
    """Draw the corpus of a config (102 handbooks and 1,115 questions in about 50 ms)."""
    rng = np.random.default_rng(config.seed)
    handbooks, questions = draw_handbooks(config, rng), draw_questions(config, rng)
    row = np.arange(len(questions)) if config.independent else np.array([q.policy for q in questions], dtype=np.intp)
    n_rows = len(questions) if config.independent else len(policies())
    kinds = [q.policy for q in questions] if config.independent else list(range(n_rows))
    value, details = _draw_pages(config, handbooks, kinds, rng)
    present = _draw_present(config, handbooks, questions, row, n_rows, rng)
    return World(config, handbooks, questions, present, row, value, details)


def _even(config: WorldConfig, rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """`n` numbers in (0, 1): evenly spread and shuffled, or drawn by chance in an independent world."""
    return rng.uniform(0, 1, n) if config.independent else (rng.permutation(n) + 0.5) / n


def _draw_pages(
    config: WorldConfig, handbooks: tuple[Handbook, ...], kinds: list[int], rng: np.random.Generator
) -> tuple[Codes, Codes]:
    """Values and details per row and handbook: a center's page, unless the program wrote its own."""
    n_centers = max(book.center for book in handbooks) + 1
    center = np.array([book.center for book in handbooks])
    weight = np.bincount(center, minlength=n_centers) / len(handbooks)
    split = _even(config, rng, len(kinds))
    of_center = np.stack([_center_values(config, kind, weight, u, rng) for kind, u in zip(kinds, split, strict=True)])
    details_of_center = rng.integers(len(DETAIL_SETS), size=of_center.shape, dtype=np.int8)
    value, details = of_center[:, center], details_of_center[:, center]
    _write_own_pages(config, handbooks, of_center, value, details, rng)
    _dissent(config, kinds, value, rng)
    return value, details


def _center_values(config: WorldConfig, policy: int, weight: NDArray[np.float64], u: float, rng: np.random.Generator) -> Codes:
    """The value each center holds for a policy; a stance policy starts from the usual advice everywhere."""
    if policies()[policy].kind == "stance":
        return np.zeros(len(weight), dtype=np.int8)
    variety = config.variety
    other = variety.least + (variety.most - variety.least) * u**variety.bend
    edges = np.cumsum([1 - other, other * USUAL_SPLIT[0]])
    order = rng.permutation(len(weight))
    at = np.empty(len(weight))
    at[order] = np.cumsum(weight[order]) - weight[order] / 2
    if config.independent:
        at = rng.uniform(0, 1, len(weight))
    return rng.permutation(3).astype(np.int8)[np.searchsorted(edges, at)]


def _write_own_pages(
    config: WorldConfig, handbooks: tuple[Handbook, ...], of_center: Codes, value: Codes, details: Codes, rng: np.random.Generator
) -> None:
    programs = sorted({(book.center, book.organ) for book in handbooks})
    program = np.array([programs.index((book.center, book.organ)) for book in handbooks])
    own = rng.random((len(value), len(programs))) < config.variety.own_page
    copied = rng.integers(of_center.shape[1], size=own.shape)
    details_own = rng.integers(len(DETAIL_SETS), size=own.shape, dtype=np.int8)
    own_value = np.take_along_axis(of_center, copied, axis=1)
    value[own[:, program]] = own_value[:, program][own[:, program]]
    details[own[:, program]] = details_own[:, program][own[:, program]]


def _dissent(config: WorldConfig, kinds: list[int], value: Codes, rng: np.random.Generator) -> None:
    """Let a fixed share of handbooks give the opposite advice on stance policies."""
    stances = np.array([i for i, k in enumerate(kinds) if policies()[k].kind == "stance"], dtype=np.intp)
    cells = len(stances) * value.shape[1]
    chosen = rng.choice(cells, size=round(cells * config.variety.dissent), replace=False)
    value[stances[chosen // value.shape[1]], chosen % value.shape[1]] = 1


def _draw_present(
    config: WorldConfig,
    handbooks: tuple[Handbook, ...],
    questions: tuple[Question, ...],
    row: NDArray[np.intp],
    n_rows: int,
    rng: np.random.Generator,
) -> NDArray[np.bool_]:
    """Who answers: the probit model of `Coverage`."""
    own = config.coverage.policy_share
    shape = (len(questions), len(handbooks))
    chance = np.sqrt(own) * rng.standard_normal((n_rows, shape[1]))[row] + np.sqrt(1 - own) * rng.standard_normal(shape)
    ease = _ease(config, questions, rng)
    breadth = _breadth(config, len(handbooks), rng)
    present: NDArray[np.bool_] = ease[:, None] + breadth[None, :] + _match(config, handbooks, questions) + chance > 0
    return present


def _ease(config: WorldConfig, questions: tuple[Question, ...], rng: np.random.Generator) -> NDArray[np.float64]:
    """Question effects, spread alike over the contested and the other questions of an organ."""
    u, coverage = np.empty(len(questions)), config.coverage
    groups = [(q.organ, q.contested) for q in questions]
    for group in dict.fromkeys(groups):
        members = [i for i, other in enumerate(groups) if other == group]
        u[members] = _even(config, rng, len(members))
    general = np.array([q.organ == GENERAL for q in questions])
    middle = np.where(general, coverage.general_ease, coverage.organ_ease)
    return np.asarray(middle + np.where(general, coverage.general_spread, coverage.organ_spread) * _bell(u))


def _bell(u: NDArray[np.float64]) -> NDArray[np.float64]:
    """Unit-variance logistic quantiles: close to normal ones, and written without a special function."""
    return np.asarray(np.log(u / (1 - u)) * (np.sqrt(3) / np.pi))


def _breadth(config: WorldConfig, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Handbook effects: Student-t quantiles (2 degrees of freedom), so a few are leaflets and a few are tomes."""
    u = _even(config, rng, n)
    t = (2 * u - 1) / np.sqrt(2 * u * (1 - u))
    return np.where(t < 0, config.coverage.thin, config.coverage.thorough) * t


def _match(config: WorldConfig, handbooks: tuple[Handbook, ...], questions: tuple[Question, ...]) -> NDArray[np.float64]:
    """Effects of organ and phase, worked out once for every kind of question."""
    kinds = {(q.organ, policies()[q.policy].organs, policies()[q.policy].phase): None for q in questions}
    effects = np.array([[_effect(config, kind, book) for book in handbooks] for kind in kinds])
    place = {kind: i for i, kind in enumerate(kinds)}
    return np.asarray(effects[[place[q.organ, policies()[q.policy].organs, policies()[q.policy].phase] for q in questions]])


def _effect(config: WorldConfig, kind: tuple[str, tuple[str, ...], str], book: Handbook) -> float:
    asked, organs, phase = kind
    if organs and book.organ not in organs:
        return NEVER
    coverage = config.coverage
    match = 0.0 if book.phase in (phase, Phase.COMBINED) else coverage.other_phase
    if asked in (GENERAL, book.organ):
        return match
    kindred = any({asked, book.organ} <= family for family in KINDRED)
    return match + (coverage.kindred_organ if kindred else coverage.other_organ)
