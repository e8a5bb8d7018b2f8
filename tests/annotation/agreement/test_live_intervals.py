"""Intervals while ratings come in: they hold at every look, and the usual ones take their place when the study is complete."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from annotation.agreement.comparisons import StratifiedTable
from annotation.agreement.estimates import estimate_measure
from annotation.agreement.measures import two_rater_measures
from annotation.agreement.report import agreement_report
from annotation.label_store.engine import LabelStore
from annotation.label_store.seals import looks, record_look
from annotation.label_store.studies import StudyState
from annotation.prevalence.estimates import corrected_disagreement
from annotation.studies.adjudication import close_study
from annotation.studies.registration import Registration, outcome_sentence
from annotation.studies.study_tables import study_ratings
from annotation.studies.verdict_store import SampleOrigin, StoredVerdict, Stratum, store_sample
from annotation.studies.verification import verify_study
from audit.stats.intervals import Z, sequence_width, stratified_share, wilson
from tests.annotation.tables import ratings
from tests.support.studies import NOW, rate, step, study_of

KAPPA = two_rater_measures(5)[0]
LOOKS = range(20, 241, 10)
SHARES = np.array([0.6, 0.06, 0.2, 0.13, 0.01])
RIGHT = 0.88
"""How often a rater of the simulated studies gives the true label; errors fall by distance."""


def test_the_width_is_that_of_the_asymptotic_confidence_sequence() -> None:
    r = (2 * math.log(20) + math.log(1 + 2 * math.log(20))) / 100
    by_hand = math.sqrt((100 * r + 1) / (100 * r) * math.log((100 * r + 1) / 0.05**2)) / Z
    assert sequence_width(100) == pytest.approx(by_hand, rel=1e-12)
    assert by_hand == pytest.approx(1.549, abs=5e-4)
    assert sequence_width(0) == 1
    assert np.argmin(sequence_width(np.arange(1, 1000))) == pytest.approx(110, abs=20)


def joint_labels() -> np.ndarray:
    errors = 0.7 ** np.abs(np.subtract.outer(range(5), range(5))).astype(float)
    np.fill_diagonal(errors, 0)
    rater = (1 - RIGHT) * errors / errors.sum(axis=1, keepdims=True) + RIGHT * np.eye(5)
    return np.einsum("t,ti,tj->ij", SHARES, rater, rater)


@cache
def interval(cells: tuple[int, ...], live: bool) -> tuple[float, float]:
    table = StratifiedTable.unweighted(np.array(cells, dtype=float).reshape(5, 5), live=live)
    estimate = estimate_measure(KAPPA, table)
    return estimate.low, estimate.high


def studies_with_a_miss(studies: int, *, live: bool) -> float:
    """The share of so many simulated studies in which an interval of some look misses the true kappa."""
    truth, rng = joint_labels(), np.random.default_rng(3)
    kappa, missed = float(KAPPA.formula(1e9 * truth)), 0
    for _ in range(studies):
        items = rng.choice(25, size=LOOKS[-1], p=truth.ravel())
        seen = (interval(tuple(np.bincount(items[:n], minlength=25).tolist()), live) for n in LOOKS)
        missed += any(not low - 1e-9 <= kappa <= high + 1e-9 for low, high in seen)
    return missed / studies


def test_some_look_misses_in_at_most_one_study_of_twenty_and_with_the_usual_interval_in_one_of_four() -> None:
    assert studies_with_a_miss(200, live=True) <= 0.05
    assert studies_with_a_miss(60, live=False) >= 0.2


ROWS = """
    annotator_a annotator_b judge       stratum    design_weight times
    CONSISTENT  CONSISTENT  CONSISTENT  CONSISTENT 10            16
    DIVERGENT   DIVERGENT   DIVERGENT   DIVERGENT  1             16
    CONSISTENT  CONSISTENT  DIVERGENT   DIVERGENT  1             8
"""


def test_every_kind_of_interval_is_wider_around_the_same_value_and_what_is_rated_in_full_stays_exact() -> None:
    table = ratings(ROWS)
    usual, live = (agreement_report(own).figures for own in (table, table.as_live()))
    assert live["value"].equals(usual["value"])
    known = usual["low"] < usual["high"]
    assert (live["low"] <= usual["low"])[known].all()
    assert (live["high"] >= usual["high"])[known].all()
    widths = ((live["high"] - live["low"]) / (usual["high"] - usual["low"]))[known]
    assert widths.min() > 1.1
    assert (live["low"] == live["high"]).equals(usual["low"] == usual["high"])
    corrected, wide = corrected_disagreement(table), corrected_disagreement(table.as_live())
    assert wide.low <= corrected.low <= corrected.value == wide.value < corrected.high < wide.high


def test_a_share_is_as_wide_as_that_of_fewer_trials() -> None:
    assert np.allclose(wilson(30, 40, 2.0), wilson(7.5, 10))
    assert np.allclose(stratified_share([3], [40], [10**9], width=2), stratified_share([0.75], [10], [10**9]), rtol=1e-5)


REGISTERED = Registration("annotator_agreement", 0.5)


@pytest.fixture
def rated(store: LabelStore) -> LabelStore:
    """Ten items that ana and ben label alike, all but the last one of ben."""
    study_of(store, 10)
    stored = [StoredVerdict(f"i{n:03}", "CONSISTENT", "CONSISTENT", None, None, None) for n in range(1, 11)]
    strata = [Stratum("CONSISTENT", "CONSISTENT", None, 100, 10)]
    with store.begin() as tx:
        store_sample(tx, "s", SampleOrigin("run", "0" * 64, 100, 0, {}), strata, stored)
    for number in range(1, 11):
        for name in ("ana", "ben")[: 2 if number < 10 else 1]:
            rate(store, name, number, "CONSISTENT" if number % 2 else "ABSENT")
    return store


def outcome(store: LabelStore) -> str:
    own = study_ratings(store, "s")
    return outcome_sentence(REGISTERED, agreement_report(own), own)


def close(store: LabelStore, *, incomplete: bool) -> None:
    step(store, StudyState.LABELLING, incomplete=incomplete)
    close_study(store, "s", NOW)


def test_a_verdict_is_given_once_the_study_is_closed_with_every_rating(rated: LabelStore) -> None:
    later = "whether it reaches the registered threshold is said when the study is closed with every planned rating."
    assert outcome(rated).endswith(f"9 items: {later}")
    rate(rated, "ben", 10, "ABSENT")
    assert outcome(rated).endswith(later)
    step(rated, StudyState.LABELLING)
    assert outcome(rated).endswith(later)
    close_study(rated, "s", NOW)
    assert outcome(rated).endswith("the registered threshold of 0.50 is reached, also by the lower end of the interval.")
    low, high = map(float, wilson(10, 10))
    raw = agreement_report(study_ratings(rated, "s")).figures.query("name == 'agreement' and scope == 'sample'").iloc[0]
    assert (raw["low"], raw["high"]) == pytest.approx((low, high))


def test_a_study_that_was_closed_early_keeps_the_wide_intervals_and_gets_no_verdict(rated: LabelStore) -> None:
    close(rated, incomplete=True)
    assert study_ratings(rated, "s").live
    assert "threshold of" not in outcome(rated)


def test_looks_enter_the_ledger_once_for_each_person_and_number_of_ratings(rated: LabelStore) -> None:
    for account in ("petra", "petra", "ada"):
        record_look(rated, "s", account, NOW)
    rate(rated, "ben", 10, "ABSENT")
    record_look(rated, "s", "petra", NOW)
    assert looks(rated, "s") == [
        {"account": "petra", "ratings": 19}, {"account": "ada", "ratings": 19}, {"account": "petra", "ratings": 20}
    ]  # fmt: skip
    assert verify_study(rated, "s") == []
