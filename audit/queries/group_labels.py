"""How many pairs of each part of a run have each label: by organ, topic, or center."""

from __future__ import annotations

import pandas as pd

from audit.queries.lookup import require_one_of
from audit.store.connection import Connection, frame

PARTS = {"organ": "select organ as name, question from questions", "topic": "select distinct topic as name, question from topics"}
BY_QUESTION = """
with parts as ({parts}),
counted as (
    select question, label::varchar as label, count(*) as pairs from pairs where label is not null group by question, label
)
select name as group, label, sum(pairs)::bigint as pairs
from counted join parts using (question)
group by all order by all
"""
# A pair within a center counts once, as in the metric `centers`.
BY_CENTER = """
with placed as (
    select a.center as one, b.center as other, label::varchar as label, count(*) as pairs
    from pairs join handbooks a on a.handbook = handbook_a join handbooks b on b.handbook = handbook_b
    where label is not null
    group by all
),
sides as (
    select one as name, label, pairs from placed union all select other, label, pairs from placed where one <> other
)
select name as group, label, sum(pairs)::bigint as pairs
from sides
group by all order by all
"""
GROUPINGS = (*PARTS, "center")


def group_labels(con: Connection, by: str) -> pd.DataFrame:
    """Pairs with a verdict by group and label: group, label (str), pairs (int); groups and labels without pairs are left out.

    `by` is 'organ' or 'topic' of the question, or 'center' of either handbook: then a pair of two centers counts in both.
    Raises AuditError for another word.
    """
    require_one_of(by, GROUPINGS, "Group")
    return frame(con, BY_CENTER if by == "center" else BY_QUESTION.format(parts=PARTS[by]))
