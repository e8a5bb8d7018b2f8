"""The plan of a study's sample, and the number of items from each stratum."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from annotation.agreement.comparisons import imagined_labels
from annotation.label_store.engine import StudyError
from annotation.prevalence.estimates import DISAGREES, ROWS, append_disagreement, disagreement_rate
from annotation.prevalence.planning import expected_half_width, neyman, rate_spread
from annotation.ratings.design import PRESCREENED, UNSCORED, Floats, SampleDesign
from annotation.studies import first_in_line
from annotation.studies.registration import Registration
from audit.formatting import fixed
from audit.stats.intervals import wilson
from audit.vocabulary import DISAGREEING, LABELS, Label

ITEMS_PER_LABEL = 40
MAX_STUDY_ITEMS = 5_000
"""Above this, draw only on request: at five minutes an item, 5,000 items are ten weeks of work for each of two people."""
# The column of the seed is a 32-bit integer in PostgreSQL.
MAX_CALIBRATION_ITEMS, MAX_SEED = 1_000, 2**31 - 1
MAX_MASKED_WORDS = 500
MAX_STATEMENTS = 20
CHECKED_ABSENT = 6
"""Pre-screened pairs that are rated where a study is designed for a figure, to check that they are absent."""
LEAST_PER_LABEL = 4
MOST_FIRST = 0.5
"""Above this share the other strata would tell too little."""
R_DIV, KAPPA = "r_div", "kappa"
DESIGNS = {
    R_DIV: "rate of disagreement among pairs in which both answers address the question (R_div)",
    DISAGREES: "share of disagreeing pairs in the run",
    **{label.value: f"share of {label.lower()} pairs in the run" for label in LABELS},
    KAPPA: "kappa of the sample (each label of the judge equally often)",
}
"""What a study of pairs can be designed for."""
StratumKey = tuple[str, str | None]
"""(label, second criterion)."""
SECOND_CRITERIA = ("organ",)
"""Allowed second criteria: each question has exactly one value of such a property."""


@dataclass(frozen=True)
class Plan:
    """The plan of a sample, common to all schemes.

    calibration  items of the calibration round, spread over the strata, separate from the study and not counted
    repeats      study items that are silently shown again, for intra-rater agreement
    names_shown  whether annotators see whose an answer is; if not, names, contacts and credits are also masked in the answers
    masked_words names that are masked besides those of the run
    phrases_masked whether phrases that only one handbook's answers have are masked too, and names of bodies above them
    statements   how many sentences of each answer are shown in place of it, those that bear most on the question and the other
                 answer; 0: whole answers
    registration what is laid down before the study opens, if anything; sealed with the sample
    """

    seed: int = 1
    calibration: int = 15
    repeats: int = 10
    names_shown: bool = False
    masked_words: tuple[str, ...] = ()
    phrases_masked: bool = False
    statements: int = 0
    registration: Registration | None = None


@dataclass(frozen=True)
class SamplePlan(Plan):
    """The plan of a sample of pairs of a run.

    per_label  study items per label of the judge; a stratum with fewer pairs is used in full
    second     None, or `organ`: each label's items are then spread over the organs in proportion to their pairs, with at
               least two from each organ that has any
    after      ids of earlier studies of the same run, whose pairs are left out; together with theirs, the items are again a
               random sample of each stratum, so a study can be made larger by another one
    design_for what the ratings are to tell most precisely, a key of DESIGNS: `items` study items are then divided over the
               labels by it instead of `per_label`, and pre-screened pairs are a stratum of their own; "": as `per_label` says
    first_in_line  which share of these items is at most given to pairs that there is a reason to doubt, in [0, 0.5]
               (`annotation.studies.first_in_line`); the other strata have the fewer items
    """

    per_label: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(map(str, LABELS), ITEMS_PER_LABEL))
    second: str | None = None
    after: tuple[str, ...] = ()
    design_for: str = ""
    items: int = 0
    first_in_line: float = 0.0

    @property
    def total(self) -> int:
        """The study items that are asked for."""
        return self.items if self.design_for else sum(self.per_label.values())

    def without(self, items: int) -> SamplePlan:
        """The plan of what is left after so many items."""
        left = max(self.total - items, 0)
        per_label = {label: round(n * left / self.total) for label, n in self.per_label.items()} if self.total else {}
        return replace(self, items=left, per_label=per_label) if items else self


@dataclass(frozen=True)
class StratumPlan:
    """One stratum before the draw: its population, and how many study and calibration items come from it.

    left_out  pairs of it that are not drawn from, because earlier studies have them
    """

    label: str
    second: str | None
    population: int
    study: int
    calibration: int
    left_out: int = 0

    @property
    def available(self) -> int:
        """Pairs that can be drawn."""
        return self.population - self.left_out

    @property
    def name(self) -> str:
        """The label, or `label/second`."""
        return self.label if self.second is None else f"{self.label}/{self.second}"


def check_plan(plan: SamplePlan) -> None:
    """Raise StudyError where a plan is not possible, with everything that is wrong."""
    unknown = [label for label in plan.per_label if label not in LABELS]
    checks = {
        f"'{', '.join(unknown)}' is not a label (allowed: {', '.join(LABELS)})": bool(unknown),
        f"'{plan.second}' is not a second criterion (allowed: {', '.join(SECOND_CRITERIA)})": plan.second
        not in (None, *SECOND_CRITERIA),
    }
    designed = {
        f"'{plan.design_for}' is not a figure to design a study for (allowed: {', '.join(DESIGNS)})": plan.design_for
        not in DESIGNS,
        "a study that is designed for a figure has no second criterion": plan.second is not None,
    }
    checks |= designed if plan.design_for else {}
    checks[f"at most {MOST_FIRST:.0%} of the items can be first in line"] = not 0 <= plan.first_in_line <= MOST_FIRST
    check_counts(plan, [plan.items] if plan.design_for else list(plan.per_label.values()), checks)


def check_counts(plan: Plan, items: Sequence[int], faults_found: Mapping[str, bool]) -> None:
    """Raise StudyError where a number of a plan is not possible, or another fault was found.

    items         how many are requested, by whatever the plan counts them
    faults_found  fault -> whether it applies
    """
    unusable = next((name for name in plan.masked_words if sum(map(str.isalnum, name)) < 2), "")
    checks = {
        **faults_found,
        **(plan.registration.faults() if plan.registration else {}),
        "a count is below 0": min([plan.calibration, plan.repeats, plan.seed, *items]) < 0,
        f"the calibration round has more than {MAX_CALIBRATION_ITEMS:,} items": plan.calibration > MAX_CALIBRATION_ITEMS,
        f"the seed is above {MAX_SEED:,}": plan.seed > MAX_SEED,
        "no items are requested": sum(items) == 0,
        f"{MAX_STATEMENTS} statements of an answer can be shown at most": not 0 <= plan.statements <= MAX_STATEMENTS,
        "where raters see whose an answer is, nothing is masked or chosen": plan.names_shown
        and (plan.phrases_masked or plan.statements > 0),
        f"more than {MAX_MASKED_WORDS} names to mask are listed": len(plan.masked_words) > MAX_MASKED_WORDS,
        f"'{unusable}' cannot be masked, because it has fewer than two letters or digits": bool(unusable),
    }
    faults = [fault for fault, failed in checks.items() if failed]
    if faults:
        raise StudyError(f"This sample cannot be drawn: {'; '.join(faults)}. Nothing was drawn.")


def check_size(items: int, max_items: int | None) -> None:
    """Raise StudyError for more study items than `max_items`; None: no limit."""
    if max_items is not None and items > max_items:
        raise StudyError(
            f"This sample has {items:,} study items, each to be read by two people; more than {max_items:,} need confirmation. "
            "Nothing was drawn. Request fewer, or confirm the number (in a terminal: --yes)."
        )


def allocate_items(
    population: Mapping[StratumKey, int], plan: SamplePlan, left_out: Mapping[StratumKey, int] | None = None
) -> list[StratumPlan]:
    """How many items come from each stratum, in label order, then by name; `left_out` are its pairs in earlier studies.

    Strata from which nothing is drawn are listed too: no figure covers them, and a report has to say so.
    """
    gone = left_out or {}
    ahead = {key: size - gone.get(key, 0) for key, size in population.items() if key[1] in first_in_line.NAMES}
    given = share_out(ahead, int(plan.first_in_line * plan.total))
    rest, left = {key: size for key, size in population.items() if key not in ahead}, plan.without(sum(given.values()))
    strata = _designed(rest, left, gone) if plan.design_for else _by_label(rest, left, gone)
    strata += [StratumPlan(*key, population[key], n, 0, gone.get(key, 0)) for key, n in given.items()]
    return _with_calibration(strata, plan.calibration)


def share_out(free: Mapping[StratumKey, int], items: int) -> dict[StratumKey, int]:
    """How many of `items` go to each stratum of pairs to read first; `free` has the pairs that can be drawn from each.

    Reason by reason each stratum is drawn in full, until `items` are given away; then in proportion. Two at least come from each,
    or its pairs would be in no figure.
    """
    order, names = [*map(str, LABELS), UNSCORED], first_in_line.NAMES
    given: dict[StratumKey, int] = {}
    for place, name in enumerate(names):
        keys = sorted((key for key in free if key[1] == name), key=lambda key: order.index(key[0]))
        kept = sum(min(2, free[key]) for key in free if key[1] in names[place + 1 :])
        wanted = max(items - sum(given.values()) - kept, 2 * len(keys))
        given |= dict(zip(keys, apportion(wanted, [free[key] for key in keys]), strict=True))
    return given


def _by_label(population: Mapping[StratumKey, int], plan: SamplePlan, left_out: Mapping[StratumKey, int]) -> list[StratumPlan]:
    strata = []
    for label in LABELS:
        sizes = {second: count for (stratum_label, second), count in population.items() if stratum_label == label}
        gone = [left_out.get((label.value, second), 0) for second in sizes]
        study = apportion(plan.per_label.get(label, 0), [size - n for size, n in zip(sizes.values(), gone, strict=True)])
        strata += [
            StratumPlan(label.value, second, size, n, 0, own)
            for (second, size), n, own in zip(sizes.items(), study, gone, strict=True)
        ]
    return strata


def _designed(population: Mapping[StratumKey, int], plan: SamplePlan, left_out: Mapping[StratumKey, int]) -> list[StratumPlan]:
    """The strata of a study that is designed for a figure: the judge's labels, and the pre-screened pairs as a check."""
    order = [label.value for label in LABELS]
    keys = sorted(population, key=lambda key: (order.index(key[0]), key[1] or ""))
    free = {key: population[key] - left_out.get(key, 0) for key in keys}
    study = {key: min(CHECKED_ABSENT, plan.items, free[key]) for key in keys if key[1] == PRESCREENED}
    judged = [key for key in keys if key not in study]
    pairs = np.array([free[key] for key in judged], dtype=float)
    spread = _spread(plan.design_for, [label for label, _ in judged], pairs)
    study |= dict(zip(judged, neyman(spread, pairs, plan.items - sum(study.values()), LEAST_PER_LABEL).astype(int), strict=True))
    return [StratumPlan(*key, population[key], int(study[key]), 0, left_out.get(key, 0)) for key in keys]


def _spread(figure: str, labels: Sequence[str], pairs: Floats) -> Floats:
    """How much items with each of these labels by the judge scatter around the figure, if raters confirm AGREEMENT of them.

    Where they do not, they are taken to choose a label half as often with every step away from the judge's.
    """
    away = imagined_labels(len(LABELS)) * (1 - np.eye(len(LABELS)))
    confirmed = np.where(np.arange(len(LABELS)) == Label.ABSENT.code, CONFIRMED_ABSENT, AGREEMENT)
    chance = (np.diag(confirmed) + away / away.sum(axis=0) * (1 - confirmed)).T[[Label(judged).code for judged in labels]]
    if figure == KAPPA:  # of the sample itself, for which the labels count alike
        return np.asarray(1 / np.maximum(pairs, 1.0))
    if figure == R_DIV:
        return rate_spread(chance[:, [label.code for label in DISAGREEING]].sum(axis=1), chance[:, Label.ABSENT.code], pairs)
    share = append_disagreement(chance)[:, ROWS.index(figure)]
    return np.asarray(np.sqrt(share * (1 - share)))


def apportion(wanted: int, sizes: Sequence[int], least: int = 2) -> list[int]:
    """`wanted` items over strata of these sizes: in proportion, at least `least` from each, never more than it has.

    A variance inside a stratum needs two items, so `wanted` is exceeded where there are many small strata. Remaining items go
    to the largest remainders.
    """
    if wanted == 0 or len(sizes) < 2 or not any(sizes):
        return [min(wanted, size) for size in sizes]
    total = sum(sizes)
    exact = [min(wanted, total) * size / total for size in sizes]
    # The sum of the floors may exceed the number wanted, because each stratum gets at least two.
    allocated = [min(size, max(least, math.floor(share))) for size, share in zip(sizes, exact, strict=True)]
    for index in sorted(range(len(sizes)), key=lambda i: math.floor(exact[i]) - exact[i]):
        if sum(allocated) < min(wanted, total) and allocated[index] < sizes[index]:
            allocated[index] += 1
    return allocated


def _with_calibration(strata: Sequence[StratumPlan], wanted: int) -> list[StratumPlan]:
    """Allocate calibration items label by label, one at a time, from the pairs that the study does not use."""
    dealt = [0] * len(strata)
    while sum(dealt) < wanted:
        judged = (i for i, stratum in enumerate(strata) if stratum.label in LABELS)
        available = [i for i in judged if strata[i].study + dealt[i] < strata[i].available]
        if not available:
            break
        per_label = {label: sum(n for n, s in zip(dealt, strata, strict=True) if s.label == label) for label in LABELS}
        dealt[min(available, key=lambda i: (per_label[Label(strata[i].label)], dealt[i], i))] += 1
    return [replace(stratum, calibration=n) for stratum, n in zip(strata, dealt, strict=True)]


# -- How precise a study of this size will be, before anything is rated --------------------------------------


CONFIRMED_ABSENT = 0.98
"""Assumed: people confirm ABSENT almost always, because most of these pairs have an answer that says nothing."""
AGREEMENT = 0.8


@dataclass(frozen=True)
class ExpectedPrecision:
    """The expected precision of a sample.

    items       study items
    agreement   ends of the 95 % Wilson interval of an agreement of 80 % on these items
    half_width  of the 95 % interval of the figure; NaN where a stratum has no item
    figure      R_DIV, or another for which the share of disagreeing pairs in the run is stated
    """

    items: int
    agreement: tuple[float, float]
    half_width: float
    figure: str = ""

    def sentence(self, confirmed: float) -> str:
        """The expectation and what it assumes, in words."""
        if not self.items:
            return "No items are requested."
        low, high = (fixed(100 * end, 0) for end in self.agreement)
        agreement = (
            f"{self.items:,} items: an agreement of {_percent(AGREEMENT)} would have a 95 % interval of {low} to {high} %."
        )
        if np.isnan(self.half_width):
            return f"{agreement} A label of the judge has no item, so the {EXPECTED[self.figure == R_DIV]} would stay unknown."
        return (
            f"{agreement} The corrected {EXPECTED[self.figure == R_DIV]} is expected within "
            f"±{fixed(100 * self.half_width, 1)} points, if annotators confirm {_percent(confirmed)} of the judge's labels "
            f"({_percent(CONFIRMED_ABSENT)} of its ABSENT ones) and choose the other labels equally often."
        )


EXPECTED = (
    "share of disagreement in the whole run",
    "rate of disagreement among pairs in which both answers address the question",
)


def expected_precision(strata: Sequence[StratumPlan], confirmed: float, figure: str = "") -> ExpectedPrecision:
    """The precision that a sample is expected to have.

    strata     of pairs, as `allocate_items` gives them; those without a pair are left out
    confirmed  assumed share of the judge's labels that people confirm, in [0, 1]; the rest is spread evenly over the other labels
    figure     R_DIV where that is what the study is designed for; else the share of disagreeing pairs in the run is expected
    """
    items = sum(stratum.study for stratum in strata)
    # Pre-screened pairs that are a stratum of their own are a check, and taken as absent
    own = [stratum for stratum in strata if stratum.population and stratum.second != PRESCREENED]
    known = sum(stratum.population for stratum in strata if stratum.second == PRESCREENED)
    n = max(items, 1)
    low, high = (float(end) for end in wilson(AGREEMENT * n, n))
    if not items or any(stratum.study == 0 for stratum in own):
        return ExpectedPrecision(items, (low, high), float("nan"), figure)
    # By label alone, as the corrected shares are estimated where an organ divides the labels
    keys = list(dict.fromkeys(map(_put_together, own)))
    labels = [label for label, _ in keys]
    share = np.array([_called(label, confirmed, DISAGREEING) for label in labels])
    rated, pairs = (
        np.array([sum(getattr(s, name) for s in own if _put_together(s) == key) for key in keys], dtype=float)
        for name in ("study", "population")
    )
    if figure == R_DIV:  # pairs that are known to be absent are in neither part of it
        absent = np.array([_called(label, confirmed, (Label.ABSENT,)) for label in labels])
        design = SampleDesign(tuple("/".join(filter(None, key)) for key in keys), pairs, np.array([], dtype=np.intp))
        _, *ends = disagreement_rate(share * rated, absent * rated, rated, design)
        return ExpectedPrecision(items, (low, high), (ends[1] - ends[0]) / 2, figure)
    judged_share = float(pairs.sum() / (pairs.sum() + known))
    return ExpectedPrecision(items, (low, high), expected_half_width(share, rated, pairs) * judged_share, figure)


def _put_together(stratum: StratumPlan) -> StratumKey:
    return stratum.label, stratum.second if stratum.second in first_in_line.NAMES else None


def with_earlier(strata: Sequence[StratumPlan], earlier: Mapping[str, int]) -> list[StratumPlan]:
    """The strata with the items that earlier studies have of each label, in the first stratum of the label."""
    left = dict(earlier)
    return [replace(stratum, study=stratum.study + left.pop(stratum.label, 0)) for stratum in strata]


def _percent(share: float) -> str:
    return f"{fixed(100 * share, 0)} %"


def _called(judged: str, confirmed: float, labels: Sequence[Label]) -> float:
    """The share of the pairs with this label by the judge that people are assumed to give one of `labels`."""
    if judged == UNSCORED:
        return len(labels) / len(Label)
    confirmed = max(confirmed, CONFIRMED_ABSENT) if judged == Label.ABSENT else confirmed
    other = (1 - confirmed) / (len(Label) - 1)
    return (confirmed if judged in labels else 0.0) + sum(label != judged for label in labels) * other
