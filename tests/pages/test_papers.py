"""Papers: printed tables beside the run's, and every departure with its way back."""

from __future__ import annotations

from audit.papers.departures import CITATIONS, Paper, departures
from tests.pages.conftest import lists, words_on
from tests.support.loading import load
from tests.support.systems import system_tables, systems_release


def test_each_paper_has_its_tables_or_says_why_not_and_its_departures(run, open_page):
    at = open_page("papers")
    assert not at.exception
    frames = [one.value for one in lists(at)]
    assert len(frames) == 1
    picker = at.selectbox(key="table")
    frames += [one.value for title in picker.options[1:] for one in lists(at.selectbox(key="table").select(title).run())]
    (labels,) = [frame for frame in frames if "title" in frame and "Divergent, of judged pairs" in set(frame["title"])]
    assert set(labels["verdict"]) <= {"agrees", "differs", "cannot be computed"}
    (departed,) = lists(open_page("papers", view="departures"))
    assert list(departed.value["way_back"]) == [row.way_back.replace("`", "") for row in departures(Paper.S0)]
    assert not any("](" in text for text in departed.value.to_numpy().ravel())
    assert CITATIONS[Paper.S0] in words_on(at)


def test_a_system_of_the_run_can_stand_in_for_those_of_a_paper(data_dir, tmp_path, open_page):
    load(systems_release(tmp_path / "systems", system_tables()), data_dir)

    alone, stood_in = (words_on(open_page("papers", paper="s2", **chosen)) for chosen in ({}, {"stand_in": "rag"}))
    # Ten are about no system; `rag` has BLEU-1, the composite and its deviation in the place of four models with retrieval
    assert "0 of 81 printed figures agree, 10 differ" in alone
    assert "0 of 81 printed figures agree, 22 differ" in stood_in
    assert "'rag' is in its place and is named in the row" in stood_in
    assert "is in its place" not in alone


def test_a_paper_about_something_else_says_what_the_run_lacks(run, open_page):
    at = open_page("papers", paper="s3", view="missing")
    assert "The run has no stress tests." in words_on(at)
    assert lists(at) == []
    assert "No printed table can be computed on this run" in words_on(open_page("papers", paper="s3"))
