"""A footnote says of the intervals above it how they were made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from audit.exports import catalogue, run_tables
from audit.exports.context import ExportContext, open_context
from audit.stats.intervals import wilson
from tests.support.loading import load
from tests.support.tiny import release_from

FEW = """
    q1 kidney  ab=DIVERGENT/high  ac=COMPLEMENTARY  bc=CONSISTENT
    q2 kidney  ab=CONSISTENT      c=absent
    q3 kidney  ab=CONSISTENT      ac=CONSISTENT     bc=CONSISTENT
"""
"""Three handbooks and seven pairs in which both answer, one of which disagrees."""
TRIALS = "Wilson's with {} as trials"


@pytest.fixture
def material(tmp_path: Path) -> Iterator[ExportContext]:
    asked = {"terms": {"question": "topic of concern"}}
    with open_context(load(release_from(tmp_path, FEW, **asked), tmp_path / "data").run) as found:
        yield found


def test_where_few_questions_disagree_the_interval_is_wilsons_and_the_footnote_says_so(material: ExportContext):
    table = catalogue.metric("organs")(material)
    low, high = wilson(3 / 7, 3)  # a seventh of the pairs, as if of three trials
    assert tuple(table.frame.iloc[-1][["r_div_low", "r_div_high"]]) == pytest.approx((float(low), float(high)))
    said = TRIALS.format(material.run.term("question", 2))
    assert any(said in note for note in table.notes)
    assert any(said in note for note in run_tables.judge_length(material).notes)


@pytest.mark.parametrize("make", [catalogue.metric("centers"), run_tables.handbooks])
def test_what_is_said_of_one_side_takes_its_own_handbooks_as_they_are(material: ExportContext, make):
    notes = " ".join(make(material).notes)
    assert "its own are fixed" in notes
    assert "resampled together" not in notes
