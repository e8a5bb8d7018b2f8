"""What each handbook leaves out, how often it disagrees with the others, and with which of them most."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audit.metrics import metric
from audit.metrics._shared import ABSENCE, OWN_FIXED, PRESENT, WILSON
from audit.queries.lookup import require_answers
from audit.queries.pair_counts import BY_COUPLE, read_pairs
from audit.stats.bootstrap import side_rate_intervals
from audit.stats.intervals import with_interval, with_wilson
from audit.stats.pair_table import RATES
from audit.store.connection import Connection, frame
from audit.tables import Column, TableSpec
from audit.terms import RATE_MEANINGS, RATE_TITLES

COUNTS = ("pairs", "scored", "unscored", "absent_pairs", "present", "consistent", "disagreeing")

HANDBOOKS_SQL = f"""
with {BY_COUPLE},
sides as (
    select handbook_a as handbook, * from tallies
    union all
    select handbook_b as handbook, * from tallies
),
summed as (
    select handbook,
           sum(pairs)::bigint        as pairs,
           sum(scored)::bigint       as scored,
           sum(unscored)::bigint     as unscored,
           sum(absent)::bigint       as absent_pairs,
           sum(present)::bigint      as present,
           sum(consistent)::bigint   as consistent,
           sum(disagreeing)::bigint  as disagreeing
    from sides
    group by handbook
),
answered as (
    select handbook, count(absent) as answers, count(*) filter (absent) as answers_absent
    from answers
    group by handbook
)
select handbook, handbook_id, organ, center, phase,
       coalesce(answers, 0)                as asked,
       coalesce(answers_absent, 0)         as absent,
       answers_absent / nullif(answers, 0) as absence,
       {", ".join(f"coalesce({count}, 0) as {count}" for count in COUNTS)},
       summed.disagreeing / nullif(summed.present, 0) as r_div
from handbooks left join summed using (handbook) left join answered using (handbook)
order by handbook
"""
PAIRS_SQL = f"""
with {BY_COUPLE}
select t.handbook_a, a.handbook_id as handbook_a_id, a.organ as organ_a, a.center as center_a,
       t.handbook_b, b.handbook_id as handbook_b_id, b.organ as organ_b, b.center as center_b,
       pairs as questions, scored, unscored, absent, present, consistent, disagreeing,
       absent / nullif(scored, 0)       as r_abs,
       disagreeing / nullif(present, 0) as r_div
from tallies t
join handbooks a on a.handbook = t.handbook_a
join handbooks b on b.handbook = t.handbook_b
order by t.handbook_a, t.handbook_b
"""
HANDBOOKS_TABLE = TableSpec(
    "Coverage and disagreement of each {handbook}",
    (
        Column.named("organ", "{Organ}"), Column.named("center", "{Center}"), Column.named("phase", "{Phase}"),
        Column.count("asked", "Asked", "{questions}"), Column.share("absence", "Absence"), PRESENT,
        Column.share("r_div", "Disagreement", "R_div"),
    ),
    (
        ABSENCE, "R_div: of its pairs with other {handbooks} in which both answer, those judged divergent or contradictory.",
        f"Absence: {WILSON}", f"R_div: {OWN_FIXED}",
    ),
)  # fmt: skip
PAIRS_TABLE = TableSpec(
    "How often every two {handbooks} disagree",
    (
        Column.named("center_a", "{Center}", ""), Column.named("organ_a", "{Organ}"),
        Column.named("center_b", "Other {center}"), Column.named("organ_b", "Other {organ}"),
        Column.count("questions", "Asked of both", "{questions}"), Column.count("present", "Both answer", "{questions}"),
        Column.count("disagreeing", "Disagreeing", "{questions}"), Column.share("r_abs", "Not addressed", "r_abs"),
        Column.share("r_div", "Disagreement", "R_div"),
    ),
    (f"{RATE_TITLES['r_div']}: {RATE_MEANINGS['r_div']}", WILSON),
    printed_rows=30,
)  # fmt: skip
HANDBOOKS_GLOSSARY = {
    "absence of {a_handbook}": "Of the {questions} that {a_handbook} was asked, the share it does not address.",
}
PAIRS_GLOSSARY = {"couple of {handbooks}": "Two {handbooks}, compared on every {question} that both were asked."}


@metric(sql=HANDBOOKS_SQL, table=HANDBOOKS_TABLE, glossary=HANDBOOKS_GLOSSARY)
def handbooks(con: Connection) -> pd.DataFrame:
    """What each handbook leaves out, and how often it disagrees with the others.

    absence: of the questions that the handbook was asked, the share it does not address. r_div: of the pairs of this
    handbook with another in which both address the question (present pairs), the share that the judge found divergent or
    contradictory. A question not asked of the handbook counts nowhere; nor does an unscored pair in r_div.

    One row per handbook, in release order:
        handbook                          int, number; handbook_id, organ, center, phase  str
        asked, absent                     int, questions whose answer could be read
        absence                           float in [0, 1], absent / asked; NaN where asked is 0
        absence_low, absence_high         95 % Wilson: a handbook answers each question once, so questions are the units
        pairs, scored, unscored           int, pairs that involve the handbook
        absent_pairs, present             int, pairs; scored = absent_pairs + present
        consistent, disagreeing           int, pairs
        r_div                             float in [0, 1], disagreeing / present; NaN where present is 0
        r_div_low, r_div_high             95 % interval with questions and the other handbooks resampled, this one fixed; Wilson's
                                          over questions where disagreement, or the rest, is on fewer than five; NaN where fewer
                                          than two questions or two others are in the denominator

    Raises NotInRunError when the release came without answers: absence is then unknown, not zero.
    Source: as arXiv:2605.29084; intervals: Wilson (1927), Owen (2007).
    """
    require_answers(con, "what a handbook leaves out")
    table, pairs = with_wilson(frame(con, HANDBOOKS_SQL), "absence", "absent", "asked"), read_pairs(con)
    one_each = np.arange(len(pairs.handbooks))
    low, high = side_rate_intervals(pairs, one_each, len(one_each), {"r_div": RATES["r_div"]})["all"]["r_div"]
    ends = pd.DataFrame({"low": low, "high": high}, index=pairs.handbooks).reindex(table["handbook"])
    return with_interval(table, "r_div", ends["low"], ends["high"])


@metric(sql=PAIRS_SQL, table=PAIRS_TABLE, glossary=PAIRS_GLOSSARY)
def pairs(con: Connection) -> pd.DataFrame:
    """How often two handbooks disagree, over the questions that both were asked.

    Of the questions that both handbooks answer (present pairs), the share on which the judge found their answers
    divergent or contradictory. Unscored pairs count in no share. Two handbooks that share no question have no row.

    One row per couple of handbooks, handbook_a before handbook_b in release order:
        handbook_a, handbook_b            int, handbook numbers; handbook_a_id, handbook_b_id  str
        organ_a, center_a, organ_b, ...   str
        questions                         int, questions asked of both (each is one pair)
        scored, unscored, absent          int, pairs
        present, consistent, disagreeing  int, pairs
        r_abs, r_div                      float in [0, 1]; NaN where scored, present is 0
        ..._low, ..._high                 95 % Wilson: the couple is fixed and each question adds one pair, so
                                          the questions are independent units
    """
    table = frame(con, PAIRS_SQL)
    table = with_wilson(table, "r_abs", "absent", "scored")
    return with_wilson(table, "r_div", "disagreeing", "present")
