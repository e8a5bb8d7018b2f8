"""Markdown as HTML, by markdown-it-py (MIT): CommonMark with tables, struck text, raised and lowered text, and footnotes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from audit.optional_imports import optional
from audit.pipeline.corpus.extraction.losses import loss
from audit.text.documents import FRAME, Loss

# Between rules at the beginning; a line of it is a name with a value, or goes on with one, so text between rules is text
FRONT_MATTER = re.compile(
    r"\A---[ \t]*\n(?=[\w-]+:)(?P<fields>(?:(?:[\w-]+:|[ \t]|#|-[ \n]).*\n|\n)*?)(?:---|\.\.\.)[ \t]*(?:\n|\Z)"
)
# As pandoc writes them: 10^9^, 38^1,2^, 2^nd^; and a note's mark [^1] with its text below
RAISED = re.compile(r"(?<=\S)\^(\d[\d,–-]*|[a-zA-Z]{1,3}|\d?[+-])\^")
NOTE = re.compile(r"^ {0,3}\[\^([\w-]{1,40})\]:[ \t]*", re.MULTILINE)
NOTE_MARK = re.compile(r"\[\^([\w-]{1,40})\]")
LOWERED = re.compile(r"\d{1,3}[+-]?")


class MarkdownHtml(NamedTuple):
    """Markdown as HTML, and what is not in it."""

    html: str
    lost: tuple[Loss, ...]


def read_markdown(text: str) -> MarkdownHtml:
    """The HTML of a Markdown file. Text between ~ or ~~ is in `s` elements; H~2~O is lowered. HTML in it is HTML."""
    library = optional("markdown_it", "Reading Markdown", "pipeline")
    options = {"maxNesting": 50, "strikethrough_single_tilde": True}
    parser = library.MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
    fields = FRONT_MATTER.match(text)
    left_out = loss(FRAME, fields["fields"]) if fields else None
    tokens = parser.parse(_with_notes(text[fields.end() :] if fields else text))
    for token in tokens:
        if token.children:
            token.children = list(_with_places(token.children))
    html = parser.renderer.render(tokens, parser.options, {})
    return MarkdownHtml(f"<body>{html}</body>", (left_out,) if left_out else ())


def _with_notes(text: str) -> str:
    # CommonMark would take the text of a note for the address of a link
    marked = NOTE.sub(lambda note: f"\n\\[{note[1]}\\] ", text)
    return NOTE_MARK.sub(lambda mark: f"<sup>{mark[1]}</sup>" if mark[1].isdigit() else rf" \[{mark[1]}\]", marked)


def _with_places(tokens: list[Any]) -> Iterator[Any]:
    """The parts of a line, with raised and lowered text as elements."""
    for number, token in enumerate(tokens):
        around = tokens[number - 1 : number + 3]
        if _is_lowered(around):
            around[1].tag = around[3].tag = "sub"
        pieces = RAISED.split(token.content) if token.type == "text" else [token.content]
        for place, piece in enumerate(pieces):
            if place % 2:
                yield token.copy(type="html_inline", content=f"<sup>{piece}</sup>")
            else:
                yield token.copy(content=piece)


def _is_lowered(around: list[Any]) -> bool:
    """Whether tokens are text, the begin of struck text, digits and its end, with one tilde each: H~2~O."""
    if [token.type for token in around] != ["text", "s_open", "text", "s_close"] or around[1].markup != "~":
        return False
    return around[0].content[-1:].isalpha() and LOWERED.fullmatch(around[2].content) is not None
