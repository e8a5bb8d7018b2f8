"""Two protocols beside each other: costs and topics that a person can check."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from audit.errors import AuditError
from audit.metrics.ablation import runs_cost, topic_likeness, topics_in_one_theme
from audit.release.taxonomy import Taxonomy, Theme
from audit.store.connection import open_two
from tests.support.loading import load, spoil
from tests.support.tiny import release_from

FIRST = "q1 kidney ab=DIVERGENT ac=CONSISTENT bc=COMPLEMENTARY\nq2 kidney ab=DIVERGENT ac=DIVERGENT bc=CONTRADICTORY d=absent"
TOPICS = {("q1", "a", "b"): "Doses of the pill", ("q2", "a", "b"): "topic of a dose"}
"""What the second judge calls some pairs; the others as the first: "topic of ab"."""


@pytest.fixture
def con(tmp_path):
    """The second run: twice the input tokens, no seconds, q2's last pair labelled otherwise, two topics in other words."""

    def change(record: dict[str, Any]) -> None:
        for pair in record["pairs"]:
            if usage := pair["judge_metadata"]:
                usage["input_tokens"] *= 2
                del usage["latency_s"]
            names = (record["question_id"], pair["handbook_a"], pair["handbook_b"])
            pair["divergence_topic"] = TOPICS.get(names, pair["divergence_topic"])
            if names == ("q2", "b", "c"):
                pair["classification"] = "DIVERGENT"

    runs = []
    for name in ("before", "after"):
        folder = release_from(tmp_path / name, FIRST, run_id=name)
        if name == "after":
            for question in ("q1", "q2"):
                spoil(folder, question, change)
        runs.append(load(folder, tmp_path / "data").run)
    return open_two(runs[0].path, runs[1].path)


def test_costs_are_means_of_the_pairs_that_state_them(con):
    table = runs_cost(con).set_index("figure")
    assert table.loc["input tokens"].tolist() == [6, 6, 100, 200, 2]
    assert table.loc["output tokens", "ratio"] == 1
    assert table.loc["seconds", ["n_first", "n_second"]].tolist() == [6, 0]
    assert np.isnan(table.loc["seconds", "ratio"])


def test_topics_of_pairs_labelled_alike_are_compared_by_their_words(con):
    # bc of q1 and ac of q2 keep their words; ab of q1 shares none of "dose, pill" and "topic, ab"; ab of q2 one of three.
    table = topic_likeness(con).set_index("figure")
    assert (table["of"].tolist(), table["questions"].tolist()) == ([4, 4], [2, 2])
    assert table.loc["same words", "value"] == 2 / 4
    assert table.loc["likeness", "value"] == pytest.approx((1 + 1 + 0 + 1 / 3) / 4)
    assert 0 <= table.loc["likeness", "value_low"] < table.loc["likeness", "value"] < table.loc["likeness", "value_high"] <= 1


def test_topics_in_other_words_may_belong_to_one_theme(con):
    themes = Taxonomy(
        (Theme("t1", "One", None, ("topic of ab", "Doses of the pill")), Theme("t2", "Two", None, ("topic of ac",)))
    )
    row = topics_in_one_theme(con, themes, themes).iloc[0]
    # "topic of a dose" is in no theme, and complementary pairs are left out: ab of q1 and ac of q2 remain.
    assert (row["of"], row["value"]) == (2, 1)
    with pytest.raises(AuditError, match="share no theme"):
        topics_in_one_theme(con, themes, None)
