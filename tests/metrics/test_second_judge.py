"""A second judge against the run's judge, and the run's judge against itself at a later date; expected values by hand."""

import numpy as np
import pytest

from audit.metrics.second_judge import judge_drift, rates_by_both, second_judge

# 2 disagreements, both read; 8 others, of which 2 were drawn: each of them stands for 4
TABLE = """
    q1 kidney ab=DIVERGENT/high ac=CONTRADICTORY bc=CONSISTENT
    q2 kidney ab=COMPLEMENTARY ac=COMPLEMENTARY bc=COMPLEMENTARY
    q3 kidney ab=CONSISTENT ac=CONSISTENT bc=COMPLEMENTARY
    q4 kidney ab=CONSISTENT c=absent
"""


def read(con, *verdicts: str, kind: str = "second", round_: int = 1, number: int = 1) -> None:
    """Verdicts as `0 ab LABEL`: number of the question, handbooks, label."""
    for verdict in verdicts:
        question, pair, label = verdict.split()
        a, b = ("abcd".index(side) for side in pair)
        con.execute(
            "insert into further_verdicts by name select $q as question, $a as handbook_a, $b as handbook_b, $kind as kind, "
            "$round as round, $number as number, nullif($label, 'UNSCORED')::label as label, 'other' as judge, "
            "'2026-11-28' as date",
            {"q": int(question), "a": a, "b": b, "kind": kind, "round": round_, "number": number, "label": label},
        )


def test_pairs_count_by_how_they_were_drawn(store):
    con = store(TABLE)
    read(con, "0 ab COMPLEMENTARY", "0 ca DIVERGENT", "1 ab COMPLEMENTARY", "2 ab DIVERGENT")
    table = second_judge(con).set_index("figure")
    # Weights 1, 1 (disagreeing) and 4, 4 (others: 8 of which 2 were read); the same label: only q2 ab
    assert table.loc["same label", "value"] == pytest.approx(4 / 10)
    # q1 ab crosses the line, q1 ac does not (DIVERGENT for CONTRADICTORY), q2 ab does not, q3 ab does
    assert table.loc["same side", "value"] == pytest.approx((1 + 4) / 10)
    assert table.loc["confirmed", ["count", "of", "value"]].tolist() == [1, 2, 0.5]
    assert table.loc["second only", ["count", "of", "value"]].tolist() == [1, 2, 0.5]
    assert set(table["judge"]) == {"other"}


def test_a_rate_counts_what_both_judges_say_and_its_denominator_stays(store):
    con = store(TABLE)
    read(con, "0 ab COMPLEMENTARY", "0 ac DIVERGENT", "1 ab COMPLEMENTARY", "2 ab CONSISTENT")
    table = rates_by_both(con).set_index("figure")
    assert table.loc["r_div", ["of", "value"]].tolist() == [10, pytest.approx(2 / 10)]
    assert table.loc["r_div both", "value"] == pytest.approx(1 / 10)
    assert table.loc["r_div change", "value"] == pytest.approx(-1 / 10)
    assert table.loc["r_con", "value"] == pytest.approx(4 / 10)
    assert table.loc["r_con both", "value"] == pytest.approx(4 / 10)


def test_what_the_second_judge_left_without_a_label_is_counted_apart(store):
    con = store(TABLE)
    read(con, "0 ab UNSCORED", "0 ac DIVERGENT", "1 ab COMPLEMENTARY")
    table = second_judge(con).set_index("figure")
    assert table.loc["unread", ["count", "of"]].tolist() == [1, 3]
    assert table.loc["confirmed", ["count", "of"]].tolist() == [1, 1]
    assert np.isnan(rates_by_both(con).set_index("figure").loc["r_con both", "value"]), "no consistent pair was read"


def test_without_a_second_judge_nothing_is_claimed(store):
    con = store(TABLE)
    assert (len(second_judge(con)), len(rates_by_both(con)), len(judge_drift(con))) == (0, 0, 0)


def test_a_panel_is_held_against_the_run_and_against_its_own_repeat(store):
    con = store(TABLE)
    read(con, "0 ab COMPLEMENTARY", "0 ac CONTRADICTORY", "1 ab COMPLEMENTARY", "2 ab DIVERGENT", kind="recheck", round_=2)
    read(con, "0 ab COMPLEMENTARY", "0 ac DIVERGENT", "1 ab COMPLEMENTARY", "2 ab UNSCORED", kind="recheck", round_=2, number=2)
    table = judge_drift(con).set_index("figure")
    # q3 ab lacks one of three labels
    assert table.loc["changed", ["count", "of"]].tolist() == [1, 3]
    assert table.loc["repeat", ["count", "of"]].tolist() == [1, 3]
    assert table.loc["beyond repeat", "value"] == pytest.approx(0)
    assert table.loc["r_div change", "value"] == pytest.approx(1 / 3 - 2 / 3)
    assert table["date"].unique().tolist() == ["2026-11-28"]
