"""A table as Markdown."""

from __future__ import annotations

from audit.exports.table_model import Kind, Table
from audit.exports.tables import plain


def markdown(table: Table) -> str:
    """Title, table and notes; numbers stand at the right."""
    table = table.typeset()
    heads = [plain(f"{column.header} ({column.unit})" if column.unit else column.header) for column in table.columns]
    rules = ["---" if column.kind is Kind.TEXT else "---:" for column in table.columns]
    body = [[plain(cell) for cell in line] for line in table.lines()]
    rows = "\n".join(f"| {' | '.join(line)} |" for line in (heads, rules, *body))
    notes = [plain(note) for note in (table.n, *table.notes) if note]
    return "\n\n".join([f"**{plain(table.title)}**", rows, *notes]) + "\n"
