"""Mean scores by criterion: unreadable scores are in no mean, and several judges of one answer count once."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.metrics.system_criteria import composite, criteria_means
from tests.support.systems import judged, system_tables, systems_store

TABLES = {
    **system_tables(),
    "criteria": [
        judged("q1", "alone", 1, 0, -2, 0, 0, 0, 1, 1), judged("q2", "alone", 1, 0, 0, 0, 0, 0, None, 1),
        judged("q1", "rag", 1, 0, -1, 0, 0, 0, 2, 1), {**judged("q1", "rag", 1, 0, 0, 0, 0, 0, 1, 1), "judge": "judge-2"},
    ],
}  # fmt: skip


def test_means_by_criterion_and_system(tmp_path: Path) -> None:
    frame = criteria_means(systems_store(tmp_path, TABLES)).set_index(["criterion", "system_id"])
    assert frame.loc[("missing_content", "alone"), ["answers", "mean"]].tolist() == [2, -1.0]
    assert frame.loc[("empathy", "alone"), ["answers", "unread", "mean"]].tolist() == [1, 1, 1.0]
    # Two judges of one answer: (-1 + 0) / 2, once
    assert frame.loc[("missing_content", "rag"), ["answers", "mean"]].tolist() == [1, -0.5]
    assert frame.loc[("empathy", "rag"), "range"] == "0 to 2"


def test_shared_questions_are_those_that_every_judged_system_has_complete(tmp_path: Path) -> None:
    con = systems_store(tmp_path, TABLES)
    everything = composite(con).set_index("system_id")["answers"].to_dict()
    with_zero = composite(con, incomplete="zero").set_index("system_id")["answers"].to_dict()
    shared = composite(con, shared=True).set_index("system_id")
    assert (everything, with_zero) == ({"alone": 1, "rag": 1}, {"alone": 2, "rag": 1})
    assert shared["answers"].to_dict() == {"alone": 1, "rag": 1}
    # 1 + 0 - 2 + 0 + 0 + 0 + 1 + 1 = 1 of [-10, 4]
    assert shared.loc["alone", "mean"] == pytest.approx(11 / 14 * 10)
