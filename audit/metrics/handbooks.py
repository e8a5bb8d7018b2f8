"""Coverage and disagreement of handbooks: of each, of every two, and of those of each center."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audit.metrics import metric
from audit.metrics._shared import ABSENCE, DISAGREEING, HANDBOOKS, OWN_FIXED, PRESENT, UNSCORED, by_question
from audit.queries.concerned import concerned
from audit.queries.lookup import require_answers, require_one_of
from audit.queries.pair_counts import ALL_HANDBOOKS, BY_COUPLE, IN_SCOPE, SCOPES, read_pairs
from audit.stats.clustered import clustered_ratio_interval
from audit.stats.intervals import Interval, with_interval, with_wilson
from audit.stats.pair_table import RATES, Pairs, side_rate_intervals
from audit.store.connection import Connection, frame
from audit.tables import Column, IntervalNote, Population, TableSpec
from audit.terms import RATE_MEANINGS, RATE_TITLES

COUNTS = ("pairs", "scored", "unscored", "absent_pairs", "present", "consistent", "disagreeing")
# `absent` already counts answers, so pairs with an absent answer are `absent_pairs`.
SUMS = ",\n           ".join(f"sum({count.removesuffix('_pairs')})::bigint as {count}" for count in COUNTS)
OR_ZERO = ",\n       ".join(f"coalesce({count}, 0) as {count}" for count in COUNTS)

HANDBOOKS_SQL = f"""
with {IN_SCOPE},
{BY_COUPLE.replace("from judged_pairs", "from in_scope")},
sides as (
    select handbook_a as handbook, * from tallies
    union all
    select handbook_b as handbook, * from tallies
),
summed as (
    select handbook,
           {SUMS}
    from sides
    group by handbook
),
answered as (
    select handbook, count(absent) as answers, count(*) filter (absent) as answers_absent,
           count(*) filter (not absent and found = 'perhaps') as answers_perhaps
    from answers a join questions q using (question) join handbooks h using (handbook)
    where $scope = '{ALL_HANDBOOKS}' or {concerned("q", "h")}
    group by handbook
)
select handbook, handbook_id, organ, center, phase,
       coalesce(answers, 0)                as asked,
       coalesce(answers_absent, 0)         as absent,
       coalesce(answers_perhaps, 0)        as perhaps,
       answers_absent / nullif(answers, 0) as absence,
       {OR_ZERO},
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
        OWN_FIXED,
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
    (
        f"{RATE_TITLES['r_div']}: {RATE_MEANINGS['r_div']}",
        IntervalNote(Population.QUESTIONS.as_judged, "{questions} are the units (Wilson 1927)"),
    ),
    printed_rows=30,
)  # fmt: skip
HANDBOOKS_GLOSSARY = {"absence of {a_handbook}": "Of the {questions} that {a_handbook} was asked, the share it does not address."}
PAIRS_GLOSSARY = {"couple of {handbooks}": "Two {handbooks}, compared on every {question} that both were asked."}


@metric(sql=HANDBOOKS_SQL, table=HANDBOOKS_TABLE, glossary=HANDBOOKS_GLOSSARY)
def handbooks(con: Connection, scope: str = ALL_HANDBOOKS) -> pd.DataFrame:
    """How often each handbook does not address a question, and how often it disagrees with the others.

    absence: of the questions that the handbook was asked, the share it does not address. r_div: of the pairs of this
    handbook with another in which both address the question (present pairs), the share that the judge found divergent or
    contradictory. A question not asked of the handbook counts nowhere; nor does an unscored pair in r_div.

    `scope` is 'all', as published (every question that it was asked, pairs with every other handbook), or 'matching' (questions
    that the handbook should answer: of its organ, and general ones; pairs on them with handbooks that should answer too).
    One row per handbook, in release order:
        handbook                          int, number; handbook_id, organ, center, phase  str
        asked, absent, perhaps            int, questions whose answer could be read, those that it does not address (a search: not
                                          found), those whose nearest passages may answer (a search only; not absent)
        absence                           float in [0, 1], absent / asked; NaN where asked is 0
        absence_low, absence_high         95 % Wilson: a handbook answers each question once, so questions are the units
        pairs, scored, unscored           int, pairs that involve the handbook
        absent_pairs, present             int, pairs; scored = absent_pairs + present
        consistent, disagreeing           int, pairs
        r_div                             float in [0, 1], disagreeing / present; NaN where present is 0
        r_div_low, r_div_high             95 % interval for other questions and other handbooks to compare with, this one fixed
                                          (audit.stats.clustered); NaN where fewer than two questions or two others are in the
                                          denominator

    Raises NotInRunError when the release came without answers: absence is then unknown, not zero; AuditError for another scope.
    Source: absence as in arXiv:2605.29084, appendix G; intervals: Wilson (1927).
    """
    require_answers(con, "what a handbook leaves out")
    require_one_of(scope, SCOPES, "Scope")
    table = with_wilson(frame(con, HANDBOOKS_SQL, {"scope": scope}), "absence", "absent", "asked")
    pairs = read_pairs(con, scope=scope)
    # Each handbook is a group of its own: it is fixed, and the others are a sample.
    one_each = np.arange(len(pairs.handbooks))
    low, high = side_rate_intervals(pairs, one_each, len(one_each), {"r_div": RATES["r_div"]})["all"]["r_div"]
    # A handbook without pairs has no interval.
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
    # The couple is fixed and each question adds one pair, so questions are independent trials.
    table = with_wilson(table, "r_abs", "absent", "scored")
    return with_wilson(table, "r_div", "disagreeing", "present")


# A pair of two centers is in the rows of both, a pair within one center in its row once.
CENTERS_SQL = f"""
with {BY_COUPLE},
placed as (
    select a.center as center_a, b.center as center_b, t.*
    from tallies t
    join handbooks a on a.handbook = t.handbook_a
    join handbooks b on b.handbook = t.handbook_b
),
sides as (
    select center_a as center, center_a = center_b as within, * from placed
    union all
    select center_b as center, false as within, * from placed where center_a <> center_b
),
involved as (
    select center,
           {SUMS},
           coalesce(sum(present) filter (within), 0)::bigint             as within_present,
           coalesce(sum(disagreeing) filter (within), 0)::bigint         as within_disagreeing,
           coalesce(sum(present) filter (not within), 0)::bigint         as between_present,
           coalesce(sum(disagreeing) filter (not within), 0)::bigint     as between_disagreeing
    from sides
    group by center
),
answered as (
    select center, count(absent) as answers, count(*) filter (absent) as answers_absent
    from answers join handbooks using (handbook)
    group by center
),
centers as (
    select center, count(*) as handbooks from handbooks group by center
)
select center, handbooks,
       case when has_answers then coalesce(answers, 0) end        as asked,
       case when has_answers then coalesce(answers_absent, 0) end as absent,
       answers_absent / nullif(answers, 0)                        as absence,
       {OR_ZERO},
       absent_pairs / nullif(scored, 0)                           as r_abs,
       disagreeing / nullif(present, 0)                           as r_div,
       consistent / nullif(present, 0)                            as r_con,
       coalesce(within_present, 0)                                as within_present,
       coalesce(within_disagreeing, 0)                            as within_disagreeing,
       within_disagreeing / nullif(within_present, 0)             as r_div_within,
       coalesce(between_present, 0)                               as between_present,
       coalesce(between_disagreeing, 0)                           as between_disagreeing,
       between_disagreeing / nullif(between_present, 0)           as r_div_between
from centers left join involved using (center) left join answered using (center) cross join run
order by center
"""
BY_CENTER_AND_QUESTION = """
select center, question, count(absent) as asked, count(*) filter (absent) as absent
from answers join handbooks using (handbook)
group by center, question
order by question, center
"""
CENTERS_TABLE = TableSpec(
    "Coverage and disagreement of {centers}",
    (
        Column.named("center", "{Center}"), HANDBOOKS, Column.count("asked", "Asked", "answers"),
        Column.count("absent", "Left out", "answers"), Column.share("absence", "Absence", "of answers"), PRESENT, DISAGREEING,
        Column.share("r_div_within", "Disagreement", "within"), Column.share("r_div_between", "Disagreement", "with others"),
    ),
    (
        "Absence: of the answers asked of the {center}'s {handbooks}, those that do not address the {question}.",
        "Within: pairs of two {handbooks} of the {center}; with others: pairs with another {center}'s {handbooks}.",
        f"{RATE_TITLES['r_div']}: {RATE_MEANINGS['r_div']}", UNSCORED, OWN_FIXED,
    ),
)  # fmt: skip
CENTERS_GLOSSARY = {
    "disagreement within a {center}": "Disagreement among the pairs of two {handbooks} of the same {center}.",
    "disagreement with others": "Disagreement among the pairs of {a_handbook} of one {center} with one of another {center}.",
}


@metric(sql=CENTERS_SQL, table=CENTERS_TABLE, glossary=CENTERS_GLOSSARY)
def centers(con: Connection) -> pd.DataFrame:
    """How often each center's handbooks do not address a question, and disagree with each other and with those of others.

    absence: of the answers asked of the center's handbooks, the share that does not address the question. Then, over the
    pairs that involve at least one of its handbooks: r_abs, the share of pairs with a verdict in which one does not
    address the question; r_div and r_con, the shares of the pairs in which both do (present pairs) that the judge found
    divergent or contradictory, and consistent. r_div_within takes pairs of two handbooks of the center, r_div_between
    pairs with another center's. Unscored pairs (no readable verdict) enter no rate.

    One row per center, by name. A pair between two centers is in the rows of both, so rows add up to more than the run:
        center                            str
        handbooks                         int, handbooks of the center
        asked, absent                     Int64, answers that could be read; <NA> in a release without answers
        absence                           float in [0, 1], absent / asked
        pairs, scored, unscored           int, pairs; pairs = scored + unscored
        absent_pairs, present             int, pairs; scored = absent_pairs + present
        consistent, disagreeing           int, pairs
        r_abs, r_div, r_con               float in [0, 1]
        within_present, ..._disagreeing   int, pairs of two handbooks of the center
        between_present, ..._disagreeing  int, pairs with another center's handbook
        r_div_within, r_div_between       float in [0, 1], disagreeing / present of those pairs
        ..._low, ..._high                 95 % intervals: the center's handbooks are fixed; they generalise to other questions
        and, for
                                          pairs with other centers, of other handbooks there (audit.stats.clustered)

    A rate is NaN where its denominator is 0; an interval is NaN too where fewer than two questions, or only one handbook of
    others, are in the denominator. Source: rates as in arXiv:2605.29084, section 6.2.
    """
    # Nullable integers: without answers the number asked is unknown, not zero.
    table = frame(con, CENTERS_SQL).astype({"asked": "Int64", "absent": "Int64"})
    # Questions are the clusters, each with all answers of the center: its handbooks may answer alike.
    counts = frame(con, BY_CENTER_AND_QUESTION)
    absence = clustered_ratio_interval(*by_question(counts, table["center"], "absent", "asked", group="center"))
    table = with_interval(table, "absence", *absence)
    scopes = _rate_intervals(con, read_pairs(con), table["center"])
    for column, scope, rate in (
        ("r_abs", "all", "r_abs"),
        ("r_div", "all", "r_div"),
        ("r_con", "all", "r_con"),
        ("r_div_within", "within", "r_div"),
        ("r_div_between", "between", "r_div"),
    ):
        table = with_interval(table, column, *scopes[scope][rate])
    return table


def _rate_intervals(con: Connection, pairs: Pairs, names: pd.Series) -> dict[str, dict[str, Interval]]:
    placed = frame(con, "select handbook, center from handbooks").set_index("handbook")["center"]
    group = pd.Index(names).get_indexer(placed.reindex(pairs.handbooks))
    return side_rate_intervals(pairs, group, len(names), RATES)
