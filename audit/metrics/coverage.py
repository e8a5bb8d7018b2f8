"""Coverage of handbooks: by organ of the question, against their peers, and question by question."""

from __future__ import annotations

import pandas as pd

from audit.metrics import metric
from audit.metrics._shared import ABSENCE, WILSON
from audit.queries.concerned import concerned
from audit.queries.lookup import handbook_number, require_answers, require_one_of
from audit.stats.intervals import with_wilson
from audit.store.connection import Connection, frame
from audit.tables import Column, TableSpec

# Every handbook has a row for every organ: not asked is shown as such, not as a share of zero.
COVERAGE_SQL = """
with counted as (
    select handbook, q.organ as question_organ, count(absent) as asked, count(*) filter (absent) as absent,
           count(*) filter (not absent and found = 'perhaps') as perhaps
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
       coalesce(perhaps, 0)       as perhaps,
       absent / nullif(asked, 0)  as absence
from cells left join counted using (handbook, question_organ)
order by handbook, question_organ = 'general', question_organ
"""
PROFILE_SQL = f"""
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
           count(*) filter (a.handbook = own.handbook and not absent and found = 'perhaps') as perhaps,
           count(*) filter (a.handbook in (select handbook from peers))                    as peers_asked,
           count(*) filter (a.handbook in (select handbook from peers) and not absent)     as peers_answered
    from groups join answers a using (question) join questions q using (question) cross join own
    where a.absent is not null and ($by = 'organ' or {concerned("q", "own")})
    group by name
)
select name, asked, answered, perhaps, answered / nullif(asked, 0) as share,
       peers_asked, peers_answered, peers_answered / nullif(peers_asked, 0) as peers_share
from counted
order by name = 'general', name
"""
# Fewer than three peers of the same organ show little about usual coverage, so all handbooks are used instead.
GAPS_SQL = f"""
with own as (
    select handbook, organ from handbooks where handbook_id = $handbook_id
),
left_out as (
    select question
    from answers join own using (handbook) join questions q using (question)
    where absent and {concerned("q", "own")}
),
others as (
    select a.question, not a.absent and found = 'perhaps' is not true as answers, h.organ = own.organ as same_organ
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
GROUPS = ("organ", "topic")
COVERAGE_TABLE = TableSpec(
    "Questions not addressed by each {handbook}, by {organ} of the {question}",
    (
        Column.named("organ", "{Organ} of the {handbook}"), Column.named("center", "{Center}"), Column.named("phase", "{Phase}"),
        Column.named("question_organ", "{Organ} of the {question}"), Column.count("asked", "Asked", "{questions}"),
        Column.count("absent", "Left out", "{questions}"), Column.share("absence", "Absence"),
    ),
    (ABSENCE, WILSON),
    printed_rows=30,
)  # fmt: skip
PROFILE_TABLE = TableSpec(
    "Coverage of one {handbook} and of comparable {handbooks}",
    (
        Column.named("name", "{Organ} or {topic}"),
        Column.count("asked", "Asked", "{questions}"),
        Column.count("answered", "Answered", "{questions}"),
        Column.share("share", "Answered", "share"),
        Column.share("peers_share", "Comparable {handbooks}", "share"),
    ),
    ("Comparable: all other {handbooks} of the same {organ}.", WILSON),
)
GAPS_TABLE = TableSpec(
    "{Questions} that one {handbook} does not address and most comparable {handbooks} do",
    (
        Column.text("text", "{Question}"),
        Column.named("topics", "{Topics}"),
        Column.named("organ", "{Organ}"),
        Column.count("peers_answering", "Comparable {handbooks} that answer", "{handbooks}"),
        Column.count("peers_asked", "Comparable {handbooks} asked", "{handbooks}"),
        Column.share("share", "Comparable {handbooks} that answer", "share"),
    ),
    (
        "{Questions} of another {organ} are left out.",
        "Comparable: the other {handbooks} of the same {organ}; all other {handbooks} where fewer than three were asked.",
        WILSON,
    ),
    printed_rows=30,
)


@metric(
    sql=COVERAGE_SQL,
    table=COVERAGE_TABLE,
    glossary={"not addressed": "The {handbook} was asked, and does not address the {question}: its answer is absent."},
)
def coverage(con: Connection) -> pd.DataFrame:
    """The share of questions that each handbook does not address, by the organ of the question.

    A handbook that was asked no question about an organ did not omit it: asked is 0 and absence is NaN.

    One row per handbook and question organ, handbooks in release order, 'general' last:
        handbook                    int, number; handbook_id, organ, center, phase  str, of the handbook
        question_organ              str
        asked, absent               int, questions (one not asked of it, or whose answer could not be read, is in neither)
        perhaps                     int, questions whose nearest passages may answer; 0 where a model answered
        absence                     float in [0, 1], absent / asked; NaN where asked is 0
        absence_low, absence_high   95 % Wilson: a handbook answers each question once, so questions are the units

    Raises NotInRunError when the release came without answers: absence is then unknown, not zero.
    """
    require_answers(con, "what a handbook leaves out")
    return with_wilson(frame(con, COVERAGE_SQL), "absence", "absent", "asked")


@metric(
    sql=PROFILE_SQL,
    table=PROFILE_TABLE,
    glossary={"comparable": "Other {handbooks} of the same {organ}, to compare one {handbook} with."},
)
def profile(con: Connection, handbook_id: str, by: str = "organ") -> pd.DataFrame:
    """The share of questions that a handbook answers, by the organ or the topic of the question, and its peers' share.

    Peers are all other handbooks of the same organ. A question not asked of a handbook counts neither as answered nor
    as left out, nor does one whose answer could not be read. A question with two topics counts in both. By topic, only questions
    that the handbook should answer count: of its organ, and general ones.

    `by` is 'organ' or 'topic'. One row per organ or topic that some handbook was asked about, 'general' last:
        name                         str
        asked, answered              int, questions asked of and answered by this handbook
        perhaps                      int, those of answered of which a search says so; 0 where a model answered
        share                        float in [0, 1], answered / asked; NaN where asked is 0
        share_low, share_high        95 % Wilson: a handbook answers each question once
        peers_asked, peers_answered  int, questions times peers
        peers_share                  float in [0, 1]; NaN where peers_asked is 0

    Raises NotInRunError when the handbook is unknown, and when the release came without answers.
    """
    require_answers(con, "what a handbook answers")
    # Only to raise for an unknown handbook: the statement would return an empty table.
    handbook_number(con, handbook_id)
    require_one_of(by, GROUPS, "Group")
    table = frame(con, PROFILE_SQL, {"handbook_id": handbook_id, "by": by})
    return with_wilson(table, "share", "answered", "asked")


@metric(
    sql=GAPS_SQL,
    table=GAPS_TABLE,
    glossary={
        "gap": "{A_question} of its own {organ}, or a general one, that one {handbook} does not address and most comparable "
        "{handbooks} do."
    },
)
def gaps(con: Connection, handbook_id: str) -> pd.DataFrame:
    """Questions that a handbook does not address and most of its peers do, the most certain gap first.

    Only questions of the handbook's own organ and general ones: a heart handbook that says nothing about a kidney has no gap.
    A handbook for every organ ('general') may have gaps in all.
    Peers are the other handbooks of the same organ that were asked the question; where fewer than three were, all other
    handbooks that were asked. Most means more than half. Of what a search found, an answer that is perhaps there is neither a gap
    nor a peer's answer.

    One row per such question:
        question                      int, number; question_id, text, organ, topics (joined by commas)  str
        peers                         str, 'same organ' or 'all': who was taken as peers
        peers_asked, peers_answering  int, handbooks
        share                         float in [0, 1], peers_answering / peers_asked
        share_low, share_high         95 % Wilson over the peers

    Rows are ranked by share_low, so 20 of 22 peers rank above 3 of 3.
    Raises NotInRunError when the handbook is unknown, and when the release came without answers.
    """
    require_answers(con, "what a handbook leaves out")
    handbook_number(con, handbook_id)
    table = with_wilson(frame(con, GAPS_SQL, {"handbook_id": handbook_id}), "share", "peers_answering", "peers_asked")
    # By the lower end of the interval, so rows with few peers do not lead by chance.
    return table.sort_values(["share_low", "question"], ascending=[False, True], ignore_index=True)
