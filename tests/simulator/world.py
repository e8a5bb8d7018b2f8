"""The ground truth of a simulated corpus: handbooks, the questions they answer, their values, and every pair's relation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from audit.vocabulary import GENERAL, Label, Phase, concerns
from tests.simulator.config import WorldConfig, scaled
from tests.simulator.policies import ASK, DETAIL_SETS, SimulatedQuestion, draw_questions, policies

# Fictional centers, all named after woody plants.
CENTERS = (
    "Alder", "Birch", "Blackthorn", "Catalpa", "Dogwood", "Hawthorn", "Hazel", "Hornbeam", "Juniper", "Larch", "Linden", "Medlar",
    "Mulberry", "Osier", "Quince", "Rowan", "Sassafras", "Spruce", "Sumac", "Tamarack", "Whitebeam", "Wintergreen", "Yew",
)  # fmt: skip

# Share of the pre handbooks whose program also has a post handbook.
COUPLED_SHARE = 0.81


@dataclass(frozen=True)
class Handbook:
    """One fictional handbook."""

    organ: str
    center: int
    phase: str

    @property
    def center_name(self) -> str:
        """The fictional center's name; numbered where a world has more centers than there are names."""
        lap, index = divmod(self.center, len(CENTERS))
        return CENTERS[index] + (str(lap + 1) if lap else "")

    @property
    def id(self) -> str:
        """Organ, center and phase, joined by underscores."""
        return f"{self.organ}_{self.center_name.lower()}_{self.phase}"


def draw_handbooks(config: WorldConfig, rng: np.random.Generator) -> tuple[Handbook, ...]:
    """The handbooks of a config, sorted by organ (as in the config), center and phase.

    A program is a center's work for one organ. Some programs have a pre and a post handbook, the others a single one.
    """
    if config.independent:
        organs = [organ for organ, count in config.handbooks.items() for _ in range(count)]
        return tuple(Handbook(organ, center, Phase.COMBINED) for center, organ in enumerate(organs))
    pre, post, combined = config.phases
    couples = int(min(pre, post) * COUPLED_SHARE)
    singles = [Phase.PRE] * (pre - couples) + [Phase.POST] * (post - couples) + [Phase.COMBINED] * combined
    # Shuffled, so phases are not tied to organs.
    rng.shuffle(singles)
    return _fill(config, scaled(tuple(config.handbooks.values()), couples), singles, rng)


def _fill(config: WorldConfig, couples: tuple[int, ...], singles: list[Phase], rng: np.random.Generator) -> tuple[Handbook, ...]:
    # Centers are dealt from one shuffled ring, so every center gets a program before any gets many.
    ring = rng.permutation(config.n_centers).tolist()
    handbooks: list[Handbook] = []
    dealt = 0
    for (organ, count), pairs in zip(config.handbooks.items(), couples, strict=True):
        programs = [(Phase.PRE, Phase.POST)] * pairs + [(singles.pop(),) for _ in range(count - 2 * pairs)]
        centers = [ring[(dealt + i) % len(ring)] for i in range(len(programs))]
        dealt += len(programs)
        dealt_out = sorted(zip(centers, programs, strict=True))
        handbooks += [Handbook(organ, center, phase.value) for center, phases in dealt_out for phase in phases]
    return tuple(handbooks)


Codes = NDArray[np.int8]

# Abdominal and thoracic organs: their programs work together, so a handbook of one often addresses patients of the other.
KINDRED = ({"kidney", "pancreas", "liver"}, {"heart", "lung"})
# Effect of a policy on a handbook of an organ that it does not concern: a heart handbook never addresses kidney biopsies.
NEVER = -99.0
# How the centers that leave the commonest value share the second and the third.
USUAL_SPLIT = (0.7, 0.3)


@dataclass(frozen=True)
class World:
    """A simulated corpus. Rows are policies (in an independent world, questions); H handbooks, Q questions.

    present  bool (Q, H): the handbook answers the question; only where it is `asked`
    row      int (Q,): the row of each question in `value` and `details`
    value    int8 (rows, H): index into its policy's `values` of the value that a handbook states
    details  int8 (rows, H): index into DETAIL_SETS of the two details that it gives
    """

    config: WorldConfig
    handbooks: tuple[Handbook, ...]
    questions: tuple[SimulatedQuestion, ...]
    present: NDArray[np.bool_]
    row: NDArray[np.intp]
    value: Codes
    details: Codes

    @cached_property
    def asked(self) -> NDArray[np.bool_]:
        """Bool (Q, H): the question is put to the handbook. Elsewhere there is no answer, not an absent one."""
        return _asked(self.config, self.handbooks, self.questions)

    @cached_property
    def pairs(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Indices of the first and the second handbook of each of the H(H-1)/2 pairs, in release order."""
        first, second = np.triu_indices(len(self.handbooks), k=1)
        return first, second

    def relation(self, question: int) -> Codes:
        """True label codes (int8, one a pair) of a question's pairs.

        ABSENT when a handbook does not address the question; otherwise, where it turns on the value, DIVERGENT for different
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
    # The order of the draws is part of the seed: a new draw belongs at the end, or every demo release changes.
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
    # Evenly spread and not drawn: a small release would otherwise stray far from the published shares.
    split = _even(config, rng, len(kinds))
    of_center = np.stack([_center_values(config, kind, weight, u, rng) for kind, u in zip(kinds, split, strict=True)])
    details_of_center = rng.integers(len(DETAIL_SETS), size=of_center.shape, dtype=np.int8)
    value, details = of_center[:, center], details_of_center[:, center]
    _write_own_pages(config, handbooks, of_center, value, details, rng)
    _dissent(config, kinds, value, rng)
    return value, details


def _center_values(config: WorldConfig, policy: int, weight: NDArray[np.float64], u: float, rng: np.random.Generator) -> Codes:
    """The value of each center for a policy; a stance policy starts from the usual advice everywhere."""
    if policies()[policy].kind == "stance":
        # Who gives the opposite advice is drawn later, by handbook and not by center: see `_dissent`.
        return np.zeros(len(weight), dtype=np.int8)
    variety = config.variety
    other = variety.min_other + (variety.max_other - variety.min_other) * u**variety.bend
    edges = np.cumsum([1 - other, other * USUAL_SPLIT[0]])
    order = rng.permutation(len(weight))
    at = np.empty(len(weight))
    at[order] = np.cumsum(weight[order]) - weight[order] / 2
    if config.independent:
        # Quotas would make one center's value depend on the others'.
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
    # A fixed number: at so low a rate chance alone would often give none.
    chosen = rng.choice(cells, size=round(cells * config.variety.dissent), replace=False)
    value[stances[chosen // value.shape[1]], chosen % value.shape[1]] = 1


def _draw_present(
    config: WorldConfig,
    handbooks: tuple[Handbook, ...],
    questions: tuple[SimulatedQuestion, ...],
    row: NDArray[np.intp],
    n_rows: int,
    rng: np.random.Generator,
) -> NDArray[np.bool_]:
    """Which handbook answers which question: the probit model of `Coverage`."""
    own = config.coverage.policy_share
    shape = (len(questions), len(handbooks))
    # Two parts with variances that add up to 1, as the probit model has it.
    chance = np.sqrt(own) * rng.standard_normal((n_rows, shape[1]))[row] + np.sqrt(1 - own) * rng.standard_normal(shape)
    ease = _ease(config, questions, rng)
    breadth = _breadth(config, len(handbooks), rng)
    present: NDArray[np.bool_] = ease[:, None] + breadth[None, :] + _match(config, handbooks, questions) + chance > 0
    return present & _asked(config, handbooks, questions)


def _asked(config: WorldConfig, handbooks: tuple[Handbook, ...], questions: tuple[SimulatedQuestion, ...]) -> NDArray[np.bool_]:
    if config.asked == "all":
        return np.ones((len(questions), len(handbooks)), dtype=bool)
    return np.array([[concerns(question.organ, book.organ) for book in handbooks] for question in questions])


def _ease(config: WorldConfig, questions: tuple[SimulatedQuestion, ...], rng: np.random.Generator) -> NDArray[np.float64]:
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
    # Logistic quantiles of unit variance: close to normal ones, and written without a special function.
    return np.asarray(np.log(u / (1 - u)) * (np.sqrt(3) / np.pi))


def _breadth(config: WorldConfig, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Handbook effects: Student-t quantiles (2 degrees of freedom), so a few are leaflets and a few are tomes."""
    u = _even(config, rng, n)
    t = (2 * u - 1) / np.sqrt(2 * u * (1 - u))
    return np.where(t < 0, config.coverage.narrow, config.coverage.broad) * t


def _match(config: WorldConfig, handbooks: tuple[Handbook, ...], questions: tuple[SimulatedQuestion, ...]) -> NDArray[np.float64]:
    """Effects of organ and phase, worked out once for every kind of question."""
    kinds = {(q.organ, policies()[q.policy].organs, policies()[q.policy].phase): None for q in questions}
    effects = np.array([[_effect(config, kind, book) for book in handbooks] for kind in kinds])
    row_of = {kind: i for i, kind in enumerate(kinds)}
    return np.asarray(effects[[row_of[q.organ, policies()[q.policy].organs, policies()[q.policy].phase] for q in questions]])


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
