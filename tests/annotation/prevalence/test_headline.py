"""The corrected disagreement rate: by hand, on simulated studies, and where nothing can be said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from annotation.prevalence.estimates import (
    CorrectedRate,
    corrected_disagreement,
    disagreement_rate,
    errors_of,
    prevalence,
    total_interval,
)
from annotation.prevalence.sentences import confirmed_words, edge_sentences
from annotation.ratings.design import SampleDesign
from annotation.ratings.gold import confirmed_calls
from annotation.ratings.labels_file import read_labels
from annotation.ratings.table import ratings_from
from audit.errors import AuditError
from audit.vocabulary import Label
from benchmarks.coverage import WORLDS, total_coverage
from tests.annotation.studies import simulated_run
from tests.simulator.config import paper_config

STUDIES = 1000
EDGED = ("CONTRADICTORY", "CONSISTENT")
"""Labels of a test; the second lies in the middle of its interval."""


def labelled(rows: list[tuple[str, str, float]], **others: object) -> pd.DataFrame:
    """(label by the judge, label by both annotators, design weight), one row per item."""
    judge, label, weight = zip(*rows, strict=True)
    items = [f"i{number}" for number in range(len(rows))]
    frame = {"item_id": items, "annotator_a": label, "annotator_b": label, "judge": judge, "design_weight": weight}
    return pd.DataFrame({**frame, **others})


def test_the_rate_is_disagreeing_over_present_pairs_of_the_run() -> None:
    # 60 pairs in DIVERGENT, half of them confirmed; 140 in COMPLEMENTARY, all confirmed; 200 in ABSENT, a quarter wrongly
    rows = [("DIVERGENT", label, 15.0) for label in ("DIVERGENT", "DIVERGENT", "COMPLEMENTARY", "COMPLEMENTARY")]
    rows += [("COMPLEMENTARY", "COMPLEMENTARY", 35.0)] * 4
    rows += [("ABSENT", label, 50.0) for label in ("ABSENT", "ABSENT", "ABSENT", "DIVERGENT")]
    rate = corrected_disagreement(ratings_from(labelled(rows)))
    assert rate.judge == pytest.approx(60 / 200)
    assert rate.value == pytest.approx((30 + 50) / (30 + 30 + 140 + 50))
    assert 0 < rate.low < rate.value < rate.high < 1
    assert (rate.n, rate.pairs) == (12, 400)
    # Of 80 disagreements the judge calls 30 so; of the agreements 30 of 170
    assert rate.slope == pytest.approx(30 / 80 - 30 / 170)


def test_where_every_pair_is_rated_nothing_is_uncertain() -> None:
    rows = [("DIVERGENT", "DIVERGENT", 1.0), ("DIVERGENT", "CONSISTENT", 1.0), ("ABSENT", "ABSENT", 1.0)]
    rate = corrected_disagreement(ratings_from(labelled(rows)))
    assert (rate.value, rate.low, rate.high) == pytest.approx((0.5, 0.5, 0.5))


def test_a_sample_without_a_present_pair_has_no_rate() -> None:
    rate = corrected_disagreement(ratings_from(labelled([("ABSENT", "ABSENT", 2.0)] * 3)))
    assert np.isnan([rate.judge, rate.value, rate.low, rate.high]).all()


def test_a_share_at_the_end_of_its_interval_is_explained() -> None:
    # All 4 of 4 contradictory pairs are rated; of 4,000 others 40, none of which is
    rows = [("CONTRADICTORY", "CONTRADICTORY", 1.0)] * 4 + [("CONSISTENT", "CONSISTENT", 100.0)] * 20
    rows += [("CONSISTENT", "COMPLEMENTARY", 100.0)] * 20
    (sentence,) = edge_sentences(prevalence(ratings_from(labelled(rows)))[lambda frame: frame["label"].isin(EDGED)])
    assert sentence.startswith("Contradictory: the share is at the lower end of its interval. Hardly any rated pair")
    assert "cannot be ruled out" in sentence


def test_without_a_design_nothing_is_estimated() -> None:
    frame = labelled([("DIVERGENT", "DIVERGENT", 1.0)]).drop(columns="design_weight")
    with pytest.raises(AuditError, match="does not say how the items were sampled"):
        corrected_disagreement(ratings_from(frame))


@pytest.mark.parametrize("per_stratum", [20, 40, 80])
def test_the_interval_covers_the_true_rate(per_stratum: int) -> None:
    run = simulated_run(paper_config(7), seed=1)
    truth = run.shares[3:].sum() / (1 - run.shares[0])
    design = SampleDesign(("A", "B", "C", "D", "E"), run.sizes.astype(float), np.empty(0, dtype=np.intp))
    rated = np.minimum(per_stratum, run.sizes).astype(float)
    studies = run.studies(per_stratum, STUDIES, seed=2).astype(float)
    rates = np.array([disagreement_rate(study[:, 3:].sum(axis=1), study[:, 0], rated, design) for study in studies])
    assert 0.95 <= np.mean((rates[:, 1] <= truth) & (truth <= rates[:, 2])) <= 0.99
    assert abs(rates[:, 0].mean() - truth) < 0.01


def test_the_total_interval_adds_the_distances_of_both_as_squares_on_the_logit_scale() -> None:
    def logit(share: float) -> float:
        return float(np.log(share / (1 - share)))

    rate = CorrectedRate(judge=0.2, value=0.15, low=0.1, high=0.25, n=80, pairs=4000, slope=0.5)
    low, high = total_interval(rate, (np.array(0.16), np.array(0.26)))
    carried = 0.16 / (0.15 * 0.85) / 0.5
    assert logit(0.15) - logit(low) == pytest.approx(np.hypot(logit(0.15) - logit(0.1), carried * (logit(0.2) - logit(0.16))))
    assert logit(high) - logit(0.15) == pytest.approx(np.hypot(logit(0.25) - logit(0.15), carried * (logit(0.26) - logit(0.2))))


@pytest.mark.parametrize("changed", [{"value": 0.0}, {"slope": np.nan}, {"judge": 1.0}, {"judge": np.nan}])
def test_without_one_of_its_parts_there_is_no_total_interval(changed: dict[str, float]) -> None:
    known = {"judge": 0.2, "value": 0.15, "low": 0.1, "high": 0.25, "slope": 0.5}
    assert np.isnan(total_interval(CorrectedRate(**known | changed, n=80, pairs=4000), (0.16, 0.26))).all()


def test_from_nearly_nothing_to_nearly_all_is_no_total_interval() -> None:
    rate = CorrectedRate(judge=0.09, value=0.11, low=0.03, high=0.36, n=120, pairs=680, slope=0.37)
    assert np.isnan(total_interval(rate, (0.0001, 0.95))).all()


def test_the_total_interval_covers_the_rate_elsewhere_where_the_two_others_do_not() -> None:
    found = total_coverage(WORLDS["policies"], 60, 9, per_label=40, samples=120)
    assert found.covered >= 0.92
    assert found.judge < 0.85
    assert found.corrected < 0.9


def test_the_nih_release_is_corrected_downwards(nih: Path) -> None:
    rate = corrected_disagreement(ratings_from(read_labels(nih / "annotations" / "validation_labels.csv").frame))
    assert rate.judge == pytest.approx(64 / 716)  # 61 divergent and 3 contradictory of 722 pairs, 6 of them absent
    assert rate.value == pytest.approx((0.0675 + 0.0612) / 2 / (1 - 6 / 722), abs=1e-4)
    assert rate.low < rate.value < rate.high < 0.1


def test_a_call_on_which_people_are_divided_counts_in_parts() -> None:
    frame = labelled([("DIVERGENT", label, 10.0) for label in ("DIVERGENT", "DIVERGENT", "CONSISTENT", "COMPLEMENTARY")])
    frame.loc[3, "annotator_b"] = "DIVERGENT"
    calls = confirmed_calls(ratings_from(frame), Label.DIVERGENT)
    assert calls[:3] == (4, 2, 1)
    assert float(calls.share.value) == pytest.approx(2.5 / 4)
    assert 0 < calls.share.low < 2.5 / 4 < calls.share.high < 1
    assert confirmed_words(calls).startswith("2 of 4, divided on 1, which count in parts (63 %, 95 % interval ")
    assert confirmed_words(calls).endswith(" % of the run's 40)")
    # Where every pair of the stratum is rated, only the dispute is open
    rated = confirmed_calls(ratings_from(frame.assign(design_weight=1.0)), Label.DIVERGENT)
    assert (rated.share.low, rated.share.high) == (2 / 4, 3 / 4)


def test_the_judge_s_false_alarms_are_counted_on_pairs_that_raters_take_to_agree() -> None:
    # Two calls that raters deny, one agreement, each for ten pairs; a pair that the judge calls absent tells nothing
    people, judge = ["CONSISTENT", "COMPLEMENTARY", "CONSISTENT", "DIVERGENT"], ["DIVERGENT", "DIVERGENT", "CONSISTENT", "ABSENT"]
    table = {"item_id": list("1234"), "annotator_a": people, "annotator_b": people, "judge": judge, "stratum": judge}
    weights = {"DIVERGENT": "10", "CONSISTENT": "10", "ABSENT": "50"}
    known = errors_of(ratings_from(pd.DataFrame(table).assign(design_weight=[weights[one] for one in judge]), "x"))
    assert known is not None
    assert known.rated == 3
    assert known.errors.false == pytest.approx((3 * 2 / 3 + 20 * 0.05) / 23)  # 20 agreements are imagined
