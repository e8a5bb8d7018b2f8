"""The downstream effect of retrieval: coefficients of known data, and what cannot be known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from audit.metrics.systems import downstream, downstream_points
from tests.support.systems import answered, judged, measured, system_tables, systems_store

NAMES = tuple(f"q{number}" for number in range(12))
RANKS = (1, 2, 4, 1, 5, 2, 1, 3, 4, 2, 1, 5)
MISSING = (0, -1, -2, 0, -2, 0, -1, -1, -2, 0, 0, -1)
"""The better the rank of the first gold section, the less is missing."""


@pytest.fixture(scope="module")
def con(tmp_path_factory):
    tables = system_tables()
    tables["system_answers"] = [answered(name, system, "Rest.") for name in NAMES for system in ("alone", "rag")]
    tables["measures"] = [
        measured(name, "rag", measure, value)
        for name, rank in zip(NAMES, RANKS, strict=True)
        for measure, value in (("mrr", 1 / rank), ("p_at_5", 0.2), ("rouge_l", rank / 10))
    ]
    tables["criteria"] = [
        judged(name, system, 1, 0, missing, 0, 0, 0, 1, 1)
        for name, missing in zip(NAMES, MISSING, strict=True) for system in ("alone", "rag")
    ]  # fmt: skip
    tables["criteria"][1] = judged("q0", "rag", 1, 0, None, 0, 0, 0, 1, 1)
    return systems_store(tmp_path_factory.mktemp("downstream"), tables, NAMES)


def test_the_coefficients_are_those_of_scipy_over_the_questions_that_have_both(con):
    table = downstream(con).set_index(["outcome", "measure"])
    row = table.loc[("composite", "mrr")]
    found, quality = np.array([1 / rank for rank in RANKS[1:]]), np.array(MISSING[1:])  # q0 is incomplete
    assert (row["system_id"], row["questions"]) == ("rag", 11)
    assert row["spearman"] == pytest.approx(stats.spearmanr(found, quality).statistic)
    assert row["pearson"] == pytest.approx(stats.pearsonr(found, quality).statistic)
    assert 0 < row["spearman_low"] < row["spearman"] < row["spearman_high"] <= 1


def test_reference_measures_are_outcomes_too(con):
    row = downstream(con).set_index(["outcome", "measure"]).loc[("rouge_l", "mrr")]
    assert row["questions"] == 12
    assert row["spearman"] == pytest.approx(-1)


def test_a_measure_that_is_the_same_everywhere_has_no_coefficient_and_a_system_without_retrieval_no_row(con):
    table = downstream(con)
    assert set(table["system_id"]) == {"rag"}
    constant = table[table["measure"] == "p_at_5"]
    assert constant[["spearman", "pearson", "spearman_low"]].isna().all(axis=None)


def test_the_points_are_the_questions_behind_the_coefficients(con):
    points = downstream_points(con)
    mrr = points[points["measure"] == "mrr"].set_index("question_id")
    assert len(mrr) == 11
    assert mrr.loc["q2", ["value", "composite"]].tolist() == pytest.approx([1 / 4, 11 / 14 * 10])
    assert mrr.loc["q2", "text"] == "What about q2?"
    assert set(points["measure"]) == {"p_at_5", "mrr"}


def test_filters_leave_no_rows_where_nothing_matches(con):
    assert downstream(con, question_type="treatment")["questions"].max() == 1  # q1 alone has that type
    assert downstream(con, organ="lung").empty
    assert downstream_points(con, organ="lung").empty
