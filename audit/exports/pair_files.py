"""All pairs that filters select, with both answers, as one file: CSV, XLSX or Parquet. In batches, so any number of pairs fits in
memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from audit.atomic_io import atomic_file
from audit.errors import AuditError, describe_error
from audit.exports.table_model import table_of, with_notice_column
from audit.exports.text_writers import csv_text
from audit.exports.xlsx import xlsx_bytes
from audit.metrics.disagreements import ORDERS, Filters
from audit.previews import COLUMN, preview_notice
from audit.queries.lookup import require_one_of
from audit.store.connection import Connection, arrays, frame, open_store
from audit.store.runs import Run
from audit.tables import Column, TableSpec
from audit.vocabulary import LABELS

FORMATS = (".csv", ".xlsx", ".parquet")
BATCH = 5_000
MAX_SHEET_ROWS = 20_000
"""Pairs in a workbook. With both answers a larger one takes minutes to write and to open."""
SELECTED = """,
involved as (
    select question, handbook_a as handbook from matched union select question, handbook_b from matched
),
sizes as (
    select question, count(*) as handbooks from involved group by question
)
select question, handbook_a, handbook_b from matched join sizes using (question)
order by {order} question, handbook_a, handbook_b
"""
STATE = """case when {side}.absent then 'absent' when not {side}.absent then 'present' when {side}.unread_reason is not null then
            'unread' when (select has_answers from run) then 'not asked' else 'unknown' end"""
WITH_ANSWERS = f"""
with wanted as (
    select unnest($questions::integer[]) as question, unnest($a::smallint[]) as handbook_a,
           unnest($b::smallint[]) as handbook_b, unnest(range(len($a))) as place
)
select question_id, q.text as question, q.organ, coalesce(p.label::varchar, 'UNSCORED') as label,
       p.significance::varchar as significance, divergence_topic, reasoning, difference, follow_both, second,
       a.handbook_id as handbook_a,
       b.handbook_id as handbook_b, {STATE.format(side="x")} as state_a, {STATE.format(side="y")} as state_b,
       x.answer as answer_a, y.answer as answer_b
from wanted w
join pairs_read_twice p using (question, handbook_a, handbook_b)
join questions q using (question)
join handbooks a on a.handbook = w.handbook_a
join handbooks b on b.handbook = w.handbook_b
left join answers x on x.question = w.question and x.handbook = w.handbook_a
left join answers y on y.question = w.question and y.handbook = w.handbook_b
order by place
"""
TABLE = TableSpec(
    "Pairs that match, with both answers",
    (
        Column.text("question_id", "Id"), Column.text("question", "{Question}"), Column.named("organ", "{Organ}"),
        Column.text("label", "Label", words={**{label.value: label.value.lower() for label in LABELS}, "UNSCORED": "unscored"}),
        Column.text("significance", "Significance"), Column.text("divergence_topic", "Divergence topic"),
        Column.text("reasoning", "The judge's reasoning"), Column.text("difference", "Why the advice differs"),
        Column.text("follow_both", "Can one {patient} follow both?"), Column.text("second", "A second judge: label"),
        Column.text("handbook_a", "{Handbook}"),
        Column.text("handbook_b", "Other {handbook}"), Column.text("state_a", "First answer is"),
        Column.text("state_b", "Other answer is"), Column.text("answer_a", "First answer"),
        Column.text("answer_b", "Other answer"),
    ),
    ("An answer is present; absent: the {handbook} does not address {a_question}; unread: the reply could not be read; not "
     "asked; or unknown: the release came without answers.",),
)  # fmt: skip


def pair_batches(con: Connection, filters: Filters, order: str, size: int) -> Iterator[pd.DataFrame]:
    """The matching pairs with both answers in an order of ORDERS, at most `size` at a time; one empty frame where none match.

    Columns as in TABLE, each str or missing. Raises AuditError for another order.
    """
    require_one_of(order, tuple(ORDERS), "Order")
    pairs = arrays(con, *filters.statement(SELECTED.format(order=ORDERS[order])))
    for first in range(0, max(len(pairs["question"]), 1), size):
        question, a, b = (pairs[name][first : first + size].tolist() for name in ("question", "handbook_a", "handbook_b"))
        yield frame(con, WITH_ANSWERS, {"questions": question, "a": a, "b": b})


def write_pairs(run: Run, filters: Filters, path: Path, order: str = "significance") -> int:
    """Write the matching pairs to `path`, in the format of its suffix, and count them; the file appears complete or not at all.

    A run that rules made has its notice in a last column. Raises AuditError for another suffix or order, where the file cannot
    be written, and where there are more pairs than a workbook should have.
    """
    writer = {".csv": _write_csv, ".xlsx": _write_xlsx, ".parquet": _write_parquet}.get(path.suffix.lower())
    if writer is None:
        raise AuditError(
            f"The file {path} must end in one of {', '.join(FORMATS)}. Nothing was written. Use one of these endings."
        )
    try:
        with open_store(run.path) as con, atomic_file(path) as draft:
            return writer(run, pair_batches(con, filters, order, BATCH), draft)
    except OSError as error:
        raise AuditError(f"{path} cannot be written: {describe_error(error)}. Nothing was written. Name another path.") from None


def _write_csv(run: Run, batches: Iterator[pd.DataFrame], path: Path) -> int:
    count, notice = 0, preview_notice(run.manifest)
    with path.open("w", encoding="utf-8-sig", newline="") as file:  # Excel needs the byte order mark to recognise UTF-8
        for batch in batches:
            heading, rows = csv_text(batch, notice).split("\n", 1)
            file.write(rows if count else f"{heading}\n{rows}")
            count += len(batch)
    return count


def _write_parquet(run: Run, batches: Iterator[pd.DataFrame], path: Path) -> int:
    import pyarrow as pa  # imported here: 170 MB that only this format needs
    from pyarrow.parquet import ParquetWriter

    count, names = 0, [column.name for column in TABLE.columns]
    schema = pa.schema([(name, pa.string()) for name in (*names, *([COLUMN] if preview_notice(run.manifest) else []))])
    with ParquetWriter(path, schema) as writer:
        for batch in batches:
            noticed = with_notice_column(batch, preview_notice(run.manifest))
            writer.write_table(pa.Table.from_pandas(noticed, schema=schema, preserve_index=False))
            count += len(batch)
    return count


def _write_xlsx(run: Run, batches: Iterator[pd.DataFrame], path: Path) -> int:
    frames: list[pd.DataFrame] = []
    for batch in batches:
        frames.append(batch)
        if sum(map(len, frames)) > MAX_SHEET_ROWS:
            raise AuditError(
                f"More than {MAX_SHEET_ROWS:,} pairs match, which is too much for a workbook with both answers. Nothing was "
                "written. Add filters, or name a file that ends in .csv or .parquet."
            )
    pairs = pd.concat(frames)
    table = table_of("pairs", TABLE, pairs, run, f"{len(pairs):,} pairs of {run.title} ({run.key})")
    path.write_bytes(xlsx_bytes([table.as_preview(preview_notice(run.manifest), preliminary=False)]))
    return len(pairs)
