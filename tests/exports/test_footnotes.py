"""A footnote says of the intervals above it how they were made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from audit.exports.context import ExportContext, open_context
from audit.exports.sections import routing, stress, systems
from audit.exports.sections.model import SectionSpec, own_table
from audit.exports.sections.pairs import LABEL_TABLES
from audit.exports.table_model import POPULATION, metric_frame
from audit.metrics import METRICS
from audit.metrics._shared import MANY_INTERVALS
from audit.stats.intervals import wilson
from tests.support.loading import load
from tests.support.tiny import release_from

NONE = """
    q1 kidney  ab=COMPLEMENTARY  cd=CONSISTENT
    q2 kidney  ab=CONSISTENT     ac=CONSISTENT  d=absent
    q3 kidney  ab=CONSISTENT     bd=CONSISTENT
"""
"""Four handbooks and six pairs in which both answer, none of which disagrees."""


@pytest.fixture
def material(tmp_path: Path) -> Iterator[ExportContext]:
    asked = {"terms": {"question": "topic of concern"}}
    with open_context(load(release_from(tmp_path, NONE, **asked), tmp_path / "data").run) as found:
        yield found


def test_where_no_pair_disagrees_the_interval_is_wilsons_and_the_footnote_says_so(material: ExportContext):
    table = own_table("organs")(material)
    low, high = wilson(0, 3)  # three questions
    assert tuple(table.frame.iloc[-1][["r_div_low", "r_div_high"]]) == pytest.approx((float(low), float(high)))
    rule = f"Wilson's with {material.run.term('question', 2)} as trials"
    assert any(rule in note for note in table.notes)
    assert any(rule in note for note in own_table("judge_length")(material).notes)


def test_a_table_says_of_which_population_its_intervals_speak(material: ExportContext):
    organs, disputed = (own_table(name)(material) for name in ("organs", "disputed_shares"))
    assert organs.population == "other topics of concern and other handbooks like these, as this judge labels"
    assert set(organs.typed()["95 % intervals speak of"]) == {organs.population}
    assert disputed.population == "other topics of concern put to these handbooks, as this judge labels"


def test_the_share_that_grows_with_the_number_of_handbooks_has_its_interval_in_a_table_of_its_own(material: ExportContext):
    organs, disputed = (own_table(name)(material) for name in ("organs", "disputed_shares"))
    assert any("pct_any_div grows with the number of handbooks" in note for note in organs.notes)
    assert "Disputed questions (pct_any_div), 95 % low" not in organs.typed()
    assert "Disputed questions (pct_any_div), 95 % low" in disputed.typed()


@pytest.mark.parametrize("make", [own_table("centers"), own_table("handbooks")])
def test_what_is_said_of_one_side_takes_its_own_handbooks_as_they_are(material: ExportContext, make):
    notes = " ".join(make(material).notes)
    assert "its own being fixed" in notes
    assert "other handbooks like these" not in notes


def test_the_file_of_one_metric_has_the_population_too_and_no_interval_of_another(material: ExportContext):
    organs, disputed, labels = (
        metric_frame(name, METRICS[name](material.con), material.run) for name in ("organs", "disputed_shares", "composition")
    )
    assert set(organs[POPULATION]) == {"other topics of concern and other handbooks like these, as this judge labels"}
    assert "pct_any_div" in organs
    assert "pct_any_div_low" not in organs
    assert set(disputed[POPULATION]) == {"other topics of concern put to these handbooks, as this judge labels"}
    assert POPULATION not in labels  # counts have no intervals


def test_the_share_of_disputed_questions_is_exported_corrected_and_with_the_source_of_its_error_rates(material: ExportContext):
    corrected, probable = (own_table(name)(material) for name in ("disputed_share_corrected", "likely_disputed"))
    assert corrected.frame["errors"].tolist()[:2] == ["assumed", "supposed"]
    assert {"share", "judged"} <= {column.name for column in corrected.columns}
    assert len(probable.frame)
    assert {"disputed_share_corrected", "likely_disputed"} <= {maker.__name__ for maker in LABEL_TABLES}


@pytest.mark.parametrize("metric", ["system_differences", "routing_differences", "stress_paired", "runs"])
def test_where_many_intervals_are_read_at_once_the_table_says_how_many_are_marked_by_chance(metric: str):
    assert MANY_INTERVALS in METRICS[metric].table.notes


@pytest.mark.parametrize("section", [systems.DIFFERENCES, routing.DIFFERENCES, stress.PAIRED])
def test_the_sections_that_pages_show_say_so_too(section: SectionSpec):
    assert MANY_INTERVALS in str(section.sentence)
