"""Preferences between answering systems, by counts and arithmetic done by hand."""

from __future__ import annotations

import numpy as np
import pytest

from audit.errors import AuditError
from audit.metrics.preferences import bradley_terry, preference_alignment, preference_effects, preference_raters, preferences
from tests.support.systems import answered, judged, preferred, system_tables, systems_store

QUESTIONS = tuple(f"q{number}" for number in range(1, 9))
BETTER, WORSE = (1, 0, 0, 0, 0, 0, 1, 1), (0, 0, -1, 0, 0, 0, 0, 1)
NONE = (None,) * 8


def release(**tables: list) -> dict[str, list]:
    """The small release of systems with other tables; `rag` is listed first, and `alone` has no retrieval."""
    base = system_tables()
    base["systems"] = [*reversed(base["systems"]), {"system_id": "expert", "mode": "human"}]
    return base | {"preferences": [], "criteria": [], "references": [], "measures": []} | tables


@pytest.fixture(scope="module")
def con(tmp_path_factory):
    """Eight questions. Ana: rag on q1 to q5, alone on q6, a tie, both bad. Bo: rag on q1 to q3, alone on q4.

    The judge prefers rag on q1 and q2 and finds the others equal; of q8 it could not read the reply to one answer.
    """
    ana = ["B", "B", "B", "B", "B", "A", "tie", "both_bad"]
    people = [preferred(q, choice, "ana", shown_first=first) for q, choice, first in zip(QUESTIONS, ana, "BBBBAAAA", strict=True)]
    people += [preferred(q, choice, "bo") for q, choice in zip(QUESTIONS, "BBBA", strict=False)]
    own = [preferred(q, "B", "judge-1", rater_kind="judge") for q in QUESTIONS[:2]]
    scores = [judged(q, "rag", *BETTER) for q in QUESTIONS]
    scores += [judged(q, "alone", *(WORSE if q in QUESTIONS[:2] else BETTER)) for q in QUESTIONS[:7]]
    scores += [judged("q8", "alone", *NONE, parse="none", unscored_reason="cut")]
    answers = [answered(q, "rag", "one two three") for q in QUESTIONS]
    answers += [answered(q, "alone", "one two three four" if q == "q1" else "one two") for q in QUESTIONS]
    tables = release(preferences=people + own, criteria=scores, system_answers=answers)
    return systems_store(tmp_path_factory.mktemp("preferences"), tables, QUESTIONS)


def test_choices_are_counted_with_the_system_without_retrieval_as_a(con):
    table = preferences(con).set_index("rater_kind")
    assert table["name_a"].tolist() == ["Model alone"] * 2
    counts = ["questions", "comparisons", "a", "b", "tie", "both_bad"]
    assert table.loc["human", counts].tolist() == [8, 12, 1 + 1, 5 + 3, 1, 1]
    assert table.loc["judge", counts].tolist() == [2, 2, 0, 2, 0, 0]
    row = table.loc["human"]
    assert row["a_share"] == 2 / (2 + 8)
    assert row["a_share_low"] < 0.2 < row["a_share_high"]


def test_strengths_of_two_systems_are_the_log_of_their_odds(con):
    """8 wins of rag, 2 of alone, and two halves each: 9 to 3. The expert was never compared."""
    table = bradley_terry(con).set_index("system_id")
    assert table.index.tolist() == ["rag", "alone"]
    assert table["wins"].tolist() == [9, 3]
    assert table.loc["rag", "strength"] - table.loc["alone", "strength"] == pytest.approx(np.log(9 / 3), abs=0.001)
    assert table["rank"].tolist() == [1, 2]


def test_a_judge_that_always_prefers_one_system_leaves_no_finite_strength(con):
    assert bradley_terry(con, rater_kind="judge")["strength"].isna().all()
    with pytest.raises(AuditError, match="Allowed: human, judge"):
        bradley_terry(con, rater_kind="dog")


def test_the_effect_of_the_first_side_is_apart_from_whose_answer_it_is(con):
    """Decided with a known order: rag first on q1 to q4 and preferred; alone first on q5 (lost) and q6 (won)."""
    row = preference_effects(con).set_index(["effect", "rater_kind"]).loc[("position", "human")]
    assert row[["comparisons", "won", "informative"]].tolist() == [6, 4 + 1, 6]
    assert row["adjusted"] == pytest.approx((4 / 4 + 1 / 2) / 2)
    # Of the 6 choose 4 ways to be first 4 times, 6 - 1 = 5 of 15 leave the one win of alone among the other two
    assert row["p_value"] == pytest.approx(2 / 6)


def test_the_effect_of_length_counts_answers_in_words(con):
    """alone is longer on q1 only, where both people prefer rag; elsewhere rag is longer and wins 6 of 8 decided ones."""
    row = preference_effects(con).set_index(["effect", "rater_kind"]).loc[("length", "human")]
    assert row[["comparisons", "won"]].tolist() == [10, 6]
    assert row["adjusted"] == pytest.approx((6 / 8 + 0 / 2) / 2)


def test_the_judge_agrees_with_people_under_each_rule_for_its_ties(con):
    """By composite on q1 to q7: rag on q1, q2; ties on q3 to q7, where Ana: rag, rag, rag, alone, tie, and Bo: rag, alone."""
    table = preference_alignment(con).set_index(["judge", "rule"])
    assert table.loc["composite", "of"].tolist() == [11, 11, 11]
    assert table.loc["composite", "agreed"].to_dict() == {"exact": 4 + 1, "ties_to_a": 4 + 2, "ties_to_b": 4 + 4}
    assert table.loc["judge-1", "agreed"].to_dict() == {"exact": 4, "ties_to_a": 4, "ties_to_b": 4}


def test_an_unreadable_reply_of_the_judge_is_no_tie_unless_it_counts_as_0_points(con):
    """With 0 points everywhere `alone` has a sum of 0 on q8, below that of rag: people, to whom both are bad, disagree."""
    table = preference_alignment(con, incomplete="zero").set_index(["judge", "rule"])
    assert table.loc[("composite", "exact"), ["agreed", "of"]].tolist() == [5, 12]
    with pytest.raises(AuditError, match="Incomplete 'all' is not available"):
        preference_alignment(con, incomplete="all")


def test_two_people_who_compared_the_same_answers(con):
    (row,) = preference_raters(con).to_dict("records")
    assert (row["rater_a"], row["rater_b"], row["agreed"], row["of"]) == ("ana", "bo", 3, 4)
    # Bo chose both sides, Ana one only: chance alone would agree as often
    assert row["kappa"] == pytest.approx(0)


@pytest.mark.parametrize("metric", [preferences, bradley_terry, preference_effects, preference_alignment, preference_raters])
def test_a_run_without_preferences_has_empty_tables(tmp_path, metric):
    table = metric(systems_store(tmp_path, release()))
    assert table.empty
    assert {column.name for column in metric.table.columns} - {"name_a", "name_b"} <= set(table.columns) | {"name"}


def test_questions_of_one_type_are_counted_alone(tmp_path):
    tables = release(
        preferences=[preferred("q1", "A"), preferred("q2", "B")],
        references=[{"question_id": "q1", "question_type": "treatment"}],
    )
    (row,) = preferences(systems_store(tmp_path, tables), question_type="treatment").to_dict("records")
    assert (row["a"], row["b"]) == (1, 0)
