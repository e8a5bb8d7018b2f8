"""What the browser gets of a list: texts as they are read, numbers to sort by, and intervals that are drawn or only said."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from audit.store.runs import Run
from audit.tables import Column
from pages._shared import widgets
from pages._shared.listing import NO_INTERVAL, NumberForm, listing_data

NAME, PAIRS = Column.named("name", "Topic"), Column.count("pairs", "Answered", "pairs")
SHARE, KAPPA = Column.share("share", "Disagreement"), Column.decimal("kappa", "Kappa")
FRAME = pd.DataFrame({
    "name": ["work_and_money", "diet", None, "<b>"], "pairs": [1200.0, None, 0.0, 7.0],
    "share": [0.125, -0.0004, 0.5, None], "share_low": [0.05, None, 0.1, None], "share_high": [0.2, None, 0.9, None],
    "kappa": [0.333, None, -0.001, 1.0],
})  # fmt: skip


def rows_of(*columns: Column, frame: pd.DataFrame = FRAME) -> list[list[object]]:
    rows: list[list[object]] = listing_data(frame, columns, "", 12, NumberForm())["rows"]
    return rows


def test_a_cell_says_what_a_person_reads_and_has_the_number_that_it_is_sorted_by() -> None:
    assert rows_of(NAME, PAIRS, KAPPA) == [
        ["work and money", ["1,200", 1200], ["0.33", 0.333]],
        ["diet", None, None],
        [None, ["0", 0], ["0.00", -0.001]],
        ["<b>", ["7", 7], ["1.00", 1.0]],
    ]


def test_an_interval_is_drawn_only_where_it_says_something_and_unknown_is_not_zero() -> None:
    assert [row[0] for row in rows_of(SHARE)] == [
        ["12.5 %", 12.5, 5.0, 20.0, "5.0 to 20.0 %"],
        ["0.0 %", -0.04, None, None, NO_INTERVAL],
        ["50.0 %", 50.0, None, None, "10.0 to 90.0 %"],
        None,
    ]


def test_the_scale_of_a_column_has_zero_and_every_interval_that_is_drawn() -> None:
    (head,) = listing_data(FRAME, (SHARE,), "", 12, NumberForm())["columns"]
    assert (head["from"], head["to"]) == (-0.04, 50.0)


def test_words_for_codes_lists_and_yes_or_no_are_texts() -> None:
    frame = pd.DataFrame({"code": ["a", "b"], "is": [True, False], "at": pd.to_datetime(["2026-01-02", "2026-01-03"])})
    columns = (Column.text("code", "Code", words={"a": "first"}), Column.text("is", "Is"), Column.text("at", "At"))
    assert rows_of(*columns, frame=frame)[0] == ["first", "True", "2026-01-02 00:00:00"]


def test_a_column_that_is_missing_is_an_error_and_no_smaller_list() -> None:
    with pytest.raises(KeyError):
        listing_data(FRAME, (NAME, Column.count("gone", "Gone")), "", 12, NumberForm())


@pytest.mark.parametrize("picked", [None, 3, [1], ["other list", 1], ["v", 2], ["v", -1], ["v", "0"]])
def test_a_row_that_the_list_does_not_have_is_not_believed(picked: object) -> None:
    assert widgets._place(picked, {"version": "v", "rows": [[], []]}) is None
    assert widgets._place(["v", 1], {"version": "v", "rows": [[], []]}) == 1


def test_a_row_is_a_link_that_can_be_opened_in_a_new_tab_and_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn, opened = [], []
    run = Run("r", "T", "0123456789", False, True, "", Path())
    monkeypatch.setattr(widgets, "draw_listing", lambda **given: drawn.append(given["data"]))
    monkeypatch.setattr(widgets, "go_to", lambda script, run, **params: opened.append((script, params)))
    monkeypatch.setattr(widgets, "st", SimpleNamespace(session_state={}))

    def draw() -> None:
        widgets.linked_rows(run, FRAME, "k", (NAME, PAIRS), "studies/topics", lambda row: {"topic": [row["name"], "x&y"]})

    draw()
    assert drawn[0]["links"][0] == f"topics?run={run.key.replace('@', '%40')}&topic=work_and_money&topic=x%26y"
    assert not opened
    monkeypatch.setattr(widgets, "_picked", lambda key, event: [drawn[0]["version"], 1] if event == "followed" else None)
    draw()
    assert opened == [("studies/topics", {"topic": ["diet", "x&y"]})]
