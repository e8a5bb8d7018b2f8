"""Steps that several metrics share: how pairs are counted, how rates are drawn from counts. Text only, no queries.

Each metric's `SQL` is put together from these when its module is imported, so what a page prints is complete.
"""

from __future__ import annotations

from typing import Any

from audit.errors import AuditError, NotInRunError
from audit.store.connection import Connection, rows
from audit.vocabulary import nearest

COUNTS = (
    "pairs", "scored", "prescreened", "absent_judged", "absent", "present",
    "consistent", "complementary", "divergent", "contradictory", "unscored", "disagreeing",
)  # fmt: skip
"""The counts of a group of pairs, in the order in which every metric shows them.

scored = absent + present; absent = prescreened + absent_judged; pairs = scored + unscored;
present = consistent + complementary + divergent + contradictory; disagreeing = divergent + contradictory.
"""

TALLY = """
           count(*)                                                     as pairs,
           count(label)                                                 as scored,
           count(*) filter (prescreened)                                as prescreened,
           count(*) filter (label = 'ABSENT' and not prescreened)       as absent_judged,
           count(*) filter (label = 'ABSENT')                           as absent,
           count(*) filter (label <> 'ABSENT')                          as present,
           count(*) filter (label = 'CONSISTENT')                       as consistent,
           count(*) filter (label = 'COMPLEMENTARY')                    as complementary,
           count(*) filter (label = 'DIVERGENT')                        as divergent,
           count(*) filter (label = 'CONTRADICTORY')                    as contradictory,
           count(*) filter (label is null)                              as unscored,
           count(*) filter (label in ('DIVERGENT', 'CONTRADICTORY'))    as disagreeing""".lstrip("\n")
"""Counts rows of `pairs`. An unscored pair has no label, so it enters `pairs` and `unscored` and nothing else."""

SUMMED = ",\n".join(f"           coalesce(sum({count}), 0)::bigint as {count}" for count in COUNTS)
"""Adds up rows that TALLY counted."""

BY_QUESTION = f"""tallies as (
    select question,
{TALLY}
    from pairs
    group by question
)"""

BY_COUPLE = f"""tallies as (
    select handbook_a, handbook_b,
{TALLY}
    from pairs
    group by handbook_a, handbook_b
)"""


def require_answers(con: Connection, wanted: str) -> None:
    """Raise NotInRunError when the release came without answers, so that what was not told is not shown as zero."""
    ((run_id, has_answers),) = rows(con, "select run_id, has_answers from run")
    if not has_answers:
        raise NotInRunError(
            f"Run '{run_id}' was loaded from a release without answers, so {wanted} is unknown for it (not zero). "
            "Nothing was computed. Load a release with answers.jsonl to see it; all that counts pairs works without."
        )


def require_level(level: str, levels: tuple[str, ...]) -> None:
    """Raise AuditError when `level` is not one of `levels`."""
    if level not in levels:
        raise AuditError(f"Level '{level}' is not known here. Nothing was computed. Give one of: {', '.join(levels)}.")


def handbook_number(con: Connection, handbook_id: str) -> int:
    """The number of the handbook called `handbook_id`. Raises NotInRunError when there is none."""
    known: dict[Any, int] = dict(rows(con, "select handbook_id, handbook::integer from handbooks order by handbook"))
    if handbook_id not in known:
        raise NotInRunError(
            f"Handbook '{handbook_id}' is not in this run.{nearest(handbook_id, tuple(known))} "
            f"It has {len(known)} handbooks. Nothing was computed. Pick one of them."
        )
    return known[handbook_id]
