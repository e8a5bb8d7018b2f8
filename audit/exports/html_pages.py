"""HTML from the templates in `audit/exports/pages`: escaped values (Jinja2 with autoescape), and the report, one page to send."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from audit.charts.figure_files import fragment_html
from audit.exports.catalogue import Chapter
from audit.exports.table_model import Picture, Table
from audit.exports.text_writers import json_kind


@lru_cache(maxsize=1)
def _environment() -> Environment:
    # StrictUndefined: a misspelled name in a template must fail instead of printing nothing.
    return Environment(
        loader=PackageLoader("audit.exports", "pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def rendered(template: str, **values: object) -> str:
    """A template with its values. Only what is `trusted` is not escaped."""
    return _environment().get_template(template).render(**values)


def trusted(html: str) -> Markup:
    """HTML that was made here, from escaped parts."""
    return Markup(html)  # noqa: S704  # callers pass only what Jinja2 or Plotly wrote


def script_json(data: dict[str, Any]) -> Markup:
    """JSON that cannot end the script element that contains it."""
    # A text with </script> would end the element, and older JavaScript takes U+2028 and U+2029 for line breaks.
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return trusted(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


def html_table(table: Table) -> str:
    """A `section` element: title, table, notes. Jinja2 escapes every text."""
    table = table.for_print()
    kinds = [json_kind(column.kind) for column in table.columns]
    return rendered("table.html", table=table, kinds=kinds, rows=[list(zip(kinds, line, strict=True)) for line in table.lines()])


def html_report(
    title: str, facts: Mapping[str, str], notices: Sequence[str], chapters: Sequence[Chapter], drawings: Mapping[str, bytes]
) -> str:
    """The page.

    facts     what is reported on, by name
    notices   what a reader must know first
    drawings  figures by name as SVG; a figure without one is drawn by plotly.js, which is then part of the page
    """
    live: list[str] = []

    def drawn(picture: Picture) -> Markup:
        if picture.name in drawings:
            return trusted(drawings[picture.name].decode())
        live.append(picture.name)
        # The library is 4 MB: only the first live figure embeds it.
        return trusted(fragment_html(picture.figure, picture.name, script=len(live) == 1))

    def html(table: Table) -> Markup:
        return trusted(html_table(table))

    return rendered("report.html", title=title, facts=facts, notices=notices, chapters=chapters, drawn=drawn, html=html)
