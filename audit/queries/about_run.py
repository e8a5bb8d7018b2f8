"""Contents of a run: its handbooks by organ, its questions, its answers by whether they are absent."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from audit.store.connection import Connection, frame, rows

HANDBOOKS = """
select coalesce(title, handbook_id) as title, organ, center, phase, pages, language, licence, url
from handbooks order by organ, title, handbook
"""
COUNTS = """
select (select count(*) from questions),
       (select count(*) from handbooks),
       (select count(distinct center) from handbooks),
       (select count(*) from (select organ from handbooks union select organ from questions) where organ <> 'general'),
       (select count(*) from answers),
       (select count(*) from answers where absent),
       (select count(*) from answers where absent is null),
       (select count(*) from sections),
       (select count(*) from answers where found is not null),
       (select count(*) from answers where found = 'perhaps')
"""


@dataclass(frozen=True)
class RunCounts:
    """The size of a run.

    organs   of its handbooks and questions, `general` apart
    answers  0 for a release of pairs only, whose answers are unknown
    absent   answers that do not address their question
    unread   answers that could not be read: neither absent nor present
    searched, perhaps  answers of a search that no model has read, and those of them that are perhaps there; absent: not found
    """

    questions: int
    handbooks: int
    centers: int
    organs: int
    answers: int
    absent: int
    unread: int
    sections: int
    searched: int
    perhaps: int


def run_counts(con: Connection) -> RunCounts:
    """The counts of a run."""
    (row,) = rows(con, COUNTS)
    return RunCounts(*row)


def described_handbooks(con: Connection) -> pd.DataFrame:
    """Every handbook, by organ and title: title, organ, center, phase, pages, language, licence, url; None where not stated."""
    return frame(con, HANDBOOKS)
