"""Judging the answers of a release by their evidence: which answers are judged, and their material for the judge."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from audit.pipeline.judging.cited_texts import CitedTexts, read_cited_texts
from audit.pipeline.judging.criteria.task import AnswerToScore
from audit.pipeline.judging.evidence.task import AnswerWithEvidence, CitedStatement
from audit.pipeline.judging.judge_systems import AnswersToScore, answers_to_score


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
