"""Stress tests as pages read them: what a run has, its instances, and one instance with every system's reply."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from audit.errors import NotInRunError
from audit.queries.loose_records import Record, int_or_none, text_or_none
from audit.store.connection import Connection, frame, rows
from audit.vocabulary import nearest

RIGHT, WRONG, INSUFFICIENT, UNREAD, NOT_ASKED = "right", "wrong", "insufficient", "unread", "not asked"
OPEN = "answered"
"""The state of a readable answer to an open question: it is compared by words and is neither right nor wrong."""

SCOPE = """
select test, size, coalesce(signal_share, -1)::integer as signal_share, coalesce(dataset, '') as dataset,
       coalesce(retrieval, '') as retrieval, count(*) as instances, count(distinct question) as questions,
       count(options) as closed
from stress_instances group by all order by test, size, signal_share, dataset, retrieval
"""
SHOWN = """
select test, size, signal_share, coalesce(dataset, '') as dataset, avg(shown) from (
    select instance, count(place) as shown from stress_instances left join stress_documents using (instance) group by instance
) join stress_instances using (instance) group by all
"""
# Instances on which systems differ are the most informative; those without replies come last
LIST = """
with replies as (
    select instance, count(*) as replies,
           count(*) filter (choice = gold and options is not null)                                as right_ones,
           count(*) filter (choice is not null and choice <> gold and options is not null)        as wrong_ones,
           count(*) filter (insufficient)                                                         as insufficient,
           count(*) filter (insufficient is null)                                                 as unread
    from stress_replies join stress_instances using (instance) group by instance
)
select instance_id, test, size, coalesce(signal_share, -1)::integer as signal_share, text as question_text,
       coalesce(replies, 0) as replies, coalesce(right_ones, 0) as right_ones, coalesce(wrong_ones, 0) as wrong_ones,
       coalesce(insufficient, 0) as insufficient, coalesce(unread, 0) as unread
from stress_instances join questions using (question) left join replies using (instance)
where ($test is null or test = $test) and ($size is null or size = $size) and ($share is null or signal_share = $share)
      and ($dataset is null or dataset = $dataset)
order by least(right_ones, wrong_ones + coalesce(insufficient, 0)) desc nulls last, replies desc nulls last, instance
limit $limit
"""
TESTED = """
select system_id, coalesce(name, system_id) as name, model from systems
where system in (select system from stress_replies) order by system
"""
INSTANCE = """
select instance, instance_id, test, question_id, text, options::varchar, gold, signal_share, size, dataset, seed
from stress_instances join questions using (question) where instance_id = $id
"""
DOCUMENTS = """
select place, document_id, text, is_signal, is_factual, edited_from, edit::varchar, sub_question, sub_answer, false_answer
from stress_documents where instance = $instance order by place
"""
REPLIES = """
with own as (from stress_replies where instance = $instance)
select s.system, system_id, coalesce(name, system_id), model, own.instance is not null, reasoning, choice, insufficient,
       unread_reason, input_tokens, output_tokens, latency_s
from systems s left join own using (system)
where system in (select system from stress_replies) order by s.system
"""
CALLS = "select system, place, call from stress_calls where instance = $instance"
SUB_ANSWERS = """
select s.system, s.place, s.answer, s.score, d.place
from stress_sub_answers s left join stress_documents d on d.instance = s.instance and d.document_id = s.read_from
where s.instance = $instance
"""


@dataclass(frozen=True)
class PlantedEdit:
    """An error that was planted in a document: `before` became `after` at character `start` (None: not stated)."""

    kind: str | None
    before: str | None
    after: str | None
    start: int | None


@dataclass(frozen=True)
class ShownDocument:
    """A document of an instance with what is true of it; as `audit.pipeline.stress.instances.StressDocument`."""

    document_id: str
    text: str
    is_signal: bool
    is_factual: bool
    edited_from: str | None
    edit: PlantedEdit | None
    sub_question: str | None
    sub_answer: str | None
    false_answer: str | None


SubAnswerView = tuple[str, float | None, int | None]


@dataclass(frozen=True)
class StressReplyView:
    """The reply of one system.

    state        RIGHT, WRONG or OPEN, INSUFFICIENT, UNREAD (with the reason) or NOT_ASKED
    calls        place of a document -> how the system classifies it; no entry: not stated
    sub_answers  place of a document -> its answer to the sub-question, the score 0, 0.5 or 1 (None: not graded), and the place of
                 the document that it says it read it from (None: not stated)
    """

    system_id: str
    name: str
    model: str | None
    state: str
    reasoning: str | None
    choice: str | None
    unread_reason: str | None
    usage: tuple[int | None, int | None, float | None]
    calls: Mapping[int, str]
    sub_answers: Mapping[int, SubAnswerView]


@dataclass(frozen=True)
class StressItemView:
    """One instance: the question, its options (letter -> text; empty: an open question) and gold, its documents, the replies."""

    instance_id: str
    test: str
    question_id: str
    text: str
    options: Mapping[str, str]
    gold: str
    signal_share: int | None
    size: int
    dataset: str | None
    seed: int | None
    documents: tuple[ShownDocument, ...]
    replies: tuple[StressReplyView, ...]


def documents_shown(con: Connection) -> dict[tuple[str, int, int, str], float]:
    """(test, size, share of signal, data set) -> the mean of documents in a context, which is below its size where some lack."""
    return {tuple(key): float(mean) for *key, mean in rows(con, SHOWN)}


def stress_scope(con: Connection) -> pd.DataFrame:
    """What the run's stress tests cover: contexts, questions, counted instances.

    test, dataset, retrieval (str; '': not stated), size, signal_share (-1: not stated), instances, questions,
    closed (int; instances with options).
    """
    return frame(con, SCOPE)


def tested_systems(con: Connection) -> pd.DataFrame:
    """The systems that took stress tests, in release order: system_id, name, model (None: not stated)."""
    return frame(con, TESTED)


def stress_item_list(
    con: Connection,
    test: str | None = None,
    size: int | None = None,
    share: int | None = None,
    dataset: str | None = None,
    limit: int = 500,
) -> pd.DataFrame:
    """The instances, those first on which systems differ most.

    instance_id, test, question_text (str), size, signal_share (int; -1: not stated), and of the replies (int): replies,
    right_ones, wrong_ones, insufficient, unread. An open question has none that is right or wrong.
    """
    return frame(con, LIST, {"test": test, "size": size, "share": share, "dataset": dataset, "limit": limit})


def stress_item(con: Connection, instance_id: str) -> StressItemView:
    """One instance with every system that took stress tests. Raises NotInRunError when the run has no such instance."""
    instances = rows(con, INSTANCE, {"id": instance_id})
    if not instances:
        known = tuple(name for (name,) in rows(con, "select instance_id from stress_instances order by instance"))
        raise NotInRunError(
            f"Instance '{instance_id}' is not in this run.{nearest(instance_id, known)} It has {len(known):,} instances of "
            "stress tests. Nothing is shown. Pick one of them."
        )
    ((number, name, test, question_id, text, options, gold, share, size, dataset, seed),) = instances
    instance = {"instance": number}
    documents = tuple(_document(fields) for _, *fields in rows(con, DOCUMENTS, instance))
    letters = json.loads(options) if options else {}
    calls, answers = rows(con, CALLS, instance), rows(con, SUB_ANSWERS, instance)
    replies = tuple(
        _reply(
            fields,
            gold,
            bool(letters),
            {document: call for own, document, call in calls if own == system},
            {document: (*answer,) for own, document, *answer in answers if own == system},
        )
        for system, *fields in rows(con, REPLIES, instance)
    )
    return StressItemView(name, test, question_id, text, letters, gold, share, size, dataset, seed, documents, replies)


def _document(fields: list[Any]) -> ShownDocument:
    document_id, text, is_signal, is_factual, edited_from, edit, *sub = fields
    record: Record = json.loads(edit) if edit else {}
    planted = _edit(record) if isinstance(record, dict) and record else None
    return ShownDocument(document_id, text, is_signal, is_factual, edited_from, planted, *sub)


def _edit(record: Record) -> PlantedEdit:
    kind, before, after = (text_or_none(record.get(name)) for name in ("kind", "before", "after"))
    return PlantedEdit(kind, before, after, int_or_none(record.get("start")))


def _reply(fields: list[Any], gold: str, closed: bool, calls: dict[int, str], answers: dict[int, Any]) -> StressReplyView:
    system_id, name, model, asked, reasoning, choice, insufficient, why, *usage = fields
    state = _state(asked, choice, insufficient, gold, closed)
    used = usage[0], usage[1], usage[2]
    return StressReplyView(system_id, name, model, state, reasoning, choice, why, used, calls, answers)


def _state(asked: bool, choice: str | None, insufficient: bool | None, gold: str, closed: bool) -> str:
    if not asked:
        return NOT_ASKED
    if insufficient is None:
        return UNREAD
    if insufficient:
        return INSUFFICIENT
    return OPEN if not closed else RIGHT if choice == gold else WRONG
