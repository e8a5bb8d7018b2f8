"""Bounds for unscored pairs, and the mean over questions: counted by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from audit.metrics import METRICS
from audit.stats.intervals import wilson
from audit.store.connection import open_store
from tests.support.loading import load
from tests.support.tiny import release_from


def bounds(tmp_path: Path, table: str) -> pd.DataFrame:
    with open_store(load(release_from(tmp_path, table), tmp_path / "data").run.path) as con:
        return METRICS["disagreement_bounds"](con).set_index("figure")


def test_the_bounds_count_every_unscored_pair_as_agreeing_or_as_disagreeing(tmp_path: Path) -> None:
    table = bounds(
        tmp_path,
        """
        q1 kidney  ab=DIVERGENT/low  ac=CONSISTENT  bc=UNSCORED
        q2 kidney  ab=CONSISTENT     c=absent
        q3 kidney  ab=UNSCORED       ac=ABSENT      bc=CONTRADICTORY
        q4 kidney  a=absent          b=absent       c=absent
        """,
    )
    assert table["of"].to_dict() == {"pooled": 4, "unscored agree": 6, "unscored disagree": 6, "mean over questions": 3}
    expected = {"pooled": 2 / 4, "unscored agree": 2 / 6, "unscored disagree": 4 / 6, "mean over questions": (0.5 + 0 + 1) / 3}
    assert table["value"].to_dict() == pytest.approx(expected)
    assert table["value_low"].isna().to_dict()["unscored agree"]
    assert table["population"].tolist() == ["others", "these", "these", "other questions"]


def test_the_pooled_rate_is_that_of_organs(tmp_path: Path) -> None:
    text = """
        q1 kidney ab=DIVERGENT/low ac=CONSISTENT bc=CONSISTENT ad=CONSISTENT
        q2 lung ab=CONSISTENT ac=DIVERGENT/low bd=CONSISTENT
    """
    release = release_from(tmp_path, text)
    with open_store(load(release, tmp_path / "data").run.path) as con:
        total = METRICS["organs"](con).set_index("organ").loc["(all)"]
        pooled = METRICS["disagreement_bounds"](con).set_index("figure").loc["pooled"]
    names, own = ["value", "value_low", "value_high"], ["r_div", "r_div_low", "r_div_high"]
    np.testing.assert_array_equal(pooled[names].astype(float), total[own].astype(float))


def test_a_run_without_present_pairs_has_no_rate_and_questions_that_all_agree_have_wilsons_interval(tmp_path: Path) -> None:
    assert bounds(tmp_path / "none", "q1 kidney ab=ABSENT c=absent")["value"].isna().all()
    lines = "\n".join(f"q{n} kidney ab=CONSISTENT c=absent" for n in range(6))
    mean = bounds(tmp_path / "agree", lines).loc["mean over questions"]
    assert mean["value_high"] == pytest.approx(float(wilson(0, 6)[1]))
