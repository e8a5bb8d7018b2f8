"""The comparison of two runs in an export: what moved where, what only one run has, and absence told from judgement."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from openpyxl import load_workbook

from audit.exports.context import ExportContext, open_context
from audit.exports.html_pages import html_table
from audit.exports.sections.two_runs import TWO_RUN_PICTURES, TWO_RUN_TABLES
from audit.exports.table_model import Table
from audit.exports.text_writers import csv_table, json_table, latex, markdown
from audit.exports.xlsx import xlsx_bytes
from audit.formatting import plain_cell
from audit.store.runs import Run
from tests.support.loading import load
from tests.support.tiny import handbook, release_from

TABLES = {maker.__name__: maker for maker in TWO_RUN_TABLES}
BOOKS = [handbook("a", "kidney", "Alder"), handbook("b", "kidney", "=Birch"), handbook("c", "lung", "Cedar")]
FIRST = """
    q1 kidney  ab=DIVERGENT/high  ac=COMPLEMENTARY  bc=CONSISTENT
    q2 general ab=CONSISTENT  c=absent
    q3 lung    ab=CONSISTENT  ac=CONSISTENT  bc=CONSISTENT
"""
SECOND = """
    q1 kidney  ab=DIVERGENT/high  ac=DIVERGENT/low  bc=CONSISTENT
    q2 general ab=CONSISTENT  ac=CONTRADICTORY/low  bc=CONSISTENT
    q4 lung    ab=CONSISTENT
"""


def two(tmp_path: Path, first: str = FIRST, second: str = SECOND) -> tuple[Run, Run]:
    releases = [("first", first, BOOKS), ("second", second, [*BOOKS, handbook("=d", "lung", "=Elm")])]
    return tuple(  # type: ignore[return-value]
        load(release_from(tmp_path / name, table, books, run_id=name), tmp_path / "data").run for name, table, books in releases
    )


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExportContext]:
    with open_context(*two(tmp_path_factory.mktemp("two"))) as found:
        yield found


@pytest.fixture(scope="module")
def alike(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExportContext]:
    """Two runs that differ in nothing."""
    folder = tmp_path_factory.mktemp("alike")
    runs = [load(release_from(folder / name, FIRST, BOOKS, run_id=name), folder / "data").run for name in ("first", "again")]
    with open_context(*runs) as found:
        yield found


def told(table: Table) -> pd.DataFrame:
    """A table as its CSV tells it."""
    return pd.read_csv(io.BytesIO(csv_table(table)), keep_default_na=False)


def test_a_question_that_is_judged_otherwise_is_told_from_one_where_an_answer_was_found(material: ExportContext):
    rows = told(TABLES["questions_moved"](material)).set_index("Question")
    parts = ["Changed (pairs)", "Of (pairs)", "Newly found", "No longer found", "Now judged to disagree", "Now judged to agree"]
    assert rows.loc["What about q1?", parts].tolist() == [1, 3, 0, 0, 1, 0]
    assert rows.loc["What about q2?", parts].tolist() == [1, 3, 1, 0, 0, 0]
    assert TABLES["questions_moved"](material).n == "2 of 6 pairs with a verdict in both runs changed, on 2 questions"


def test_a_pair_counts_for_both_its_handbooks(material: ExportContext):
    rows = told(TABLES["handbooks_moved"](material)).set_index("Center")
    assert rows["Changed (pairs)"].to_dict() == {"Cedar": 2, "Alder": 2}
    assert told(TABLES["handbooks_relabelled"](material)).set_index("Center")["Changed (pairs)"].to_dict() == {
        "Cedar": 1 + 2, "Alder": 1 + 1, "'=Birch": 0 + 1,
    }  # fmt: skip


def test_what_moved_in_silence_is_what_one_run_did_not_hear(material: ExportContext):
    rows = told(TABLES["questions_moved_in_absence"](material))
    assert rows[["Question", "Changed (pairs)"]].to_numpy().tolist() == [["What about q2?", 2]]
    assert set(told(TABLES["handbooks_moved_in_absence"](material))["Center"]) == {"Alder", "'=Birch", "Cedar"}


def test_what_only_one_run_has_is_told_by_name(material: ExportContext):
    rows = told(TABLES["left_out"](material))
    assert rows[["Kind", "Only in", "Id"]].to_numpy().tolist() == [
        ["Handbook", "the second run", "'=d"], ["Question", "the first run", "q3"], ["Question", "the second run", "q4"],
    ]  # fmt: skip
    assert TABLES["left_out"](material).n == "1 handbook and 2 questions"


def test_absence_and_judgement_add_up_to_the_change_for_every_organ(material: ExportContext):
    rows = told(TABLES["change_of_organs"](material)).set_index(["Organ", "Part"])["Change (disagreeing)"]
    assert (rows["kidney", "present in both"], rows["general", "revealed"]) == (1, 1)
    for organ in ("kidney", "general", "all organs"):
        assert rows[organ].drop("in all").sum() == rows[organ, "in all"]


def test_the_mechanism_is_told_in_a_sentence(material: ExportContext):
    assert "No change beyond what chance could produce." in TABLES["change_of_run"](material).notes


def test_every_figure_of_the_page_is_there_under_the_names_of_the_runs(material: ExportContext):
    makers = TWO_RUN_PICTURES
    shown = {picture.name: picture.figure for make in makers for picture in make(material)}
    assert list(shown) == ["run_steps", "run_parts", "run_rates", "transitions"]
    assert shown["run_steps"].layout.yaxis.ticktext[0] == "<b>first</b>"


NEW = (
    TABLES["left_out"],
    TABLES["questions_moved"],
    TABLES["questions_moved_in_absence"],
    TABLES["questions_relabelled"],
    TABLES["handbooks_moved"],
    TABLES["handbooks_moved_in_absence"],
    TABLES["handbooks_relabelled"],
    TABLES["change_of_run"],
    TABLES["change_of_organs"],
)


@pytest.mark.parametrize("make", NEW)
def test_a_comparison_says_which_run_is_which_of_how_many_and_runs_no_formula(material: ExportContext, make):
    table = make(material)
    assert table.n
    assert [note.split(":")[0] for note in table.notes[:2]] == ["First", "Second"]
    assert not [value for value in told(table).to_numpy().ravel() if str(value).startswith(("=", "+", "@"))]
    cells = [cell for row in load_workbook(io.BytesIO(xlsx_bytes([table])))[table.name].iter_rows() for cell in row]
    assert not [cell for cell in cells if cell.data_type == "f"]
    assert plain_cell("'=Birch") == "=Birch"


@pytest.mark.parametrize("make", NEW)
def test_runs_that_differ_in_nothing_give_tables_that_say_so(alike: ExportContext, make):
    table = make(alike)
    assert table.n
    for write in (latex, markdown, html_table, csv_table):
        assert table.columns[0].heading in str(write(table))
    rows = json.loads(json_table(table, alike.run))["rows"]
    assert rows == [] or {row["part"] for row in rows} >= {"in all"}


def test_runs_that_share_nothing_are_exported_and_say_so(tmp_path: Path):
    with open_context(*two(tmp_path, "q8 kidney ab=CONSISTENT", "q9 kidney ab=DIVERGENT/low")) as material:
        for make in (*NEW, TABLES["shared"]):
            assert markdown(make(material))
        assert told(TABLES["shared"](material))["In both"].tolist() == [0, 3, 0]
        for draw in TWO_RUN_PICTURES:
            assert draw(material)


def test_on_paper_stand_the_first_rows_and_where_the_others_are(material: ExportContext):
    table = TABLES["questions_moved"](material)
    long = Table(table.name, table.title, pd.concat([table.frame] * 20), table.columns, table.notes, table.n, table.printed_rows)
    assert markdown(long).count("What about") == 30
    assert "The first 30 of 40 rows" in markdown(long)
    assert len(told(long)) == 40
