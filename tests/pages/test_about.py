"""About these data: what was asked of whom, outcomes that can be checked by hand, and what the load report concludes."""

from __future__ import annotations

import json
import re

from pages._shared.listing import NO_INTERVAL
from tests.pages.conftest import lists, words_on
from tests.support.loading import load
from tests.support.systems import systems_release


def test_prescreened_judged_absent_and_unscored_are_three_rows_with_as_many_decimals_in_an_interval_as_in_its_share(
    run, open_page
):
    table = lists(open_page("about", view="labels"))[0].value
    rows = table.set_index("outcome")["pairs"]
    assert rows["absent, pre-screened (the judge was not asked)"] == 6
    assert rows["absent, by the judge"] == 1
    assert rows["unscored (no readable verdict)"] == 1
    intervals = table["share_interval"]
    assert all(re.fullmatch(r"\d+\.\d\d to \d+\.\d\d %", interval) for interval in intervals if interval != NO_INTERVAL)


def test_a_run_of_pairs_has_its_load_report_and_nothing_of_systems(run, open_page):
    words = words_on(open_page("about"))
    assert run.report["verdict"] in words
    assert "Answering systems" not in words


def test_a_run_of_answering_systems_alone_says_what_it_has(data_dir, tmp_path, open_page):
    load(systems_release(tmp_path / "systems"), data_dir)
    words = words_on(open_page("about"))
    assert "2 systems gave 6 answers to 3 questions. There are 6 evaluations on the eight criteria, and 3 comparisons" in words
    assert "How the pairs were labelled" not in words


def test_the_run_is_described_in_sentences(run, open_page):
    at = open_page("about", run=run.key)
    assert not at.exception
    assert not at.error
    words = words_on(at)
    assert "3 questions, 4 handbooks of 3 centers, 2 organs. Each question was put to every handbook." in words
    assert "It has 11 answers; in 2 of them (18.2 %) the handbook does not address the question." in words
    assert f"**Run**: {run.key}" in words
    words = words_on(open_page("about", run=run.key, view="labels"))
    assert "Of 15 pairs, 6 are absent because at least one of the two does not address the question." in words
    assert "for 1 its verdict was not readable" in words
    of_handbooks = lists(open_page("about", run=run.key, view="handbooks"))
    handbooks = next(table.value for table in of_handbooks if "center" in table.value)
    assert handbooks["center"].tolist() == ["Alder", "Birch", "Alder", "Cedar_Hill"]


def test_what_was_set_aside_is_counted(release, data_dir, open_page):
    with (release / "answers.jsonl").open("a") as file:
        file.write(json.dumps({"question_id": "nowhere", "handbook_id": "a", "answer": "Yes."}) + "\n")
    words = words_on(open_page("about", run=load(release, data_dir).run.key))
    assert "1 records were set aside with a reason and are counted nowhere." in words
