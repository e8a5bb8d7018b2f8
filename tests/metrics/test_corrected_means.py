"""The judge corrected by people, and calibrated on reference answers, by arithmetic done by hand."""

from __future__ import annotations

import numpy as np
import pytest

from audit.evaluation.criteria import REFERENCE
from audit.metrics.corrected_means import corrected_composite, corrected_preference
from audit.metrics.system_criteria import composite, judge_calibration
from tests.support.systems import judged, preferred, system_tables, systems_store

QUESTIONS = tuple(f"q{number}" for number in range(1, 11))
PER_POINT = 10 / 14


def sums(system: str, totals: list[int], judge: str = "judge-1", **others: object) -> list[dict]:
    """One evaluation per question whose eight scores add up to the total."""
    records = []
    for question, total in zip(QUESTIONS, totals, strict=False):
        scores = next(
            (1, 0, gap, 0, 0, 0, empathy, grammar)
            for gap in (0, -1, -2) for empathy in (0, 1, 2) for grammar in (1, 0) if 1 + gap + empathy + grammar == total
        )  # fmt: skip
        records.append(judged(question, system, *scores, **others) | {"judge": judge})
    return records


JUDGE_ALONE, JUDGE_RAG, REFERENCES = [3, 1, 3, 1, 3, 1, 3, 1, 3, 1], [2] * 10, [4, 4, 4, 2, 2, 2]
PEOPLE_ALONE = [2, 0, 2, 0, 2, 0]


@pytest.fixture(scope="module")
def con(tmp_path_factory):
    """The judge scored ten answers of each system and six references; Dr. Ito scored six of `alone`, one point lower each."""
    tables = system_tables() | {"references": [], "system_answers": [], "measures": []}
    tables["criteria"] = [
        *sums("alone", JUDGE_ALONE, parse="strict"), *sums("rag", JUDGE_RAG, parse="lenient"),
        *sums(REFERENCE, REFERENCES, parse="strict"), *sums("alone", PEOPLE_ALONE, judge="Dr. Ito"),
    ]  # fmt: skip
    tables["preferences"] = [preferred(question, choice) for question, choice in zip(QUESTIONS, "AAABBB", strict=False)]
    return systems_store(tmp_path_factory.mktemp("corrected"), tables, QUESTIONS)


def composite_of(total: float) -> float:
    return (total + 10) * PER_POINT


def test_a_judge_who_is_one_point_too_high_everywhere_is_corrected_by_one_point(con):
    (row,) = corrected_composite(con).to_dict("records")
    assert (row["system_id"], row["judged"], row["rated"]) == ("alone", 10, 6)
    assert row["mean"] == pytest.approx(composite_of(2))
    assert row["people"] == pytest.approx(composite_of(1))
    assert row["corrected"] == pytest.approx(composite_of(1))
    assert row["trust"] == pytest.approx(1)
    assert row["corrected_high"] - row["corrected_low"] < row["people_high"] - row["people_low"]


def test_people_are_not_the_judge(con):
    """The composite of `alone` is the judge's, without Dr. Ito, whom one may ask for by name."""
    assert composite(con).set_index("system_id").loc["alone", "mean"] == pytest.approx(composite_of(2))
    assert composite(con, judge="Dr. Ito")["mean"].tolist() == [pytest.approx(composite_of(1))]


def test_where_no_reply_was_parsed_nobody_is_known_to_be_a_person(tmp_path):
    tables = system_tables() | {"criteria": [*sums("alone", JUDGE_ALONE), *sums("alone", PEOPLE_ALONE, judge="Dr. Ito")]}
    assert corrected_composite(systems_store(tmp_path, tables, QUESTIONS)).empty


def test_the_share_that_is_preferred_is_corrected_by_people(con):
    """The judge: alone is ahead on the odd questions (3 to 2), behind on the even ones: half. People: 3 of the first 6."""
    (row,) = corrected_preference(con).to_dict("records")
    assert (row["judged"], row["rated"], row["mean"], row["people"]) == (10, 6, 0.5, 0.5)
    # Judge and people both won 1 of A on q1 and q3: covariance 2/6 - 1/4, variance 1/4
    assert row["trust"] == pytest.approx((2 / 6 - 1 / 4) / (1 / 4))
    assert row["corrected"] == pytest.approx(0.5)
    assert 0 <= row["corrected_low"] < 0.5 < row["corrected_high"] <= 1


def test_reference_answers_calibrate_the_judge_on_the_questions_that_have_both(con):
    """References 4 4 4 2 2 2, `alone` 3 1 3 1 3 1 on the same questions: higher once, lower five times."""
    table = judge_calibration(con).set_index("system_id")
    row = table.loc["alone"]
    assert row[["questions", "above", "equal", "below"]].tolist() == [6, 1, 0, 5]
    assert row["reference"] == pytest.approx(composite_of(3))
    assert row["change"] == pytest.approx((2 - 3) * PER_POINT)
    assert row["change_low"] < row["change"] < row["change_high"]
    assert table.loc["rag", ["above", "equal", "below"]].tolist() == [0, 3, 3]


def test_without_judged_references_or_preferences_the_tables_are_empty(tmp_path):
    tables = system_tables() | {"criteria": sums("alone", JUDGE_ALONE, parse="strict"), "preferences": []}
    con = systems_store(tmp_path, tables, QUESTIONS)
    assert judge_calibration(con).empty
    assert corrected_preference(con).empty
    assert np.isin(["corrected_low", "trust"], corrected_composite(con).columns).all()
