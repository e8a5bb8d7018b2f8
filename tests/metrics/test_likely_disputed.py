"""Disputed questions with the judge's errors taken into account: by hand on small runs, and on a run with ratings."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from audit.metrics.likely_disputed import decisions, dispute_decisions, disputed_share_corrected, likely_disputed, share_with
from audit.queries.judge_errors import judge_errors
from audit.stats.latent_positions import JudgeErrors
from audit.stats.measured_errors import ASSUMED_ERRORS, REPEATS, SECOND, MeasuredErrors
from audit.store.connection import open_store
from tests.support.loading import load
from tests.support.tiny import release_from

# q1: two handbooks that disagree; q2: one stray label among fifteen pairs; q3: nobody disagrees; q4: nobody answers
AGREEING = " ".join(f"{a}{b}=CONSISTENT" for a, b in combinations("abcdef", 2) if (a, b) != ("a", "b"))
TABLE = f"""
    q1 kidney ab=DIVERGENT
    q2 kidney ab=DIVERGENT {AGREEING}
    q3 kidney ab=COMPLEMENTARY
    q4 kidney ab=ABSENT
"""


def test_a_stray_label_among_many_is_less_probably_a_dispute_than_the_only_label(store):
    table = likely_disputed(store(TABLE)).set_index("question_id")
    assert table.index.tolist()[0] == "q1"
    assert table["disagreeing"].to_dict() == {"q1": 1, "q2": 1, "q3": 0, "q4": 0}
    assert table["handbooks"].to_dict() == {"q1": 2, "q2": 6, "q3": 2, "q4": 0}
    assert table.loc["q2", "probability"] < 0.2 < table.loc["q1", "probability"]
    assert table.loc["q2", "positions"] == 1
    assert table.loc["q4", ["probability", "positions"]].isna().all()
    assert table.loc["q4", "listed"] == "no"


def test_the_corrected_share_is_of_the_questions_with_a_verdict_and_says_where_the_rates_are_from(store):
    (row, *supposed) = disputed_share_corrected(store(TABLE)).to_dict("records")
    assert (row["questions"], row["called"], row["judged"]) == (4, 2, 0.5)
    assert row["share_low"] < row["share"] < row["share_high"] <= 0.75
    assert (row["errors"], row["rated"]) == ("assumed", 0)
    assert (row["false"], row["missed"]) == (ASSUMED_ERRORS.false, ASSUMED_ERRORS.missed)
    # The more often it sees what is not there, the fewer are disputed; at the assumed rate the share is the first row's
    shares = {one["false"]: one["share"] for one in supposed}
    assert sorted(shares.values(), reverse=True) == list(shares.values())
    assert shares[0.05] == pytest.approx(row["share"])


def test_the_share_by_other_ratings_is_between_those_of_the_supposed_rates(store):
    table = disputed_share_corrected(store(TABLE))
    value, low, high = share_with(table, MeasuredErrors(JudgeErrors(0.05, 0.15), 1e-9, 0.08, 40))
    at = table[(table["errors"] == "supposed") & (table["false"] == 0.05)].iloc[0]
    assert (value, low, high) == pytest.approx(tuple(at[["share", "share_low", "share_high"]]))
    unsure = share_with(table, MeasuredErrors(JudgeErrors(0.05, 0.15), 0.03, 0.08, 40))
    assert unsure[0] == value
    assert unsure[1] < low < high < unsure[2]


def test_a_run_in_which_nobody_answers_has_no_share(store):
    (row, *_) = disputed_share_corrected(store("q1 kidney ab=ABSENT")).to_dict("records")
    assert (row["questions"], row["called"], row["listed"]) == (1, 0, 0)
    assert row["share"] != row["share"]


@pytest.mark.parametrize(("label", "false"), [("CONSISTENT", (20 * 0.05 + 2) / (20 + 2)), ("DIVERGENT", 0.05)])
def test_ratings_that_deny_a_disagreement_raise_the_rate_of_false_alarms(label, false, tmp_path):
    folder = release_from(tmp_path, TABLE)
    (folder / "annotations").mkdir()
    rows = [f"i{number},q{number},a,b,DIVERGENT,1,DIVERGENT,{label},{label}" for number in (1, 2)]
    head = "item_id,question_id,handbook_a,handbook_b,stratum,design_weight,judge,annotator_a,annotator_b"
    (folder / "annotations" / "validation_labels.csv").write_text("\n".join([head, *rows]), "utf-8")
    with open_store(load(folder, tmp_path / "data").run.path) as con:
        (row, *_) = disputed_share_corrected(con).to_dict("records")
    assert (row["errors"], row["rated"]) == ("ratings of this run", 2)
    assert row["false"] == pytest.approx(false)


def test_what_a_list_finds_and_costs_by_hand(store):
    # Of five questions with a verdict, four have a pair: from .5 on, .9 and .6 are shown
    row = decisions(np.array([0.9, 0.6, 0.2, 0.05]), 5).set_index("threshold").loc[0.5]
    assert row.to_dict() == pytest.approx(
        {"shown": 2, "shown_per_100": 40, "found": 30, "false": 10, "missed": 5, "net_benefit": 20}
    )
    table = dispute_decisions(store(TABLE))
    assert table["shown"].is_monotonic_decreasing
    assert (table["found"] + table["missed"]).nunique() == 1 or np.ptp(table["found"] + table["missed"]) < 1e-9
    assert decisions(np.zeros(0), 0).empty


def read_once_more(con, label: str, judge: str) -> None:
    """Each pair of q1 and q2 is read once more, with this label: by the run's judge in a check, or by another judge."""
    pairs = "from pairs where question < 2"
    if judge == "own":
        con.execute(
            f"insert into checks by name select question, handbook_a, handbook_b, 'repeat' as kind, 1 as number, "
            f"'{label}' as label {pairs}"
        )
    else:
        con.execute(
            f"insert into further_verdicts by name select question, handbook_a, handbook_b, 'second' as kind, 1 as round, "
            f"1 as number, '{label}' as label, 'other' as judge {pairs}"
        )


def test_without_ratings_a_second_judge_tells_how_often_the_judge_errs_and_else_the_judge_asked_again(store):
    with store(TABLE) as con:
        read_once_more(con, "CONSISTENT", "own")  # it takes back both disagreements
        again = judge_errors(con)
        read_once_more(con, "CONSISTENT", "other")
        second = judge_errors(con)
        (row, *_) = disputed_share_corrected(con).to_dict("records")
    assert (again.source, again.rated) == (REPEATS, 16)
    assert (second.source, second.rated) == (SECOND, 16)
    assert min(again.errors.false, second.errors.false) > ASSUMED_ERRORS.false
    assert (row["errors"], row["rated"], row["false"]) == (SECOND, 16, second.errors.false)
