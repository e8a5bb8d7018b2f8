"""One page to mail: tables, figures, definitions, counts and where they come from. It loads nothing from any network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from audit.charts.figure_files import fragment_html
from audit.exports.catalogue import Chapter
from audit.exports.table_model import Picture, Table
from audit.exports.templates import rendered, trusted
from audit.exports.text_writers import html_table


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
        # The library is 4 MB: the first live figure brings it for all.
        return trusted(fragment_html(picture.figure, picture.name, script=len(live) == 1))

    def html(table: Table) -> Markup:
        return trusted(html_table(table))

    return rendered("report.html", title=title, facts=facts, notices=notices, chapters=chapters, drawn=drawn, html=html)
