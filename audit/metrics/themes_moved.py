"""Which themes have a larger or smaller share of the disagreement in another run."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audit.errors import AuditError
from audit.metrics import metric
from audit.metrics._shared import DIRECTION, QUESTIONS, THEME
from audit.queries.aligned_runs import ALIGNED
from audit.queries.themes import GROUPING, REST, THEME_OF_PAIR, Grouping, grouping
from audit.release.taxonomy import Taxonomy
from audit.stats.bootstrap import MIN_QUESTIONS
from audit.stats.clustered import share_changes
from audit.stats.intervals import with_interval
from audit.stats.paired import direction
from audit.store.connection import Connection, frame
from audit.tables import Column, IntervalNote, Population, TableSpec
from audit.vocabulary import DISAGREEING, sql_list

PAIRS = f"""
with {ALIGNED},
{GROUPING},
in_both as (
    select 1 as run, question, handbook_a, handbook_b, first as label, topic_first as divergence_topic
    from both_runs where second <> 'NOT IN THE RUN'
    union all
    select 2, question, handbook_a, handbook_b, second, topic_second from both_runs where first <> 'NOT IN THE RUN'
),
disagreeing as (
    select run, question, handbook_a, handbook_b, {THEME_OF_PAIR}
    from in_both left join grouping using (divergence_topic)
    where label in {sql_list(DISAGREEING)}
)"""
PAIRS_SQL = f"{PAIRS} select * from disagreeing order by all"
SQL = f"""{PAIRS},
counted as (
    select theme_id, count(*) filter (run = 1) as first, count(*) filter (run = 2) as second,
           count(distinct question) as questions
    from disagreeing
    group by theme_id
)
select theme_id, questions, first, second,
       first / nullif(sum(first) over (), 0) as share_first, second / nullif(sum(second) over (), 0) as share_second
from counted
order by theme_id
"""
TABLE = TableSpec(
    "Which themes rise and which fall from the first run to the second",
    (
        Column.named("name", "Theme"), DIRECTION, QUESTIONS, Column.count("first", "Disagreeing", "first"),
        Column.count("second", "Disagreeing", "second"), Column.share("share_first", "Share", "of the first's"),
        Column.share("share_second", "Share", "of the second's"), Column.share("change", "Change"),
    ),
    (
        "Only pairs that both runs have, by the themes built for the first. Share: of the disagreeing pairs of the "
        "run among these.",
        "A theme rises or falls where the interval of its change excludes 0, each theme by itself: of 20 themes that do not "
        "change, about one is flagged by chance. Too few questions: fewer than five.", THEME,
        IntervalNote(
            Population.QUESTIONS_AND_HANDBOOKS.as_judged_twice, "pairs of either run that share one of them count as related"
        ),
    ),
)  # fmt: skip
GLOSSARY = {"rising theme": "A theme whose share of all disagreement is larger in the second run, beyond its 95 % interval."}


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY, compares=True, by_theme=True)
def themes_moved(con: Connection, taxonomy: Taxonomy, against: Taxonomy | None = None) -> pd.DataFrame:
    """Which themes have a larger share of the disagreement in the second run than in the first, and which a smaller one.

    Only pairs that both runs have are compared: the same question and the same two handbooks, by their ids. share_first and
    share_second: of the disagreeing pairs (divergent or contradictory) of each run among these, those that disagree about the
    theme. change is the second minus the first. A theme rises or falls where the interval of its change lies on one side of 0;
    else it is not clear. It is the same if no pair changes it. A theme on fewer than five
    questions of the two runs together has no interval.

    `taxonomy` is that of the first run; `against`, that of the second, must share themes with it (by their ids), as it does when
    the second run's divergence topics were assigned to the first one's themes. One row per theme that occurs in either run, the
    largest change first:
        theme_id, name            str; '-1' no theme, '' no divergence topic stated
        questions                 int, on which it occurs in either run
        first, second             int, disagreeing pairs
        share_first, share_second float in [0, 1]; NaN where a run has no disagreeing pair in common
        change                    float in [-1, 1]; change_low, change_high: 95 % interval for other questions and handbooks
                                  (audit.stats.clustered); NaN where it cannot be known
        moves                     str, 'rises', 'falls', 'not clear', 'the same' or 'too few questions'

    Takes a connection to both runs (audit.store.connection.open_two). Raises AuditError when the taxonomies share no theme.
    """
    grouped = shared_grouping(taxonomy, against)
    table = frame(con, SQL, grouped)
    table.insert(1, "name", table["theme_id"].map({theme.theme_id: theme.name for theme in taxonomy.themes} | REST))
    table["change"] = table["share_second"] - table["share_first"]
    table = _with_interval(table, frame(con, PAIRS_SQL, grouped))
    # An unknown change goes last.
    order = table["change"].abs().fillna(-1).sort_values(ascending=False, kind="stable").index
    return table.loc[order].reset_index(drop=True)


def shared_grouping(taxonomy: Taxonomy, other: Taxonomy | None) -> Grouping:
    """The divergence topics of two runs in the themes of the first. Raises AuditError where they share no theme."""
    ids = {theme.theme_id for theme in taxonomy.themes}
    theirs = {topic: theme_id for topic, theme_id in (other.theme_of() if other else {}).items() if theme_id in ids}
    if not theirs:
        raise AuditError(
            "The two runs share no theme, so nothing can rise or fall between them. Nothing was counted. Put the other run's "
            "divergence topics into the themes of this one: audit themes assign TAXONOMY --run OTHER"
        )
    own = grouping(taxonomy)
    theme_of = {topic: theme_id for topic, theme_id in theirs.items() if theme_id} | dict(
        zip(own["phrases"], own["theme_ids"], strict=True)
    )
    return {"phrases": list(theme_of), "theme_ids": list(theme_of.values())}


def _with_interval(table: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    count = len(table)
    theme = pd.Index(table["theme_id"]).get_indexer(pd.Index(pairs["theme_id"]))
    (low, high), same = share_changes(pairs, theme, count)
    handbooks = pd.concat([pairs["handbook_a"], pairs["handbook_b"]]).nunique()
    # Without a disagreement in a run its shares are unknown; without three handbooks their spread is.
    enough = handbooks >= 3 and pairs["run"].nunique() == 2
    known = (table["questions"] >= MIN_QUESTIONS) & enough
    table = with_interval(table, "change", np.where(known, low, np.nan), np.where(known, high, np.nan))
    ends = zip(table["change_low"], table["change_high"], same, strict=True)
    return table.assign(moves=[direction(*row) for row in ends])
