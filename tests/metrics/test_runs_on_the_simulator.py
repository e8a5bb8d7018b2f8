"""The demo's two runs differ by a known mechanism: answers that a weaker retriever missed. The comparison must find it."""

from __future__ import annotations

import numpy as np
import pytest

from audit.metrics.most_moved import questions_moved
from audit.metrics.runs import BOTH, IN_ALL, LOST, REVEALED, runs, runs_change
from audit.metrics.transitions import run_agreement
from audit.store.connection import Connection, open_two
from tests.simulator.build import MISSED_SHARE as MISSED
from tests.simulator.build import write_demo, write_earlier
from tests.support.loading import load


@pytest.fixture(scope="module")
def con(tmp_path_factory: pytest.TempPathFactory) -> Connection:
    """From the earlier run to the main one."""
    root = tmp_path_factory.mktemp("demo")
    earlier, main = (load(write(root / name), root / "data").run for write, name in ((write_earlier, "e"), (write_demo, "m")))
    return open_two(earlier.path, main.path)


def test_absence_falls_by_what_was_missed(con: Connection) -> None:
    absent = runs(con).set_index(["organ", "rate"]).loc["(all)", "r_abs"]
    # a present pair stays present when neither of its answers is missed
    true = -(1 - (1 - MISSED) ** 2) * (1 - absent["second"])
    assert absent["change_low"] <= true <= absent["change_high"] < 0
    assert absent["moves"] == "falls"


def test_where_both_runs_answered_nothing_is_judged_otherwise(con: Connection) -> None:
    table = runs_change(con)
    both = table[table["part"] == BOTH]
    assert set(both["effect"]) == {0.0}
    assert set(both["moves"]) == {"the same"}
    assert both["relabelled"].sum() == 0


def test_all_that_changed_is_revealed(con: Connection) -> None:
    found = runs_change(con).set_index(["organ", "part"]).loc["(all)"]
    assert found.loc[LOST, "pairs"] == 0
    assert found.loc[REVEALED, "change"] == found.loc[IN_ALL, "change"] > 0
    assert found.loc[REVEALED, "change_low"] > 0


def test_revealed_pairs_disagree_about_as_often_as_the_others(con: Connection) -> None:
    revealed = runs_change(con).set_index(["organ", "part"]).loc["(all)", REVEALED]
    assert revealed["effect_low"] <= 0 <= revealed["effect_high"]


def test_a_judge_that_is_the_same_agrees_with_itself_in_label_and_significance(con: Connection) -> None:
    agreed = run_agreement(con).set_index("figure")["value"]
    assert agreed[["kappa", "same label", "significance the same"]].to_list() == [1, 1, 1]


def test_every_question_that_moved_moved_by_what_came_to_light(con: Connection) -> None:
    table = questions_moved(con)
    assert len(table) > 10
    assert (table["moved"] == table["revealed"]).all()
    assert table["share_low"].is_monotonic_decreasing
    assert not np.isnan(table["share_low"]).any()
