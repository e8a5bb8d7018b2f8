"""When to retrieve, on simulated questions: a gain that exists is found, one that does not exist is not claimed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audit.evaluation.selective_answering import MIN_DIFFERING, answer_features, learn_when_to_retrieve
from audit.stats.means import mean_change

pytest.importorskip("sklearn", reason="scikit-learn is not installed (extra models)")


def world(seed: int, questions: int, effect: float, advantage: float = 0.0):
    """Features, the first of which tells by how much retrieval helps, and the difference in quality."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(questions, 4))
    return features, advantage + effect * features[:, 0] + rng.normal(size=questions)


def gains(features, difference):
    """The rule's gain over never and over always retrieving, with intervals."""
    chosen = learn_when_to_retrieve(features, difference).retrieves
    return mean_change(chosen * difference), mean_change((chosen - 1) * difference)


def test_a_gain_that_exists_is_found_with_its_size():
    features, difference = world(1, 600, effect=1.0)
    over_never, over_always = gains(features, difference)
    # The best rule retrieves where the first feature is above 0: E max(0, x) = 1 / root(2 pi) = .399
    assert over_never["change"] == pytest.approx(0.399, abs=0.1)
    assert over_never["change_low"] > 0.25
    assert over_always["change_low"] > 0.25
    rule = learn_when_to_retrieve(features, difference)
    assert (rule.weights[:, 0] > 3 * np.abs(rule.weights[:, 1:]).max(axis=1)).all()


@pytest.mark.parametrize("advantage", [0.0, 0.5])
def test_no_gain_is_claimed_where_the_features_tell_nothing(advantage):
    claimed = 0
    for seed in range(3):
        never, always = gains(*world(seed, 100, effect=0.0, advantage=advantage))
        claimed += never["moves"] == always["moves"] == "rises"
    assert claimed <= 1


def test_where_one_system_is_always_better_the_rule_takes_it():
    features, difference = world(3, 100, effect=0.0)
    for sign in (1, -1):
        rule = learn_when_to_retrieve(features, sign * (np.abs(difference) + 0.1))
        assert (rule.retrieves == (sign > 0)).all()
        assert not rule.weights.any()


def test_choices_are_the_same_each_time_and_unknown_features_do_not_stop_it():
    features, difference = world(4, 200, effect=1.0)
    features[::3, 0] = np.nan
    features[:, 3] = np.nan
    first, again = (learn_when_to_retrieve(features, difference) for _ in range(2))
    assert (first.retrieves == again.retrieves).all()
    assert mean_change(first.retrieves * difference)["change_low"] > 0


def test_too_few_questions_that_differ_give_no_rule():
    features, difference = world(5, 200, effect=1.0)
    difference[MIN_DIFFERING - 1 :] = 0
    assert learn_when_to_retrieve(features, difference) is None


def test_features_are_of_the_question_and_of_what_was_found():
    types = ["treatment"] * 10 + ["causes"] * 10 + ["rare"]
    questions = pd.DataFrame({
        "question": range(21), "question_type": types,
        "text": ["How are kidney stones treated?", *("What causes gallstones then?" for _ in range(20))],
    })  # fmt: skip
    passages = pd.DataFrame({
        "question": [0, 0, 1], "score": [0.9, 0.5, 0.2], "text": ["A stone in the kidney.", "Drink water.", None],
    })  # fmt: skip
    table = answer_features(questions, passages)
    first = table.loc[0]
    assert first[["top_score", "mean_score", "score_drop", "passages"]].tolist() == pytest.approx([0.9, 0.7, 0.4, 2])
    assert first["sufficiency"] == pytest.approx(2 / 3)  # kidney and stones, not treated
    assert np.isnan(table.loc[1, "sufficiency"])  # its passage has no text
    assert table.loc[2, ["top_score", "passages"]].isna().all()
    assert (first["type: treatment"], first["type: causes"], first["question_words"]) == (1, 0, 5)
    assert "type: rare" not in table
