"""What each handbook leaves out, by the organ of the question: the coverage heatmap."""

from __future__ import annotations

import pandas as pd

from audit.metrics.steps import require_answers
from audit.stats.interval_columns import with_wilson
from audit.store.connection import Connection, frame

SQL = """
with counted as (
    select handbook, q.organ as question_organ, count(absent) as asked, count(*) filter (absent) as absent
    from answers join questions q using (question)
    group by handbook, q.organ
),
cells as (
    select h.handbook, h.handbook_id, h.organ, h.center, h.phase, o.question_organ
    from handbooks h cross join (select distinct organ as question_organ from questions) o
)
select handbook, handbook_id, organ, center, phase, question_organ,
       coalesce(asked, 0)         as asked,
       coalesce(absent, 0)        as absent,
       absent / nullif(asked, 0)  as absence
from cells left join counted using (handbook, question_organ)
order by handbook, question_organ = 'general', question_organ
"""


def coverage(con: Connection) -> pd.DataFrame:
    """The share of questions that each handbook does not address, by the organ of the question.

    A handbook that was not asked any question of an organ is not silent about it: asked is 0 and absence is NaN.

    One row per handbook and question organ, handbooks in release order, 'general' last:
        handbook                    int, number; handbook_id, organ, center, phase  str, of the handbook
        question_organ              str
        asked, absent               int, questions (one not asked of it, or whose answer could not be read, is in neither)
        absence                     float in [0, 1], absent / asked; NaN where asked is 0
        absence_low, absence_high   95 % Wilson: a handbook answers each question once, so questions are the units

    Raises NotInRunError when the release came without answers: absence is then unknown, not zero.
    """
    require_answers(con, "what a handbook leaves out")
    return with_wilson(frame(con, SQL), "absence", "absent", "asked")
