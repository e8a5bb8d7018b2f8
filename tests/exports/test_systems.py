"""Answering systems in an export: the tables and figures that a run can fill, the reasons for the others, published figures."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from audit.evaluation.criteria import REFERENCE
from audit.exports.catalogue import CHAPTERS, chapters
from audit.exports.context import open_context
from audit.exports.published.comparison import AGREES, DIFFERS, UNKNOWN
from audit.exports.published.tables import SYSTEMS_SOURCE, published_system, system_figures, systems_in
from audit.exports.sections.systems import SYSTEM_TABLES, evidence_measures, reference_measures
from audit.exports.table_model import pivoted
from audit.store.runs import Run
from tests.support.loading import load
from tests.support.systems import Record, judged, measured, system_tables, systems_release
from tests.support.tiny import release_from


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """The small release of two systems."""
    return loaded(tmp_path)


def loaded(tmp_path: Path, **tables: list[Record]) -> Run:
    return load(systems_release(tmp_path / "systems", {**system_tables(), **tables}), tmp_path / "data").run


def test_a_run_of_systems_has_their_chapter_and_none_about_pairs(run: Run) -> None:
    with open_context(run) as context:
        parts = {chapter.title: chapter for chapter in chapters(context, lambda _: None)}
    assert list(parts) == ["Data", "Answering systems compared", "Methods"]
    names = {table.name for table in parts["Answering systems compared"].tables}
    assert {"systems", "composite_zero", "composite_complete", "composite_shared", "criteria_means", "preferences"} <= names
    assert all(
        "not measured" in reason or "No system" in reason for reason in parts["Answering systems compared"].left_out.values()
    )


def test_two_systems_of_one_name_have_figures_of_their_own_and_rows_told_apart_by_ids(tmp_path: Path) -> None:
    systems = [{**system, "name": "Model"} for system in system_tables()["systems"]]
    with open_context(loaded(tmp_path, systems=systems)) as context:
        (part,) = [chapter for chapter in chapters(context, lambda _: None) if chapter.title.startswith("Answering systems")]
    figures = {picture.name: picture.figure for picture in part.pictures}
    texts, (dots,) = figures["composite"].layout.yaxis.ticktext, figures["composite"].data
    (own,) = [table.frame.set_index("system_id")["mean"] for table in part.tables if table.name == "composite_complete"]
    ids = {"Model · alone": "alone", "Model · rag": "rag"}
    drawn = {ids[text]: mean for text, mean in zip(texts, dots.x, strict=True) if text in ids}
    assert drawn == pytest.approx(own[["alone", "rag"]].to_dict())


def test_a_run_of_pairs_has_no_chapter_about_systems(tmp_path: Path) -> None:
    pairs = load(release_from(tmp_path / "releases", "q1 kidney ab=CONSISTENT"), tmp_path / "data").run
    with open_context(pairs) as context:
        applied = [plan.title for plan in CHAPTERS if plan.applies_to(context)]
    assert "Answering systems compared" not in applied
    assert "Units compared" in applied


def test_reference_measures_are_one_row_per_system(tmp_path: Path) -> None:
    values = [measured(question, "alone", "bleu_1", value) for question, value in (("q1", 0.2), ("q2", 0.4))]
    with open_context(loaded(tmp_path, measures=[*values, measured("q1", "rag", "bleu_1", 0.5)])) as context:
        table = reference_measures(context)
    assert table.frame["bleu_1"].tolist() == pytest.approx([0.3, 0.5])
    assert table.frame["answers"].tolist() == [2, 1]
    assert [column.name for column in table.columns] == ["name", "answers", "bleu_1"]


def test_measures_by_evidence_are_one_row_per_system(tmp_path: Path) -> None:
    values = [measured("q1", "rag", "faithfulness", 1.0), measured("q2", "rag", "faithfulness", 0.5)]
    with open_context(loaded(tmp_path, measures=[*values, measured("q1", "alone", "answer_relevance", 0.5)])) as context:
        table = evidence_measures(context)
    assert [column.name for column in table.columns] == ["name", "answers", "faithfulness", "answer_relevance"]
    by_system = table.frame.set_index("system_id")
    assert (by_system.loc["rag", "faithfulness"], by_system.loc["rag", "answers"]) == (0.75, 2)
    assert by_system.loc["alone", "answer_relevance"] == 0.5


def test_every_table_of_systems_has_a_name_of_its_own() -> None:
    names = [maker.__name__ for maker in SYSTEM_TABLES]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("model", "mode", "expected"),
    [
        ("Mixtral-8x7B-Instruct-v0.1", "closed_book", "mixtral-8x7b/closed_book"),
        ("meta-llama/Llama-3.1-70B", "retrieval", "llama-3.1-70b/retrieval"),
        ("Llama-3.1-8B", "human", None), ("another", "retrieval", None), (None, "retrieval", None),
    ],
)  # fmt: skip
def test_a_published_system_is_known_by_its_model_and_mode(model: str | None, mode: str, expected: str | None) -> None:
    assert published_system(model, mode) == expected


def test_only_figures_of_systems_that_the_run_has_are_compared(tmp_path: Path) -> None:
    systems = [{"system_id": "alone", "model": "mixtral-8x7b", "mode": "closed_book"}, {"system_id": "rag", "model": "x"}]
    scored = [judged("q1", "alone", 1, 0, -2, 0, 0, 0, 0, 1), judged("q2", "alone", 1, 0, -1, 0, 0, 0, 1, 1)]
    with open_context(loaded(tmp_path, systems=systems, criteria=scored)) as context:
        names = systems_in(context)
        table = SYSTEMS_SOURCE.comparison(system_figures(context, names), names)
    assert names == {"alone": "mixtral-8x7b/closed_book"}
    rows = table.frame.set_index("title")
    assert not any("Llama" in title for title in rows.index)
    # Sums 0 and 2 of [-10, 4]: (10 + 12) / 2 / 14 x 10 = 7.857, where 7.81 is printed; two answers give no interval
    assert rows.loc["Composite, Mixtral 8x7B alone", "verdict"] in (AGREES, DIFFERS)
    assert "2 answers" in rows.loc["Composite, Mixtral 8x7B alone", "own"]
    assert rows.loc["Questions", "verdict"] == DIFFERS
    shared = "Composite, Mixtral 8x7B alone, on the 582 questions that all eight systems have"
    assert rows.loc[shared, "verdict"] == UNKNOWN
    assert "all eight systems" in rows.loc[shared, "how"]


def test_the_reference_answers_are_compared_by_their_complete_evaluations(tmp_path: Path) -> None:
    complete, unread = (1, 0, 0, 0, 0, 0, 1, 1), (1, None, 0, 0, 0, 0, 1, 1)
    scored = [judged("q1", REFERENCE, *complete), judged("q2", REFERENCE, *complete), judged("q3", REFERENCE, *unread)]
    with open_context(loaded(tmp_path, criteria=scored)) as context:
        figures = system_figures(context, {})
    assert figures["reference/composite"].value == pytest.approx(13 / 14 * 10), "what could not be read is no 0 here"
    assert figures["reference/complete"].value == 2


def test_a_run_without_a_published_system_is_compared_with_none(run: Run) -> None:
    with open_context(run) as context:
        assert systems_in(context) == {}


def test_every_published_figure_of_systems_has_a_name_of_its_own() -> None:
    figures = SYSTEMS_SOURCE.published
    assert len({figure.name for figure in figures}) == len({figure.title for figure in figures}) == len(figures)


def test_two_systems_of_one_name_keep_their_own_rows_in_a_wide_table():
    rows = [("s1", "GPT", "a", 0.1), ("s2", "GPT", "a", 0.2), ("s2", "GPT", "b", 0.3)]
    frame = pd.DataFrame(rows, columns=["system_id", "name", "measure", "mean"]).assign(mean_low=0.0, mean_high=1.0)
    wide = pivoted(frame, ["system_id", "name"], "measure", "mean")
    assert wide[["name", "a"]].to_numpy().tolist() == [["GPT", 0.1], ["GPT", 0.2]]
    assert wide["b"].isna().tolist() == [True, False]
