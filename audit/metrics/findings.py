"""What the loader had to say about a release, record by record."""

from __future__ import annotations

import pandas as pd

from audit.store.connection import Connection, frame

SQL = """
select outcome, code, file, position, message, record
from findings
order by outcome = 'noted', outcome = 'repaired', file, position
"""


def findings(con: Connection) -> pd.DataFrame:
    """Every finding of the loader: records set aside, records put right, and oddities kept as they are.

    One row per finding, those set aside first:
        outcome         str: 'quarantined' (set aside, counted nowhere), 'repaired' or 'noted'
        code            str, the kind of finding
        file, position  str, where it stands in the release
        message         str, what was found, what is allowed, what happened to the record
        record          str, the quarantined record, cut at 2,000 characters; NaN for the others
    """
    return frame(con, SQL)
