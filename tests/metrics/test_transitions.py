import numpy as np
import pytest

from audit.errors import AuditError
from audit.metrics import METRICS
from audit.metrics.records import shared
from audit.metrics.transitions import changed_pairs, run_agreement, transitions
from audit.queries.aligned_runs import NOT_THERE, PRESCREENED, STATES, UNSCORED
from tests.metrics.two_stores import two
from tests.support.tiny import handbook

BEFORE = """
    q1 kidney ab=DIVERGENT/high ac=DIVERGENT/low bc=COMPLEMENTARY d=absent
    q2 kidney ab=CONSISTENT ac=UNSCORED bc=CONTRADICTORY/high d=absent
    q3 lung   ab=ABSENT c=absent d=absent
"""
AFTER = """
    q1 kidney ab=DIVERGENT/low ac=COMPLEMENTARY bc=DIVERGENT/high d=absent
    q2 kidney ab=CONSISTENT ac=CONSISTENT bc=DIVERGENT c=present d=absent
    q4 lung   ab=CONSISTENT
"""


def cells(con) -> dict[tuple[str, str], int]:
    table = transitions(con)
    return {(row.first, row.second): row.pairs for row in table.itertuples() if row.pairs}


def figures(con):
    return run_agreement(con).set_index("figure")


def test_every_pair_of_shared_questions_is_counted_once_where_it_came_from_and_where_it_went(tmp_path):
    assert cells(two(tmp_path, BEFORE, AFTER)) == {
        ("DIVERGENT", "DIVERGENT"): 1, ("DIVERGENT", "COMPLEMENTARY"): 1, ("COMPLEMENTARY", "DIVERGENT"): 1,
        ("CONSISTENT", "CONSISTENT"): 1, (UNSCORED, "CONSISTENT"): 1, ("CONTRADICTORY", "DIVERGENT"): 1,
        (PRESCREENED, PRESCREENED): 3 + 3,
    }  # fmt: skip


def test_shares_are_of_the_first_run_s_row_and_unknown_where_the_row_is_empty(tmp_path):
    table = transitions(two(tmp_path, BEFORE, AFTER)).set_index(["first", "second"])["share"]
    assert table["DIVERGENT", "COMPLEMENTARY"] == 0.5
    assert np.isnan(table[NOT_THERE, "DIVERGENT"])
    assert len(table) == len(STATES) ** 2 - 1


def test_pairs_are_the_same_by_the_ids_of_their_handbooks_whatever_their_order(tmp_path):
    turned = [handbook(letter) for letter in "dcba"]
    assert cells(two(tmp_path, BEFORE, AFTER, turned)) == cells(two(tmp_path / "again", BEFORE, AFTER))


def test_a_pair_that_one_run_does_not_have_is_counted_and_named(tmp_path):
    con = two(tmp_path, "q1 kidney ab=DIVERGENT ac=ABSENT", "q1 kidney ab=DIVERGENT bc=CONSISTENT")
    assert cells(con) == {("DIVERGENT", "DIVERGENT"): 1, ("ABSENT", NOT_THERE): 1, (NOT_THERE, "CONSISTENT"): 1}


def test_what_is_shared_and_what_is_not_is_said(tmp_path):
    con = two(tmp_path, BEFORE, AFTER + "    q5 lung ae=CONSISTENT")
    assert shared(con).set_index("what").to_numpy().tolist() == [[2, 1, 2], [4, 0, 1], [12, 6, 1 + 1]]


def test_kappa_of_a_hand_counted_table(tmp_path):
    # both read: DD, DC, CD, SS, XD -> observed 2/5; expected (2*3 + 1*1 + 1*1)/25 = 8/25; (10 - 8) / (25 - 8) = 2/17
    found = figures(two(tmp_path, BEFORE, AFTER))
    assert found.loc["kappa", "value"] == pytest.approx(2 / 17)
    assert tuple(found.loc["kappa", ["count", "of"]]) == (2, 5)


def test_divergent_kept_and_significance_recovered(tmp_path):
    found = figures(two(tmp_path, BEFORE, AFTER))
    assert tuple(found.loc["DIVERGENT kept", ["count", "of"]]) == (1, 2)
    assert tuple(found.loc["disagreement kept", ["count", "of"]]) == (2, 3)
    assert tuple(found.loc["disagreement new", ["count", "of"]]) == (1, 2)
    assert tuple(found.loc["significance stated", ["count", "of"]]) == (1, 2)  # q1 ab low; q2 bc states none
    assert tuple(found.loc["significance the same", ["count", "of"]]) == (0, 2)
    assert tuple(found.loc["read in both", ["count", "of"]]) == (5, 6)


def test_runs_that_share_nothing_compare_to_nothing(tmp_path):
    con = two(tmp_path, "q1 kidney ab=DIVERGENT", "q9 kidney ab=DIVERGENT")
    assert cells(con) == {}
    assert (figures(con)["of"] == 0).all()
    assert figures(con)[["value", "value_low", "value_high"]].isna().all(axis=None)
    assert changed_pairs(con).empty


def test_one_shared_question_gives_no_interval(tmp_path):
    found = figures(two(tmp_path, "q1 kidney ab=DIVERGENT ac=CONSISTENT", "q1 kidney ab=DIVERGENT ac=DIVERGENT"))
    assert found.loc["same label", "value"] == 0.5
    assert np.isnan(found.loc["same label", "value_low"])


def test_moved_pairs_are_listed_one_question_after_another(tmp_path):
    table = changed_pairs(two(tmp_path, BEFORE, AFTER))
    assert list(zip(table["question_id"], table["handbook_a"] + table["handbook_b"], table["second"], strict=True)) == [
        ("q1", "ac", "COMPLEMENTARY"), ("q2", "ac", "CONSISTENT"), ("q1", "bc", "DIVERGENT"), ("q2", "bc", "DIVERGENT"),
    ]  # fmt: skip
    assert set(table["total"]) == {4}


def test_one_cell_of_the_matrix_can_be_asked_for(tmp_path):
    table = changed_pairs(two(tmp_path, BEFORE, AFTER), "DIVERGENT", "COMPLEMENTARY")
    assert [tuple(row) for row in table[["question_id", "handbook_a", "handbook_b"]].itertuples(index=False)] == [
        ("q1", "a", "c")
    ]
    with pytest.raises(AuditError, match="State 'SIDEWAYS' is not available"):
        changed_pairs(two(tmp_path / "more", BEFORE, AFTER), "SIDEWAYS")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("transitions", {}),
        ("run_agreement", {}),
        ("shared", {}),
        ("changed_pairs", {"first": "any", "second": "any", "limit": 9}),
    ],
)
def test_a_printed_statement_of_two_runs_runs_as_it_stands(tmp_path, name, values):
    assert METRICS[name].compares
    assert two(tmp_path, BEFORE, AFTER).cursor().execute(METRICS[name].sql, values).description
