"""What the pages share: words that cannot turn into Markdown, files that cannot turn into formulas, metrics computed once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from audit.charts.style import Figure
from audit.errors import AuditError
from audit.exports.text_writers import csv_bytes, file_name
from audit.metrics.questions import organs
from audit.store.runs import Run
from audit.terms import fill
from pages._blinded.frame import escaped, escaped_label
from pages._shared import loaders, pickers
from pages._shared.widgets import say
from tests.pages.conftest import component

RUN = Run("r 1/../x", "T", "0123456789abcdef", False, True, "", Path(), terms={"handbook": "institute", "organ": "topic_area"})


@pytest.mark.parametrize(
    "text", ["**b**", "[a](b)", "$x$", ":red[x]", "<b>", "# h", "1. x", "http://a.b", "a\nb", "`c`", "~~d~~"]
)
def test_all_markdown_punctuation_is_escaped(text):
    shown = escaped(text)
    assert shown.replace("\\", "").replace("\u2060", "") == " ".join(text.split())
    assert all(shown[i - 1] == "\\" for i, mark in enumerate(shown) if mark in "*[]()$:<>#.`~/")


def test_a_template_takes_the_terms_of_the_run_in_singular_plural_capitalised_and_with_article():
    assert say(RUN, "{Handbooks} by {organ}: {a_handbook}") == "Institutes by topic area: an institute"
    assert fill(RUN, "{organs}") == "topic areas"


def test_a_number_and_its_percent_sign_stay_on_one_line():
    sentence = say(RUN, "{n} of 5 (40.0 %; {span})", n=2, span="11.8 to 76.9 %").replace("\\", "")
    assert sentence == "2 of 5 (40.0~%; 11.8 to 76.9~%)".replace("~", "\N{NO-BREAK SPACE}")


@pytest.mark.parametrize(
    ("one", "several"),
    [
        ("institute", "institutes"), ("study", "studies"), ("survey", "surveys"), ("branch", "branches"),
        ("kind of tenancy", "kinds of tenancy"), ("body of law", "bodies of law"),
    ],
)  # fmt: skip
def test_a_term_without_its_own_plural_gets_the_regular_one(one, several):
    assert replace(RUN, terms={"organ": one}).term("organ", 2) == several


def test_a_value_in_a_template_is_escaped_and_its_braces_are_not_filled_in():
    assert say(RUN, "{n} of {x}", n="{handbook}", x="*") == r"\{handbook\} of \*"


@pytest.mark.parametrize(
    ("came_back", "address"),
    [
        ("t2", {"theme": "t2"}),
        ("t1", {}),
        (None, {}),
        ("the name it had before", {"theme": "t3"}),
        (["t2", "t3"], {"theme": ["t2", "t3"]}),
        (["t2", "the name it had before"], {"theme": "t3"}),
    ],
)
def test_a_label_that_is_no_longer_an_option_leaves_the_address_unchanged(came_back, address, monkeypatch):
    streamlit = SimpleNamespace(session_state={"theme": came_back}, query_params={"theme": "t3"})
    monkeypatch.setattr(pickers, "st", streamlit)
    pickers.remember_choice("theme", "t1", ["t1", "t2", "t3"])
    assert streamlit.query_params == address


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_a_cell_that_a_spreadsheet_would_run_gets_an_apostrophe(start):
    assert f"'{start}1+1" in csv_bytes(pd.DataFrame({"a": [f"{start}1+1", "x"]})).decode("utf-8-sig")


def test_numbers_stay_numbers_and_headings_are_made_safe_too():
    assert csv_bytes(pd.DataFrame({"=a": [-1.5]})).decode("utf-8-sig") == "'=a\n-1.5\n"


def test_text_in_a_column_of_mixed_kinds_is_made_safe():
    assert "'=x" in csv_bytes(pd.DataFrame({"a": pd.Series(["=x", 3, None], dtype=object)})).decode("utf-8-sig")


def test_a_file_name_has_run_digest_and_content_and_no_path():
    assert file_name(RUN, "gaps") == "r-1-..-x_01234567_gaps.csv"


def test_a_missing_store_file_is_explained(tmp_path):
    gone = Run("r", "T", "f" * 64, False, True, "never", tmp_path / "gone.duckdb")
    with pytest.raises(AuditError, match="load the release again: audit load"):
        loaders.load(organs, gone)


def test_a_metric_is_computed_once_per_run_and_arguments(run):
    asked = []

    def metric(con, level):
        asked.append(level)
        return pd.DataFrame({"level": [level]})

    for level in ("a", "a", "b"):
        assert loaders.load(metric, run, level=level)["level"].item() == level
    assert asked == ["a", "b"]


def test_a_count_that_is_unknown_somewhere_has_no_decimals():
    def page():
        import pandas as pd

        from audit.tables import Column
        from pages._shared.widgets import table

        table(pd.DataFrame({"checks": [600.0, None]}), "checks", [Column.count("checks", "Checks")])

    data = component(AppTest.from_function(page).run(), "listing")
    assert data["rows"] == [[["600", 600]], [None]]


def test_a_screen_reader_reads_the_label_of_a_picker_without_backslashes_and_a_release_still_adds_no_markdown():
    assert escaped_label("Question (type to search; the most disputed come first)") == (
        "Question (type to search; the most disputed come first)"
    )
    assert escaped_label("[a](b)") == r"\[a\](b)"
    assert escaped_label("*a*") == r"\*a\*"


def test_a_figure_is_drawn_once_for_the_same_table_and_a_page_may_change_what_it_gets():
    drawings = []

    def bars(frame: pd.DataFrame, colour: str) -> Figure:
        drawings.append(frame)
        return Figure([{"type": "bar", "x": list(frame["n"]), "marker": {"color": colour}}])

    table = pd.DataFrame({"n": [1, 2]})
    first = loaders.drawn(bars, table, "red")
    first.update_layout(title="changed")
    again = loaders.drawn(bars, table.copy(), "red")
    assert (len(drawings), again.layout.title.text, list(again.data[0].x)) == (1, None, [1, 2])
    assert list(loaders.drawn(bars, table + 1, "red").data[0].x) == [2, 3]
    assert loaders.drawn(bars, table, "blue").data[0].marker.color == "blue"
    loaders.drawn(bars, table, "blue", key="another place")
    assert len(drawings) == 4
