"""A table as JSON, for whoever computes on."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from audit.exports.numbers import known
from audit.exports.table_model import HIGH, LOW, Column, Kind, Table
from audit.store.runs import Run


def json_data(table: Table, run: Run) -> str:
    """`{name, title, n, run, digest, columns, rows, notes}`; ends of intervals stand beside their values, unknown is null."""
    shown: list[tuple[str, Kind]] = [part for column in table.columns for part in _parts(table, column)]
    values = {name: [_plain(value, kind) for value in table.frame[name].tolist()] for name, kind in shown}
    told = {
        "name": table.name, "title": table.title, "n": table.n, "run": run.key, "digest": run.digest,
        "columns": [asdict(column) for column in table.columns],
        "rows": [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)],
        "notes": list(table.notes),
    }  # fmt: skip
    return json.dumps(told, ensure_ascii=False, indent=1) + "\n"


def _parts(table: Table, column: Column) -> list[tuple[str, Kind]]:
    ends = (LOW, HIGH) if table.spans(column) else ()
    return [(column.name, column.kind), *((column.name + end, Kind.DECIMAL) for end in ends)]


def _plain(value: Any, kind: Kind) -> Any:
    if not known(value):
        return None
    return str(value) if kind is Kind.TEXT else round(value) if kind is Kind.COUNT else float(value)
