"""Judge: measured checks with their counts, and the command for those that are not measured."""

from __future__ import annotations

import pytest

from tests.pages.conftest import words_on

CHECKED = """
    q1 kidney ab=DIVERGENT/high!strict+swap:CONSISTENT ac=CONSISTENT!lenient+swap:CONSISTENT bc=UNSCORED!none:cut+swap:ABSENT
    q2 kidney ab=COMPLEMENTARY!strict+swap:DIVERGENT ac=COMPLEMENTARY!strict bc=ABSENT!strict d=absent
"""


def table_with(at, column: str):
    return next(table.value for table in at.dataframe if column in table.value)


def commands(at) -> str:
    return "\n".join(str(block.value) for block in at.code)


def test_checks_are_counted_and_missing_ones_come_with_the_command_that_runs_them(load_run, open_page):
    run = load_run(CHECKED)
    at = open_page("judge")
    checks = table_with(at, "made").set_index("kind")
    assert list(checks.index) == ["answers in the other order"]
    assert tuple(checks.loc["answers in the other order", ["made", "of"]]) == (4, 3)
    assert checks["changed"].iloc[0] == pytest.approx(100 * 2 / 3)
    assert "Not measured: names of centers hidden; nothing changed" in words_on(at).replace("**", "")
    assert f"audit judge {run.key} --blind-centers --repeat 1 --pairs sample:500" in commands(at)


def test_a_run_without_checks_shows_no_figure_and_the_complete_command(run, open_page):
    at = open_page("judge")
    assert not any("made" in table.value for table in at.dataframe)
    assert f"audit judge {run.key} --swap --blind-centers --repeat 1 --pairs sample:500 --out checked --load" in commands(at)
    assert "this release does not record how each reply was read" in words_on(at)
    assert "protocol, prompts and server are unknown" in words_on(at)


def test_parse_statuses_and_reasons_have_their_counts(load_run, open_page):
    load_run(CHECKED)
    at = open_page("judge")
    read = table_with(at, "name").set_index("name")["count"]
    assert read.to_dict() == {"as the JSON that was requested": 4, "as JSON with faults": 1, "not readable": 1}
    reasons = [table.value for table in at.dataframe if "name" in table.value and "cut" in set(table.value["name"])]
    assert reasons[0].set_index("name")["count"].to_dict() == {"all unscored pairs": 1, "cut": 1}


def test_the_judge_and_its_settings_are_shown_as_the_release_has_them(load_run, open_page):
    settings = {"protocol": "structured", "prompts": {"structured": {"digest": "ab12"}}, "servers": ["one", "two"]}
    load_run(judge="a judge with a *name*", judge_settings=settings)
    at = open_page("judge")
    assert "a judge with a *name*" in words_on(at)
    listed = table_with(at, "value").set_index("name")["value"].to_dict()
    assert listed == {"protocol": "structured", "prompts · structured · digest": "ab12", "servers": "one, two"}


def test_the_comparison_with_another_run_is_one_click_away(run, open_page):
    links = {link.proto.label: link.proto for link in open_page("judge").main.get("page_link")}
    assert f"run={run.key.replace('@', '%40')}" in links["Compare with another run, pair by pair"].query_string
