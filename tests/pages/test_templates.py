"""The templates of the pages: every value is escaped, no template takes a text as HTML, and a misspelled name is an error."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from jinja2 import UndefinedError
from markupsafe import Markup

from pages._blinded.templates import PAGES, rendered
from pages._shared.side_by_side import AnswerHead

TEMPLATES = sorted(PAGES.rglob("*.html"))
TAKES_HTML = re.compile(r"\|\s*safe\b|autoescape|Markup")


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.relative_to(PAGES).as_posix())
def test_no_template_takes_a_text_as_html(template: Path) -> None:
    assert not TAKES_HTML.search(template.read_text(encoding="utf-8"))


def test_values_are_escaped_and_what_a_template_made_is_not() -> None:
    html = rendered("_shared/held_answer.html", head=AnswerHead("<b>A</b>"), text="1 < 2", links=Markup("<a>link</a>"))
    assert '<div class="name" dir="auto">&lt;b&gt;A&lt;/b&gt;</div>' in html
    assert '<div class="answer-text" dir="auto">1 &lt; 2</div>' in html
    assert "<a>link</a>" in html


def test_a_name_that_a_template_is_not_given_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        rendered("_shared/held_answer.html", head=AnswerHead("A"), text="")
