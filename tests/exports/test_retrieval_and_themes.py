"""What page Retrieval and page Themes show of a run, or of two, in an export: strategies compared, themes that rise and fall."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from openpyxl import load_workbook

from audit.charts.figure_files import NoPicturesError
from audit.errors import AuditError
from audit.exports.context import open_context
from audit.exports.package import MANIFEST, package
from audit.exports.package_request import ExportRequest
from audit.exports.sections.retrieval import RETRIEVAL_PICTURES, RETRIEVAL_TABLES
from audit.exports.sections.two_runs import TWO_RUN_TABLES
from audit.exports.table_model import Table
from audit.exports.text_writers import csv_table
from audit.exports.xlsx import xlsx_bytes
from audit.release.taxonomy import Taxonomy, Theme
from audit.release.write import write_jsonl
from audit.store.runs import Run
from tests.exports.tables import chapter_named
from tests.metrics.test_retrieval import TABLE, TRIALS, Trials, trial
from tests.metrics.test_retrieval_configurations import searched
from tests.support.loading import load
from tests.support.tiny import release_from

KINDS = {"csv": "csv", "latex": "tex", "markdown": "md", "json": "json"}
TWO_RUNS = {maker.__name__: maker for maker in TWO_RUN_TABLES}
TABLES = {maker.__name__: maker for maker in RETRIEVAL_TABLES}
STRATEGIES, CONFIGURED = RETRIEVAL_PICTURES
FORMULA = '=HYPERLINK("http://x","y")'
Tried = Callable[[Trials], Run]


@pytest.fixture
def tried(tmp_path: Path) -> Tried:
    """Load a run with these trials, and with those of configurations."""

    def loader(records: Trials, configured: Sequence[dict[str, Any]] = ()) -> Run:
        folder = release_from(tmp_path / "releases", TABLE)
        write_jsonl(folder / "trials.jsonl", records)
        write_jsonl(folder / "search_trials.jsonl", configured)
        return load(folder, tmp_path / "data").run

    return loader


@pytest.fixture(autouse=True)
def _without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: object) -> None:
        raise NoPicturesError("SVG and PNG were not written: install a Chromium.")

    monkeypatch.setattr("audit.exports.package.pictures", none)


def told(table: Table) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(csv_table(table)), keep_default_na=False)


def test_strategies_stand_with_their_searches_measures_modes_and_time(tried: Tried):
    with open_context(tried(TRIALS)) as material:
        table, cost = TABLES["retrieval"](material), told(TABLES["retrieval_cost"](material)).set_index("Strategy")
    hero, bm25 = told(table).set_index("Strategy").loc[["hero", "bm25"]].to_dict("records")
    # hero: q1 a at place 1, q1 b not found, q2 a at place 2; q3 has no known section.
    assert (hero["Searches (section known)"], hero["Questions"], hero["Searches (section unknown)"]) == (3, 2, 1)
    assert hero["Right section first (hit@1) (of searches)"] == pytest.approx(1 / 3)
    assert hero["Place of the first (MRR) (mean)"] == pytest.approx((1 + 0 + 1 / 2) / 3)
    assert hero["Reached the generator (given) (of searches)"] == 1
    assert cost.loc["hero", ["Searches", "Passages (searches)", "Full document, fallback (searches)"]].tolist() == [4, 3, 1]
    assert float(cost.loc["hero", "CPU time (s per search)"]) == pytest.approx((0.2 + 0.4) / 2)
    assert cost.loc["bm25", "CPU time (s per search)"] == ""
    assert bm25["In the first five (hit@5) (of searches)"] == pytest.approx(2 / 3)
    assert table.n == "3 searches with a known section on 2 questions; 1 more without one"


def test_a_difference_is_of_the_searches_that_both_made(tried: Tried):
    with open_context(tried(TRIALS)) as material:
        rows = told(TABLES["retrieval_paired"](material)).set_index("Measure")
    assert rows.loc["Place of the first (MRR)", "Change"] == pytest.approx((1 / 4 + 1 + 1 / 6) / 3 - (1 + 0 + 1 / 2) / 3)
    assert rows.loc["Place of the first (MRR)", ["Strategy", "Searches (made by both)", "Direction"]].tolist() == [
        "bm25",
        3,
        "too few questions",
    ]


def test_where_it_is_harder_stands_by_organ_of_the_question_and_by_handbook(tried: Tried):
    with open_context(tried(TRIALS)) as material:
        organs = told(TABLES["retrieval_organs"](material)).set_index(["Organ", "Strategy"])
        books = told(TABLES["retrieval_handbooks"](material)).set_index(["Handbook", "Strategy"])
    # q1 is a question on kidneys: hero finds it in a at place 1, and in b not at all; q2, on lungs, in a at place 2.
    assert organs.loc[("kidney", "hero"), ["Searches (section known)", "Right section first (hit@1) (of searches)"]].tolist() == [
        2,
        1 / 2,
    ]
    assert organs.loc[
        ("lung", "hero"), ["Place of the first (MRR) (mean)", "In the first five (hit@5) (of searches)"]
    ].tolist() == [1 / 2, 1]
    assert books.loc[("center a", "bm25"), "Place of the first (MRR) (mean)"] == pytest.approx((1 / 4 + 1 / 6) / 2, abs=1e-6)


def test_what_is_missed_stands_with_its_place_and_who_found_it(tried: Tried):
    with open_context(tried(TRIALS)) as material:
        table = TABLES["retrieval_missed"](material)
    rows = told(table)[["Strategy", "Question", "Handbook", "Rank", "Found by"]].to_numpy().tolist()
    assert rows == [
        ["hero", "What about q1?", "center b", "", "bm25"], ["bm25", "What about q2?", "center a", "6", "hero"],
    ]  # fmt: skip
    assert table.n == "2 of 6 searches of a strategy with a known section"


def test_of_one_strategy_nobody_else_could_have_found_what_it_misses(tried: Tried):
    only, neither = [each for each in TRIALS if each["strategy"] == "hero"], [trial("q1", "b", "bm25", "s2")]
    with open_context(tried(only)) as material:
        assert told(TABLES["retrieval_missed"](material))["Found by"].tolist() == [""]
    with open_context(tried([*only, *neither])) as material:
        assert told(TABLES["retrieval_missed"](material))["Found by"].tolist() == ["nobody", "nobody"]


def test_whether_answers_rest_on_the_section_that_holds_them_is_told(tried: Tried):
    with open_context(tried(TRIALS)) as material:
        rows = told(TABLES["retrieval_answers"](material)).set_index("Answer")
    assert rows.loc["Cites nothing", ["Answers", "Of (answers)", "Share"]].tolist() == [
        3,
        3,
        1,
    ]  # those of a tiny release cite nothing


def test_shares_are_drawn_in_percent_and_means_are_not(tried: Tried):
    with open_context(tried(TRIALS)) as material:
        (picture,) = STRATEGIES(material)
    ends = {
        title.text.partition("(")[2].rstrip(")"): picture.figure.layout[f"xaxis{place or ''}"].ticktext[-1]
        for title, place in zip(picture.figure.layout.annotations, ("", 2, 3, 4, 5), strict=True)
    }
    assert (ends["MRR"], ends["nDCG@5"]) == ("1.00", "1.00")
    assert all(ends[name].endswith(" %") for name in ("hit@1", "hit@5", "given"))


def test_the_tables_come_in_all_forms_the_same_twice_and_no_strategy_runs_as_a_formula(tried: Tried):
    renamed = [{**each, "strategy": FORMULA if each["strategy"] == "hero" else "{brace}"} for each in TRIALS]
    configured = [searched("q1", name, "d1") for name in ("full", FORMULA)]
    order = ExportRequest(tried(renamed, configured), "2031-02-03")
    files = package(order)
    names = list(TABLES)
    made = [f"tables/{kind}/{name}.{end}" for name in names for kind, end in KINDS.items()]
    again = package(order)
    assert all(files[path] == again[path] for path in [*made, "figures/html/retrieval.html"])
    assert f"'{FORMULA}" in pd.read_csv(io.BytesIO(files["tables/csv/retrieval.csv"]))["Strategy"].tolist()
    book = load_workbook(io.BytesIO(files["tables/xlsx/all_tables.xlsx"]))
    for name in names:
        sheet = book[name]
        assert not [cell for row in sheet.iter_rows() for cell in row if cell.data_type == "f"]
    readme = files["README.txt"].decode()
    assert all(f"- {name} (table): " in readme for name in names)
    assert "- retrieval (figure): " in readme


def test_a_run_without_trials_has_no_such_tables_and_says_so(tried: Tried):
    files = package(ExportRequest(tried([]), "2031-02-03"))
    assert "tables/csv/retrieval.csv" not in files
    left_out = json.loads(files[MANIFEST])["left_out"]
    assert {"figure strategies", f"figure {CONFIGURED.__name__}", *(f"table {name}" for name in TABLES)} <= set(left_out)
    assert all("is unknown, not zero" in left_out[f"table {name}"] for name in TABLES)


def test_what_one_strategy_and_searches_without_a_known_section_cannot_say_is_left_out(tried: Tried):
    with open_context(tried([trial("q1", "a", "hero", "s1", gold="")])) as material:
        assert told(TABLES["retrieval"](material))["Place of the first (MRR) (mean)"].tolist() == [""]
        with pytest.raises(AuditError, match="Only one strategy"):
            TABLES["retrieval_paired"](material)
        of_gold = (
            STRATEGIES, TABLES["retrieval_answers"], TABLES["retrieval_organs"],
            TABLES["retrieval_handbooks"], TABLES["retrieval_missed"],
        )  # fmt: skip
        for maker in of_gold:
            with pytest.raises(AuditError, match="so retrieval cannot be scored"):
                maker(material)


# -- themes of two runs ------------------------------------------------------------------------------------------------

TAXONOMY = Taxonomy((Theme("t1", FORMULA, None, ("topic of ab",)), Theme("t2", "Other", None, ("topic of ac",))))
FIRST = "q1 kidney ab=DIVERGENT ac=CONSISTENT bc=CONSISTENT\nq2 kidney ab=DIVERGENT ac=DIVERGENT bc=CONSISTENT"
SECOND = "q1 kidney ab=CONSISTENT ac=DIVERGENT bc=CONSISTENT\nq2 kidney ab=DIVERGENT ac=DIVERGENT bc=CONSISTENT"


@pytest.fixture
def order(tmp_path: Path) -> ExportRequest:
    """Two runs whose themes are the same."""
    first, second = (
        load(release_from(tmp_path / name, table, run_id=name), tmp_path / "data").run
        for name, table in (("first", FIRST), ("second", SECOND))
    )
    return ExportRequest(first, "2031-02-03", second, taxonomy=TAXONOMY, against=TAXONOMY)


def test_themes_of_two_runs_stand_with_their_shares_and_what_they_do(order: ExportRequest):
    with open_context(order.run, order.other, order.taxonomy, against=order.against) as material:
        table = TWO_RUNS["themes_moved"](material)
    rows = told(table).set_index("Theme")
    assert rows.loc["Other", ["Disagreeing (first)", "Disagreeing (second)"]].tolist() == [1, 2]
    assert rows.loc["Other", "Change"] == pytest.approx(2 / 3 - 1 / 3)
    assert rows.loc[f"'{FORMULA}", "Direction"] == "too few questions"
    assert [note.split(":")[0] for note in table.notes[:2]] == ["First", "Second"]
    assert table.n == "3 and 3 disagreeing pairs among those that both runs have"
    cells = [cell for row in load_workbook(io.BytesIO(xlsx_bytes([table])))["themes_moved"].iter_rows() for cell in row]
    assert not [cell for cell in cells if cell.data_type == "f"]


def test_runs_with_different_themes_leave_the_table_out_and_say_how_to_align_them(order: ExportRequest):
    stranger = Taxonomy((Theme("t9", "Stranger", None, ("topic of ab",)),))
    for against, taxonomy, cure in ((None, TAXONOMY, "assign"), (stranger, TAXONOMY, "assign"), (TAXONOMY, None, "build")):
        asked = replace(order, against=against, taxonomy=taxonomy)
        with open_context(asked.run, asked.other, asked.taxonomy, against=asked.against) as material:
            beside = chapter_named(material, "Compared with another run")
        assert "themes_moved" not in {table.name for table in beside.tables}
        assert f"audit themes {cure}" in beside.left_out["table themes_moved"]
