"""Where a handbook disagrees with itself: the passages, and how much was compared in each handbook."""

from __future__ import annotations

import pandas as pd

from audit.metrics import metric
from audit.queries.lookup import handbook_number
from audit.store.connection import Connection, frame
from audit.tables import Column, TableSpec
from audit.vocabulary import DISAGREEING, sql_list

PLACES_SQL = f"""
select i.number, h.handbook, h.handbook_id, h.organ, h.center, i.label::varchar as label,
       i.significance::varchar as significance, i.divergence_topic, q.question_id, p.position, p.value, p.page,
       coalesce(nullif(s.heading, ''), p.section_id) as section, p.text, i.reasoning, i.judge, p.section_id, p.start, p."end"
from inconsistencies i
join handbooks h using (handbook)
join inconsistency_places p using (number)
left join questions q using (question)
left join sections s on s.handbook = i.handbook and s.section_id = p.section_id
where i.label in {sql_list(DISAGREEING)} and ($handbook_id = '' or h.handbook_id = $handbook_id)
order by h.handbook, i.label desc, i.significance desc nulls last, i.number, p.position, p.place
"""
PLACES_TABLE = TableSpec(
    "Where {a_handbook} disagrees with itself",
    (
        Column.text("handbook_id", "{Handbook}"), Column.count("number", "Number"), Column.text("label", "Label"),
        Column.text("significance", "Significance", words={"None": "not stated"}),
        Column.text("divergence_topic", "About"), Column.count("position", "Position"), Column.text("value", "States"),
        Column.count("page", "Page"), Column.text("section", "Section"), Column.text("text", "In its words"),
    ),
    (
        "One row per place. Rows with the same number are one disagreement; those with the same position agree. "
        "A dash: the page is not known.",
        "Only passages that may be about the same thing were compared; a {handbook} without a row may disagree with itself all "
        "the same, or was not compared.",
    ),
)  # fmt: skip
NO_MODEL = "no model"
"""Is in the name of every judge that is none (`audit.vocabulary`)."""
COUNTS_SQL = f"""
with found as (
    select handbook, count(*) as findings from inconsistencies where label in {sql_list(DISAGREEING)} group by handbook
)
select h.handbook, handbook_id, h.organ, center, c.judge, statements, agreeing, compared, disagreeing, unscored, not_asked,
       case when c.handbook is not null or findings is not null then coalesce(findings, 0) end as findings
from handbooks h left join self_comparisons c using (handbook) left join found using (handbook)
order by h.handbook
"""
COUNT_COLUMNS = ("statements", "agreeing", "compared", "disagreeing", "unscored", "not_asked", "findings")
COUNTS_TABLE = TableSpec(
    "What was compared within each {handbook}",
    (
        Column.text("handbook_id", "{Handbook}"), Column.count("findings", "Disagreements with itself"),
        Column.count("compared", "Compared", "pairs"), Column.count("disagreeing", "Disagreeing", "pairs"),
        Column.count("agreeing", "Same words", "pairs"), Column.count("unscored", "No verdict", "pairs"),
        Column.count("not_asked", "Not asked", "pairs"), Column.count("statements", "Statements read"),
        Column.text("judge", "Compared by"),
    ),
    (
        "A pair is two passages of one {handbook}, in different places, that may be about the same thing. Pairs in the same "
        "words are counted and not judged. No verdict: the judge's reply could not be read.",
        "A dash: the {handbook} was not compared with itself, which does not mean that it has no disagreement.",
    ),
)  # fmt: skip


@metric(
    sql=PLACES_SQL,
    table=PLACES_TABLE,
    glossary={
        "disagreement of {a_handbook} with itself": "Two or more places of one {handbook} that a judge found divergent or "
        "contradictory: a fever of 100.4 °F on one page, of 101.4 °F on another. Counted apart from pairs of {handbooks}."
    },
)
def within_handbook(con: Connection, handbook_id: str = "") -> pd.DataFrame:
    """The places in which a handbook disagrees with itself, of one handbook or ("") of all.

    Passages of different places of one handbook were compared where they may be about the same thing. A disagreement is listed
    once, with every place: those of one position say the same, those of another position something that a patient could not
    follow at the same time (divergent or contradictory). A handbook that was never compared has no rows, like one without a
    disagreement: `within_handbook_counts` tells them apart.

    One row per place; within a handbook the contradictory ones and those of high significance first:
        number                           int, of the disagreement; place order is that of the release
        handbook                         int, number; handbook_id, organ, center  str
        label                            str, DIVERGENT or CONTRADICTORY
        significance                     str, low, medium or high; None: not stated
        divergence_topic, reasoning      str or None; judge  str or None, who compared: the name of a model
        question_id                      str or None, if the places were found by a question
        position                         int, from 1
        value                            str or None, the amount as written
        page                             Int64, from 1; <NA>: not known
        section                          str or None, the heading, else the section's id
        text                             str, the passage with the lines that introduce it
        section_id, start, end           where it is in the release's texts: str or None; Int64, characters from 0

    Raises NotInRunError when the handbook is unknown.
    """
    if handbook_id:
        handbook_number(con, handbook_id)
    table = frame(con, PLACES_SQL, {"handbook_id": handbook_id})
    return table.astype(dict.fromkeys(("page", "start", "end"), "Int64"))


@metric(
    sql=COUNTS_SQL,
    table=COUNTS_TABLE,
    glossary={"compared with itself": "Passages of one {handbook} were compared with each other, and not with another's."},
)
def within_handbook_counts(con: Connection) -> pd.DataFrame:
    """Counts of the pairs compared within each handbook, and how many disagree.

    A pair is two passages of different places of a handbook that may be about the same thing. Pairs in the same words agree
    without a judge. The others were judged (`compared`), or have no verdict (`unscored`: a reply that could not be read), or were
    not asked about. None of these is agreement; `was_read` tells which handbooks were checked at all.

    One row per handbook, in release order; every count is <NA> where the handbook was not compared with itself:
        handbook                                  int, number; handbook_id, organ, center  str
        judge                                     str or None, who compared
        statements                                Int64, statements that were read
        agreeing, compared, unscored, not_asked   Int64, pairs of passages
        disagreeing                               Int64, pairs; divergent or contradictory, among `compared`
        findings                                  Int64, disagreements: connected disagreeing pairs count once
    """
    return frame(con, COUNTS_SQL).astype(dict.fromkeys(COUNT_COLUMNS, "Int64"))


def was_read(counts: pd.DataFrame) -> pd.Series:
    """Of each handbook in `within_handbook_counts`, whether a judge that can read compared any two of its passages.

    Of nothing compared, or by what is no model, it must not be said that no contradiction was found.
    """
    reads = ~counts["judge"].fillna(NO_MODEL).str.contains(NO_MODEL)
    return (counts["findings"].fillna(0) > 0) | ((counts["compared"].fillna(0) > 0) & reads)
