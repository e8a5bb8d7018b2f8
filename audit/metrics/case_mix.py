"""How often a handbook, or a center, disagrees with others, compared with the number expected from the questions it answers."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audit.metrics import metric
from audit.metrics._shared import DISAGREEING, HANDBOOKS, PRESENT, UNSCORED, by_question
from audit.stats.case_mix import FALSE_DISCOVERIES, CaseMix, case_mix
from audit.stats.intervals import with_interval
from audit.store.connection import Connection, frame
from audit.tables import Column, IntervalKind, IntervalNote, Population, TableSpec

MORE, FEWER, NOT_FLAGGED = "more", "fewer", ""
FLAGS = {MORE: "more than expected", FEWER: "fewer than expected", NOT_FLAGGED: ""}

# A pair of two groups is a trial of both; a pair within one group does not compare it with others.
COUNTED = """
with sided as (
    select question, disagrees, a.{group} as one, b.{group} as other
    from judged_pairs join handbooks a on a.handbook = handbook_a join handbooks b on b.handbook = handbook_b
    where present and a.{group} <> b.{group}
),
totals as (
    select question, count(*) as all_present, count(*) filter (disagrees) as all_disagreeing from sided group by question
),
sides as (
    select one as name, question, disagrees from sided union all select other, question, disagrees from sided
),
counted as (
    select name, question, count(*) as present, count(*) filter (disagrees) as disagreeing from sides group by name, question
)
select name, question, present, disagreeing, all_present, all_disagreeing
from counted join totals using (question)
order by name, question
"""
HANDBOOKS_SQL, CENTERS_SQL = COUNTED.format(group="handbook"), COUNTED.format(group="center")
HANDBOOK_NAMES = "select handbook as name, handbook_id, organ, center, phase from handbooks order by handbook"
CENTER_NAMES = "select center as name, center, count(*) as handbooks from handbooks group by center order by center"

NOTES = (
    "Expected: the number of disagreements if it disagreed as often as the others do on the same {questions}; observed over "
    "expected is then 1. The rate of the run counts as one more pair of the others, and alone where nobody else answers.",
    "Drawn to 1: the ratio is shrunk towards 1, more the fewer disagreements are expected and the less the rows differ (gamma "
    "prior of unknown spread). Its interval and that of its rank are credible intervals: where these overlap, the order is not "
    "known.",
    IntervalNote(
        Population.QUESTIONS_TO_THESE.as_judged,
        "exact Poisson, widened because disagreements on one {question} cluster (Spiegelhalter 2005)",
    ),
    f"Stands out: by permutation within {{questions}}; in a run where nobody differs, {FALSE_DISCOVERIES:.0%} of the time "
    "somebody is marked (Benjamini and Hochberg 1995, over all rows). Ranks are in the table only where somebody does.",
    "Nobody else: share of its pairs on {questions} that no third one answers; there it is compared with the run's rate alone.",
    UNSCORED,
)
FIGURES = (
    PRESENT, DISAGREEING, Column.decimal("expected", "Expected", "pairs"), Column.share("r_div", "Disagreement", "R_div"),
    Column.share("alone", "Nobody else", "of its pairs"),
    Column.decimal("ratio", "Times the expected number"), Column.decimal("shrunken", "Drawn to 1").of_kind(IntervalKind.CREDIBLE),
    Column.decimal("rank", "Rank").of_kind(IntervalKind.CREDIBLE), Column.text("flag", "Stands out", words=FLAGS),
)  # fmt: skip
HANDBOOKS_TABLE = TableSpec(
    "Disagreement of each {handbook} with others, compared with the number expected from its {questions}",
    (
        Column.text("handbook_id", "{Handbook}"),
        Column.named("organ", "{Organ} of the {handbook}"),
        Column.named("center", "{Center}"),
        *FIGURES,
    ),
    NOTES,
)
CENTERS_TABLE = TableSpec(
    "Disagreement of each {center} with others, compared with the number expected from its {questions}",
    (Column.named("center", "{Center}"), HANDBOOKS, *FIGURES),
    NOTES,
)


@metric(
    sql=HANDBOOKS_SQL,
    table=HANDBOOKS_TABLE,
    glossary={
        "times the expected number": "How often {a_handbook} disagrees with others, divided by how often others disagree on the "
        "{questions} that it answers (observed over expected): 1 is usual, 2 is twice as often."
    },
)
def handbook_case_mix(con: Connection) -> pd.DataFrame:
    """Disagreement of each handbook with all others over the number expected from the questions that it answers.

    Over present pairs (both address the question). A handbook that answers the disputed questions has a high R_div whatever it
    says; the ratio compares it with others on the same questions.

    One row per handbook, in release order:
        handbook_id, organ, center, phase   str
        present, disagreeing                int, pairs
        expected                            float, disagreeing pairs if it disagreed as often as others on the same questions
        r_div                               float in [0, 1], disagreeing / present
        alone                               float in [0, 1], of its pairs those on questions that no third handbook answers
        ratio, ratio_low, ratio_high        float, disagreeing / expected; NaN without present pairs; 95 % for other questions
        shrunken, shrunken_low, ..._high    float, posterior mean with its 95 % credible interval
        rank, rank_low, rank_high           float, by shrunken, 1 the highest; 95 % credible interval of the rank; NaN where no
                                            row is an outlier: an order that is not known is not drawn
        p                                   float, two-sided, by permutation within questions
        flag                                str, 'more', 'fewer' or '': outlier at a false discovery rate of 5 % over the rows
        dispersion                          float, the same in every row: variance over that of independent events

    Source: audit.stats.case_mix.
    """
    return _compared(con, HANDBOOKS_SQL, HANDBOOK_NAMES)


@metric(
    sql=CENTERS_SQL,
    table=CENTERS_TABLE,
    glossary={
        "funnel": "A chart of ratios by their precision: points inside its lines are as far from 1 as chance alone may put them."
    },
)
def center_case_mix(con: Connection) -> pd.DataFrame:
    """The same for centers, over pairs of two centers: center, handbooks (int), then as `handbook_case_mix`, by name.

    Intervals generalise to other questions put to these handbooks; expected, ratio, shrunken, rank, p, flag, dispersion: as
    there (`alone`: no third center). A center whose handbooks are in no present pair with another center has no ratio.

    Source: audit.stats.case_mix.
    """
    return _compared(con, CENTERS_SQL, CENTER_NAMES)


def _compared(con: Connection, counted: str, named: str) -> pd.DataFrame:
    names, counts = frame(con, named), frame(con, counted)
    own = by_question(counts, names["name"], "disagreeing", "present")
    # A question's totals are the same in the row of each group
    totals = by_question(counts, names["name"], "all_disagreeing", "all_present").max(axis=1, initial=0)
    result = case_mix(*own, *totals)
    table = names.drop(columns="name").assign(
        present=own[1].sum(axis=1).astype(int), disagreeing=result.observed.astype(int), expected=result.expected
    )
    table["r_div"] = table["disagreeing"] / table["present"].replace(0, np.nan)
    table["alone"] = result.alone
    table = with_interval(table.assign(ratio=result.ratio), "ratio", *result.interval)
    table = with_interval(table.assign(shrunken=result.shrunken), "shrunken", *result.shrunken_interval)
    ranks = [np.where(result.flagged.any(), part, np.nan) for part in (result.rank, *result.rank_interval)]
    table = with_interval(table.assign(rank=ranks[0]), "rank", *ranks[1:])
    return table.assign(p=result.p, flag=_flags(result), dispersion=result.dispersion)


def _flags(result: CaseMix) -> np.ndarray:
    side = np.where(result.ratio > 1, MORE, FEWER)
    return np.where(result.flagged, side, NOT_FLAGGED)
