"""Several sources and stress tests in an export: tables in the shape of the papers, figures, and published figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from audit.exports.context import ExportContext, open_context
from audit.exports.published.comparison import published_figures
from audit.exports.published.stress import (
    STRESS_MODELS,
    STRESS_PRINTED,
    curves_behind,
    models_in,
    published_curves,
    published_model,
    published_retrievals,
    published_set,
)
from audit.exports.published.tables import published_tables
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
    ways = ("offline", "online", "none")
    assert models_in(stress) == {f"llama/pubmedqa/{way}": f"pubmedqa/{way}/llama-3-70b" for way in ways}
    tables = {table.name: table for table in published_tables(stress, {})}
    rows = tables["published_stress"].frame.set_index("title")
    accuracy = next(row for title, row in rows.iterrows() if "sufficiency" in str(title) and row["published"] == "34.2")
    assert accuracy["own"].startswith("50.0")
    assert not any("GPT" in str(title) or "BioASQ" in str(title) for title in rows.index)


def test_figures_that_were_published_come_back_as_shares() -> None:
    columns = ["dataset", "retrieval", "test", "measure", "model", "size", "signal_share"]
    curves = published_curves().set_index(columns)["value"]
    assert curves["pubmedqa", "offline", "sufficiency", "insufficient", "llama-3-70b", 5, 0] == pytest.approx(0.992)
    assert curves["pubmedqa", "offline", "standard", "accuracy", "gpt-4o-mini", 20, 100] == pytest.approx(0.718)
    assert curves["mmlu", "none", "standard", "accuracy", "gpt-4o", 0, 100] == pytest.approx(0.934)
    assert curves.between(0, 1).all()
    assert curves.index.is_unique


def test_what_is_held_of_each_table_is_counted_and_the_first_table_is_complete() -> None:
    # 4 sets: 7 models x 5 contexts; 3 models x 6 shares x 2 sizes x 3 measures; 5 shares; 6 shares x 4 measures
    assert [*STRESS_PRINTED.values()] == [4 * 7 * 5, 4 * 3 * 6 * 2 * 3, 4 * 3 * 5 * 2 * 3, 4 * 3 * 6 * 2 * 4]
    held = Counter(figure.where for figure in published_figures("stress"))
    assert [held[table] for table in STRESS_PRINTED] == [140, 360, 180, 480]
    standard = published_curves().query("test == 'standard'")
    assert set(standard.groupby(["dataset", "model"]).size()) == {5}
    assert set(standard["model"]) == set(STRESS_MODELS)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("meta/Llama-3-70B-Instruct", "llama-3-70b"),
        ("Llama-3.1-70B", None),
        ("GPT-4o-mini-2024", "gpt-4o-mini"),
        (None, None),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("gpt-3.5-turbo", "gpt-3.5"),
        ("google/gemma-2-27b-it", "gemma-2-27b"),
    ],
)
def test_llama_3_1_is_not_llama_3(model: str | None, expected: str | None) -> None:
    assert published_model(model) == expected


def scope_of(*pairs: tuple[str, str]) -> pd.DataFrame:
    return pd.DataFrame(list(pairs), columns=["dataset", "retrieval"])


def test_other_questions_have_no_published_figures() -> None:
    names = ("PubMedQA", "pubmed-qa", "BioASQ-Y/N", "MedQA-US", "MMLU-Med", "medmcqa", None)
    assert [published_set(name) for name in names] == ["pubmedqa", "pubmedqa", "bioasq", "medqa", "mmlu", None, None]
    one = scope_of(("PubMedQA", "offline"))
    assert len(curves_behind(one, "sufficiency", "accuracy", [5])) == 3 * 6
    assert len(curves_behind(one, "sufficiency", "accuracy", [5], ["llama-3-70b"])) == 6
    assert curves_behind(scope_of(("PubMedQA", ""), ("own", "")), "sufficiency", "accuracy", [5]).empty
    assert curves_behind(one, "sufficiency", "accuracy", [7]).empty


def test_a_run_is_next_to_the_figures_of_its_own_retrieval_and_to_both_where_it_states_none() -> None:
    assert published_retrievals(["online", "online"]) == ("online",)
    assert published_retrievals(["", None]) == ("offline", "online")
    assert published_retrievals(["offline", "online"]) == published_retrievals(["offline", ""]) == ()
    online = curves_behind(scope_of(("mmlu", "online")), "standard", "accuracy", [0, 5, 20], ["gpt-4o"])
    assert online["model"].unique().tolist() == ["GPT-4o"]
    assert online["value"].tolist() == pytest.approx([0.934, 0.895, 0.891])
    both = curves_behind(scope_of(("mmlu", "")), "standard", "accuracy", [0, 5, 20], ["gpt-4o"])
    assert dict(both.groupby("model").size()) == {"GPT-4o, offline": 3, "GPT-4o, online": 3}


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
