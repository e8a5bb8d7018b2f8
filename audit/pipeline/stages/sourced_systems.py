"""Systems that answer from several sources: what the stage of routing stored for them, and their records of the release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from audit.pipeline.generation.several_sources_model import passages_in_prompt
from audit.pipeline.generation.system_answers import SystemQuestion
from audit.pipeline.retrieval.model import Query
from audit.pipeline.rules.marks.several_sources import SourceReader
from audit.pipeline.stages.build_cache import read_lines
from audit.pipeline.stages.context import Record, RunContext
from audit.pipeline.stages.route import RouteStage
from audit.pipeline.stages.source_groups import documents_of, sources_of
from audit.pipeline.stages.system_options import SystemOptions
from audit.release.sourced_answers import ChunkId, SourcedAnswer, StoredEvidence
from audit.vocabulary import EXTRACTIVE

CONCERNS_NOTHING = "No source has a handbook of this question's organ. No source was asked."


@dataclass(frozen=True)
class RoutedQuestions:
    """The questions of a system in the order of the run, with what routing stored.

    evidence  question id -> its packed evidence; without passages where no source has anything
    answers   question id -> its record of system_answers.jsonl, where the answer needs no model
    """

    evidence: Mapping[str, StoredEvidence]
    answers: Mapping[str, Record]
    reader: SourceReader

    def to_ask(self, context: RunContext) -> list[SystemQuestion]:
        """The questions for the model: those for which there are passages."""
        queries = [Query.of(question) for question in context.questions()]
        passages = {query.question_id: self.reader.passages(self.evidence[query.question_id]) for query in queries}
        return [
            SystemQuestion(query, passages_in_prompt(evidence)) for query in queries if (evidence := passages[query.question_id])
        ]

    def without_passages(self) -> Iterator[tuple[str, SourcedAnswer]]:
        """The refusals where there is nothing to answer from: no model is asked to invent something."""
        for question_id, evidence in self.evidence.items():
            if not evidence.record()["evidence"]:
                yield question_id, SourcedAnswer(evidence.question, (), evidence, evidence.notes, EXTRACTIVE)


def routed_questions(context: RunContext, options: SystemOptions) -> RoutedQuestions:
    """The stored results of the routing stage for a system."""
    stored = {
        str(record["question_id"]): record
        for batch in RouteStage(context).batches(options)
        for record in read_lines(batch.out)
    }  # fmt: skip
    evidence = {
        question_id: _evidence(str(question["question"]), stored.get(question_id))
        for question in context.questions()
        for question_id in [str(question["question_id"])]
    }
    documents = documents_of(context)
    reader = SourceReader({document.handbook_id: document for document in documents}, sources_of(options, documents))
    answers = {question_id: record["answer"] for question_id, record in stored.items() if record["answer"]}
    return RoutedQuestions(evidence, answers, reader)


def _evidence(question: str, record: Mapping[str, Any] | None) -> StoredEvidence:
    if record is None:
        trace = {"question": question, "notes": [CONCERNS_NOTHING]}
        return StoredEvidence(question, {"routes": [], "evidence": [], "trace": trace}, {})
    duplicates = {int(number): tuple(ChunkId(*chunk) for chunk in chunks) for number, chunks in record["duplicates"].items()}
    fields = {name: record["routed"][name] for name in ("routes", "evidence", "trace")}
    return StoredEvidence(question, fields, duplicates)


def extractive_records(context: RunContext, options: SystemOptions) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """The records of system_answers.jsonl and of routes.jsonl of a system without a model."""
    routed = routed_questions(context, options)
    refused = dict(routed.without_passages())
    answers = [
        dict(routed.answers[question_id])
        if question_id in routed.answers
        else refused[question_id].record(question_id, options.id)
        for question_id in routed.evidence
    ]
    routes = [
        {"question_id": question_id, "system_id": options.id, **evidence.record()}
        for question_id, evidence in routed.evidence.items()
    ]
    return answers, routes


def system_record(options: SystemOptions) -> Record:
    """The record of systems.jsonl of a system without a model."""
    return {
        "system_id": options.id, "name": options.name or "Several sources, their own sentences", "model": EXTRACTIVE,
        "mode": options.mode, "retriever": options.across.retriever, "settings": source_settings(options),
    }  # fmt: skip


def source_settings(options: SystemOptions) -> dict[str, object]:
    """The settings of a system that asks sources, as its record of systems.jsonl lists them."""
    return {
        "group_by": options.group_by, "authority": options.authority, "required": list(options.required),
        "entities": options.entities.name if options.entities else None, "across": options.across.record(),
    }  # fmt: skip
