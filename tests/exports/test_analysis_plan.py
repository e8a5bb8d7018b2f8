"""The analysis plan of a package: what made its figures, and nothing that it does not show."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.exports.analysis_plan import analysis_plan
from audit.exports.catalogue import chapters
from audit.exports.context import open_context
from audit.stats.bootstrap import SEED
from audit.store.runs import Run
from tests.support.loading import load
from tests.support.tiny import release_from

TABLE = """
    q1 kidney  ab=DIVERGENT/high  ac=COMPLEMENTARY  bc=CONSISTENT
    q2 general ab=CONTRADICTORY/low  ac=ABSENT  bc=COMPLEMENTARY
    q3 lung    ab=UNSCORED  ac=COMPLEMENTARY  c=absent
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder: Path = tmp_path_factory.mktemp("plan")
    return load(release_from(folder / "release", TABLE), folder / "data").run


def test_it_counts_what_is_left_out_and_describes_the_metrics_that_were_shown(run: Run) -> None:
    with open_context(run) as context:
        made = {table.name: table for chapter in chapters(context, lambda _: None) for table in chapter.tables}
    frame = made["analysis_plan"].frame
    statements = {(row.part, row.item): row.statement for row in frame.itertuples()}
    assert statements["Data", "Release, SHA-256"] == run.digest
    assert statements["Exclusions", "Unscored pairs"].startswith("1 of 9")
    assert statements["Exclusions", "Prescreened pairs"].startswith("1 of 9")
    assert f"seed {SEED}" in statements["Intervals", "Few clusters"]
    assert "which generalise to other questions and other handbooks" in statements["Estimands", "How pairs were labelled"]
    assert "label entropy" in set(frame["item"])
    assert statements["Versions", "duckdb"][0].isdigit()


def test_what_the_package_does_not_have_is_not_in_it(run: Run) -> None:
    with open_context(run) as context:
        frame = analysis_plan(context).frame  # before any table was made
    assert set(frame["part"]) == {"Data", "Exclusions", "Intervals", "Versions"}
