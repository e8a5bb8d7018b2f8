"""Handbooks in two runs: new editions, changed answers, and whether labels changed with them."""

from __future__ import annotations

import pandas as pd

from audit.metrics import metric
from audit.queries.aligned_runs import ALIGNED, LABEL_OF, SCORED_IN_BOTH
from audit.store.connection import Connection, frame
from audit.tables import Column, TableSpec

UPDATED, SAME_EDITION, UNKNOWN = "updated", "same edition", "not stated"
# If both answers are the same, a changed label was judged differently; if an answer changed, that may be the reason.
SQL = f"""
with {ALIGNED},
both_answers as (
    select a.own as question, h.own as handbook,
           case when was.absent then 'absent' when was.absent is null then 'unread' else 'present' end as state_first,
           case when is_now.absent then 'absent' when is_now.absent is null then 'unread' else 'present' end as state_second,
           state_first <> state_second or (state_first = 'present' and was.answer is distinct from is_now.answer) as changed
    from this.answers was
    join asked a on a.own = was.question
    join books h on h.own = was.handbook
    join other.answers is_now on is_now.question = a.their and is_now.handbook = h.their
),
pair_changes as (
    select b.question, b.handbook_a, b.handbook_b,
           {LABEL_OF.format("first")} <> {LABEL_OF.format("second")} as relabelled,
           x.changed or y.changed as answers_changed
    from both_runs b
    join both_answers x on x.question = b.question and x.handbook = b.handbook_a
    join both_answers y on y.question = b.question and y.handbook = b.handbook_b
    where {SCORED_IN_BOTH}
),
of_handbook as (
    select handbook_a as handbook, relabelled, answers_changed from pair_changes
    union all
    select handbook_b, relabelled, answers_changed from pair_changes
),
pair_counts as (
    select handbook, count(*) filter (relabelled and answers_changed) as relabelled_changed,
           count(*) filter (relabelled and not answers_changed)       as relabelled_same,
           count(*)                                                   as pairs
    from of_handbook
    group by handbook
),
answer_counts as (
    select handbook, count(*) as answers, count(*) filter (changed) as changed,
           count(*) filter (state_first = 'present' and state_second = 'present' and changed) as reworded,
           count(*) filter (state_first = 'absent' and state_second = 'present')              as newly_answered,
           count(*) filter (state_first = 'present' and state_second = 'absent')              as no_longer_answered
    from both_answers
    group by handbook
)
select mine.handbook_id, theirs.handbook_id as handbook_id_second, mine.edition as edition_first,
       theirs.edition as edition_second,
       case when mine.digest <> theirs.digest or mine.edition <> theirs.edition then '{UPDATED}'
            when mine.digest = theirs.digest or mine.edition = theirs.edition then '{SAME_EDITION}'
            else '{UNKNOWN}' end as update,
       coalesce(answers, 0) as answers, coalesce(changed, 0) as changed, coalesce(reworded, 0) as reworded,
       coalesce(newly_answered, 0) as newly_answered, coalesce(no_longer_answered, 0) as no_longer_answered,
       coalesce(pairs, 0) as pairs, coalesce(relabelled_changed, 0) as relabelled_changed,
       coalesce(relabelled_same, 0) as relabelled_same
from books
join this.handbooks mine on mine.handbook = own
join other.handbooks theirs on theirs.handbook = their
left join answer_counts c on c.handbook = own
left join pair_counts p on p.handbook = own
order by update <> '{UPDATED}', changed desc, own
"""
TABLE = TableSpec(
    "Handbooks in two runs: edition, answers and labels",
    (
        Column.text("handbook_id", "{Handbook}"), Column.text("update", "Edition"),
        Column.text("edition_first", "Edition", "first"), Column.text("edition_second", "Edition", "second"),
        Column.count("answers", "Answers", "in both"),
        Column.count("changed", "Changed", "answers"), Column.count("reworded", "In other words", "answers"),
        Column.count("newly_answered", "Newly answered"), Column.count("no_longer_answered", "No longer answered"),
        Column.count("pairs", "Pairs", "in both"), Column.count("relabelled_changed", "Another label", "with a changed answer"),
        Column.count("relabelled_same", "Another label", "with the same answers"),
    ),
    (
        "Updated: the two runs name different editions, or the texts were taken from different files. Not stated: neither says.",
        "Pairs count at both of their {handbooks}. Another label with the same answers: judged differently. With a changed "
        "answer, the {handbook} or the way it was answered may be the reason.",
    ),
    printed_rows=30,
)  # fmt: skip
GLOSSARY = {
    "edition": "One version of {a_handbook}. Editions are matched by the {handbook}'s id, or by the id that the release states "
    "they share."
}


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY, compares=True)
def editions(con: Connection) -> pd.DataFrame:
    """Every handbook in both runs: whether it was updated, and how many of its answers and of its pairs' labels changed.

    Handbooks are the same when their ids are, or when each run has one edition of what `edition_of` names. An answer changed when
    it is present in one run and absent or unreadable in the other, or present in both with another text.

    One row per handbook, updated ones first, then by changed answers:
        handbook_id, handbook_id_second  str, in the first and in the second run
        edition_first, edition_second    str; missing where the release does not say
        update                           str, 'updated' (another edition or another file), 'same edition', 'not stated'
        answers                          int, questions that it was asked in both runs
        changed                          int, of these answers; reworded (present in both), newly_answered (absent before),
                                         no_longer_answered (absent now) are among them
        pairs                            int, its pairs with a verdict in both runs and all four answers
        relabelled_changed               int, of these, with another label and a changed answer
        relabelled_same                  int, with another label although both answers are as they were

    Counts are 0 where a run has no answers. Takes a connection to both runs (audit.store.connection.open_two).
    """
    return frame(con, SQL)
