"""Agreement on other questions and handbooks: by hand, and in simulated studies whose true accuracy is known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, stdtrit

from annotation.agreement.subgroups import clustered_agreement
from annotation.ratings.table import ratings_from
from audit.vocabulary import LABELS

WORDS = np.array([label.value for label in LABELS])
Z = 1.959963984540054


def study(rng: np.random.Generator, questions: int, handbooks: int, items: int, spread: float) -> pd.DataFrame:
    """Items whose question and two handbooks make the judge err more or less often; annotators are always right."""
    by_question, by_handbook = rng.normal(0, spread, questions), rng.normal(0, spread, handbooks)
    question, a = rng.integers(0, questions, items), rng.integers(0, handbooks, items)
    b = (a + rng.integers(1, handbooks, items)) % handbooks
    true = rng.choice(5, items, p=[0.3, 0.2, 0.25, 0.15, 0.1])
    right = rng.random(items) < expit(1.6 + by_question[question] + by_handbook[a] + by_handbook[b])
    judge = np.where(right, true, (true + rng.integers(1, 5, items)) % 5)
    return pd.DataFrame(
        {
            "item_id": [f"i{number}" for number in range(items)], "annotator_a": WORDS[true], "annotator_b": WORDS[true],
            "judge": WORDS[judge], "question_id": question, "handbook_a": a, "handbook_b": b,
        }
    )  # fmt: skip


def accuracy(frame: pd.DataFrame) -> pd.Series:
    found = clustered_agreement(ratings_from(frame), frame)
    return found[(found["figure"] == "accuracy") & (found["who"] == "the majority and the judge")].iloc[0]


@pytest.mark.slow
@pytest.mark.parametrize(("questions", "handbooks", "items"), [(30, 20, 200), (60, 40, 400)])
def test_intervals_contain_the_accuracy_on_other_questions_and_handbooks(questions: int, handbooks: int, items: int) -> None:
    rng, spread = np.random.default_rng(3), 0.7
    truth = expit(1.6 + rng.normal(0, spread * np.sqrt(3), 400_000)).mean()
    rows = [accuracy(study(rng, questions, handbooks, items, spread)) for _ in range(150)]
    plain = np.mean([row["value_low"] <= truth <= row["value_high"] for row in rows])
    clustered = np.mean([row["clustered_low"] <= truth <= row["clustered_high"] for row in rows])
    assert plain < 0.8, "other items of the run are not other questions and handbooks"
    assert clustered >= 0.89, clustered


def test_items_that_share_nothing_widen_the_interval_by_student_s_t_alone() -> None:
    frame = study(np.random.default_rng(1), 5, 5, 40, 0.0)
    frame = frame.assign(question_id=range(40), handbook_a=range(40), handbook_b=range(40, 80))
    row = accuracy(frame)
    # Each item is related to itself alone: 40 of the 1,600 couples of items
    assert (row["questions"], row["handbooks"], row["n"]) == (40, 80, 40)
    assert row["wider"] == pytest.approx(np.sqrt(1600 / 1560) * stdtrit(39, 0.975) / Z)


def test_items_of_one_question_count_as_one() -> None:
    """Eight questions with five items each; the judge errs on all items of two of them: as good as six of eight."""
    frame = study(np.random.default_rng(1), 5, 5, 40, 0.0).assign(
        question_id=np.repeat(range(8), 5), handbook_a=range(40), handbook_b=range(40, 80)
    )
    frame["judge"] = np.where(frame["question_id"] < 2, "ABSENT", frame["annotator_a"])
    frame.loc[frame["question_id"] < 2, ["annotator_a", "annotator_b"]] = "DIVERGENT"
    row = accuracy(frame)
    assert row["value"] == 0.75
    assert row["wider"] > 2
    assert row["clustered_low"] < row["value_low"] < 0.75 < row["value_high"] < row["clustered_high"]


def test_too_few_questions_or_items_are_said_instead() -> None:
    frame = study(np.random.default_rng(1), 5, 5, 40, 0.0)
    row = accuracy(frame.assign(question_id=np.arange(40) % 3))
    assert row["note"] == "too few questions or handbooks: 3, 5 needed"
    assert np.isnan(row["clustered_low"])
    assert accuracy(frame.head(6))["note"] == "too small: 6 items, 10 needed"
