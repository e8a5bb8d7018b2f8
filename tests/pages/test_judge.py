"""Judge: what is measured is shown with its counts, what is not says how to measure it, and two runs lie beside each other."""

from __future__ import annotations

import pytest

from tests.pages.conftest import words_on

CHECKED = """
    q1 kidney ab=DIVERGENT/high!strict+swap:CONSISTENT ac=CONSISTENT!lenient+swap:CONSISTENT bc=UNSCORED!none:cut+swap:ABSENT
    q2 kidney ab=COMPLEMENTARY!strict+swap:DIVERGENT ac=COMPLEMENTARY!strict bc=ABSENT!strict d=absent
"""
AGAIN = """
    q1 kidney ab=COMPLEMENTARY ac=CONSISTENT bc=CONSISTENT
    q2 kidney ab=COMPLEMENTARY ac=DIVERGENT/low bc=ABSENT d=absent
    q3 kidney ab=DIVERGENT
"""


def table_with(at, column: str):
    return next(table.value for table in at.dataframe if column in table.value)


def commands(at) -> str:
    return "\n".join(str(block.value) for block in at.code)


@pytest.fixture
def two_runs(load_run):
    """The keys of two runs over the same questions; the second was judged differently."""
    return load_run(CHECKED, run_id="before").key, load_run(AGAIN, run_id="after", title="Judged again").key


def test_checks_that_were_made_are_counted_and_those_that_were_not_say_how_to_make_them(load_run, open_page):
    run = load_run(CHECKED)
    at = open_page("judge")
    checks = table_with(at, "made").set_index("kind")
    assert list(checks.index) == ["answers in the other order"]
    assert tuple(checks.loc["answers in the other order", ["made", "of"]]) == (4, 3)
    assert checks["changed"].iloc[0] == pytest.approx(100 * 2 / 3)
    assert "Not measured: names of centers hidden; asked the same again" in words_on(at).replace("**", "")
    assert f"audit judge {run.key} --blind-centers --repeat 1 --pairs sample:500" in commands(at)


def test_a_run_that_nobody_checked_shows_no_figure_and_the_whole_command(run, open_page):
    at = open_page("judge")
    assert not any("made" in table.value for table in at.dataframe)
    assert f"audit judge {run.key} --swap --blind-centers --repeat 1 --pairs sample:500 --out checked --load" in commands(at)
    assert "this release does not say how each reply was read" in words_on(at)
    assert "protocol, prompts and server are unknown" in words_on(at)


def test_ways_of_reading_and_reasons_stand_with_their_counts(load_run, open_page):
    load_run(CHECKED)
    at = open_page("judge")
    read = table_with(at, "name").set_index("name")["count"]
    assert read.to_dict() == {"as the JSON asked for": 4, "as JSON with faults": 1, "not at all": 1}
    reasons = [table.value for table in at.dataframe if "name" in table.value and "cut" in set(table.value["name"])]
    assert reasons[0].set_index("name")["count"].to_dict() == {"all together": 1, "cut": 1}


def test_the_judge_and_its_settings_are_shown_as_the_release_has_them(load_run, open_page):
    settings = {"protocol": "structured", "prompts": {"structured": {"digest": "ab12"}}, "servers": ["one", "two"]}
    load_run(judge="a judge with a *name*", judge_settings=settings)
    at = open_page("judge")
    assert "a judge with a *name*" in words_on(at)
    listed = table_with(at, "value").set_index("name")["value"].to_dict()
    assert listed == {"protocol": "structured", "prompts · structured · digest": "ab12", "servers": "one, two"}


def test_with_one_run_there_is_nothing_to_compare_and_the_page_says_how_to_come_by_another(run, open_page):
    at = open_page("judge")
    assert "Only this run is loaded" in words_on(at)
    assert f"audit judge {run.key} --out rejudged --load" in commands(at)


def test_a_second_run_is_compared_on_what_both_have_and_the_rest_is_named(two_runs, open_page):
    before, after = two_runs
    at = open_page("judge", run=before, against=after)
    words = words_on(at)
    assert "2 questions in both, 1 only in the other" in words
    assert "9 pairs in both, 1 only in the other" in words
    agreed = table_with(at, "figure").set_index("figure")
    assert tuple(agreed.loc["Same label", ["count", "of"]]) == (3, 5)
    assert tuple(agreed.loc["Divergent, and still so", ["count", "of"]]) == (0, 1)
    assert "Over the 5 pairs that both judges labelled" in words


def test_the_pairs_that_moved_are_listed_and_one_opens_with_both_verdicts(two_runs, open_page):
    before, after = two_runs
    at = open_page("judge", run=before, against=after)
    moved = table_with(at, "question_text")
    assert list(zip(moved["first"], moved["second"], strict=True)) == [
        ("divergent", "complementary"), ("complementary", "divergent"), ("unscored", "consistent"),
    ]  # fmt: skip
    at.session_state[f"moved_{after}_any_any"] = {"selection": {"rows": [0], "columns": [], "cells": []}}
    at.run()
    shown = "\n".join(str(element.proto.body) for element in at.get("html"))
    assert "Judged again" in words_on(at)
    assert ">divergent<" in shown
    assert ">complementary<" in shown


def test_a_clicked_cell_lists_its_pairs_only(two_runs, open_page):
    before, after = two_runs
    at = open_page("judge", run=before, against=after)
    at.session_state["cell"] = (after, "DIVERGENT", "COMPLEMENTARY")
    at.run()
    assert "1 pair divergent here and complementary there" in words_on(at).replace("**", "")
    assert len(table_with(at, "question_text")) == 1


def test_runs_without_a_common_pair_say_so(load_run, open_page):
    before, after = load_run("q1 kidney ab=DIVERGENT", run_id="x").key, load_run("q9 kidney ab=DIVERGENT", run_id="y").key
    assert "The two runs share no pair" in words_on(open_page("judge", run=before, against=after))
