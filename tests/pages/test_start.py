"""Overview: figures that a reader can check by hand on the tiny run."""

from __future__ import annotations

import re

from audit.charts.style import NO_VALUE
from tests.pages.conftest import words_on
from tests.support.loading import load
from tests.support.systems import systems_release


def test_the_headline_figures_are_those_of_the_whole_run_with_their_denominators(run, open_page):
    at = open_page("start")
    shown = {metric.label: metric.value for metric in at.metric}
    # 12 + 3 pairs, one unscored: 14 scored; absent: 3 + 3 with d, and one judged absent.
    assert shown["Not addressed"] == "50.0 %"
    # Both answer in 3 + 2 + 2 pairs; two of them disagree, one is consistent; q1 and q2 of 3 questions have any.
    assert shown["Disagreement"] == "28.6 %"
    assert shown["Same advice"] == "14.3 %"
    assert shown["Disputed questions"] == "66.7 %"
    assert "of 7 pairs in which both answer" in words_on(at)


def test_prescreened_judged_absent_and_unscored_are_three_rows(run, open_page):
    rows = open_page("start").dataframe[0].value.set_index("outcome")["pairs"]
    assert rows["absent, pre-screened (the judge was not asked)"] == 6
    assert rows["absent, by the judge"] == 1
    assert rows["unscored (no readable verdict)"] == 1


def test_an_interval_has_as_many_decimals_as_its_share(run, open_page):
    intervals = open_page("start").dataframe[0].value["share_interval"]
    assert all(re.fullmatch(r"\d+\.\d\d to \d+\.\d\d %", interval) for interval in intervals if interval != NO_VALUE)


def test_the_verdict_of_the_load_report_is_on_the_first_page(run, open_page):
    assert run.report["verdict"] in words_on(open_page("start"))


def test_a_run_of_answering_systems_alone_says_what_it_has(data_dir, tmp_path, open_page):
    load(systems_release(tmp_path / "systems"), data_dir)
    at = open_page("start")
    assert (
        "2 systems gave 6 answers to 3 questions. There are 6 evaluations on the eight criteria, and 3 comparisons"
        in words_on(at)
    )
    assert "How the pairs were labelled" not in words_on(at)


def test_a_run_of_pairs_says_nothing_of_systems(run, open_page):
    assert "Answering systems" not in words_on(open_page("start"))
