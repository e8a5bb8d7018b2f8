"""Label entropy: how mixed the labels of a question are, by counts that a person can check."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audit.errors import NotInRunError
from audit.metrics.labels import entropy_bits, label_entropy
from audit.metrics.questions import questions

TABLE = """
    q1 kidney ab=DIVERGENT ac=CONSISTENT bc=CONSISTENT ad=DIVERGENT bd=ABSENT cd=unscored
    q2 kidney ab=COMPLEMENTARY ac=COMPLEMENTARY bc=COMPLEMENTARY d=absent
    q3 kidney ab=DIVERGENT ac=CONSISTENT bc=CONSISTENT ad=CONSISTENT bd=ABSENT cd=ABSENT
    q4 kidney a=absent b=absent c=absent d=absent
"""


def test_entropy_counts_the_labels_of_present_pairs_only(store):
    table = label_entropy(store(TABLE)).set_index("question_id")
    assert table["present"].to_dict() == {"q1": 4, "q2": 3, "q3": 4, "q4": 0}
    assert table.loc["q1", ["entropy", "evenness"]].tolist() == [1, 1 / 2]  # two labels, two pairs each
    assert table.loc["q3", "entropy"] == pytest.approx(-(1 / 4 * np.log2(1 / 4) + 3 / 4 * np.log2(3 / 4)))


def test_one_label_has_no_entropy_and_no_pair_has_none_that_is_known(store):
    table = label_entropy(store(TABLE)).set_index("question_id")
    assert table.loc["q2", "entropy"] == 0
    assert np.isnan(table.loc["q4", "entropy"])


def test_no_interval_is_printed_as_none_that_was_tried_holds(store):
    assert not {"entropy_low", "entropy_high"} & set(label_entropy(store(TABLE)))


def test_four_equally_common_labels_have_two_bits():
    assert entropy_bits(np.array([[5.0, 5, 5, 5], [1, 0, 0, 0], [0, 0, 0, 0]])) == pytest.approx([2, 0, np.nan], nan_ok=True)


@pytest.mark.parametrize("metric", [label_entropy, questions], ids=["label_entropy", "questions"])
def test_a_question_alone_has_the_numbers_that_it_has_among_all(store, metric):
    # f and g are asked q5 alone: the draws of q1 are still those of all seven handbooks
    con = store(TABLE + "q5 kidney f=absent g=absent ab=DIVERGENT ac=CONSISTENT bc=COMPLEMENTARY")
    for number, row in metric(con).reset_index(drop=True).iterrows():
        alone = metric(con, question_id=row["question_id"])
        pd.testing.assert_frame_equal(alone.reset_index(drop=True), metric(con).iloc[[number]].reset_index(drop=True), rtol=1e-12)


@pytest.mark.parametrize("metric", [label_entropy, questions], ids=["label_entropy", "questions"])
def test_a_question_that_the_run_does_not_have_is_named(store, metric):
    with pytest.raises(NotInRunError, match="q9"):
        metric(store(TABLE), question_id="q9")
