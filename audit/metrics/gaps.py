"""The questions that one handbook leaves out and most of its peers answer."""

from __future__ import annotations

import pandas as pd

from audit.metrics.steps import handbook_number, require_answers
from audit.stats.interval_columns import with_wilson
from audit.store.connection import Connection, frame

SQL = """
with own as (
    select handbook, organ from handbooks where handbook_id = $handbook_id
),
left_out as (
    select question from answers join own using (handbook) where absent
),
others as (
    select a.question, not a.absent as answers, h.organ = own.organ as same_organ
    from answers a join left_out using (question) join handbooks h using (handbook) cross join own
    where a.handbook <> own.handbook and a.absent is not null
),
counted as (
    select question,
           count(*) filter (same_organ)             as organ_asked,
           count(*) filter (same_organ and answers) as organ_answering,
           count(*)                                 as all_asked,
           count(*) filter (answers)                as all_answering
    from others
    group by question
),
peers as (
    select question,
           case when organ_asked >= 3 then 'same organ' else 'all' end               as peers,
           case when organ_asked >= 3 then organ_asked else all_asked end            as peers_asked,
           case when organ_asked >= 3 then organ_answering else all_answering end    as peers_answering
    from counted
),
topic_lists as (
    select question, string_agg(distinct topic, ', ' order by topic) as topics from topics group by question
)
select question, question_id, text, organ, coalesce(topics, '') as topics, peers, peers_asked, peers_answering,
       peers_answering / peers_asked as share
from peers join questions using (question) left join topic_lists using (question)
where peers_answering * 2 > peers_asked
order by share desc, peers_asked desc, question
"""


def gaps(con: Connection, handbook_id: str) -> pd.DataFrame:
    """Questions that a handbook does not address and most of its peers do, the surest gap first.

    Peers are the other handbooks of the same organ that were asked the question; where fewer than three were, all other
    handbooks that were asked. Most means more than half.

    One row per such question:
        question                      int, number; question_id, text, organ, topics (joined by commas)  str
        peers                         str, 'same organ' or 'all': who was taken as peers
        peers_asked, peers_answering  int, handbooks
        share                         float in [0, 1], peers_answering / peers_asked
        share_low, share_high         95 % Wilson over the peers

    Rows are ranked by share_low, so that 20 of 22 peers stand above 3 of 3.
    Raises NotInRunError when the handbook is unknown, and when the release came without answers.
    """
    require_answers(con, "what a handbook leaves out")
    handbook_number(con, handbook_id)
    table = with_wilson(frame(con, SQL, {"handbook_id": handbook_id}), "share", "peers_answering", "peers_asked")
    return table.sort_values(["share_low", "question"], ascending=[False, True], ignore_index=True)
