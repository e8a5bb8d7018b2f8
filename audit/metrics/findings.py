"""What the loader reported about a release, record by record."""

from __future__ import annotations

import pandas as pd

from audit.metrics import metric
from audit.store.connection import Connection, frame
from audit.tables import Column, TableSpec

SQL = """
select outcome, code, file, position, message, record
from findings
order by outcome = 'noted', outcome = 'repaired', file, position
"""
OUTCOMES = {"quarantined": "set aside", "repaired": "repaired", "noted": "kept as it is"}
TABLE = TableSpec(
    "What the loader reported",
    (
        Column.text("outcome", "Outcome", words=OUTCOMES), Column.text("file", "File"), Column.text("position", "Position"),
        Column.text("message", "Finding"), Column.text("code", "Kind"),
        Column.text("record", "Record"),
    ),
    ("Records that were set aside count in no figure.",),
    printed_rows=30,
)  # fmt: skip
GLOSSARY = {"quarantined": "A record that could not be used and was set aside. It counts nowhere; Runs lists it with the reason."}


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY)
def findings(con: Connection) -> pd.DataFrame:
    """Every finding of the loader: records set aside, records repaired, and oddities kept as they are.

    One row per finding, those set aside first:
        outcome         str: 'quarantined' (set aside, counted nowhere), 'repaired' or 'noted'
        code            str, the kind of finding
        file, position  str, where it is in the release
        message         str, what was found, what is allowed, what happened to the record
        record          str, the quarantined record, cut at 2,000 characters; NaN for the others
    """
    return frame(con, SQL)
