"""Judge: measured checks with their counts, and the command for those that are not measured."""

from __future__ import annotations

import json
import re

import pytest

from tests.pages.conftest import lists, words_on
from tests.support.loading import load
from tests.support.planted import planted_item, write_planted
from tests.support.tiny import release_from

CHECKED = """
    q1 kidney ab=DIVERGENT/high!strict+swap:CONSISTENT ac=CONSISTENT!lenient+swap:CONSISTENT bc=UNSCORED!none:cut+swap:ABSENT
    q2 kidney ab=COMPLEMENTARY!strict+swap:DIVERGENT ac=COMPLEMENTARY!strict bc=ABSENT!strict d=absent
"""


def table_with(at, column: str):
    return next(table.value for table in lists(at) if column in table.value)


def commands(at) -> str:
    return "\n".join(str(block.value) for block in at.code)


def test_checks_are_counted_and_missing_ones_come_with_the_command_that_runs_them(load_run, open_page):
    run = load_run(CHECKED)
    at = open_page("judge", view="again")
    checks = table_with(at, "made").set_index("kind")
    assert list(checks.index) == ["answers in the other order"]
    assert tuple(checks.loc["answers in the other order", ["made", "of"]]) == (4, 3)
    assert checks["changed"].iloc[0] == pytest.approx(100 * 2 / 3)
    assert "Not measured: names of centers hidden; nothing changed" in words_on(at).replace("**", "")
    assert f"audit judge {run.key} --blind-centers --repeat 1 --pairs sample:500" in commands(at)


def test_a_run_without_checks_shows_no_figure_and_the_complete_command(run, open_page):
    at = open_page("judge", view="again")
    assert not any("made" in table.value for table in lists(at))
    assert f"audit judge {run.key} --swap --blind-centers --repeat 1 --pairs sample:500 --out checked --load" in commands(at)
    assert "this release does not record how each reply was read" in words_on(open_page("judge", view="replies"))
    assert "protocol, prompts and server are unknown" in words_on(open_page("judge", view="prompts"))


def test_labels_read_from_prose_are_counted_apart(load_run, open_page):
    load_run("q1 kidney ab=DIVERGENT!prose ac=CONSISTENT!strict bc=ABSENT!prose")
    at = open_page("judge", view="replies")
    read = table_with(at, "name").set_index("name")["count"]
    assert read.to_dict() == {"as the JSON that was requested": 1, "from prose: the label without JSON": 2}
    assert "2 labels were read from prose" in words_on(at)


def test_parse_statuses_and_reasons_have_their_counts(load_run, open_page):
    load_run(CHECKED)
    at = open_page("judge", view="replies")
    read = table_with(at, "name").set_index("name")["count"]
    assert read.to_dict() == {"as the JSON that was requested": 4, "as JSON with faults": 1, "not readable": 1}
    reasons = [table.value for table in lists(at) if "name" in table.value and "cut" in set(table.value["name"])]
    assert reasons[0].set_index("name")["count"].to_dict() == {"all unscored pairs": 1, "cut": 1}


def test_the_judge_and_its_settings_are_shown_as_the_release_has_them(load_run, open_page):
    settings = {"protocol": "structured", "prompts": {"structured": {"digest": "ab12"}}, "servers": ["one", "two"]}
    load_run(judge="a judge with a *name*", judge_settings=settings)
    assert "a judge with a *name*" in words_on(open_page("judge"))
    listed = table_with(open_page("judge", view="prompts"), "value").set_index("name")["value"].to_dict()
    assert listed == {"protocol": "structured", "prompts · structured · digest": "ab12", "servers": "one, two"}


def test_the_comparison_with_another_run_is_one_click_away(run, open_page):
    links = {link.proto.label: link.proto for link in open_page("judge").main.get("page_link")}
    assert f"run={run.key.replace('@', '%40')}" in links["Compare with another run, pair by pair"].query_string


PLANTED = [
    planted_item(1, "amount", "CONSISTENT", "DIVERGENT", ["DIVERGENT", "CONTRADICTORY"]),
    planted_item(2, "amount", "CONSISTENT", "CONSISTENT", ["DIVERGENT", "CONTRADICTORY"], reasoning="No <b>difference</b> seen."),
    planted_item(3, "instruction", "DIVERGENT", "CONSISTENT", ["DIVERGENT"], ordered="CONSISTENT", variant="reply"),
    planted_item(4, "instruction", "DIVERGENT", "DIVERGENT", ["DIVERGENT"], ordered="CONSISTENT", variant="request"),
]


@pytest.fixture
def planted_run(tmp_path, data_dir):
    folder = write_planted(release_from(tmp_path / "releases", CHECKED, judge="judge-1"), PLANTED)
    return load(folder, data_dir).run


def test_planted_changes_have_a_row_for_each_kind_and_instructions_are_among_the_checks(planted_run, open_page):
    at = open_page("judge", run=planted_run.key, view="planted")
    table = table_with(at, "lenient").set_index("kind")
    assert table["of"].to_dict() == {"one amount changed": 2, "an instruction to the judge": 2}
    assert table["value"].to_dict() == {"one amount changed": 50, "an instruction to the judge": 50}
    (story,) = [block.proto.body for block in open_page("judge").get("html") if 'class="judge-story"' in block.proto.body]
    assert "gave the label that a text in an answer asked for in 1 of 2 cases" in story
    checks = table_with(open_page("judge", run=planted_run.key, view="again"), "made").set_index("kind")
    assert tuple(checks.loc["an instruction to the judge planted", ["made", "changed"]]) == (2, 50)


def test_what_went_wrong_is_read_first_with_the_change_marked(planted_run, open_page):
    at = open_page("judge", run=planted_run.key, view="read")
    items = table_with(at, "outcome")
    assert items["outcome"].to_list() == ["wrong", "as it must be"]
    (item,) = [block.proto.body for block in at.get("html") if "the planted change" in block.proto.body]
    assert "Wait <mark" in item
    assert ">9</mark> months." in item
    assert "No &lt;b&gt;difference&lt;/b&gt; seen." in item
    assert "must be: divergent or contradictory" in item


def test_a_kind_can_be_picked_and_shows_its_wordings(planted_run, open_page):
    at = open_page("judge", run=planted_run.key, view="read", change="instruction")
    assert table_with(at, "variant")["variant"].to_list() == ["reply", "request"]
    assert table_with(at, "before")["before"].to_list() == ["divergent"]


def test_a_run_without_planted_changes_names_the_command(run, open_page):
    assert "audit stress judge RELEASE" in commands(open_page("judge", view="planted"))


def test_the_story_says_what_passes_fails_and_is_not_measured(tmp_path, data_dir, open_page):
    """Five questions with three pairs each: the second judge confirms every disagreement and nothing else was measured."""
    table = "\n".join(f"q{n} kidney ab=DIVERGENT/high!strict ac=CONSISTENT!strict bc=CONSISTENT!strict" for n in range(1, 41))
    folder = release_from(tmp_path / "releases", table, judge="judge-1")
    second = [
        {"question_id": f"q{n}", "handbook_a": "a", "handbook_b": b, "kind": "second", "judge": "judge-1", "label": label}
        for n in range(1, 41)
        for b, label in (("b", "DIVERGENT"), ("c", "CONSISTENT"))
    ]
    (folder / "further_verdicts.jsonl").write_text("\n".join(map(json.dumps, second)))
    run = load(folder, data_dir).run
    at = open_page("judge", run=run.key)
    (html,) = [block.proto.body for block in at.get("html") if 'class="judge-story"' in block.proto.body]
    story = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))
    assert "pass at least 80 % Of the disagreements of the run, it confirms 100.0 %" in story
    assert "Both judges have the same name" in story
    assert "not measured No panel of pairs was asked again at a later date." in story
    assert "not measured Asked again with answers in the other order." in story
