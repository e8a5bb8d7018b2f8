"""What a run contains besides its pairs, so the menu can omit pages with nothing to show."""

from __future__ import annotations

from typing import Final

from audit.store.connection import Connection, rows

TEXTS: Final = "texts"
TRIALS: Final = "trials"
SHARED_CENTERS: Final = "shared centers"
CONTENTS = f"""
select '{TEXTS}' where exists (from sections)
union all select '{TRIALS}' where exists (from trials)
union all select '{SHARED_CENTERS}' where (select count(distinct center) < count(*) from handbooks)
"""


def run_contents(con: Connection) -> frozenset[str]:
    """Which of these a run has: the text of a handbook, retrieval trials, a center with several handbooks."""
    return frozenset(name for (name,) in rows(con, CONTENTS))
