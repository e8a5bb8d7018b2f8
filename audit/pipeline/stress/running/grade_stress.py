"""Grading the answers of a release's stress tests to sub-questions and open questions, and writing the grades."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from audit.errors import NotInRunError
from audit.pipeline.stress.running.grading import SubAnswer
from audit.pipeline.stress.running.run_stress import EarlierTables, StressInput
from audit.vocabulary import nearest

Record = dict[str, Any]
Places = dict[tuple[str, str], tuple[str, str, str]]
"""(instance id, document id) -> question id, sub-question, right answer."""


def sub_answers_of(stress_input: StressInput, earlier: EarlierTables, systems: Collection[str]) -> list[SubAnswer]:
    """The distinct short answers of some systems (empty: all), in the order of questions.

    Raises NotInRunError for a system that the release does not have.
    """
    for name in systems:
        if name not in earlier.systems:
            known = tuple(earlier.systems)
            raise NotInRunError(
                f"System '{name}' is not in {stress_input.folder}.{nearest(name, known)} Nothing was asked. "
                f"Allowed: {', '.join(known) or 'none, because no system has replied'}."
            )
    places = _places(stress_input)
    records = (record for (_, system_id), record in earlier.replies.items() if not systems or system_id in systems)
    open_questions = _open_questions(stress_input)
    distinct: set[SubAnswer] = set()
    for record in records:
        distinct |= {item for _, item in _answers(record, places) if item}
        distinct |= {item for item in (_open_answer(record, open_questions),) if item}
    return sorted(distinct)


def graded_replies(
    stress_input: StressInput, earlier: EarlierTables, systems: Collection[str], grades: Mapping[SubAnswer, float | None]
) -> Iterator[Record]:
    """The replies of these systems with a score for each sub-answer and open answer; null where no grade could be read."""
    places, open_questions = _places(stress_input), _open_questions(stress_input)
    for (_, system_id), record in earlier.replies.items():
        if not systems or system_id in systems:
            scored = [entry | {"score": grades.get(item) if item else None} for entry, item in _answers(record, places)]
            item = _open_answer(record, open_questions)
            yield record | {"sub_answers": scored} | ({"score": grades.get(item)} if item else {})


def graded_systems(earlier: EarlierTables, systems: Collection[str], grader: str) -> Iterator[Record]:
    """The records of these systems, which tell who graded their sub-answers."""
    for system_id, record in earlier.systems.items():
        if not systems or system_id in systems:
            yield record | {"settings": {**(record.get("settings") or {}), "graded_by": grader}}


def _places(stress_input: StressInput) -> Places:
    return {
        (instance.instance_id, document.document_id): (instance.question_id, document.sub_question, document.sub_answer)
        for instance in stress_input.instances
        for document in instance.documents
        if document.sub_question and document.sub_answer
    }


def _open_questions(stress_input: StressInput) -> dict[str, tuple[str, str, str]]:
    """Instance id -> question id, question, right answer, of the questions without options."""
    return {one.instance_id: (one.question_id, one.question, one.gold) for one in stress_input.instances if not one.options}


def _open_answer(record: Record, open_questions: Mapping[str, tuple[str, str, str]]) -> SubAnswer | None:
    """The answer to an open question; None for a reply that declines, cannot be read, or chooses an option."""
    question = open_questions.get(record["instance_id"])
    return SubAnswer(*question, record["choice"]) if question and record.get("choice") else None


def _answers(record: Record, places: Places) -> Iterator[tuple[Record, SubAnswer | None]]:
    """Each sub-answer of a reply; None where its document has no sub-question."""
    for entry in record.get("sub_answers") or []:
        sub_question = places.get((record["instance_id"], entry.get("document_id")))
        yield entry, SubAnswer(*sub_question, entry["answer"]) if sub_question and entry.get("answer") else None
