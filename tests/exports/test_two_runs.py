"""The comparison of two runs in an export: what moved where, what only one run has, and absence told from judgement."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from openpyxl import load_workbook

from audit.exports.contents import figures_of_two, movers, two_runs
from audit.exports.context import Material, gathered
from audit.exports.table_model import Table
from audit.exports.writers.data import json_data
from audit.exports.writers.latex import latex
from audit.exports.writers.markdown import markdown
from audit.exports.writers.page import html_table
from audit.exports.writers.spreadsheet import csv_bytes, xlsx_bytes
from audit.spreadsheet_safety import plain_cell
from audit.store.runs import Run
from tests.support.loading import load
from tests.support.tiny import handbook, release_from

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


@pytest.fixture
def material(tmp_path: Path) -> Iterator[Material]:
    with gathered(*two(tmp_path)) as found:
        yield found


def told(table: Table) -> pd.DataFrame:
    """A table as its CSV tells it."""
    return pd.read_csv(io.BytesIO(csv_bytes(table)), keep_default_na=False)


def test_a_question_that_is_judged_otherwise_is_told_from_one_where_an_answer_was_found(material: Material):
    rows = told(movers.questions_moved(material)).set_index("Question")
    parts = ["Moved (pairs)", "Of (pairs)", "Came to light", "Fell silent", "Judged to disagree", "Judged to agree"]
    assert rows.loc["What about q1?", parts].tolist() == [1, 3, 0, 0, 1, 0]
    assert rows.loc["What about q2?", parts].tolist() == [1, 3, 1, 0, 0, 0]
    assert movers.questions_moved(material).n == "2 of 6 pairs with a verdict in both runs moved, on 2 questions"


def test_a_pair_counts_for_both_its_handbooks(material: Material):
    rows = told(movers.handbooks_moved(material)).set_index("Center")
    assert rows["Moved (pairs)"].to_dict() == {"Cedar": 2, "Alder": 2}
    assert told(movers.handbooks_relabelled(material)).set_index("Center")["Moved (pairs)"].to_dict() == {
        "Cedar": 1 + 2, "Alder": 1 + 1, "'=Birch": 0 + 1,
    }  # fmt: skip


def test_what_moved_in_silence_is_what_one_run_did_not_hear(material: Material):
    rows = told(movers.questions_silent(material))
    assert rows[["Question", "Moved (pairs)"]].to_numpy().tolist() == [["What about q2?", 2]]
    assert set(told(movers.handbooks_silent(material))["Center"]) == {"Alder", "'=Birch", "Cedar"}


def test_what_only_one_run_has_is_told_by_name(material: Material):
    rows = told(movers.left_out(material))
    assert rows[["Kind", "Only in", "Id"]].to_numpy().tolist() == [
        ["Handbook", "the second", "'=d"], ["Question", "the first", "q3"], ["Question", "the second", "q4"],
    ]  # fmt: skip
    assert movers.left_out(material).n == "1 handbook and 2 questions"


def test_absence_and_judgement_add_up_to_the_change_for_every_organ(material: Material):
    rows = told(two_runs.absence_or_judgement_by_organ(material)).set_index(["Organ", "Part"])["Change (disagreeing)"]
    assert (rows["kidney", "present in both"], rows["general", "revealed"]) == (1, 1)
    for organ in ("kidney", "general", "all organs"):
        assert rows[organ].drop("in all").sum() == rows[organ, "in all"]


def test_the_mechanism_is_told_in_a_sentence(material: Material):
    assert "No change that could not be chance." in two_runs.absence_or_judgement(material).notes


def test_every_figure_of_the_page_is_there_under_the_names_of_the_runs(material: Material):
    makers = (figures_of_two.steps, figures_of_two.changes, figures_of_two.transitions)
    shown = {picture.name: picture.figure for make in makers for picture in make(material)}
    assert list(shown) == ["run_steps", "run_parts", "run_rates", "transitions", "flows"]
    assert [note.text for note in shown["flows"].layout.annotations] == ["<b>first</b>", "<b>second</b>"]
    assert shown["run_steps"].layout.yaxis.ticktext[0] == "<b>first</b>"


NEW = (
    movers.left_out, movers.questions_moved, movers.questions_silent, movers.questions_relabelled, movers.handbooks_moved,
    movers.handbooks_silent, movers.handbooks_relabelled, two_runs.absence_or_judgement, two_runs.absence_or_judgement_by_organ,
)  # fmt: skip


@pytest.mark.parametrize("make", NEW)
def test_a_comparison_says_which_run_is_which_of_how_many_and_runs_no_formula(material: Material, make):
    table = make(material)
    assert table.n
    assert [note.split(":")[0] for note in table.notes[:2]] == ["First", "Second"]
    assert not [value for value in told(table).to_numpy().ravel() if str(value).startswith(("=", "+", "@"))]
    cells = [cell for row in load_workbook(io.BytesIO(xlsx_bytes([table])))[table.name].iter_rows() for cell in row]
    assert not [cell for cell in cells if cell.data_type == "f"]
    assert plain_cell("'=Birch") == "=Birch"


@pytest.mark.parametrize("make", NEW)
def test_runs_that_differ_in_nothing_give_tables_that_say_so(tmp_path: Path, make):
    first, _ = two(tmp_path)
    again = load(release_from(tmp_path / "again", FIRST, BOOKS, run_id="again"), tmp_path / "data").run
    with gathered(first, again) as material:
        table = make(material)
        assert table.n
        for write in (latex, markdown, html_table, csv_bytes):
            assert table.columns[0].header in str(write(table))
        rows = json.loads(json_data(table, first))["rows"]
    assert rows == [] or {row["part"] for row in rows} >= {"in all"}


def test_runs_that_share_nothing_are_exported_and_say_so(tmp_path: Path):
    with gathered(*two(tmp_path, "q8 kidney ab=CONSISTENT", "q9 kidney ab=DIVERGENT/low")) as material:
        for make in (*NEW, two_runs.shared):
            assert markdown(make(material))
        assert told(two_runs.shared(material))["In both"].tolist() == [0, 3, 0]
        for draw in (figures_of_two.steps, figures_of_two.changes, figures_of_two.transitions):
            assert draw(material)


def test_on_paper_stand_the_first_rows_and_where_the_others_are(material: Material):
    table = movers.questions_moved(material)
    long = Table(table.name, table.title, pd.concat([table.frame] * 20), table.columns, table.notes, table.n, table.on_paper)
    assert markdown(long).count("What about") == 30
    assert "The first 30 of 40 rows" in markdown(long)
    assert len(told(long)) == 40
