"""One question put to several answering systems: the reference, each system's answer, its criteria, measures and evidence."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from audit.evaluation.criteria import CRITERIA, Criterion
from audit.queries.lookup import question_number
from audit.queries.loose_records import Record, float_or_none, int_or_none, objects, text_or_none
from audit.store.connection import Connection, frame, rows

ANSWERED, REFUSED, UNREAD, NOT_ASKED, NOT_IN_RELEASE = "answered", "refused", "unread", "not asked", "not in the release"

QUESTION_LIST = f"""
with asked as (
    select question from system_answers union select question from criteria where system is not null
    union select question from preferences
),
points as (
    select question, system, avg({" + ".join(CRITERIA)}) as points
    from criteria where system is not null group by question, system
),
spread as (select question, max(points) - min(points) as spread from points group by question),
texts as (select question, count(answer) as texts from system_answers group by question)
select question_id, text, organ, question_type, spread
from questions join asked using (question) left join question_types using (question) left join spread using (question)
     left join texts using (question)
order by least(coalesce(texts, 0), 2) desc, spread desc nulls last, question
"""
QUESTION = """
select question_id, text, organ, question_type, url, coalesce(gold_sections, [])
from questions left join question_types using (question) where question = $question
"""
REFERENCES = "select answer from reference_answers where question = $question order by place"
ANSWERS = """
with own_answer as (from system_answers where question = $question)
select system, system_id, coalesce(s.name, system_id), mode, model,
       case when a.question is null then 'not asked' when refused then 'refused' when answer is not null then 'answered'
            else 'unread' end,
       answer, unread_reason, evidence::varchar, input_tokens, output_tokens, latency_s
from systems s left join own_answer a using (system)
where system in (select system from system_answers) or system not in (select system from stress_replies)
order by system
"""
CRITERIA_OF_QUESTION = f"""
select system, judge, {", ".join(CRITERIA)}, explanations::varchar, unscored_reason
from criteria where question = $question order by judge
"""
JUDGES = "select distinct judge from criteria where judge is not null order by judge"
EVIDENCE = 7
"""Where the evidence is in a row of `ANSWERS`, after the number of the system."""
SECTIONS = """
select handbook_id, section_id, text from sections join handbooks using (handbook) where section_id in (select unnest($names))
"""
MEASURES = "select system, measure, value from system_measures where question = $question order by measure"
PREFERENCES = """
select coalesce(a.name, a.system_id), coalesce(b.name, b.system_id), preference, rater, rater_kind, shown_first, comment
from preferences join systems a on a.system = system_a join systems b on b.system = system_b
where question = $question
"""


@dataclass(frozen=True)
class StoredEvaluation:
    """The eight scores of one answer by one judge; None for a score that could not be read, with `reason` where none could."""

    judge: str | None
    scores: Mapping[Criterion, int | None]
    explanations: Mapping[str, str]
    reason: str | None


@dataclass(frozen=True)
class ShownEvidence:
    """One passage that a system was given; `text` may be that of its section. `contains_answer`: None if unknown."""

    handbook_id: str | None
    section_id: str | None
    rank: int | None
    score: float | None
    text: str | None
    contains_answer: bool | None


@dataclass(frozen=True)
class SystemAnswerView:
    """The answer of one system.

    `state`: ANSWERED, REFUSED (it declined), UNREAD (with the reason), NOT_IN_RELEASE (it was judged, but its answer is not
    public) or NOT_ASKED.
    """

    system_id: str
    name: str
    mode: str | None
    model: str | None
    state: str
    text: str | None
    unread_reason: str | None
    evidence: tuple[ShownEvidence, ...]
    usage: tuple[int | None, int | None, float | None]
    evaluations: tuple[StoredEvaluation, ...]
    measures: Mapping[str, float]


@dataclass(frozen=True)
class StoredPreference:
    """One rater's preference: A, B, tie or both_bad; `shown_first` is the side that was first, None where unknown."""

    first: str
    second: str
    preference: str
    rater: str | None
    rater_kind: str
    shown_first: str | None
    comment: str | None


@dataclass(frozen=True)
class SystemQuestionView:
    """A question with its reference answers (the first is the one that measures use), the systems' answers and preferences."""

    question_id: str
    text: str
    organ: str
    question_type: str | None
    url: str | None
    gold_sections: tuple[str, ...]
    references: tuple[str, ...]
    reference_evaluations: tuple[StoredEvaluation, ...]
    answers: tuple[SystemAnswerView, ...]
    preferences: tuple[StoredPreference, ...]


def system_question_list(con: Connection) -> pd.DataFrame:
    """The questions on which the run has anything of a system, those first whose answers were scored most differently.

    question_id, text, organ, question_type (str; None: not stated), spread (float, points between the best and the worst sum of
    the eight scores; NaN where no system has all of them). A question with two answers to read comes before one without.
    """
    return frame(con, QUESTION_LIST)


def system_question(con: Connection, question_id: str) -> SystemQuestionView:
    """Everything about one question put to the systems. Raises NotInRunError when the run has no such question."""
    question = {"question": question_number(con, question_id)}
    ((question_id, text, organ, question_type, url, gold),) = rows(con, QUESTION, question)
    evaluations = list(_evaluations(con, question))
    measures = rows(con, MEASURES, question)
    stored = rows(con, ANSWERS, question)
    passages = _passages(con, {system: fields[EVIDENCE] for system, *fields in stored}, frozenset(gold))
    answers = tuple(
        _answer(
            fields, passages[system], _of(evaluations, system), {name: value for own, name, value in measures if own == system}
        )
        for system, *fields in stored
    )
    references = tuple(answer for (answer,) in rows(con, REFERENCES, question))
    preferences = tuple(StoredPreference(*fields) for fields in rows(con, PREFERENCES, question))
    judged = _of(evaluations, None)
    return SystemQuestionView(question_id, text, organ, question_type, url, tuple(gold), references, judged, answers, preferences)


def _evaluations(con: Connection, question: Mapping[str, int]) -> Iterator[tuple[int | None, StoredEvaluation]]:
    """(number of the system, None for the reference answer; its evaluation by one judge)."""
    for system, judge, *scores, explanations, reason in rows(con, CRITERIA_OF_QUESTION, question):
        record = json.loads(explanations) if explanations else {}
        texts = {str(name): str(text) for name, text in record.items() if text} if isinstance(record, dict) else {}
        yield system, StoredEvaluation(judge, dict(zip(CRITERIA, scores, strict=True)), texts, reason)


def _of(evaluations: list[tuple[int | None, StoredEvaluation]], system: int | None) -> tuple[StoredEvaluation, ...]:
    return tuple(evaluation for owner, evaluation in evaluations if owner == system)


def _answer(
    fields: list[Any],
    passages: tuple[ShownEvidence, ...],
    evaluations: tuple[StoredEvaluation, ...],
    measures: Mapping[str, float],
) -> SystemAnswerView:
    system_id, name, mode, model, state, text, reason, _, *usage = fields
    if state == NOT_ASKED and evaluations:
        state = NOT_IN_RELEASE
    input_tokens, output_tokens, latency_s = usage
    used = input_tokens, output_tokens, latency_s
    return SystemAnswerView(system_id, name, mode, model, state, text, reason, passages, used, evaluations, measures)


def _passages(con: Connection, stored: Mapping[int, str | None], gold: frozenset[str]) -> dict[int, tuple[ShownEvidence, ...]]:
    """System -> its passages, with the text of their sections where the release has no text of their own."""
    records = {system: objects(json.loads(evidence) if evidence else []) for system, evidence in stored.items()}
    names = {text_or_none(record.get("section_id")) for own in records.values() for record in own if not record.get("text")}
    sections = rows(con, SECTIONS, {"names": sorted(name for name in names if name)}) if names else []
    texts = {(handbook_id, section_id): text for handbook_id, section_id, text in sections}
    return {system: tuple(_evidence(record, texts, gold) for record in own) for system, own in records.items()}


def _evidence(record: Record, texts: Mapping[tuple[str | None, str | None], str], gold: frozenset[str]) -> ShownEvidence:
    handbook_id, section_id = (text_or_none(record.get(name)) for name in ("handbook_id", "section_id"))
    # A gold section is named by its id alone, or with its handbook
    known = not gold.isdisjoint((section_id, f"{handbook_id}/{section_id}")) if gold else None
    text = text_or_none(record.get("text")) or texts.get((handbook_id, section_id))
    rank, score = int_or_none(record.get("rank")), float_or_none(record.get("score"))
    return ShownEvidence(handbook_id, section_id, rank, score, text, known)


def judges_of_systems(con: Connection) -> list[str]:
    """The judges that gave scores on the eight criteria, by name; a judge without a name is left out."""
    return [judge for (judge,) in rows(con, JUDGES)]
