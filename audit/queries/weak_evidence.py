"""Answers that rest on weak evidence according to the release: a fallback, a single passage, an unknown citation."""

from __future__ import annotations

from collections.abc import Sequence

from audit.store.connection import Connection, rows

FALLBACK, THIN, CITATION = "fallback", "thin", "citation"
WEAKNESSES = {
    FALLBACK: "written from the whole text for want of a good passage",
    THIN: "written from one passage at most",
    CITATION: "citing a passage that was not given",
}
"""Kind of weak evidence -> the phrase for such an answer. Weak does not mean wrong: it is where to look first."""

# The record may have any shape; anything but a list of passages or citations is ignored.
KINDS = f"""list_filter([
        case when mode = 'full_document_fallback' then '{FALLBACK}' end,
        case when mode = 'passages' and json_type(retrieval, '$.passages') = 'ARRAY'
                  and json_array_length(retrieval, '$.passages') < 2 then '{THIN}' end,
        case when list_contains(retrieval ->> '$.citations[*].known', 'false') then '{CITATION}' end
    ], lambda kind: kind is not null)"""
"""The kinds of weak evidence of a row of `answers`, as a list."""

WEAK_ABOUT = f""",
weak as (
    select question, handbook from answers
    where question in (select question from about) and not absent and list_has_any({KINDS}, $evidence::varchar[])
),
resting as (
    select * from about semi join weak on weak.question = about.question and weak.handbook in (about.handbook_a, about.handbook_b)
)"""
"""Steps of a statement that select from `about` the pairs of which at least one answer rests on weak evidence ($evidence)."""

OF_QUESTIONS = f"""
select question_id, handbook_id, {KINDS} as kinds
from answers join questions using (question) join handbooks using (handbook)
where list_contains($questions, question_id) and not absent and len(kinds) > 0
"""


def weak_answers(con: Connection, question_ids: Sequence[str]) -> dict[tuple[str, str], tuple[str, ...]]:
    """(question id, handbook id) -> kinds of weak evidence (keys of WEAKNESSES); answers without any are left out."""
    records = rows(con, OF_QUESTIONS, {"questions": list(question_ids)})
    return {(question_id, handbook_id): tuple(kinds) for question_id, handbook_id, kinds in records}
