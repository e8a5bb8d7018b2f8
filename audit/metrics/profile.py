"""What one handbook answers, by the organ or the topic of the question, beside its peers."""

from __future__ import annotations

import pandas as pd

from audit.metrics.steps import handbook_number, require_answers
from audit.stats.interval_columns import with_wilson
from audit.store.connection import Connection, frame

SQL = """
with own as (
    select handbook, organ from handbooks where handbook_id = $handbook_id
),
peers as (
    select h.handbook from handbooks h cross join own where h.organ = own.organ and h.handbook <> own.handbook
),
groups as (
    select question, organ as name from questions where $by = 'organ'
    union all
    select question, topic from topics where $by = 'topic'
),
counted as (
    select name,
           count(*) filter (a.handbook = own.handbook)                                     as asked,
           count(*) filter (a.handbook = own.handbook and not absent)                      as answered,
           count(*) filter (a.handbook in (select handbook from peers))                    as peers_asked,
           count(*) filter (a.handbook in (select handbook from peers) and not absent)     as peers_answered
    from groups join answers a using (question) cross join own where a.absent is not null
    group by name
)
select name, asked, answered, answered / nullif(asked, 0) as share,
       peers_asked, peers_answered, peers_answered / nullif(peers_asked, 0) as peers_share
from counted
order by name = 'general', name
"""


def profile(con: Connection, handbook_id: str, by: str = "organ") -> pd.DataFrame:
    """The share of questions that a handbook answers, by the organ or the topic of the question, and its peers' share.

    Peers are all other handbooks of the same organ. A question not asked of a handbook counts neither as answered nor
    as left out, nor does one whose answer could not be read. A question with two topics counts in both.

    `by` is 'organ' or 'topic'. One row per organ or topic that some handbook was asked about, 'general' last:
        name                         str
        asked, answered              int, questions asked of and answered by this handbook
        share                        float in [0, 1], answered / asked; NaN where asked is 0
        share_low, share_high        95 % Wilson: a handbook answers each question once
        peers_asked, peers_answered  int, questions times peers
        peers_share                  float in [0, 1]; NaN where peers_asked is 0

    Raises NotInRunError when the handbook is unknown, and when the release came without answers.
    """
    require_answers(con, "what a handbook answers")
    handbook_number(con, handbook_id)
    return with_wilson(frame(con, SQL, {"handbook_id": handbook_id, "by": by}), "share", "answered", "asked")
