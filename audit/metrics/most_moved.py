"""The questions and the handbooks on which two runs differ most."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audit.metrics import metric
from audit.metrics._shared import TWO_RUNS
from audit.queries.aligned_runs import COMPARED
from audit.queries.lookup import require_one_of
from audit.stats.clustered import clustered_ratio_interval
from audit.stats.intervals import wilson, with_interval
from audit.store.connection import Connection, frame
from audit.tables import Column, IntervalNote, Population, TableSpec

DISAGREEMENT, ABSENCE, LABEL = "disagreement", "absence", "label"
KINDS = (DISAGREEMENT, ABSENCE, LABEL)
KIND_TITLES = {DISAGREEMENT: "most in disagreement", ABSENCE: "most in absence", LABEL: "most in any label"}
KIND_MEANINGS = {
    DISAGREEMENT: "disagrees (divergent or contradictory) in one of the runs only",
    ABSENCE: "is absent in one of the runs only",
    LABEL: "has another label in the second run",
}
"""When a pair has changed."""

TALLY = """count(*) as compared, count(*) filter (moves) as moved,
           count(*) filter (was_absent and is_disagreeing)                                        as revealed,
           count(*) filter (was_disagreeing and is_absent)                                        as lost,
           count(*) filter (not was_absent and not was_disagreeing and is_disagreeing)            as judged_new,
           count(*) filter (was_disagreeing and not is_absent and not is_disagreeing)             as judged_gone"""
"""Counts pairs of `compared`; the last four are disagreeing pairs."""
CHANGE = "revealed - lost + judged_new - judged_gone as change"

QUESTIONS_SQL = f"""
with {COMPARED},
counted as (
    select question, {TALLY} from compared group by question
),
asked_of as (
    select question, count(distinct handbook) as handbooks
    from (select question, unnest([handbook_a, handbook_b]) as handbook from compared)
    group by question
)
select question_id, text, organ, handbooks, compared, moved, moved / compared as share,
       revealed, lost, judged_new, judged_gone, {CHANGE}
from counted join asked_of using (question) join this.questions using (question)
where moved > 0
order by question
"""
SIDES = f"""
with {COMPARED},
sides as (
    select handbook_a as handbook, * exclude (handbook_a, handbook_b) from compared
    union all
    select handbook_b, * exclude (handbook_a, handbook_b) from compared
)"""
BY_QUESTION_SQL = (
    f"{SIDES} select handbook, question, count(*) as compared, count(*) filter (moves) as moved from sides group by all"
)
HANDBOOKS_SQL = f"""{SIDES},
counted as (
    select handbook, count(distinct question) as questions, {TALLY} from sides group by handbook
)
select handbook, handbook_id, organ, center, phase, questions, compared, moved, moved / compared as share,
       revealed, lost, judged_new, judged_gone, {CHANGE}
from counted join this.handbooks using (handbook)
where moved > 0
order by handbook
"""
COUNT_COLUMNS = (
    Column.count("moved", "Changed", "pairs"), Column.count("compared", "Of", "pairs"), Column.share("share", "Share", "changed"),
    Column.count("revealed", "Newly found"), Column.count("lost", "No longer found"),
    Column.count("judged_new", "Now judged to disagree"), Column.count("judged_gone", "Now judged to agree"),
    Column.count("change", "Change", "pairs"),
)  # fmt: skip
BY_LOWER_END = "Sorted by the lower end of the interval, so rows with few pairs do not lead by chance."
PARTS = (
    "Of these, disagreeing pairs. Newly found: absent in the first run; no longer found: absent in the second; now judged to "
    "disagree or to agree: present in both. Change: how many more pairs disagree in the second run."
)
QUESTIONS_TABLE = TableSpec(
    "{Questions} that changed",
    (Column.text("text", "{Question}"), Column.named("organ", "{Organ}"), *COUNT_COLUMNS),
    (
        TWO_RUNS,
        BY_LOWER_END,
        PARTS,
        IntervalNote(
            Population.HANDBOOKS.as_judged_twice,
            "Wilson 1927, with as many trials as there are couples that share no {handbook}",
            "If one {handbook}'s answer differs, all its pairs may change.",
        ),
    ),
    printed_rows=30,
)
HANDBOOKS_TABLE = TableSpec(
    "{Handbooks} that changed",
    (Column.named("organ", "{Organ}"), Column.named("center", "{Center}"), Column.named("phase", "{Phase}"), *COUNT_COLUMNS),
    (
        TWO_RUNS,
        BY_LOWER_END,
        PARTS,
        "A pair counts for both its {handbooks}, so the rows add up to twice the number of changed pairs.",
        IntervalNote(Population.QUESTIONS_TO_THESE.as_judged_twice, "{questions} are clusters"),
    ),
    printed_rows=30,
)


@metric(
    sql=QUESTIONS_SQL,
    table=QUESTIONS_TABLE,
    glossary={"revealed": "A pair that is absent in the first run and present in the second: an answer missed before was found."},
    compares=True,
)
def questions_moved(con: Connection, kind: str = DISAGREEMENT) -> pd.DataFrame:
    """The questions on which two runs differ most, with answers newly found or lost and pairs whose label changed.

    `kind` defines when a pair has changed. disagreement: it disagrees (divergent or contradictory) in one of the runs only;
    absence: it is absent in one only; label: it has another label. Only pairs that both runs have and to which both gave a
    verdict are compared. Rows are sorted by the lower end of their share's interval, so rows with few pairs do not lead by
    chance.

    One row per question with a pair that changed:
        question_id, text, organ   str
        handbooks                  int, in the pairs that are compared
        compared, moved            int, pairs; moved: those that changed
        share                      float in [0, 1], moved / compared; share_low, share_high: 95 % interval, Wilson's with as many
                                   trials as there are couples that share no handbook: a handbook that is answered differently
                                   changes all its pairs
        revealed, lost             int, disagreeing pairs that were absent before, or disagreed and are absent now
        judged_new, judged_gone    int, pairs present in both runs that disagree in the second only, in the first only
        change                     int, increase of disagreeing pairs in the second run: revealed - lost + judged_new -
        judged_gone

    Takes a connection to both runs (audit.store.connection.open_two). Raises AuditError for another kind.
    """
    table = frame(con, QUESTIONS_SQL, {"kind": require_one_of(kind, KINDS, "Kind of change")})
    # If one handbook's answer differs all its pairs may change, so trials are couples that share no handbook.
    trials = table["handbooks"] // 2
    return _by_lower_end(with_interval(table, "share", *wilson(table["share"] * trials, trials)))


@metric(
    sql=HANDBOOKS_SQL,
    table=HANDBOOKS_TABLE,
    glossary={"lost": "A pair that is present in the first run and absent in the second: an answer is no longer found."},
    compares=True,
)
def handbooks_moved(con: Connection, kind: str = DISAGREEMENT) -> pd.DataFrame:
    """The handbooks in whose pairs two runs differ most, with answers newly found or lost and pairs whose label changed.

    `kind` is that of `questions_moved`: disagreement, absence or label. A pair counts for both its handbooks, so the numbers
    exceed those of the runs. Rows are sorted by the lower end of their share's interval.

    One row per handbook with a pair that changed:
        handbook_id, organ, center, phase  str
        questions                          int, on which it has a pair that is compared
        compared, moved                    int, pairs; moved: those that changed
        share                              float in [0, 1], moved / compared; share_low, share_high: 95 % interval, questions
                                           as clusters; NaN on one
        revealed, lost, judged_new, judged_gone, change   int, as in `questions_moved`

    Takes a connection to both runs (audit.store.connection.open_two). Raises AuditError for another kind.
    """
    options = {"kind": require_one_of(kind, KINDS, "Kind of change")}
    table, counts = frame(con, HANDBOOKS_SQL, options), frame(con, BY_QUESTION_SQL, options)
    moved, compared = (_by_question(counts, name, table["handbook"]) for name in ("moved", "compared"))
    return _by_lower_end(with_interval(table, "share", *clustered_ratio_interval(moved, compared)).drop(columns="handbook"))


def _by_question(counts: pd.DataFrame, name: str, handbooks: pd.Series) -> np.ndarray:
    """A count per handbook (rows) and question (columns)."""
    matrix = counts.pivot(index="handbook", columns="question", values=name).reindex(handbooks).fillna(0)
    return matrix.to_numpy(dtype=np.float32)


def _by_lower_end(table: pd.DataFrame) -> pd.DataFrame:
    """The largest lower end of the share first; then the most pairs."""
    # A stable sort leaves equal rows in the order of the release.
    return table.sort_values(["share_low", "moved"], ascending=False, kind="stable", na_position="last", ignore_index=True)
