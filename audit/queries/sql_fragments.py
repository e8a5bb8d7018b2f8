"""SQL that several metrics share: how pairs are counted, and how two runs are aligned. Text only, no queries.

Each metric's statement is put together from these when its module is imported, so what a page prints is complete.
"""

from __future__ import annotations

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
