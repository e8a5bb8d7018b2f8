"""A table as HTML, with every text escaped."""

from __future__ import annotations

from html import escape

from audit.exports.table_model import Column, Kind, Table


def html_table(table: Table) -> str:
    """A `figure` element: caption, table, notes."""
    table = table.typeset()
    head = "".join(_head(column) for column in table.columns)
    body = "\n".join(f"<tr>{_line(table, line)}</tr>" for line in table.lines())
    notes = "".join(f"<p>{escape(note)}</p>" for note in table.notes)
    n = f' <span class="n">{escape(table.n)}</span>' if table.n else ""
    return (
        f'<section class="table" id="table-{escape(table.name)}"><h3>{escape(table.title)}</h3>{n}\n<div class="wide"><table>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>\n"
        f'<div class="notes">{notes}</div></section>'
    )


def _head(column: Column) -> str:
    unit = f"<small>{escape(column.unit)}</small>" if column.unit else ""
    return f'<th scope="col" class="{column.kind}">{escape(column.header)}{unit}</th>'


def _line(table: Table, line: list[str]) -> str:
    first, *others = zip(table.columns, line, strict=True)
    cells = [f'<td class="{column.kind}">{escape(cell)}</td>' for column, cell in others]
    opening, closing = ('<th scope="row">', "</th>") if first[0].kind is Kind.TEXT else ('<td class="count">', "</td>")
    return opening + escape(first[1]) + closing + "".join(cells)
