"""Datasheets: counts that a person can check, words that only the makers know, and what is still open."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt

from audit.formatting import escape_markdown
from audit.queries.datasheet import PARTS, datasheet, datasheet_text
from audit.store.connection import open_store
from audit.vocabulary import DATASHEET_PARTS
from tests.support.loading import load
from tests.support.tiny import release_from

TABLE = """
    q1 kidney ab=DIVERGENT  ac=CONSISTENT bc=UNSCORED d=absent
    q2 kidney ab=CONSISTENT ac=DIVERGENT  bc=CONTRADICTORY
"""


def parts(tmp_path, **manifest):
    run = load(release_from(tmp_path / "releases", TABLE, **manifest), tmp_path / "data").run
    with open_store(run.path) as con:
        return run, {part.key: part for part in datasheet(con)}


def test_what_is_known_is_counted_and_the_rest_is_asked(tmp_path):
    run, sheet = parts(tmp_path, asked="organ", judge="a model")
    assert tuple(sheet) == tuple(PARTS) == DATASHEET_PARTS
    composition = " ".join(sheet["composition"].known)
    assert "Handbooks: 4; centers: 4; organs of the handbooks: 1; questions: 2." in composition
    assert "Answers: 7; saying that the handbook does not address the question: 1; unreadable: 0." in composition
    assert "without a readable verdict: 1; divergent or contradictory: 3." in composition
    assert "Questions were put to the handbooks of their organ, general ones to all." in sheet["collection"].known
    assert "Pairs judged by: a model." in sheet["collection"].known
    assert run.digest in sheet["maintenance"].known[0]
    assert (sheet["motivation"].known, sheet["motivation"].own_words) == ((), "")
    assert "*Not answered yet*: For what purpose was the release made, and who asked for it?" in datasheet_text(
        run.title, tuple(sheet.values())
    )


def test_the_makers_words_stand_as_they_are_and_their_questions_are_gone(tmp_path):
    run, sheet = parts(tmp_path, datasheet={"motivation": "For {all} centers.", "uses": 7, "other": "unused"})
    text = datasheet_text(run.title, tuple(sheet.values()))
    assert "For {all} centers." in text
    assert PARTS["motivation"][1][0] not in text
    assert sheet["uses"].own_words == "7"
    assert "unused" not in text


def test_a_datasheet_that_is_no_table_is_no_datasheet(tmp_path):
    _, sheet = parts(tmp_path, datasheet="none")
    assert {part.own_words for part in sheet.values()} == {""}


def test_the_makers_words_bring_no_html_no_link_no_picture_and_no_heading(tmp_path):
    words = "<img src=x onerror=alert(1)> ![x](http://evil.example/p) [y](javascript:z)\n## Uses\n\nSecond *part*."
    run, sheet = parts(tmp_path, datasheet={"motivation": words}, judge="<b>judge</b>")
    text = datasheet_text(run.title, tuple(sheet.values()))
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        f"# Datasheet of {escape_markdown(run.title)}", *(f"## {part.title}" for part in sheet.values()),
    ]  # fmt: skip
    html = MarkdownIt("commonmark", {"html": True}).render(text)
    assert not re.search(r"<(?:img|a|b|script)\b", html)
    assert "Second *part*." in html
