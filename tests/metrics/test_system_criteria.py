"""The composite and the scores of answering systems, by arithmetic done by hand."""

from __future__ import annotations

import numpy as np
import pytest

from audit.errors import AuditError, NotInRunError
from audit.evaluation.criteria import REFERENCE, composites, parse_weights
from audit.metrics.system_criteria import composite, criteria_scores
from audit.metrics.systems import system_differences
from audit.stats.intervals import wilson
from tests.support.systems import GOOD, judged, system_tables, systems_store

BAD = (0, 0, -2, 0, 0, 0, 0, 1)
"""The sum is -1, the composite 9/14 x 10."""
CUT = (1, 0, 0, 0, None, None, None, None)
NONE = (None,) * 8


@pytest.fixture(scope="module")
def con(tmp_path_factory):
    """`alone`: good, bad, and one cut off; `rag`: good by two judges on q1, unscored on q2; the reference: good."""
    tables = system_tables()
    tables["criteria"] = [
        judged("q1", "alone", *GOOD), judged("q2", "alone", *BAD), judged("q3", "alone", *CUT),
        judged("q1", "rag", *GOOD), judged("q1", "rag", *BAD, parse="strict") | {"judge": "judge-2"},
        judged("q2", "rag", *NONE, parse="none", unscored_reason="cut_short"), judged("q1", REFERENCE, *GOOD),
    ]  # fmt: skip
    return systems_store(tmp_path_factory.mktemp("criteria"), tables)


def test_incomplete_evaluations_are_left_out_or_count_0_points_and_both_are_counted(con):
    counts = ["evaluations", "complete", "incomplete", "unscored", "answers"]
    excluded, zero = (composite(con, incomplete=way).set_index("system_id") for way in ("exclude", "zero"))
    assert excluded.loc["alone", counts].tolist() == [3, 2, 1, 0, 2]
    assert zero.loc["alone", counts].tolist() == [3, 2, 1, 0, 3]
    assert excluded.loc["alone", "mean"] == pytest.approx((13 + 9) / 2 / 14 * 10)
    assert zero.loc["alone", "mean"] == pytest.approx((13 + 9 + 11) / 3 / 14 * 10)  # the cut one has a sum of 1
    assert excluded.loc["alone", "sd"] == pytest.approx(np.std([130 / 14, 90 / 14], ddof=1))


def test_the_mean_of_an_answers_judges_counts_once_and_an_unscored_one_never_by_default(con):
    table = composite(con).set_index("system_id")
    assert table.loc["rag", ["evaluations", "complete", "incomplete", "unscored", "answers"]].tolist() == [3, 2, 0, 1, 1]
    assert table.loc["rag", "mean"] == pytest.approx((13 + 9) / 2 / 14 * 10)
    assert np.isnan(table.loc["rag", "mean_low"])  # one answer
    assert composite(con, judge="judge-2").set_index("system_id")["mean"].to_dict() == {"rag": pytest.approx(90 / 14)}


def test_the_reference_answer_is_the_last_row(con):
    row = composite(con).iloc[-1]
    assert (row["system_id"], row["name"], row["mean"]) == (REFERENCE, "Reference answer", pytest.approx(130 / 14))


def test_weights_change_the_composite_and_a_wrong_one_is_named(con):
    table = composite(con, weights="missing_content=0").set_index("system_id")
    # Without missing content the sums are 3 and 1, in [-8, 4]
    assert table.loc["alone", "mean"] == pytest.approx((11 + 9) / 2 / 12 * 10)
    with pytest.raises(AuditError, match="is not a criterion"):
        composite(con, weights="missing=2")


def test_every_score_has_a_row_and_unreadable_ones_are_in_no_share(con):
    table = criteria_scores(con).set_index(["system_id", "criterion", "score"]).sort_index(level=[0, 1], sort_remaining=False)
    missing = table.loc[("alone", "missing_content")]
    assert missing["answers"].to_dict() == {0: 2, -1: 0, -2: 1}
    assert (missing["of"].unique().tolist(), missing["unread"].unique().tolist()) == ([3], [0])
    assert missing["share"].tolist() == pytest.approx([2 / 3, 0, 1 / 3])
    assert missing["flagged"].tolist() == [False, True, True]
    empathy = table.loc[("alone", "empathy")]
    assert (empathy["of"].iloc[0], empathy["unread"].iloc[0]) == (2, 1)
    assert len(table.loc["rag"]) == sum((3, 3, 3, 3, 3, 2, 3, 2))


def test_several_judges_of_one_answer_are_one_trial_of_the_interval(con):
    """Both judges of the only answer agree on scientific consensus: 2 of 2 evaluations, an interval of 1 of 1."""
    row = criteria_scores(con).set_index(["system_id", "criterion", "score"]).loc[("rag", "scientific_consensus", 0)]
    assert (row["answers"], row["of"], row["share"]) == (1, 2, 0.5)
    assert (row["share_low"], row["share_high"]) == pytest.approx([end.item() for end in wilson(0.5, 1)])
    alone = criteria_scores(con).set_index(["system_id", "criterion", "score"]).loc[("alone", "missing_content", -2)]
    assert (alone["share_low"], alone["share_high"]) == pytest.approx([end.item() for end in wilson(1, 3)])


def test_equal_weighted_sums_are_equal_composites_whatever_the_rounding(tmp_path):
    """-2 x 0.2 and -1 x 0.2 - 2 x 0.1 are the same; as floats they differ by 2e-16."""
    weights = "missing_content=0.1,inappropriate_content=0.2,empathy=0.3,bias=0.7"
    one, other = (1, -2, 0, -2, 0, -1, 0, 1), (1, -1, -2, -2, 0, -1, 0, 1)
    assert np.ptp(composites([one, other], weights=parse_weights(weights))) > 0
    tables = system_tables()
    tables["criteria"] = [judged("q1", "alone", *one), judged("q1", "rag", *other)]
    table = system_differences(systems_store(tmp_path, tables), baseline="alone", weights=weights).set_index("measure")
    assert (table.loc["composite", "questions"], table.loc["composite", "moves"]) == (0, "the same")


def test_filters_and_unknown_names(con):
    assert composite(con, question_type="treatment").set_index("system_id").loc["alone", "evaluations"] == 1
    assert composite(con, organ="lung").empty
    assert criteria_scores(con, organ="lung").empty
    with pytest.raises(NotInRunError, match=r"Judge 'judge-3' scored no answer of this run.* Allowed: judge-1, judge-2"):
        composite(con, judge="judge-3")
    with pytest.raises(AuditError, match="Incomplete 'half' is not available"):
        composite(con, incomplete="half")


def test_the_scores_of_a_person_are_left_out_beside_those_of_a_model(tmp_path):
    tables = system_tables()
    model, person = judged("q1", "alone", *GOOD, parse="strict"), judged("q1", "alone", *BAD) | {"judge": "Dr B"}
    tables["criteria"] = [model, person]
    con = systems_store(tmp_path, tables)
    assert composite(con)["mean"].tolist() == pytest.approx([130 / 14])
    assert composite(con, judge="Dr B")["mean"].tolist() == pytest.approx([90 / 14])
