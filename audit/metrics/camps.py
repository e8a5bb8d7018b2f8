"""Which handbooks agree with which on one question."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audit.metrics.known import question_number
from audit.metrics.matrix import matrix
from audit.metrics.naming import camp_names
from audit.stats.seriation import Labels, seriate
from audit.store.connection import Connection, frame, rows
from audit.vocabulary import DISAGREEING, LABELS, Label

PRESENT = [label for label in LABELS if label != Label.ABSENT]

SQL = """
with involved as (
    select handbook_a as handbook, label from pairs where question = $question
    union all
    select handbook_b, label from pairs where question = $question
),
verdicts as (
    select handbook, bool_or(label is null or label <> 'ABSENT') as in_present_pair from involved group by handbook
)
select h.handbook_id, h.organ, h.center, h.phase, a.answer,
       case when a.absent then 'silent' when not a.absent then 'answers' when a.unread_reason is not null then 'unread'
            when in_present_pair then 'answers' when not in_present_pair then 'silent'
            else 'not asked' end as state
from handbooks h
left join answers a on a.handbook = h.handbook and a.question = $question
left join verdicts v on v.handbook = h.handbook
order by h.handbook
"""

REASONINGS = """
with disagreeing as (
    from pairs where question = $question and label in ('DIVERGENT', 'CONTRADICTORY')
)
select distinct text
from (select unnest([reasoning, divergence_topic]) as text from disagreeing)
where text is not null
order by text limit 400
"""


def camps(con: Connection, question_id: str) -> pd.DataFrame:
    """Groups of handbooks that agree on one question, each named by the value it holds.

    Answering handbooks are joined as long as fewer than half of the pairs between two groups disagree (are divergent or
    contradictory; average linkage on the judge's labels). So one doubtful verdict breaks up no camp, and the pairs that
    disagree inside one are counted. Handbooks that agree stand side by side. Between two answering handbooks, a pair that
    is unscored, was not asked, or was judged absent tells nothing: it neither joins nor separates them.

    The name is an amount that at least half of the camp's answers state and the others seldom do, if the judge's reasoning
    cites it or another camp holds another amount of its kind; failing that, distinctive words; failing that, a letter. The
    labels make the camps; the name only describes them.

    One row per handbook of the run, answering ones first, in the order of the matrix, then silent ones, then those whose
    answer could not be read, then those that were not asked:
        handbook_id, organ, center, phase  str
        state   str, "answers", "silent" (does not address the question), "unread" (the generator's reply could not be read)
                or "not asked"; in a release without answers, read from the pairs: a handbook whose every pair is ABSENT
                counts as silent
        answer  str; missing where the release has none
        camp    Int64, from 1 along the order; missing unless state is "answers"
        name    str, the camp's name; missing likewise
        basis   str, "value", "words" or "letter": what the name stands on
        size    Int64, members of the camp
        inside, inside_disagreeing  Int64, present pairs between members of the camp, and those of them that disagree

    Raises NotInRunError when the question is not in the run. Source of the order: Bar-Joseph et al. 2001.
    """
    question = {"question": question_number(con, question_id)}
    table = frame(con, SQL, question)
    answering = np.flatnonzero(table["state"].to_numpy() == "answers")
    matrix_of_run = matrix(con, question_id)
    order, camp = seriate(matrix_of_run.to_numpy(dtype=object)[np.ix_(answering, answering)])
    named = table.assign(camp=pd.Series(camp + 1, index=answering, dtype="Int64").reindex(table.index))
    others = [np.flatnonzero(table["state"].to_numpy() == state) for state in ("silent", "unread", "not asked")]
    reasonings = [reasoning for (reasoning,) in rows(con, REASONINGS, question)]
    counted = _with_inside(_with_names(named, reasonings), matrix_of_run.to_numpy(dtype=object))
    return counted.iloc[np.concatenate([answering[order], *others])].reset_index(drop=True)


def _with_names(table: pd.DataFrame, reasonings: list[str]) -> pd.DataFrame:
    members = [group.fillna("").tolist() for _, group in table.groupby("camp")["answer"]]
    proper_names = [*table["handbook_id"], *table["center"], *table["organ"]]
    names = dict(enumerate(camp_names(members, reasonings, proper_names), start=1))
    return table.assign(
        name=table["camp"].map({camp: name.text for camp, name in names.items()}),
        basis=table["camp"].map({camp: name.basis for camp, name in names.items()}),
        size=table["camp"].map(table["camp"].value_counts()).astype("Int64"),
    )


def _with_inside(table: pd.DataFrame, labels: Labels) -> pd.DataFrame:
    present, disagreeing = np.isin(labels, PRESENT), np.isin(labels, DISAGREEING)
    inside = {}
    for camp, group in table.groupby("camp"):
        places = group.index.to_numpy(dtype=np.int64)
        block = np.ix_(places, places)
        inside[camp] = (present[block].sum() // 2, disagreeing[block].sum() // 2)
    return table.assign(
        inside=table["camp"].map({camp: pairs for camp, (pairs, _) in inside.items()}).astype("Int64"),
        inside_disagreeing=table["camp"].map({camp: pairs for camp, (_, pairs) in inside.items()}).astype("Int64"),
    )
