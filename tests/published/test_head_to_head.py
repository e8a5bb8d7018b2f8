"""The head-to-head comparisons of the source paper: one clinician, 66 pairs of answers, and the judge's sums of scores.

It prints an alignment of 59 %, 69 % with the judge's ties given to the closed book and 51 % with ties given to retrieval.
"""

from __future__ import annotations

import gzip
import json

import numpy as np
import pandas as pd
import pytest

from audit.evaluation.preferences import TIE_RULES, alignment, bradley_terry, side_effect
from tests.published.conftest import shared

SIDES = {"closed_book": "A", "rag": "B", "tie": "tie"}


@pytest.fixture(scope="module")
def compared() -> pd.DataFrame:
    with gzip.open(shared("consumer_health/head_to_head.jsonl.gz"), "rt", encoding="utf-8") as file:
        records = pd.DataFrame(json.loads(line) for line in file)
    sums = records["judge_total_closed_book"] - records["judge_total_rag"]
    return pd.DataFrame(
        {
            "question": records["qid"], "system_a": records["model"] + " alone", "system_b": records["model"] + " rag",
            "preference": records["clinician"].map(SIDES), "judge": records["published_judge_choice"].map(SIDES),
            "by_sums": np.sign(sums).map({1: "A", -1: "B", 0: "tie"}),
            "shown_first": "A",         }
    )  # fmt: skip


def test_the_clinician_and_the_judge_chose_as_published(compared):
    assert compared["preference"].value_counts().to_dict() == {"A": 55, "B": 1, "tie": 10}
    assert compared["judge"].value_counts().to_dict() == {"A": 40, "B": 9, "tie": 17}


def test_the_alignment_under_the_three_tie_rules_is_as_published(compared):
    table = alignment(compared["question"], compared["preference"], compared["judge"]).set_index("rule")
    assert table["agreed"].to_dict() == {"exact": 39, "ties_to_a": 46, "ties_to_b": 34}
    assert (table["share"] * 100).astype(int).tolist() == [59, 69, 51]
    assert (table["share_low"] < table["share"]).all()
    assert (table["share"] < table["share_high"]).all()


def test_six_of_the_17_ties_of_the_judge_are_replies_that_could_not_be_read(compared):
    """Without them, 37, 42 and 34 of 60: a missing verdict is not a tie."""
    unread = compared["by_sums"].isna()
    assert compared["judge"][unread].tolist() == ["tie"] * 6
    assert (compared["judge"] == compared["by_sums"])[~unread].all()
    table = alignment(compared["question"], compared["preference"], compared["by_sums"])
    assert list(zip(table["agreed"], table["of"], strict=True)) == [(37, 60), (42, 60), (34, 60)]


def test_agreement_beyond_chance_is_close_to_none_whatever_the_rule(compared):
    """Where one side wins 55 of 66, a judge agrees often without knowing anything. Kappa as scikit-learn has it."""
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed (extra models)")
    table = alignment(compared["question"], compared["preference"], compared["judge"]).set_index("rule")
    for rule, tie in TIE_RULES.items():
        theirs = metrics.cohen_kappa_score(compared["preference"], compared["judge"].replace({"tie": tie}))
        assert table.loc[rule, "kappa"] == pytest.approx(theirs)
        assert abs(theirs) < 0.11


def test_position_cannot_be_told_from_the_system_because_one_was_always_first(compared):
    effect = side_effect(compared, "shown_first")
    assert (effect.won, effect.comparisons, effect.informative) == (55, 56, 0)
    assert np.isnan(effect.p_value)


def test_no_finite_strengths_fit_where_a_system_is_never_preferred(compared):
    one_model = compared[compared["system_a"] == compared["system_a"].iloc[0]]
    result = bradley_terry(one_model, [one_model["system_a"].iloc[0], one_model["system_b"].iloc[0]])
    assert result["comparisons"].tolist() == [22, 22]
