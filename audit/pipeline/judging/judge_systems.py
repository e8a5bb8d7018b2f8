"""Judging the answers of a release on the eight criteria: which answers are judged, and criteria.jsonl written."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from audit.errors import AuditError, NotInRunError, describe_error
from audit.evaluation.criteria import REFERENCE
from audit.pipeline.judging.cited_texts import CitedTexts, read_cited_texts
from audit.pipeline.judging.criteria.task import AnswerToScore
from audit.pipeline.judging.evidence.task import AnswerWithEvidence, CitedStatement
from audit.pipeline.release_tables import records_to_keep, release_layout, valid_records, write_table
from audit.release.handbook_kinds import QUESTION
from audit.release.layout import Layout
from audit.release.system_kinds import CRITERIA_SCORES, REFERENCE_RECORD, SYSTEM, SYSTEM_ANSWER
from audit.vocabulary import nearest

CRITERIA_FILE = "criteria.jsonl"
Record = dict[str, Any]
Key = tuple[str, str, str | None]
"""Question id, system id and judge."""


@dataclass
class AnswersToScore:
    """The answers of a release that are judged, and those that are not.

    answers     in the order of questions: the reference answer, then the systems in release order
    systems     their ids, in release order
    refused     refusals that are left out, or that have no text; `unread` answers could not be read
    unreadable  records that could not be read
    """

    folder: Path
    answers: list[AnswerToScore] = field(default_factory=list)
    systems: tuple[str, ...] = ()
    refused: int = 0
    unread: int = 0
    unreadable: int = 0

    def reject(self) -> None:
        """Count a record that could not be read."""
        self.unreadable += 1

    @property
    def left_out(self) -> str:
        """A sentence on the answers that no judge is asked about; empty if there are none."""
        numbers = {
            "refusals": self.refused,
            "answers that could not be read": self.unread,
            "records that could not be read (`audit check` names them)": self.unreadable,
        }
        parts = [f"{words}: {number:,}" for words, number in numbers.items() if number]
        return f"Not judged ({'; '.join(parts)})." if parts else ""

    @property
    def of_references(self) -> int:
        """How many of the answers are reference answers."""
        return sum(answer.system_id == REFERENCE for answer in self.answers)


def answers_to_score(
    folder: Path, max_bytes: int, *, refusals: bool = True, references: bool = True, systems: Collection[str] = ()
) -> AnswersToScore:
    """The answers of the release in `folder` that a judge can be asked about. Of duplicate records the first is used.

    refusals    judge refusals that have a text, like every other answer
    references  judge the first reference answer to each question too
    systems     only these systems' answers; empty: all

    Raises ReleaseError where `folder` is not the folder of a release, and NotInRunError for an unknown system.
    """
    layout, result = release_layout(folder), AnswersToScore(folder)
    known = [record["system_id"] for record in valid_records(layout, SYSTEM, max_bytes, result.reject)]
    result.systems = tuple(dict.fromkeys(known))
    _require_known(systems, result.systems, folder)
    answers = _answers_by_question(layout, max_bytes, result, refusals, systems or result.systems)
    first = _first_references(layout, max_bytes, result)
    seen: set[str] = set()
    for record in valid_records(layout, QUESTION, max_bytes, result.reject):
        question_id, words, text = record["question_id"], record["question"], first.get(record["question_id"])
        own = ({REFERENCE: text} if references and text else {}) | answers.get(question_id, {})
        if question_id not in seen:
            result.answers += [AnswerToScore(question_id, words, name, answer, text) for name, answer in own.items()]
        seen.add(question_id)
    return result


def _require_known(systems: Collection[str], known: Sequence[str], folder: Path) -> None:
    for name in systems:
        if name not in known:
            raise NotInRunError(
                f"System '{name}' is not in {folder}.{nearest(name, tuple(known))} Nothing was asked. "
                f"Allowed: {', '.join(known) or 'none, because the release has no answering systems'}."
            )


def _answers_by_question(
    layout: Layout, max_bytes: int, result: AnswersToScore, refusals: bool, systems: Collection[str]
) -> dict[str, dict[str, str]]:
    """Question id -> system id -> text, the systems in release order."""
    texts: dict[tuple[str, str], str] = {}
    seen: set[tuple[str, str]] = set()
    for record in valid_records(layout, SYSTEM_ANSWER, max_bytes, result.reject):
        key = record["question_id"], record["system_id"]
        if key in seen or record["system_id"] not in systems:
            continue
        seen.add(key)
        if record["refused"] and not (refusals and record["answer"]):
            result.refused += 1
        elif record["answer"] is None:
            result.unread += 1
        else:
            texts[key] = record["answer"]
    by_question: dict[str, dict[str, str]] = {}
    for key in sorted(texts, key=lambda key: result.systems.index(key[1])):
        by_question.setdefault(key[0], {})[key[1]] = texts[key]
    return by_question


def _first_references(layout: Layout, max_bytes: int, result: AnswersToScore) -> dict[str, str]:
    first: dict[str, str] = {}
    for record in valid_records(layout, REFERENCE_RECORD, max_bytes, result.reject):
        if record["answers"]:
            first.setdefault(record["question_id"], record["answers"][0])
    return first


def earlier_evaluations(folder: Path, max_bytes: int) -> dict[Key, Any]:
    """The records of the criteria.jsonl of a release, as they are in the file.

    Raises ReleaseError where they are in another file, or cannot all be read: writing the file again would lose some.
    """
    existing = records_to_keep(release_layout(folder), CRITERIA_SCORES, CRITERIA_FILE, max_bytes)
    return {(record["question_id"], record["system_id"], record["judge"]): raw for raw, record in existing}


def write_criteria(folder: Path, earlier: dict[Key, Any], records: Iterator[Record]) -> int:
    """Write criteria.jsonl: the earlier records, each replaced where the same judge judged the same answer again.

    Returns how many records it has. Raises AuditError where the file cannot be written.
    """
    new = {(record["question_id"], record["system_id"], record["judge"]): record for record in records}
    try:
        return write_table(folder, CRITERIA_FILE, "criteria", (earlier | new).values())
    except OSError as error:
        raise AuditError(
            f"{folder / CRITERIA_FILE} cannot be written ({describe_error(error)}). The file is unchanged, and all replies are "
            "stored. Run this again with --parse-again where the folder can be written."
        ) from error


# -- evidence ------------------------------------------------------------------------------------------------
# Which answers are judged by their evidence, and their material for the judge.


def answers_with_evidence(
    folder: Path, max_bytes: int, systems: Collection[str] = ()
) -> tuple[AnswersToScore, list[AnswerWithEvidence]]:
    """The answers of the release in `folder` with their evidence, in the order of questions; and how many are left out.

    Refusals and answers that could not be read are left out. Passages without a text in the release are not shown: an answer with
    such a passage has no evidence to be judged by. Raises as `audit.pipeline.judging.judge_systems.answers_to_score` does.
    """
    chosen = answers_to_score(folder, max_bytes, refusals=False, references=False, systems=systems)
    texts = read_cited_texts(folder, max_bytes, chosen.reject)
    return chosen, [_with_evidence(answer, texts) for answer in chosen.answers]


def _with_evidence(answer: AnswerToScore, texts: CitedTexts) -> AnswerWithEvidence:
    key = answer.question_id, answer.system_id
    passages = texts.passage_texts(key)
    return AnswerWithEvidence(
        answer.question_id,
        answer.question,
        answer.system_id,
        answer.answer,
        tuple(text for text in passages if text) if all(passages) else (),
        answer.reference,
        tuple(_citations(answer, texts)),
    )


def _citations(answer: AnswerToScore, texts: CitedTexts) -> Iterator[CitedStatement]:
    """Each statement with the passage that it cites; a citation without a statement or a text cannot be judged."""
    key = answer.question_id, answer.system_id
    for citation in texts.citations.get(key, ()):
        start, end, passage = citation.get("start"), citation.get("end"), texts.cited_text(key, citation)
        own = answer.answer[start:end] if type(start) is int and type(end) is int else ""
        statement = str(citation.get("statement") or own).strip()
        if statement and passage:
            yield CitedStatement(statement, passage)
