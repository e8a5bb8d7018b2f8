"""What others wrote has its own direction, left to right or right to left, wherever a page or an exported file shows it."""

from __future__ import annotations

import re
from collections.abc import Collection
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markupsafe import Markup

from audit.formatting import isolated
from pages._blinded.frame import escaped
from pages._blinded.templates import PAGES, rendered
from pages._shared.side_by_side import AnswerHead

EXPORTED = PAGES.parent / "audit" / "exports" / "pages"
TEMPLATES = sorted([*PAGES.rglob("*.html"), *EXPORTED.glob("*.html")])
BLOCK = re.compile(r"\{#.*?#\}|\{%.*?%\}", re.DOTALL)
PRINTED = re.compile(r"\{\{-?\s*(.*?)\s*-?\}\}", re.DOTALL)
PLACE = re.compile("\ue000(\\d+)\ue001")
NUMBER = re.compile(
    r"^(?:loop\.index|n|n - in_sight|.*\|(?:length|thousands|fixed\(\d\))|\w+\.(?:number|disagreeing|pairs|rank))$"
)
WORD = re.compile(
    r"""^(?:"[^"]*"(?: if [^"]* else (?:"[^"]*"(?:\|format\(n\))?))?|terms\.\w+(?: if \w+ == 1 else terms\.\w+)?)$"""
)
"""A text that is written in the template, or a word that a run has for handbooks and the like."""
CALL = re.compile(
    r"^(?:answer_card|answer_head|position_card|position_line|dot_strip|evaluation|listed|words|planted_error|call_cell|answer_cell|who"
    r"|links?|pages|badge|source|source_link|html|drawn|passage_html|handbook_html)\("
)
"""What a macro or a function has made of other texts, as HTML, with a direction of its own."""
MADE = {"links", "legend", "badges", "style", "script", "data", "rubric", "source", '"" if loop.last else separator'}
"""HTML from another template, and what is no text."""
OURS = {
    "widget.html": {
        "scheme.asks", "scheme.keys", "option.key", "option.name", "option.meaning", "word", "word[0]|upper",
        'caller() if caller is defined else ""',
    },
    "rubric.html": {"part"},
    "legend.html": {"unmarked"},
    "documents.html": {"source + 1"},
    "answer_card.html": {'caller() if caller is defined else ""'},
    "position_cards.html": {"nothing_certain"},
    "planted_item.html": {"answer", "expected"},
    "replies.html": {"states[reply.state]"},
    "judge_story.html": {"part", "one.state", "one.line|unbroken", "explained"},
    "confirmed.html": {"row.label", "row.words|unbroken", "key"},
    "rates.html": {"row.name", "row.words"},
    "verdict.html": {"second_words"},
    "system_answers.html": {"criterion", "words"},
    "answer.html": {"range", "open_page(passage)"},
    "label_bars.html": {"part.written"},
    "profile.html": {"counted"},
    "layers.html": {'"" if score is none else "%.3g"|format(score)'},
    "report.html": {"chapter.title", "heading"},
    "alike.html": {"facts", "held"},
    "doubts.html": {"sentence", "others"},
    "handbooks.html": {
        "title", "about", "more", "passage.page", "book.unread",
        '"%d passages"|format(rest|length) if rest|length > 1 else "passage"',
    },
}  # fmt: skip
"""Words of this program by the names that they have in a template."""


class Texts(HTMLParser):
    """The expressions that a template prints as text, each with the attributes of the elements around it."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[str, dict[str, str | None]]] = []
        self.printed: list[tuple[int, tuple[str, dict[str, str | None]]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "input", "img", "br"):
            self.open.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        self.printed += [(int(place), self.open[-1] if self.open else ("", {})) for place in PLACE.findall(data)]


def printed(template: str) -> list[tuple[str, str, dict[str, str | None]]]:
    """Each expression that is printed as text, the element that directly holds it, and its attributes."""
    expressions: list[str] = []

    def place(match: re.Match[str]) -> str:
        expressions.append(" ".join(match[1].split()))
        return f"\ue000{len(expressions) - 1}\ue001"

    parser = Texts()
    parser.feed(PRINTED.sub(place, BLOCK.sub("", template)))
    return [(expressions[number], tag, attributes) for number, (tag, attributes) in parser.printed]


def without_direction(template: str, ours: Collection[str] = ()) -> list[str]:
    return [
        expression
        for expression, tag, attributes in printed(template)
        if tag not in ("bdi", "title", "style", "script") and attributes.get("dir") != "auto"
        and expression not in MADE and expression not in ours
        and not any(known.match(expression) for known in (NUMBER, WORD, CALL))
    ]  # fmt: skip


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.relative_to(PAGES.parent).as_posix())
def test_every_text_of_others_in_a_template_has_its_own_direction(path: Path) -> None:
    assert without_direction(path.read_text(encoding="utf-8"), OURS.get(path.name, ())) == []


def test_the_check_finds_a_text_without_a_direction() -> None:
    assert without_direction("<p>{{ quote }}</p><p dir='auto'>{{ quote }}</p><p>says <bdi>{{ quote }}</bdi></p>") == ["quote"]
    assert without_direction('<a title="{{ quote }}">{{ n }}</a>') == []


def test_an_answer_its_marks_and_the_name_above_it_are_in_an_element_with_a_direction() -> None:
    text = Markup("אין <mark>להפסיק</mark> את התרופות.")
    html = rendered("_shared/held_answer.html", head=AnswerHead("ברוש, חיפה."), text=text, links="")
    assert '<div class="name" dir="auto">ברוש, חיפה.</div>' in html
    assert '<div class="answer-text" dir="auto">אין <mark>להפסיק</mark> את התרופות.</div>' in html


def test_a_name_in_a_sentence_of_ours_does_not_turn_the_sentence_around() -> None:
    assert escaped("ברוש") == "\u2068ברוש\u2069"
    assert escaped("مستشفى.") == "\u2068مستشفى\\.\u2069"
    assert escaped("Elm.") == "Elm\\."


@pytest.mark.parametrize("text", ["Elm", "Zürich", "心臓", "38 °C – 39 °C", "", "Ελιά"])
def test_a_text_from_left_to_right_stays_as_it_is(text: str) -> None:
    assert isolated(text) == text


@pytest.mark.parametrize("text", ["א", "ا", "38 °C אין", "ﷲ", "ހަ", "𐤀"])
def test_every_script_from_right_to_left_is_known(text: str) -> None:
    assert isolated(text) == f"\u2068{text}\u2069"
