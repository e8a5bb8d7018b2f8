"""Sections that a page draws and an export writes."""

from __future__ import annotations

from importlib import import_module

import pytest

from audit.exports.catalogue import CHAPTERS
from audit.exports.sections.model import SectionSpec

FAMILIES = ("judge", "pairs", "retrieval", "routing", "stress", "systems", "themes", "two_runs")
SECTIONS = {
    f"{family}.{name}": shown
    for family in FAMILIES
    for name, shown in vars(import_module(f"audit.exports.sections.{family}")).items()
    if isinstance(shown, SectionSpec)
}


@pytest.mark.parametrize("section", SECTIONS.values(), ids=SECTIONS)
def test_a_section_picks_columns_that_its_metric_has(section: SectionSpec) -> None:
    assert [column.name for column in section.metric.table.named(*section.columns)]


def test_every_table_is_listed_under_a_name_of_its_own_where_it_is_left_out() -> None:
    names = [maker.__name__ for plan in CHAPTERS for maker in plan.tables]
    assert len(names) == len(set(names))
    assert "maker" not in names
