"""Look-ups before counting: ids to numbers, the filter values of a run, and errors for data that a release lacks."""

from __future__ import annotations

from typing import Any

import pandas as pd

from audit.errors import AuditError, NotInRunError
from audit.store.connection import Connection, frame, rows
from audit.vocabulary import composed, nearest

QUESTION_NUMBER = "select question::integer from questions where question_id = $id"
QUESTION_NUMBERS = "select question_id, question::integer from questions order by question"
HANDBOOK_NUMBERS = "select handbook_id, handbook::integer from handbooks order by handbook"


def question_number(con: Connection, question_id: str) -> int:
    """The number of the question with this id. Raises NotInRunError when the run has no such question."""
    # All ids are read only for the message that names the nearest one: a page looks up a number ten times.
    numbers = rows(con, QUESTION_NUMBER, {"id": composed(question_id)})
    return int(numbers[0][0]) if numbers else _number_of(dict(rows(con, QUESTION_NUMBERS)), question_id, "question")


def question_number_or_all(con: Connection, question_id: str | None) -> int | None:
    """As `question_number`, but None stays None, which statements take as every question."""
    return None if question_id is None else question_number(con, question_id)


def handbook_number(con: Connection, handbook_id: str) -> int:
    """The number of the handbook with this id. Raises NotInRunError when the run has no such handbook."""
    return _number_of(dict(rows(con, HANDBOOK_NUMBERS)), composed(handbook_id), "handbook")


def _number_of(numbers: dict[Any, int], record_id: str, kind: str) -> int:
    # All ids were read, because the message names the nearest one.
    if record_id not in numbers:
        raise NotInRunError(
            f"{kind.capitalize()} '{record_id}' is not in this run.{nearest(record_id, tuple(numbers))} "
            f"It has {len(numbers)} {kind}s. Nothing was computed. Pick one of them."
        )
    return numbers[record_id]


def require_answers(con: Connection, wanted: str) -> None:
    """Raise NotInRunError when the release came without answers, so an unknown count is never shown as zero."""
    ((run_id, has_answers),) = rows(con, "select run_id, has_answers from run")
    if not has_answers:
        raise NotInRunError(
            f"Run '{run_id}' was loaded from a release without answers, so {wanted} is unknown (not zero). "
            "Nothing was computed. Load a release with answers.jsonl to see it; every count of pairs works without."
        )


def require_one_of(value: str, allowed: tuple[str, ...], option: str) -> str:
    """`value`. Raises AuditError, naming the option, when it is not one of `allowed`."""
    if value not in allowed:
        raise AuditError(f"{option} '{value}' is not available. Allowed: {', '.join(allowed)}. Nothing was counted.")
    return value


VALUES = {
    "organ": "select distinct organ from questions order by 1",
    "topic": "select distinct topic from topics order by 1",
    "subtopic": "select distinct subtopic from subtopics order by 1",
    "center": "select distinct center from handbooks order by 1",
    "phase": "select distinct phase from handbooks order by 1",
    "difference": "select distinct difference from pairs where difference is not null order by 1",
    "follow": "select distinct follow_both from pairs where follow_both is not null order by 1",
    "quotes": "select 'unsupported' where exists (from pairs where quote_a is not null or quote_b is not null)",
    "second": "select unnest(['another label', 'confirmed', 'unscored']) where exists (from second_verdicts)",
}
SIGNIFICANCE_CODE = "coalesce(enum_code(significance)::integer + 1, 0)"
LABEL_CODE = "coalesce(enum_code(label)::integer + 1, 0)"
"""A number that grows with the rank of the value; 0: unstated, unscored."""
QUESTION_LIST = f"""
with disputes as (
    from judged_pairs where disagrees
),
gravity as (
    select question, count(*) as disagreeing, max({SIGNIFICANCE_CODE} * 8 + {LABEL_CODE}) as gravest
    from disputes group by question
),
involved as (
    select question, handbook_a as handbook from disputes union select question, handbook_b from disputes
),
sizes as (
    select question, count(*) as handbooks from involved group by question
)
select question_id, text, organ, coalesce(disagreeing, 0) as disagreeing
from questions left join gravity using (question) left join sizes using (question)
order by gravest desc nulls last, handbooks desc nulls last, question
"""


def filter_values(con: Connection) -> dict[str, list[str]]:
    """The values of organ (of questions), topic, ... that the run has, in alphabetical order; none of what it does not record."""
    return {name: [value for (value,) in rows(con, sql)] for name, sql in VALUES.items()}


def question_list(con: Connection) -> pd.DataFrame:
    """Every question, the most disputed first: question_id, text, organ (str), disagreeing (int, pairs).

    The most disputed question has the highest clinical significance of a disagreement, then the worst label, then how many
    handbooks are in one, as in the list of disagreements.
    """
    return frame(con, QUESTION_LIST)


def handbook_list(con: Connection) -> pd.DataFrame:
    """Every handbook in release order: handbook_id, organ, center, phase (str)."""
    return frame(con, "select handbook_id, organ, center, phase from handbooks order by handbook")
