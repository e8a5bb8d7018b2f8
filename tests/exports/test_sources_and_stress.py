"""Several sources and stress tests in an export: tables in the shape of the papers, figures, and published figures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from audit.exports.context import ExportContext, open_context
from audit.exports.published.tables import (
    curves_behind,
    is_published,
    models_in,
    published_curves,
    published_model,
    published_tables,
)
from audit.exports.sections.stress import by_share
from audit.exports.table_model import pivoted
from audit.vocabulary import StressTest
from tests.exports.tables import chapter_named
from tests.support.loading import load
from tests.support.routes import routes_release
from tests.support.stress import document, instance, replied, stress_release


@pytest.fixture(scope="module")
def stress(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExportContext]:
    """Llama 3 70B on PubMedQA: at 20 % right once in two, at 100 % right once and once insufficient; an own model beside it."""
    folder = tmp_path_factory.mktemp("stress")
    five = [document(name) for name in "abcde"]
    instances = [
        instance(question, "sufficiency", share, *five, dataset="PubMedQA") for question in ("q1", "q2") for share in (20, 100)
    ]
    replies = [
        replied("q1-sufficiency-20", "llama"), replied("q2-sufficiency-20", "llama", "B"), replied("q1-sufficiency-100", "llama"),
        replied("q2-sufficiency-100", "llama", None, insufficient=True), replied("q1-sufficiency-20", "own"),
    ]  # fmt: skip
    systems = [
        {"system_id": "llama", "model": "meta/Llama-3-70B-Instruct", "mode": "other"},
        {"system_id": "own", "mode": "other"},
    ]
    tables = {"systems": systems, "stress_instances": instances, "stress_replies": replies}
    with open_context(load(stress_release(folder / "release", tables), folder / "data").run) as context:
        yield context


def test_a_test_has_one_column_per_share_and_a_dash_where_nothing_was_measured(stress: ExportContext) -> None:
    table = by_share(StressTest.SUFFICIENCY)(stress)
    assert [column.label for column in table.columns] == ["System", "Documents (asked for)", "Measure", "20 %", "100 %"]
    rows = {(line[0], line[2]): line[3:] for line in table.lines()}
    assert [cell[:5] for cell in rows["llama", "Accuracy"]] == ["0.500", "0.500"]
    assert [cell[:5] for cell in rows["llama", "Insufficient"]] == ["0.000", "0.500"]
    assert rows["own", "Accuracy"][1] == "–"


def test_an_export_of_stress_tests_has_their_chapter_and_figures(stress: ExportContext) -> None:
    chapter = chapter_named(stress, "Stress tests")
    assert {table.name for table in chapter.tables} >= {"stress_sufficiency", "stress_curves", "stress_selective"}
    assert {picture.name for picture in chapter.pictures} == {
        "stress_sufficiency_5_accuracy", "stress_sufficiency_5_insufficient", "stress_selective_sufficiency_5",
    }  # fmt: skip
    assert all("not measured, which is different from zero" in reason for reason in chapter.left_out.values())


def test_a_run_of_a_published_model_is_next_to_its_figures(stress: ExportContext) -> None:
    assert models_in(stress) == {"llama": "llama-3-70b"}
    tables = {table.name: table for table in published_tables(stress, {})}
    rows = tables["published_stress"].frame.set_index("title")
    accuracy = next(row for title, row in rows.iterrows() if "Sufficiency" in str(title) and row["published"] == "34.2")
    assert accuracy["own"].startswith("50.0")
    assert not any("GPT" in str(title) for title in rows.index)


def test_figures_that_were_published_come_back_as_shares() -> None:
    curves = published_curves().set_index(["test", "measure", "model", "size", "signal_share"])["value"]
    assert curves["sufficiency", "insufficient", "Llama 3 70B", 5, 0] == pytest.approx(0.992)
    assert curves["standard", "accuracy", "GPT-4o mini", 20, 100] == pytest.approx(0.718)
    assert curves.between(0, 1).all()


@pytest.mark.parametrize(
    ("model", "expected"),
    [("meta/Llama-3-70B-Instruct", "llama-3-70b"), ("Llama-3.1-70B", None), ("GPT-4o-mini-2024", "gpt-4o-mini"), (None, None)],
)
def test_llama_3_1_is_not_llama_3(model: str | None, expected: str | None) -> None:
    assert published_model(model) == expected


def test_other_questions_have_no_published_figures() -> None:
    assert (is_published("PubMedQA"), is_published("pubmed-qa"), is_published("bioasq"), is_published(None)) == (
        True,
        True,
        False,
        False,
    )
    assert len(curves_behind(["PubMedQA"], "sufficiency", "accuracy", [5])) == 6
    assert curves_behind(["PubMedQA", "own"], "sufficiency", "accuracy", [5]).empty
    assert curves_behind(["PubMedQA"], "sufficiency", "accuracy", [7]).empty


def test_sources_have_their_chapter(tmp_path: Path) -> None:
    with open_context(load(routes_release(tmp_path / "release"), tmp_path / "data").run) as context:
        chapter = chapter_named(context, "How systems choose between sources")
    assert chapter.left_out == {}
    wide = chapter.tables[0].frame.set_index("name")
    assert (wide.loc["daks", "PrimaryAcc"], wide.loc["all", "PrimaryAcc"]) == (1.0, 0.0)
    assert {picture.name for picture in chapter.pictures} == {"routing", "source_dominance", "source_budgets"}


def test_what_has_no_row_is_missing_in_the_wide_table_and_not_zero() -> None:
    long = pd.DataFrame(
        {"name": ["a", "a", "b"], "by": ["x", "y", "x"], "v": [0.1, 0.2, 0.3], "v_low": [0, 0, 0], "v_high": [1, 1, 1]}
    )
    wide = pivoted(long, ["name"], "by", "v").set_index("name")
    assert wide.loc["a", ["x", "y", "y_high"]].tolist() == [0.1, 0.2, 1]
    assert wide.loc["b", ["y", "y_low"]].isna().all()
