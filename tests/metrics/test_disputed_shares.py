"""The share of questions with any disagreement: counts that a person can check."""

from __future__ import annotations

import numpy as np
import pytest

from audit.errors import AuditError
from audit.metrics.disputed_questions import disputed_shares
from audit.stats.intervals import wilson

TABLE = """
    q1 kidney  topics=diet,bones ab=DIVERGENT ac=CONSISTENT bc=CONSISTENT
    q2 kidney  topics=diet       ab=CONSISTENT ac=CONSISTENT bc=unscored
    q3 general topics=bones      ab=unscored
"""


def test_questions_are_counted_by_run_organ_and_topic_and_one_without_a_verdict_counts_nowhere(store):
    found = disputed_shares(store(TABLE))
    assert found[["grouped_by", "name", "questions_scored", "questions_any"]].to_numpy().tolist() == [
        ["run", "(all)", 2, 1], ["organ", "general", 0, 0], ["organ", "kidney", 2, 1], ["topic", "bones", 1, 1],
        ["topic", "diet", 2, 1],
    ]  # fmt: skip
    assert found["pairs_each"].tolist() == pytest.approx([5 / 2, np.nan, 5 / 2, 3, 5 / 2], nan_ok=True)
    everything = found.iloc[0]
    assert everything["pct_any_div"] == 1 / 2
    assert (everything["pct_any_div_low"], everything["pct_any_div_high"]) == pytest.approx(np.ravel(wilson(1, 2)))


def test_a_question_without_a_verdict_has_no_share(store):
    assert np.isnan(disputed_shares(store(TABLE)).set_index("name").loc["general", "pct_any_div"])


def test_another_scope_is_refused(store):
    with pytest.raises(AuditError, match="Scope"):
        disputed_shares(store(TABLE), scope="some")
