"""Simulated worlds whose truth is known, one for each kind of interval of audit: a sample in, (truth, low, high) out.

A world takes a generator, draws one sample, asks the product's own function for its intervals, and yields each with the truth
that it should hold. `benchmarks.intervals` lists which exported figures each of them stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd

from audit.evaluation.preferences import bradley_terry, side_effect
from audit.metrics.judge import _rho
from audit.metrics.likely_disputed import QuestionEvidence, _interval, _sampling_se, _slopes
from audit.stats.bootstrap import draws
from audit.stats.case_mix import case_mix
from audit.stats.clustered import clustered_ratio_interval, group_counts, ratio_interval, share_changes
from audit.stats.intervals import Floats, wilson
from audit.stats.latent_positions import JudgeErrors, partitions, share_disputed
from audit.stats.means import mean_change, mean_interval
from audit.stats.measured_errors import ASSUMED_ERRORS, SECOND, MeasuredErrors, errors_by_two_readings
from audit.stats.misclassification import ErrorCounts, effective_trials, true_share
from audit.stats.pair_table import EACH_QUESTION, RATES, one_group, rate_intervals, side_rate_intervals
from audit.stats.paired import (
    PairedShare,
    change_columns,
    clustered_kappa_interval,
    cohen_kappa,
    correlation_interval,
    marked_change_columns,
    pearson,
    spearman,
)
from audit.stats.partial_pooling import pooled_rates
from audit.stats.prediction_powered import corrected_mean
from benchmarks.coverage import WORLDS, Population

Held = Iterator[tuple[float, float, float]]
"""The truth with the low and the high end of an interval that should hold it."""
World = Callable[[np.random.Generator], Held]
SHOWN = {name: RATES[name] for name in ("r_abs", "r_div")}


def rates(world: str, rng: np.random.Generator, *, questions: int = 60, handbooks: int = 12) -> Held:
    """R_abs and R_div of other questions and other handbooks."""
    population = WORLDS[world]
    pairs = population.sample(questions, handbooks, rng)
    found = rate_intervals(pairs, one_group(pairs), SHOWN)
    yield from ((true, *(float(end[0]) for end in found[name])) for name, true in population.rates().items())


def rates_of_one_side(world: str, rng: np.random.Generator) -> Held:
    """R_div of the first handbook, itself fixed, on other questions and with others."""
    population, handbooks = WORLDS[world], 12
    kinds = rng.integers(population.answers.shape[1], size=handbooks)
    pairs = population.sample(60, handbooks, rng, kinds)
    low, high = side_rate_intervals(pairs, np.arange(handbooks), handbooks, SHOWN)["all"]["r_div"]
    yield population.rates(kinds[0])["r_div"], float(low[0]), float(high[0])


def rates_of_one_question(world: str, rng: np.random.Generator) -> Held:
    """R_div of one question put to other handbooks."""
    whole = WORLDS[world]
    kind = rng.integers(len(whole.answers))
    population = Population(whole.answers[[kind]], whole.dissent[[kind]], whole.policies)
    pairs = population.sample(1, 20, rng)
    low, high = rate_intervals(pairs, EACH_QUESTION, SHOWN)["r_div"]
    yield population.rates()["r_div"], float(low[0]), float(high[0])


def _by_question(rng: np.random.Generator, a: float, b: float, questions: int) -> tuple[Floats, Floats, Floats]:
    """The chance of an event on each question, and trials and events there."""
    chance, trials = rng.beta(a, b, questions), rng.integers(1, 13, questions)
    return chance, trials.astype(float), rng.binomial(trials, chance).astype(float)


def shares(rng: np.random.Generator, *, a: float, b: float, questions: int) -> Held:
    """A share of events that cluster by question."""
    _, trials, events = _by_question(rng, a, b, questions)
    low, high = clustered_ratio_interval(events[None], trials[None])
    yield a / (a + b), float(low[0]), float(high[0])


def scores(rng: np.random.Generator, *, questions: int) -> Held:
    """A mean of values between 0 and 1, several a question."""
    count = rng.integers(1, 6, questions)
    sums = np.array([rng.beta(8, 2, n).sum() for n in count])
    low, high = clustered_ratio_interval(sums[None], count[None].astype(float), events=False)
    yield 0.8, float(low[0]), float(high[0])


def independent_shares(rng: np.random.Generator, *, share: float, trials: int) -> Held:
    """A share of questions, each of which counts once."""
    low, high = wilson(rng.binomial(trials, share), trials)
    yield share, float(low), float(high)


def pooled_errors(rng: np.random.Generator, *, spread: float, groups: int = 6) -> Held:
    """Rates of groups of unlike size, each drawn towards all of them."""
    rate = np.full(groups, 0.15) if not spread else rng.beta(0.15 / spread, 0.85 / spread, groups)
    trials = rng.integers(6, 60, groups)
    found = pooled_rates(rng.binomial(trials, rate), trials)
    yield from zip(rate.tolist(), found.low.tolist(), found.high.tolist(), strict=True)


def theme_shares(rng: np.random.Generator, *, questions: int = 40, handbooks: int = 10) -> Held:
    """The share of disagreements that belong to each of three themes; a question has its own mixture."""
    mix, prone = rng.dirichlet([2.0, 1.0, 0.5], questions), rng.beta(1, 3, questions)
    a, b = np.array(list(combinations(range(handbooks), 2))).T
    question = np.repeat(np.arange(questions), len(a))
    differs = rng.random(len(question)) < prone[question]
    theme = (rng.random((len(question), 1)) > mix[question].cumsum(axis=1)).sum(axis=1)
    table = {"question": question, "handbook_a": np.tile(a, questions), "handbook_b": np.tile(b, questions)}
    counts = group_counts(pd.DataFrame(table), theme, 3, differs, of_all=True)
    yield from zip(np.array([2, 1, 0.5]) / 3.5, *ratio_interval(counts, 0, 1), strict=True)


def theme_changes(rng: np.random.Generator, *, questions: int = 40, handbooks: int = 10) -> Held:
    """The change of each theme's share between two runs that differ by chance only."""
    mix, prone = rng.dirichlet([2.0, 1.0, 0.5], questions), rng.beta(1, 3, questions)
    a, b = np.array(list(combinations(range(handbooks), 2))).T
    question = np.repeat(np.arange(questions), len(a))
    runs = []
    for run in (1, 2):
        theme = (rng.random((len(question), 1)) > mix[question].cumsum(axis=1)).sum(axis=1)
        sides = {"handbook_a": np.tile(a, questions), "handbook_b": np.tile(b, questions)}
        table = pd.DataFrame({"run": run, "question": question, **sides, "theme": theme})
        runs.append(table[rng.random(len(question)) < prone[question]])
    pairs = pd.concat(runs, ignore_index=True)
    (low, high), _ = share_changes(pairs, pairs["theme"].to_numpy(), 3)
    yield from ((0.0, *ends) for ends in zip(low, high, strict=True))


def means(rng: np.random.Generator, *, questions: int, skewed: bool) -> Held:
    """A mean over questions: of scores that are mostly the highest, or of lengths."""
    if skewed:
        levels, chances = np.array([10.0, 7.0, 3.0]), [0.75, 0.2, 0.05]
        values, true = rng.choice(levels, questions, p=chances), float(levels @ chances)
    else:
        values, true = rng.gamma(4, 20, questions), 80.0
    yield true, *mean_interval(values)[1:]


def mean_changes(rng: np.random.Generator, *, questions: int) -> Held:
    """A mean of paired differences, of which most are none."""
    change = mean_change(rng.choice([-1.0, 0, 1], questions, p=[0.1, 0.6, 0.3]))
    yield 0.2, change["change_low"], change["change_high"]


def share_differences(rng: np.random.Generator, *, questions: int) -> Held:
    """The change of a share of pairs between two runs on the same questions."""
    chance, trials, events = _by_question(rng, 2, 8, questions)
    again = rng.binomial(trials.astype(int), 0.7 * chance).astype(float)
    first, second = PairedShare(events[None], trials[None]), PairedShare(again[None], trials[None])
    found = change_columns("change", first, second, draws(questions, stream=0))
    yield -0.3 * 0.2, float(found["change_low"][0]), float(found["change_high"][0])


def marked_differences(rng: np.random.Generator, *, questions: int) -> Held:
    """The change of a share of questions that are marked or not in either run."""
    before = rng.random(questions) < 0.4
    after = np.where(before, rng.random(questions) < 0.8, rng.random(questions) < 0.1)
    asked = np.ones((1, questions))
    first, second = PairedShare(before[None].astype(float), asked), PairedShare(after[None].astype(float), asked)
    found = marked_change_columns("change", first, second)
    yield 0.6 * 0.1 - 0.4 * 0.2, float(found["change_low"][0]), float(found["change_high"][0])


def correlations(rng: np.random.Generator, *, units: int) -> Held:
    """Pearson's and Spearman's coefficients of two normal values."""
    x, y = rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], units).T
    yield 0.5, *correlation_interval(pearson, x, y)[1:]
    yield 6 / np.pi * np.arcsin(0.25), *correlation_interval(spearman, x, y)[1:]


def rank_effects(rng: np.random.Generator, *, questions: int = 40, pairs: int = 20) -> Held:
    """The correlation of the rank of a length with disagreement, within questions, where there is none."""
    rank = 1 + rng.permutation(questions * pairs)
    question = np.repeat(np.arange(questions), pairs)
    differs = rng.random(len(rank)) < rng.beta(1, 3, questions)[question]
    table = pd.DataFrame({"question": question, "r": rank, "d": differs, "rd": rank * differs, "rr": rank**2})
    sums = table.groupby("question").agg(pairs=("r", "size"), disagreeing=("d", "sum"), rank_sum=("r", "sum"),
        rank_squares=("rr", "sum"), rank_sum_disagreeing=("rd", "sum")).reset_index()  # fmt: skip
    found = _rho(sums.assign(least=0.0, most=1.0, consistent=0))
    yield 0.0, float(str(found["value_low"])), float(str(found["value_high"]))


def kappas(rng: np.random.Generator, *, questions: int) -> Held:
    """Kappa of two verdicts on several pairs of each question; questions are of two kinds."""
    kinds, same = np.array([[0.7, 0.2, 0.1], [0.2, 0.3, 0.5]]), 0.6
    tables = [same * np.diag(kind) + (1 - same) * np.outer(kind, kind) for kind in kinds]
    kind = rng.integers(2, size=questions)
    counts = np.array([rng.multinomial(10, tables[one].ravel()).reshape(3, 3) for one in kind], dtype=float)
    for ordered in (False, True):
        yield (
            float(cohen_kappa(1e9 * np.mean(tables, axis=0), ordered=ordered)),
            *clustered_kappa_interval(counts, ordered=ordered),
        )


def ratios(rng: np.random.Generator, *, spread: float, part: str, groups: int = 15, questions: int = 80) -> Held:
    """Observed over expected of handbooks that differ by a gamma distributed ratio; its drawn ratio; its rank."""
    true = rng.gamma(1 / spread**2, spread**2, groups) if spread else np.ones(groups)
    trials = rng.integers(0, 9, (groups, questions)).astype(float)
    chance = np.clip(rng.beta(1, 6, questions) * true[:, None], 0, 0.95)
    events = rng.binomial(trials.astype(int), chance).astype(float)
    found = case_mix(events, trials, events.sum(axis=0), trials.sum(axis=0))
    against = true / true.mean()
    truth = pd.Series(-true).rank().to_numpy() if part == "rank_interval" else against
    yield from zip(truth, *getattr(found, part), strict=True)


def _comparisons(rng: np.random.Generator, questions: int) -> pd.DataFrame:
    """Three systems compared on each question, side and order at random."""
    rows = []
    for question in range(questions):
        for a, b in combinations(range(3), 2):
            first = rng.random() < 1 / (1 + np.exp(STRENGTHS[b] - STRENGTHS[a]))
            rows.append((question, f"s{a}", f"s{b}", "A" if first else "B", rng.choice(["A", "B"])))
    return pd.DataFrame(rows, columns=["question", "system_a", "system_b", "preference", "shown_first"])


STRENGTHS = np.array([0.6, 0.0, -0.6])


def strengths_of(rng: np.random.Generator, *, questions: int) -> Held:
    """Strengths of three systems."""
    found = bradley_terry(_comparisons(rng, questions), ["s0", "s1", "s2"])
    yield from zip(STRENGTHS, found["strength_low"], found["strength_high"], strict=True)


def side_effects(rng: np.random.Generator, *, questions: int) -> Held:
    """How often the side shown first is preferred, apart from whose it is, where it does not matter."""
    found = side_effect(_comparisons(rng, questions), "shown_first")
    yield 0.5, found.adjusted_low, found.adjusted_high
    yield 0.5, found.share_low, found.share_high


def means_by_both(rng: np.random.Generator, *, rated: int, units: int = 200) -> Held:
    """A mean over questions that a judge scored all of and people some; and people's alone."""
    people = rng.beta(4, 2, units)
    judge = np.clip(people + rng.normal(0.1, 0.15, units), 0, 1)
    seen = np.where(np.arange(units) < rated, people, np.nan)
    found = corrected_mean(judge, seen)
    yield 2 / 3, found.low, found.high
    yield 2 / 3, found.people_low, found.people_high


def silences(rng: np.random.Generator, *, questions: int = 80) -> Held:
    """The share of silence behind a search that misses answers and finds something in silences."""
    missed, found, silent = 0.08, 0.15, rng.beta(2, 3, questions)
    asked = rng.integers(3, 13, questions).astype(float)
    said = rng.binomial(asked.astype(int), silent * (1 - found) + (1 - silent) * missed).astype(float)
    ends = clustered_ratio_interval(said[None], asked[None])
    errors = ErrorCounts(rng.binomial(150, missed), 150, rng.binomial(80, found), 80)
    share = np.array([said.sum() / asked.sum()])
    estimate = true_share(share, effective_trials(share, ends, np.array([questions])), errors)
    yield 0.4, float(estimate.low[0]), float(estimate.high[0])


def disputed_questions(
    rng: np.random.Generator, *, questions: int = 60, handbooks: int = 6, false: float = 0.05, read_twice: bool = False
) -> Held:
    """The share of questions on which handbooks take two positions, by the labels of a judge with two rates of errors.

    read_twice  the rate of false alarms is not known: another judge with the usual rates reads all disagreements and 200 others
    """
    share, errors = 0.35, JudgeErrors(false, 0.15)
    matrices: list[npt.NDArray[np.floating]] = []
    differs_of: list[npt.NDArray[np.bool_]] = []
    for _ in range(questions):
        position = rng.permutation(np.arange(handbooks) < rng.integers(1, handbooks)) * (rng.random() < share)
        differs = position[:, None] != position[None, :]
        called = np.triu(rng.random(differs.shape) < np.where(differs, 1 - errors.missed, errors.false), 1).astype(float)
        called += called.T
        np.fill_diagonal(called, np.nan)
        matrices.append(called)
        differs_of.append(differs)
    measured = _read_twice(rng, differs_of, matrices) if read_twice else MeasuredErrors(errors, 0.0, 0.0, 100)
    found = [partitions(measured.errors.evidence(one)) for one in matrices]
    evidence = QuestionEvidence(list(range(questions)), [np.arange(handbooks)] * questions, found, matrices)
    estimate = share_disputed(evidence.log_odds)
    yield share, *_interval(estimate, _sampling_se(evidence.log_odds, estimate), *_slopes(evidence, measured))


def _read_twice(rng: np.random.Generator, differs: Sequence[np.ndarray], called: Sequence[np.ndarray]) -> MeasuredErrors:
    """The judge's errors as another one shows them that errs as often as is assumed, independently."""
    a, b = np.triu_indices(len(called[0]), 1)
    apart, first = (np.array(each)[:, a, b].ravel() for each in (differs, called))
    again = rng.random(len(apart)) < np.where(apart, 1 - ASSUMED_ERRORS.missed, ASSUMED_ERRORS.false)
    drawn = np.concatenate([np.flatnonzero(first == 1), rng.permutation(np.flatnonzero(first == 0))[:200]])
    read = np.zeros((2, 2))
    np.add.at(read, (first[drawn].astype(int), again[drawn].astype(int)), 1)
    facts = (len(called[0]) - 1) / len(a)
    return errors_by_two_readings(np.bincount(first.astype(int), minlength=2).astype(float), read, facts, SECOND)
