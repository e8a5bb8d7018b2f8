"""Tables as CSV, Markdown, JSON and HTML: the only writer of each."""

from __future__ import annotations

import json
import re
from typing import Any

import pandas as pd

from audit.exports.numbers import known
from audit.exports.table_model import Table, metric_table
from audit.exports.templates import rendered
from audit.formatting import escape_markdown, markdown_table, safe_cell
from audit.store.runs import Run
from audit.tables import HIGH, LOW, ColumnKind


def csv_text(frame: pd.DataFrame) -> str:
    """The frame as CSV; an unknown value is an empty cell, and no cell runs as a formula."""
    # Numeric columns are left alone: a leading minus is a sign there and not the beginning of a formula.
    safe = frame.apply(lambda column: column if pd.api.types.is_numeric_dtype(column) else column.map(safe_cell))
    return str(safe.rename(columns=safe_cell).to_csv(index=False))


def csv_bytes(frame: pd.DataFrame) -> bytes:
    """`csv_text` as UTF-8 with a byte order mark, which Excel needs to read accents right."""
    return csv_text(frame).encode("utf-8-sig")


def csv_table(table: Table) -> bytes:
    """A table as CSV: numbers as numbers, the ends of intervals in columns of their own."""
    return csv_bytes(table.typed())


def file_name(run: Run, name: str) -> str:
    """`run-id_digest_name.csv`, so that a downloaded file tells which data it has."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", f"{run.run_id}_{run.digest[:8]}_{name}") + ".csv"


def markdown(table: Table) -> str:
    """Title, table and notes as Markdown; numbers are aligned right."""
    table = table.for_print()
    notes = [escape_markdown(note) for note in (table.n, *table.notes) if note]
    return "\n\n".join([f"**{escape_markdown(table.title)}**", markdown_rows(table), *notes]) + "\n"


def markdown_rows(table: Table) -> str:
    """A table as Markdown without its title and notes."""
    heads = [escape_markdown(column.label) for column in table.columns]
    rules = ["---" if column.is_text else "---:" for column in table.columns]
    return markdown_table(heads, [[escape_markdown(cell) for cell in line] for line in table.lines()], rules)


def markdown_text(frame: pd.DataFrame, run: Run, name: str) -> str:
    """The frame of a metric as Markdown, by the metric's table specification."""
    return markdown(metric_table(name, frame, run))


def json_text(frame: pd.DataFrame, run: Run, name: str) -> str:
    """The frame of a metric with every column: `{"metric", "run", "digest", "rows": [...]}`; an unknown value is null."""
    rows = json.loads(frame.to_json(orient="records", force_ascii=False, double_precision=15))
    return json.dumps({"metric": name, "run": run.run_id, "digest": run.digest, "rows": rows}, ensure_ascii=False, indent=1)


def json_table(table: Table, run: Run) -> str:
    """`{name, title, n, run, digest, columns, rows, notes}`; ends of intervals follow their values, unknown is null."""
    cells = {name: values for column in table.columns for name, values in _json_columns(table, column.name).items()}
    columns = [
        {"name": column.name, "header": column.heading, "unit": column.unit, "kind": _json_kind(column.kind)}
        for column in table.columns
    ]
    content = {
        "name": table.name, "title": table.title, "n": table.n, "run": run.key, "digest": run.digest, "columns": columns,
        "rows": [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)], "notes": list(table.notes),
    }  # fmt: skip
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def _json_columns(table: Table, name: str) -> dict[str, list[Any]]:
    column = next(column for column in table.columns if column.name == name)
    columns = {name: _json_values(table.values(column))}
    if table.has_interval(column):
        columns |= {name + end: _json_values(pd.to_numeric(table.frame[name + end]).astype(float)) for end in (LOW, HIGH)}
    return columns


def _json_values(values: pd.Series) -> list[Any]:
    return [value if known(value) else None for value in values.tolist()]


def _json_kind(kind: ColumnKind) -> str:
    # Files have known these three kinds since the first version.
    return {ColumnKind.NAME: "text", ColumnKind.SHARE: "decimal"}.get(kind, kind.value)


def html_table(table: Table) -> str:
    """A `section` element: title, table, notes. Jinja2 escapes every text."""
    table = table.for_print()
    kinds = [_json_kind(column.kind) for column in table.columns]
    return rendered("table.html", table=table, kinds=kinds, rows=[list(zip(kinds, line, strict=True)) for line in table.lines()])
