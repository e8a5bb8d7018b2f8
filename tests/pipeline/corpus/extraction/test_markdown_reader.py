"""Markdown: struck, raised and lowered text, notes, the fields above the text, and HTML in it."""

from __future__ import annotations

import pytest

from audit.pipeline.corpus.extraction.markdown_reader import read_markdown
from audit.text.documents import FRAME


def html(text: str) -> str:
    result = read_markdown(text)
    assert result.lost == ()
    return result.html.removeprefix("<body>").removesuffix("</body>").strip()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("~~Eat grapefruit.~~ Eat apples.", "<s>Eat grapefruit.</s> Eat apples."),
        ("~Eat **no** grapefruit.~ Eat apples.", "<s>Eat <strong>no</strong> grapefruit.</s> Eat apples."),
        ("Take ~5 to ~10 mg.", "Take ~5 to ~10 mg."),
        ("Take ~5~ 10 mg.", "Take <s>5</s> 10 mg."),
        ("Drink H~2~O.", "Drink H<sub>2</sub>O."),
        ("Keep SpO~2~ up.", "Keep SpO<sub>2</sub> up."),
        ("Above 39^2^ °C", "Above 39<sup>2</sup> °C"),
        ("Above 50 x 10^9^/L", "Above 50 x 10<sup>9</sup>/L"),
        ("on the 2^nd^ day", "on the 2<sup>nd</sup> day"),
        ("10^9/L and 10^12/L", "10^9/L and 10^12/L"),
        ("x^2+y^2", "x^2+y^2"),
        ("`~~code~~ and 2^2^`", "<code>~~code~~ and 2^2^</code>"),
    ],
)
def test_struck_raised_and_lowered_text(text, expected):
    assert html(text) == f"<p>{expected}</p>"


def test_notes_are_text_and_their_marks_are_raised():
    assert html("Fever above 39[^1] is urgent.[^a]\n\n[^1]: Adults.\n[^a]: Call us.") == (
        "<p>Fever above 39<sup>1</sup> is urgent. [a]</p>\n<p>[1] Adults.</p>\n<p>[a] Call us.</p>"
    )


def test_task_lists_keep_their_state():
    assert html("- [x] flu shot\n- [ ] live vaccine") == "<ul>\n<li>[x] flu shot</li>\n<li>[ ] live vaccine</li>\n</ul>"


@pytest.mark.parametrize(
    "fields",
    ["---\ntitle: Heart\ntags:\n  - a\n- b\n# note\n\nlang: en\n---\n", "---\ntitle: Heart\n...\n", "--- \ntitle: Heart\n---"],
)
def test_the_fields_above_the_text_are_named(fields):
    result = read_markdown(f"{fields}\nRest." if fields.endswith("\n") else fields + "\n\nRest.")
    assert result.html.strip() == "<body><p>Rest.</p>\n</body>"
    assert [(loss.kind, loss.example[:12]) for loss in result.lost] == [(FRAME, "title: Heart")]


@pytest.mark.parametrize("text", ["---\n\n# Rest\n\nNever smoke.\n\n---\nWalk.", "---\nNever smoke.\n---\nWalk."])
def test_text_between_rules_is_text(text):
    assert "Never smoke." in html(text)


def test_html_in_it_stays_html():
    assert html("Eat <del>grapefruit</del> apples <!-- why? -->") == "<p>Eat <del>grapefruit</del> apples <!-- why? --></p>"
