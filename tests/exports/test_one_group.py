"""Where a run has one group of each kind, every table says the same of it as of the whole run."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from audit.exports.catalogue import chapters
from audit.exports.context import open_context
from audit.tables import HIGH, LOW
from tests.support.loading import load
from tests.support.tiny import release_from

ONE = "\n".join(
    f"q{number} kidney topics=diet a{'bcdef'[number % 5]}=DIVERGENT/high b{'cdef'[number % 4]}=CONTRADICTORY/low"
    + "".join(f" {pair}=CONSISTENT" for pair in ("cd", "ce", "de", "df", "ef"))
    for number in range(12)
)
"""Twelve questions on one topic of one organ."""
OF_PARTS = {"centers", "handbooks", "handbook_case_mix", "center_case_mix", "questions"}
"""Tables whose rows are parts of the run even then."""


def test_figures_of_one_name_and_population_are_equal_with_their_intervals(tmp_path: Path) -> None:
    run = load(release_from(tmp_path, ONE), tmp_path / "data").run
    found: dict[tuple[str, str], dict[tuple[float, ...], str]] = defaultdict(dict)
    with open_context(run) as context:
        for table in (table for chapter in chapters(context, lambda _: None) for table in chapter.tables):
            if table.name in OF_PARTS:
                continue
            for column in filter(table.has_interval, table.columns):
                for row in table.frame[[column.name, column.name + LOW, column.name + HIGH]].to_numpy(dtype=float):
                    if column.name in ("r_abs", "r_div", "r_con", "pct_any_div"):
                        found[column.name, table.population][tuple(row.round(12))] = table.name
    assert {column for column, _ in found} == {"r_abs", "r_div", "r_con", "pct_any_div"}
    assert {key: rows for key, rows in found.items() if len(rows) > 1} == {}
    assert all(low < value < high for rows in found.values() for value, low, high in rows if 0 < value < 1)
