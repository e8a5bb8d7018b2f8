"""Whether weighting disagreements by their clinical significance changes which units look worst, and the ranking (rho)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audit.metrics import metric
from audit.metrics._shared import PRESENT, SIGNIFICANCES
from audit.queries.lookup import require_one_of
from audit.queries.pair_counts import SIGNIFICANCE_COUNTS
from audit.stats.intervals import ROUNDING_ERROR, Floats
from audit.stats.paired import correlation_interval, spearman
from audit.store.connection import Connection, frame
from audit.tables import Column, IntervalNote, Population, TableSpec

# The weight of a disagreeing pair by its clinical significance. A pair whose significance the judge did not state gets the
# smallest weight: it is a disagreement, without evidence that it matters more.
WEIGHTS = {"low": 1, "medium": 2, "high": 3, "unstated": 1}

WEIGHT = " + ".join(f"{weight} * {significance}" for significance, weight in WEIGHTS.items())

SQL = f"""
with present_pairs as (
    select question, handbook_a, handbook_b, significance, disagrees
    from judged_pairs
    where present
),
memberships as (
    select question_id as unit, p.* from present_pairs p join questions using (question) where $level = 'question'
    union all
    select topic, p.* from present_pairs p join topics using (question) where $level = 'topic'
    union all
    select handbook_id, p.* from present_pairs p join handbooks on handbook = handbook_a where $level = 'handbook'
    union all
    select handbook_id, p.* from present_pairs p join handbooks on handbook = handbook_b where $level = 'handbook'
),
units as (
    select question_id as unit, question as sort_key from questions where $level = 'question'
    union all
    select topic, 0 from (select distinct topic from topics) where $level = 'topic'
    union all
    select handbook_id, handbook from handbooks where $level = 'handbook'
),
counted as (
    select unit,
           count(*)                                                   as present,
           count(*) filter (disagrees)                                as disagreeing,
{SIGNIFICANCE_COUNTS}
    from memberships
    group by unit
),
scored as (
    select unit, sort_key,
           coalesce(present, 0) as present, coalesce(disagreeing, 0) as disagreeing,
           coalesce(low, 0) as low, coalesce(medium, 0) as medium, coalesce(high, 0) as high, coalesce(unstated, 0) as unstated,
           ({WEIGHT}) / nullif(present, 0)     as severity,
           disagreeing / nullif(present, 0)    as r_div
    from units left join counted using (unit)
),
ranked as (
    select *, case when severity is not null then rank() over (order by severity desc nulls last) end as rank_severity,
              case when r_div is not null then rank() over (order by r_div desc nulls last) end as rank_r_div
    from scored
)
select unit, present, disagreeing, low, medium, high, unstated, severity, r_div,
       rank_severity, rank_r_div, rank_r_div - rank_severity as rank_shift
from ranked
order by rank_severity nulls last, rank_r_div, sort_key, unit
"""

LEVELS = ("question", "topic", "handbook")
SEVERITY_NOTE = (
    "Severity score: a disagreement counts 1, 2 or 3 by its {significance} (low, medium, high), 1 where it was not "
    "stated, per pair in which both answer; the score runs from 0 to 3."
)
TABLE = TableSpec(
    "Disagreement weighted by {significance}",
    (
        Column.named("unit", "Name"), PRESENT, *SIGNIFICANCES, Column.share("r_div", "Disagreement", "R_div"),
        Column.decimal("severity", "Severity", "score"), Column.count("rank_r_div", "Rank", "R_div"),
        Column.count("rank_severity", "Rank", "severity"), Column.count("rank_shift", "Places gained"),
    ),
    (SEVERITY_NOTE, "Places gained: how far a row moves up when severity counts."),
)  # fmt: skip
GLOSSARY = {
    "severity score": "Disagreements weighted by {significance} (low or not stated 1, medium 2, high 3), per pair in "
    "which both answer.",
    "{significance}": "How much a disagreement matters to {a_patient}, in the judge's view: low, medium or high.",
}


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY)
def severity(con: Connection, level: str = "question") -> pd.DataFrame:
    """Which questions, topics or handbooks disagree most, with disagreements weighted by their clinical significance.

    severity: the sum over disagreeing pairs (divergent or contradictory) of 1 when the judge called the difference of low
    clinical significance, 2 medium, 3 high, divided by the present pairs (those in which both handbooks address the
    question). A significance that was not stated counts 1, the least, and is counted in its own column. r_div is the
    same with every disagreement counting 1. Both are ranked, 1 being the worst; equal values share the better rank.

    `level` is 'question', 'topic' (a question with two topics counts in both) or 'handbook' (a pair counts in both).
    One row per unit, worst severity first, units without a present pair last:
        unit                         str, question_id, topic or handbook_id
        present, disagreeing         int, pairs; disagreeing = low + medium + high + unstated
        low, medium, high, unstated  int, disagreeing pairs by clinical significance
        severity                     float in [0, 3]; NaN where present is 0
        r_div                        float in [0, 1]; NaN where present is 0
        rank_severity, rank_r_div    Int64, from 1; <NA> where present is 0
        rank_shift                   Int64, rank_r_div - rank_severity: positive where weighting makes the unit look worse

    Raises AuditError for another level.
    """
    require_one_of(level, LEVELS, "Level")
    return frame(con, SQL, {"level": level}).astype({"rank_severity": "Int64", "rank_r_div": "Int64", "rank_shift": "Int64"})


RHO_TABLE = TableSpec(
    "Whether weighting by {significance} changes the ranking",
    (
        Column.text("level", "Level"), Column.count("units", "Ranked"), Column.decimal("rho", "Spearman's rho", "all ranked"),
        Column.count("disputed", "Ranked", "with a disagreement"),
        Column.decimal("rho_disputed", "Spearman's rho", "with a disagreement"),
        Column.decimal("rho_significance", "Spearman's rho", "rate and mean significance"),
    ),
    (
        "Among all ranked the two rankings agree whatever the weights, because whatever has no disagreement is last in both; "
        "so the comparison is repeated among those with a disagreement. Rate and mean significance: whether advice that differs "
        "more often also differs more gravely, per disagreeing pair.",
        IntervalNote(Population.UNITS.as_judged, "units are resampled"),
    ),
)  # fmt: skip
RHO_GLOSSARY = {"Spearman's rho": "How far two rankings agree: 1 the same order, 0 no connection, -1 the reverse."}


@metric(sql=SQL, table=RHO_TABLE, glossary=RHO_GLOSSARY)
def severity_rho(con: Connection) -> pd.DataFrame:
    """How far the severity-weighted ranking agrees with the plain one, for questions, topics and handbooks.

    Spearman's rho is the correlation of two rankings: 1 the same order, 0 nothing in common. rho compares severity and r_div of
    `severity` among all units with a present pair, rho_disputed among those with a disagreeing pair (units without any are
    last in both rankings, whatever the weights). rho_significance compares, among the latter, r_div and
    the mean significance of a disagreeing pair (1 low or not stated, 2 medium, 3 high).

    Three rows, level 'question', 'topic', 'handbook':
        level                       str
        units, disputed             int, units with a present pair; with a disagreeing one
        rho, rho_disputed,          float in [-1, 1], equal values sharing their mean rank; NaN where all units are equal;
        rho_significance            each with ..._low, ..._high, a 95 % percentile interval with the units resampled, seeded; NaN
                                    where fewer than four are compared

    Source: Spearman (1904); interval: audit.stats.intervals.percentiles.
    """
    return pd.DataFrame([{"level": level, **_rank_correlations(severity(con, level))} for level in LEVELS])


def _rank_correlations(table: pd.DataFrame) -> dict[str, float]:
    # Units without a present pair have no rank.
    ranked = table.dropna(subset=["severity"])
    disputed = ranked[ranked["disagreeing"] > 0]
    rate = disputed["r_div"].to_numpy(dtype=float)
    return {
        "units": len(ranked),
        **_rho("rho", ranked["severity"].to_numpy(dtype=float), ranked["r_div"].to_numpy(dtype=float)),
        "disputed": len(disputed),
        **_rho("rho_disputed", disputed["severity"].to_numpy(dtype=float), rate),
        **_rho("rho_significance", disputed["severity"].to_numpy(dtype=float) / rate, rate),
    }


def _rho(name: str, one: Floats, other: Floats) -> dict[str, float]:
    rho, low, high = correlation_interval(spearman, one, other)
    # A coefficient at its bound leaves resampled units nothing to vary: its interval is not known
    known = abs(rho) < 1 - ROUNDING_ERROR
    return {name: rho, f"{name}_low": low if known else np.nan, f"{name}_high": high if known else np.nan}
