"""How often the 95 % intervals of R_div hold the true rate, and how wide they are, on simulated samples.

    python -m benchmarks.coverage [--samples N] [--worlds NAME ...] [--handbooks N ...] [--questions N ...] [--total RATED]
    python -m benchmarks.coverage --every [--samples N]

Populations have kinds of questions and kinds of handbooks, each equally common, so that their true rate is known exactly; a
sample draws questions and handbooks at random. Printed for each population and size: the share of intervals that hold the true
rate, the mean half-width, and its ratio to the oracle's, 1.96 standard deviations of the rate over the same samples. The samples
of a cell are the same in every run.

With --total a judge errs on the pairs of each sample, raters label RATED pairs of each of its labels, and three intervals are
asked for the true rate elsewhere: that of the judge's rate, that of the corrected rate of these pairs, and the total one.

With --every: each statistic that has an interval, in worlds of its own (`benchmarks.intervals`).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import combinations, product

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import expit, logit

from annotation.prevalence.estimates import corrected_disagreement, total_interval
from annotation.ratings.table import Ratings, ratings_from
from audit.stats.intervals import Ints, Z
from audit.stats.pair_table import COUPLE_BASE, DISAGREEING, PRESCREENED, PRESENT, RATES, Pairs, rate_intervals
from audit.vocabulary import Label

Table = npt.NDArray[np.float64]
HANDBOOKS, QUESTIONS = (9, 20, 40, 100), (3, 10, 60, 330)
SEED = 19


@dataclass(frozen=True)
class Population:
    """Kinds of questions and kinds of handbooks, each equally common.

    answers   questions' kinds x handbooks' kinds: chance that such a handbook addresses such a question
    dissent   the same shape: how prone such a handbook is to disagree on such a question
    policies  False: two handbooks disagree by the chance d_a + d_b of each pair of answers, one by one.
              True: each handbook follows the less common of two policies with chance d, and two handbooks disagree when
              their policies differ, so what one handbook says about one question affects all its pairs there.
    """

    answers: Table
    dissent: Table
    policies: bool = False

    def rates(self, kind: int | None = None) -> dict[str, float]:
        """The true r_abs and r_div on a question drawn at random: of two handbooks at random, or one of a kind and another."""
        one = slice(None) if kind is None else [kind]
        present = self.answers[:, one, None] * self.answers[:, None, :]
        differ = self._differ(self.dissent[:, one, None], self.dissent[:, None, :])
        return {"r_abs": 1 - present.mean(), "r_div": (present * differ).sum() / present.sum()}

    def sample(self, questions: int, handbooks: int, rng: np.random.Generator, kinds: Ints | None = None) -> Pairs:
        """All pairs of so many questions and handbooks, both drawn at random; `kinds`: those of the handbooks, where known."""
        q = rng.integers(self.answers.shape[0], size=(questions, 1))
        h = rng.integers(self.answers.shape[1], size=(1, handbooks)) if kinds is None else kinds[None]
        addressed = rng.random((questions, handbooks)) < self.answers[q, h]
        dissent = self.dissent[q, h]
        if self.policies:
            dissent = (rng.random(dissent.shape) < dissent).astype(float)
        a, b = np.array(list(combinations(range(handbooks), 2))).T
        differ = rng.random((questions, len(a))) < self._differ(dissent[:, a], dissent[:, b])
        label = np.where(differ, Label.DIVERGENT.code, Label.CONSISTENT.code)
        outcome = np.where(addressed[:, a] & addressed[:, b], label, PRESCREENED).astype(np.uint8)
        return Pairs(np.repeat(np.arange(questions), len(a)), np.tile(a * COUPLE_BASE + b, questions), outcome.ravel())

    def _differ(self, p: Table, q: Table) -> Table:
        return p * (1 - q) + q * (1 - p) if self.policies else p + q


HALF = np.full((2, 2), 0.5)
WORLDS = {
    "question effect": Population(HALF, np.array([[0.01, 0.01], [0.25, 0.25]])),
    "handbook effect": Population(HALF, np.array([[0.01, 0.25], [0.01, 0.25]])),
    "both effects": Population(np.array([[0.3, 0.6], [0.7, 0.95]]), np.array([[0.02, 0.1], [0.1, 0.3]])),
    "policies": Population(HALF, np.full((2, 2), 0.1), policies=True),
    "policies, effects": Population(HALF, np.array([[0.05, 0.1], [0.1, 0.4]]), policies=True),
    "rare event": Population(np.array([[0.3, 0.6], [0.6, 0.9]]), np.array([[0.0002, 0.0005], [0.001, 0.005]]), policies=True),
    "hardly any event": Population(HALF, np.full((2, 2), 0.00008), policies=True),
}


@dataclass(frozen=True)
class Coverage:
    """What the intervals of one cell did.

    covered      share of samples whose interval holds the true rate; an unknown interval counts as a miss
    half_width   mean over samples
    oracle       1.96 standard deviations of the rate over the samples
    unseen       share of samples without an event
    """

    covered: float
    half_width: float
    oracle: float
    unseen: float


def coverage(population: Population, questions: int, handbooks: int, samples: int) -> Coverage:
    """Draws samples with a fixed seed and takes the interval of R_div of each; samples without a present pair are left out."""
    rng, true = np.random.default_rng([SEED, questions, handbooks]), population.rates()["r_div"]
    drawn = [_rate(population.sample(questions, handbooks, rng)) for _ in range(samples)]
    share, low, high = np.array([row for row in drawn if not np.isnan(row[0])]).T
    return Coverage(
        covered=float(np.mean((low <= true) & (true <= high))),
        half_width=float(np.nanmean((high - low) / 2)),
        oracle=float(Z * share.std()),
        unseen=float(np.mean(share == 0)),
    )


def _rate(pairs: Pairs) -> tuple[float, float, float]:
    event, present = (np.isin(pairs.outcome, list(kind)).sum() for kind in (DISAGREEING, PRESENT))
    if not present:
        return np.nan, np.nan, np.nan
    low, high = rate_intervals(pairs, np.ones((1, len(pairs.questions)), dtype=np.float32), {"r_div": RATES["r_div"]})["r_div"]
    return event / present, float(low[0]), float(high[0])


FALSE_ALARMS, MISSED = 0.10, 0.25
"""The errors of the judge of `total_coverage`: shares of the agreements and of the disagreements."""


@dataclass(frozen=True)
class TotalCoverage:
    """Shares of samples in which an interval holds the true rate of other questions and handbooks; `half_width` of the total one.

    judge, corrected, covered  the interval of the judge's rate, that of the corrected rate of these pairs, and both together
    oracle                     1.96 standard deviations of the corrected rate over the samples
    """

    judge: float
    corrected: float
    covered: float
    half_width: float
    oracle: float


def total_coverage(population: Population, questions: int, handbooks: int, per_label: int, samples: int) -> TotalCoverage:
    """Draws samples with a fixed seed, has a judge err on their pairs, and has raters label `per_label` pairs of each label."""
    rng, true = np.random.default_rng([SEED, questions, handbooks, per_label]), population.rates()["r_div"]
    held, widths, rates = [], [], []
    for _ in range(samples):
        judged, ratings = _judged_and_rated(population.sample(questions, handbooks, rng), per_label, rng)
        rate, (_, low, high) = corrected_disagreement(ratings), _rate(judged)
        intervals = (low, high), (rate.low, rate.high), total_interval(rate, (np.array(low), np.array(high)))
        held.append([ends[0] <= true <= ends[1] for ends in intervals])
        widths.append((intervals[-1][1] - intervals[-1][0]) / 2)
        rates.append(rate.value)
    judge, corrected, total = np.mean(held, axis=0).tolist()
    return TotalCoverage(judge, corrected, total, float(np.nanmean(widths)), float(Z * np.nanstd(rates)))


def _judged_and_rated(
    pairs: Pairs, per_label: int, rng: np.random.Generator, clustered: float = 0.0, harder: npt.ArrayLike = 0.0
) -> tuple[Pairs, Ratings]:
    """The pairs with a judge's labels instead of the true ones, and the true labels of some of each of its labels.

    clustered  standard deviation, on the logit scale, of how much oftener the judge errs on a question, and with a handbook; the
               shares of its errors over all questions and handbooks stay about the same
    harder     how much oftener it errs on each pair, on the same scale
    """
    present, true = pairs.outcome != PRESCREENED, pairs.outcome == Label.DIVERGENT.code
    chance = np.where(true, 1 - MISSED, FALSE_ALARMS)
    harder = np.broadcast_to(np.asarray(harder, dtype=float), true.shape)
    if clustered:
        on_question, with_handbook = (
            rng.normal(0, clustered, int(code.max()) + 1) for code in (pairs.question, pairs.couple % COUPLE_BASE)
        )
        first, second = pairs.couple // COUPLE_BASE, pairs.couple % COUPLE_BASE
        harder = harder + on_question[pairs.question] + with_handbook[first] + with_handbook[second]
    chance = expit(logit(chance) + np.where(true, -harder, harder))
    called = rng.random(len(true)) < chance
    names = {label.code: label.value for label in (Label.CONSISTENT, Label.DIVERGENT)}
    judged = np.where(present, np.where(called, Label.DIVERGENT.code, Label.CONSISTENT.code), PRESCREENED).astype(np.uint8)
    rows: list[dict[str, object]] = []
    for code, name in names.items():
        own = np.flatnonzero(judged == code)
        chosen = rng.choice(own, min(per_label, len(own)), replace=False)
        right = [names[Label.DIVERGENT.code if true[row] else Label.CONSISTENT.code] for row in chosen]
        rows += [
            {"item_id": f"i{row}", "annotator_a": label, "annotator_b": label, "judge": name,
             "design_weight": len(own) / len(chosen)}
            for row, label in zip(chosen, right, strict=True)
        ]  # fmt: skip
    return replace(pairs, outcome=judged), ratings_from(pd.DataFrame(rows))


def _print_total(cells: Iterable[tuple[str, int, int]], samples: int, per_label: int) -> None:
    heads = f"{'handbooks':>10}{'questions':>10}{'judge':>8}{'corrected':>10}{'total':>8}{'half-width':>11}{'/ oracle':>9}"
    print(f"{'population':<18}{'true':>8}{heads}")
    for world, handbooks, questions in cells:
        found = total_coverage(WORLDS[world], questions, handbooks, per_label, samples)
        print(
            f"{world:<18}{WORLDS[world].rates()['r_div']:>8.4f}{handbooks:>10}{questions:>10}{found.judge:>8.3f}"
            f"{found.corrected:>10.3f}{found.covered:>8.3f}{found.half_width:>11.4f}{found.half_width / found.oracle:>9.2f}",
            flush=True,
        )


def _cells(arguments: argparse.Namespace) -> Iterator[tuple[str, int, int]]:
    yield from product(arguments.worlds, arguments.handbooks, arguments.questions)


def _print(cells: Iterable[tuple[str, int, int]], samples: int) -> None:
    heads = f"{'handbooks':>10}{'questions':>10}{'covered':>9}{'half-width':>11}{'/ oracle':>9}{'no event':>9}"
    print(f"{'population':<18}{'true':>8}{heads}")
    for world, handbooks, questions in cells:
        # Large cells cost as much as hundreds of small ones.
        affordable = max(min(samples, int(samples * 3e5 / (questions * handbooks**2))), 100)
        found = coverage(WORLDS[world], questions, handbooks, affordable)
        ratio = found.half_width / found.oracle if found.oracle else np.nan
        print(
            f"{world:<18}{WORLDS[world].rates()['r_div']:>8.4f}{handbooks:>10}{questions:>10}{found.covered:>9.3f}"
            f"{found.half_width:>11.4f}{ratio:>9.2f}{found.unseen:>9.2f}",
            flush=True,
        )


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1000, help="for each cell; fewer, at least 100, for large ones")
    parser.add_argument("--worlds", nargs="+", choices=WORLDS, default=list(WORLDS))
    parser.add_argument("--handbooks", type=int, nargs="+", default=list(HANDBOOKS))
    parser.add_argument("--questions", type=int, nargs="+", default=list(QUESTIONS))
    parser.add_argument("--total", type=int, metavar="RATED", help="the total interval of the rate, with so many ratings a label")
    parser.add_argument("--every", action="store_true", help="every statistic with an interval instead of R_div alone")
    arguments = parser.parse_args()
    if arguments.every:
        # It takes worlds from here
        for line in import_module("benchmarks.intervals").report(arguments.samples):
            print(line, flush=True)
    elif arguments.total:
        _print_total(_cells(arguments), arguments.samples, arguments.total)
    else:
        _print(_cells(arguments), arguments.samples)


if __name__ == "__main__":
    main()
