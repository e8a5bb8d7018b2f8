"""About these data: outcomes that a reader can check by hand on the tiny run, and what the load report concludes."""

from __future__ import annotations

import re

from audit.charts.style import NO_VALUE
from tests.pages.conftest import words_on
from tests.support.loading import load
from tests.support.systems import systems_release


def test_prescreened_judged_absent_and_unscored_are_three_rows_with_as_many_decimals_in_an_interval_as_in_its_share(
    run, open_page
):
    table = open_page("about").dataframe[0].value
    rows = table.set_index("outcome")["pairs"]
    assert rows["absent, pre-screened (the judge was not asked)"] == 6
    assert rows["absent, by the judge"] == 1
    assert rows["unscored (no readable verdict)"] == 1
    intervals = table["share_interval"]
    assert all(re.fullmatch(r"\d+\.\d\d to \d+\.\d\d %", interval) for interval in intervals if interval != NO_VALUE)


def test_a_run_of_pairs_has_its_load_report_and_nothing_of_systems(run, open_page):
    words = words_on(open_page("about"))
    assert run.report["verdict"] in words
    assert run.key in words
    assert "Answering systems" not in words


def test_a_run_of_answering_systems_alone_says_what_it_has(data_dir, tmp_path, open_page):
    load(systems_release(tmp_path / "systems"), data_dir)
    words = words_on(open_page("about"))
    assert "2 systems gave 6 answers to 3 questions. There are 6 evaluations on the eight criteria, and 3 comparisons" in words
    assert "How the pairs were labelled" not in words
