"""Grading the sub-answers of a release's stress tests: which short answers there are, and their grades written."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from audit.errors import NotInRunError
from audit.pipeline.run_stress import EarlierTables, StressInput
from audit.stress.running.grading import SubAnswer
from audit.vocabulary import nearest

Record = dict[str, Any]
Places = dict[tuple[str, str], tuple[str, str, str]]
"""(instance id, document id) -> question id, sub-question, right answer."""


def sub_answers_of(given: StressInput, earlier: EarlierTables, systems: Collection[str]) -> list[SubAnswer]:
    """The distinct short answers of some systems (empty: all), in the order of questions.

    Raises NotInRunError for a system that the release does not have.
    """
    for name in systems:
        if name not in earlier.systems:
            known = tuple(earlier.systems)
            raise NotInRunError(
                f"System '{name}' is not in {given.folder}.{nearest(name, known)} Nothing was asked. "
                f"Allowed: {', '.join(known) or 'none, because no system has replied'}."
            )
    places = _places(given)
    records = (record for (_, system_id), record in earlier.replies.items() if not systems or system_id in systems)
    distinct = {item for record in records for _, item in _answers(record, places) if item}
    return sorted(distinct)


def graded_replies(
    given: StressInput, earlier: EarlierTables, systems: Collection[str], grades: Mapping[SubAnswer, float | None]
) -> Iterator[Record]:
    """The replies of these systems with a score for each sub-answer; null where no grade could be read."""
    places = _places(given)
    for (_, system_id), record in earlier.replies.items():
        if record.get("sub_answers") and (not systems or system_id in systems):
            scored = [entry | {"score": grades.get(item) if item else None} for entry, item in _answers(record, places)]
            yield record | {"sub_answers": scored}


def graded_systems(earlier: EarlierTables, systems: Collection[str], grader: str) -> Iterator[Record]:
    """The records of these systems, which tell who graded their sub-answers."""
    for system_id, record in earlier.systems.items():
        if not systems or system_id in systems:
            yield record | {"settings": {**(record.get("settings") or {}), "graded_by": grader}}


def _places(given: StressInput) -> Places:
    return {
        (instance.instance_id, document.document_id): (instance.question_id, document.sub_question, document.sub_answer)
        for instance in given.instances
        for document in instance.documents
        if document.sub_question and document.sub_answer
    }


def _answers(record: Record, places: Places) -> Iterator[tuple[Record, SubAnswer | None]]:
    """Each sub-answer of a reply; None where its document has no sub-question."""
    for entry in record.get("sub_answers") or []:
        place = places.get((record["instance_id"], entry.get("document_id")))
        yield entry, SubAnswer(*place, entry["answer"]) if place and entry.get("answer") else None
