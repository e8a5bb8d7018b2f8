"""As `benchmarks.interval_worlds`, for figures that come from people's labels: agreement, and shares corrected by them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
from scipy.special import expit

from annotation.agreement.comparisons import StratifiedTable
from annotation.agreement.estimates import estimate_measure, multi_rater_estimates
from annotation.agreement.measures import classifier_measures, label_measures, two_rater_measures
from annotation.agreement.report import Comparator, compare_with_baseline
from annotation.agreement.subgroups import clustered_agreement
from annotation.prevalence.by_group import corrected_by_group
from annotation.prevalence.estimates import (
    DISAGREES,
    ROWS,
    append_disagreement,
    corrected_disagreement,
    corrected_shares,
    prevalence,
    require_design,
    total_interval,
    true_labels,
)
from annotation.prevalence.planning import sample_size_plan
from annotation.prevalence.shared_errors import shared_errors
from annotation.ratings.gold import confirmed_calls, human_labels
from annotation.ratings.table import Ratings, ratings_from
from audit.stats.intervals import Floats
from audit.stats.pair_table import RATES, Pairs, rate_intervals
from audit.stats.spending import spent, width_at
from audit.vocabulary import LABELS, PRESENT_LABELS, Label
from benchmarks.coverage import WORLDS, _judged_and_rated, _rate
from benchmarks.interval_worlds import Held
from benchmarks.kappa_coverage import LABELS as MIXTURES
from benchmarks.kappa_coverage import expected, rater

WORDS = np.array([label.value for label in LABELS])
PAIRS = np.array([600_000, 90_000, 180_000, 60_000, 6_000])
"""Pairs of a run by the judge's label."""
JUDGED = rater(0.85, neighbours=True)
"""Judge's label -> chance of each true label."""
EASILY_MISSED = 0.05
MEASURES = {measure.name: measure for measure in (*two_rater_measures(5), *classifier_measures(5))}


def _labels(rng: np.random.Generator, chances: Floats) -> np.ndarray:
    """One label for each row of chances."""
    return (rng.random((len(chances), 1)) > chances.cumsum(axis=1)[:, :-1]).sum(axis=1)


def agreement(mixture: str, name: str, rng: np.random.Generator, *, items: int = 200, right: float = 0.9) -> Held:
    """A coefficient of two annotators on a sample without strata."""
    table = expected(MIXTURES[mixture], right, neighbours=True)
    cells = rng.multinomial(items, table.ravel()).reshape(5, 5)
    found = estimate_measure(MEASURES[name], StratifiedTable.unweighted(cells))
    yield float(MEASURES[name].formula(1e9 * table)), found.low, found.high


def agreement_while_looked_at(rng: np.random.Generator, *, live: bool) -> Held:
    """Kappa at every tenth rating up to 240: the interval that all looks leave."""
    table = expected((0.6, 0.06, 0.2, 0.13, 0.01), 0.88, neighbours=True)
    drawn = rng.choice(25, size=240, p=table.ravel())
    low, high = -1.0, 1.0
    for items in range(20, 241, 10):
        cells = np.bincount(drawn[:items], minlength=25).reshape(5, 5)
        found = estimate_measure(MEASURES["kappa"], StratifiedTable.unweighted(cells, live=live))
        low, high = max(low, found.low), min(high, found.high)
    yield float(MEASURES["kappa"].formula(1e9 * table)), low, high


def agreement_at_registered_looks(name: str, rng: np.random.Generator) -> Held:
    """A coefficient of 160 items at registered looks and at the end: the interval that all of them leave."""
    table = expected((0.6, 0.06, 0.2, 0.13, 0.01), 0.88, neighbours=True)
    drawn = rng.choice(25, size=160, p=table.ravel())
    low, high, before = -1.0, 1.0, 0.0
    for share in (0.25, 0.5, 0.75, 1.0):
        seen = StratifiedTable.unweighted(np.bincount(drawn[: round(160 * share)], minlength=25).reshape(5, 5))
        found = estimate_measure(MEASURES[name], replace(seen, factor=width_at(spent(share) - before)))
        before = spent(share)
        low, high = max(low, found.low), min(high, found.high)
    yield float(MEASURES[name].formula(1e9 * table)), low, high


def agreement_in_the_run(name: str, rng: np.random.Generator, *, per_label: int = 40) -> Held:
    """A figure of the judge, weighted from a sample by its labels to the run."""
    run = np.zeros((5, 5, 5))
    run[np.arange(5), :, np.arange(5)] = PAIRS[:, None] * JUDGED
    drawn = [rng.multinomial(per_label, (one / one.sum()).ravel()).reshape(5, 5) for one in run]
    rated = np.full(5, float(per_label))
    table = StratifiedTable(np.array(drawn, dtype=float), rated, PAIRS.astype(float), np.eye(5, dtype=bool))
    measures = [MEASURES[name]] if name in MEASURES else [one for one in label_measures(3) if one.name == name]
    for measure in measures:
        found = estimate_measure(measure, table)
        yield float(measure.formula(run.sum(axis=0))), found.low, found.high


def agreement_of_three(rng: np.random.Generator, *, items: int = 120) -> Held:
    """The coefficients of three annotators together."""
    found = {one.name: one for one in multi_rater_estimates(_three(rng, items))}
    yield from ((_true_of_three()[name], one.low, one.high) for name, one in found.items())


@cache
def _true_of_three() -> dict[str, float]:
    return {one.name: one.value for one in multi_rater_estimates(_three(np.random.default_rng(1), 30_000))}


def _three(rng: np.random.Generator, items: int) -> Ratings:
    true = rng.choice(5, items, p=[0.3, 0.2, 0.25, 0.15, 0.1])
    given = {f"annotator_{letter}": WORDS[_labels(rng, rater(0.85, neighbours=True)[true])] for letter in "abc"}
    return ratings_from(pd.DataFrame({"item_id": [f"i{number}" for number in range(items)], **given, "judge": WORDS[true]}))


def agreement_elsewhere(rng: np.random.Generator, *, questions: int = 40, handbooks: int = 25, items: int = 200) -> Held:
    """The judge's accuracy on other questions and handbooks, where its errors depend on both."""
    by_question, by_handbook = rng.normal(0, 0.7, questions), rng.normal(0, 0.7, handbooks)
    question, a = rng.integers(0, questions, items), rng.integers(0, handbooks, items)
    b = (a + rng.integers(1, handbooks, items)) % handbooks
    true = rng.choice(5, items, p=[0.3, 0.2, 0.25, 0.15, 0.1])
    right = rng.random(items) < expit(1.6 + by_question[question] + by_handbook[a] + by_handbook[b])
    judge = np.where(right, true, (true + rng.integers(1, 5, items)) % 5)
    people = {"annotator_a": WORDS[true], "annotator_b": WORDS[true], "judge": WORDS[judge]}
    clusters = {"question_id": question, "handbook_a": a, "handbook_b": b}
    table = pd.DataFrame({"item_id": [f"i{number}" for number in range(items)], **people, **clusters})
    found = clustered_agreement(ratings_from(table), table)
    row = found[(found["figure"] == "accuracy") & (found["who"] == "the majority and the judge")].iloc[0]
    yield _right_elsewhere(), row["clustered_low"], row["clustered_high"]


@cache
def _right_elsewhere() -> float:
    return float(expit(1.6 + np.random.default_rng(2).normal(0, 0.7 * np.sqrt(3), 400_000)).mean())


def better_judge(rng: np.random.Generator, *, items: int = 200) -> Held:
    """How much oftener one judge is right than another."""
    true = rng.choice(5, items)
    judge, other = (_labels(rng, rater(right, neighbours=False)[true]) for right in (0.9, 0.8))
    people = {"annotator_a": WORDS[true], "annotator_b": WORDS[true], "judge": WORDS[judge]}
    ratings = ratings_from(pd.DataFrame({"item_id": [f"i{number}" for number in range(items)], **people}))
    found = compare_with_baseline(ratings, Comparator("other", other))
    row = found[found["name"] == "accuracy"].iloc[0]
    yield 0.1, row["difference_low"], row["difference_high"]


def _study(rng: np.random.Generator, *, per_label: int = 40, raters: int = 2, right: float = 1.0, shared: float = 0.0) -> Ratings:
    """Raters of a sample by the judge's label; `shared`: the share of items whose neighbouring label they all see."""
    judge = np.repeat(np.arange(5), per_label)
    true = _labels(rng, JUDGED[judge])
    seen = _labels(rng, rater(1 - shared, neighbours=True)[true]) if shared else true
    given = {f"annotator_{letter}": WORDS[_labels(rng, rater(right, neighbours=True)[seen])] for letter in "abcd"[:raters]}
    table = {"item_id": [f"i{number}" for number in range(len(judge))], **given, "judge": WORDS[judge]}
    return ratings_from(pd.DataFrame({**table, "design_weight": PAIRS[judge] / per_label}))


def _true_shares() -> Floats:
    """The true share of each label of the run, and of those that disagree."""
    return append_disagreement((PAIRS @ JUDGED / PAIRS.sum())[None])[0]


def corrected(rng: np.random.Generator, *, per_label: int = 40) -> Held:
    """The corrected share of each label, by two raters who are right."""
    ratings = _study(rng, per_label=per_label)
    found = corrected_shares(require_design(ratings), human_labels(ratings))
    yield from zip(_true_shares(), found.low, found.high, strict=True)


def extended(rng: np.random.Generator, *, width: float, pilot: int = 40) -> Held:
    """The corrected share of divergent pairs and R_div, in a study that is planned again and extended until so narrow a share."""
    rated, true = np.full(5, pilot), np.array([rng.multinomial(pilot, chances) for chances in JUDGED])
    while True:
        judge = np.repeat(np.arange(5), rated)
        labels = WORDS[np.concatenate([np.repeat(np.arange(5), each) for each in true])]
        table = {"item_id": [f"i{number}" for number in range(len(judge))], "annotator_a": labels, "annotator_b": labels}
        ratings = ratings_from(pd.DataFrame({**table, "judge": WORDS[judge], "design_weight": (PAIRS / rated)[judge]}))
        more = sample_size_plan(ratings, width, Label.DIVERGENT).set_index("stratum")["more"].reindex(WORDS).to_numpy()
        if not more.any():
            break
        # At most as much again, as the guide to planning says
        more = np.ceil(more * min(1.0, rated.sum() / more.sum())).astype(int)
        true = true + np.array([rng.multinomial(count, chances) for count, chances in zip(more, JUDGED, strict=True)])
        rated = rated + more
    found, rate, shares = (
        corrected_shares(require_design(ratings), human_labels(ratings)),
        corrected_disagreement(ratings),
        _true_shares(),
    )
    yield float(shares[3]), found.low[3], found.high[3]
    yield float(shares[ROWS.index(DISAGREES)] / (1 - shares[Label.ABSENT.code])), rate.low, rate.high


def corrected_by_weighed(rng: np.random.Generator, *, per_label: int = 60) -> Held:
    """The corrected share of each label, by three raters who err, weighed by Dawid and Skene's model."""
    ratings = _study(rng, per_label=per_label, raters=3, right=0.9)
    found = corrected_shares(require_design(ratings), true_labels(ratings).probability)
    yield from zip(_true_shares(), found.low, found.high, strict=True)


def corrected_rate(rng: np.random.Generator, *, per_label: int = 40) -> Held:
    """R_div of the run, corrected."""
    found = corrected_disagreement(_study(rng, per_label=per_label))
    true = _true_shares()
    yield float(true[ROWS.index(DISAGREES)] / (1 - true[Label.ABSENT.code])), found.low, found.high


def rate_elsewhere(world: str, rng: np.random.Generator, *, per_label: int = 40, clustered: float = 0.0) -> Held:
    """R_div of other questions and handbooks, corrected: a judge errs, by chance or oftener on some questions and handbooks."""
    population = WORLDS[world]
    judged, ratings = _judged_and_rated(population.sample(60, 12, rng), per_label, rng, clustered)
    _, low, high = _rate(judged)
    yield population.rates()["r_div"], *total_interval(corrected_disagreement(ratings), (np.array(low), np.array(high)))


def precision(rng: np.random.Generator, *, per_label: int = 40) -> Held:
    """The share of the judge's divergent calls that are right."""
    found = confirmed_calls(_study(rng, per_label=per_label), Label.DIVERGENT).share
    yield float(JUDGED[3, 3]), float(found.low), float(found.high)


def with_shared_errors(rng: np.random.Generator, *, per_label: int = 80) -> Held:
    """The share of disagreement where raters are wrong together on one item in twenty, which is assumed."""
    table = shared_errors(_study(rng, per_label=per_label, shared=EASILY_MISSED)).set_index("wrong")
    row = table.loc[EASILY_MISSED]
    yield float(_true_shares()[-1]), row["value_low"], row["value_high"]


def by_group(rng: np.random.Generator, *, alike: float = 12, groups: int = 6, per_label: int = 40) -> Held:
    """R_div of groups in which the judge errs differently."""
    means = np.array([0.01, 0.04, 0.55, 0.97])
    rates = rng.beta(alike * means, alike * (1 - means), (groups, 4))
    pairs = (rng.dirichlet(np.array([4.0, 29, 6, 1]), groups) * rng.integers(800, 4000, (groups, 1))).astype(int) + 5
    group = np.concatenate([rng.choice(groups, size=per_label, p=own / own.sum()) for own in pairs.T])
    label = np.repeat(np.arange(4), per_label)
    people = np.where(rng.random(len(label)) < rates[group, label], Label.DIVERGENT.value, Label.COMPLEMENTARY.value)
    names, items = np.array([one.value for one in PRESENT_LABELS]), [f"i{number}" for number in range(len(label))]
    table = {"item_id": items, "annotator_a": people, "annotator_b": people, "judge": names[label], "stratum": names[label]}
    counts = [(f"g{g}", name, n) for g, own in enumerate(pairs) for name, n in zip(names, own.tolist(), strict=True)]
    found = corrected_by_group(
        ratings_from(pd.DataFrame(table).assign(design_weight=10.0)),
        pd.DataFrame({"item_id": items, "group": [f"g{g}" for g in group]}),
        pd.DataFrame(counts, columns=["group", "label", "pairs"]),
    )
    truth = (pairs * rates).sum(axis=1) / pairs.sum(axis=1)
    yield from zip(truth, found["corrected_low"], found["corrected_high"], strict=True)


def groups_elsewhere(rng: np.random.Generator, *, clustered: float = 0.0, harder: float = 0.0, per_label: int = 60) -> Held:
    """R_div of other questions and handbooks in three groups that differ in it; `harder`: the judge errs oftener in one."""
    kinds, of = rng.integers(2, size=12), {name: WORLDS[name] for name in ("policies", "both effects", "policies, effects")}
    drawn = [population.sample(30, 12, rng, kinds) for population in of.values()]
    question = np.concatenate([30 * number + pairs.question for number, pairs in enumerate(drawn)])
    couple, outcome = (np.concatenate([getattr(pairs, name) for pairs in drawn]) for name in ("couple", "outcome"))
    judged, ratings = _judged_and_rated(Pairs(question, couple, outcome), per_label, rng, clustered, harder * (question < 30))
    names = np.array(list(of))
    group, label = names[question // 30], np.where(judged.outcome < len(WORDS), WORDS[judged.outcome % len(WORDS)], WORDS[0])
    counts = pd.DataFrame({"group": group, "label": label}).value_counts().rename("pairs").reset_index()
    members = [group[int(item[1:])] for item in ratings.items]
    intervals = rate_intervals(judged, np.eye(3, dtype=np.float32)[:, np.unique(question) // 30], {"r_div": RATES["r_div"]})
    ends = dict(zip(names, zip(*intervals["r_div"], strict=True), strict=True))
    found = corrected_by_group(ratings, pd.DataFrame({"item_id": ratings.items, "group": members}), counts, elsewhere=ends)
    for name, low, high in zip(found["group"], found["elsewhere_low"], found["elsewhere_high"], strict=True):
        yield of[name].rates()["r_div"], low, high


def random_sample(rng: np.random.Generator, *, per_label: int = 40) -> Held:
    """The expected interval of a random sample of as many items."""
    found = prevalence(_study(rng, per_label=per_label))
    own = found[found["method"] == "random sample"]
    yield from zip(_true_shares(), own["low"], own["high"], strict=True)
