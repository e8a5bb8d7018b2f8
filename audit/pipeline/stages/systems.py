"""The answering systems of a config: each answers every question once, and their answers become tables of the release."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from audit.atomic_io import write_atomic
from audit.errors import AuditError
from audit.pipeline.answers.evidence import meets
from audit.pipeline.answers.files import read_json_lines
from audit.pipeline.generation.several_sources_model import model_answers, passages_in_prompt
from audit.pipeline.generation.source_passages import SourceReader
from audit.pipeline.generation.system_answers import SystemQuestion, SystemSummary, SystemTask
from audit.pipeline.generation.system_evidence import Retrieved, best_passages
from audit.pipeline.llm.tasks import Replies
from audit.pipeline.retrieval.model import Query
from audit.pipeline.stages.build_cache import Task, code_digest, digest_of, read_lines, write_lines
from audit.pipeline.stages.context import Figures, Outcome, Record, RunContext, TaskByTask
from audit.pipeline.stages.corpus_search import corpus_passages, corpus_searches, retriever_of
from audit.pipeline.stages.judging_input import handbook_record, run_record, section_records
from audit.pipeline.stages.route import RouteStage
from audit.pipeline.stages.source_groups import documents_of, source_records, sources_of
from audit.pipeline.stages.system_options import SystemOptions
from audit.release.sourced_answers import ChunkId, SourcedAnswer, StoredEvidence
from audit.release.system_kinds import REFERENCE_RECORD
from audit.release.write import write_release
from audit.text.documents import Document, read_document
from audit.vocabulary import PASSAGES_GENERATOR

CODE = (
    "pipeline/generation",
    "pipeline/answers",
    "pipeline/llm/reply_models.py",
    "pipeline/llm/reply_text.py",
    "pipeline/llm/prompts.py",
    "pipeline/stages/systems.py",
    "pipeline/stages/corpus_search.py",
)
# What the answers from several sources rest on
SOURCES_CODE = ("pipeline/stages/source_groups.py", "release/sourced_answers.py", "text")
# With spaces, which no system's id has
RELEASE = "tables of the release"
TABLES = ("systems", "system_answers")
SOURCE_TABLES = ("sources", "routes")
# A file that never exists: the stage before must first produce its list
UNKNOWN = Path("not known yet")


@dataclass(frozen=True)
class SystemRun:
    """The result of asking one system: its record of systems.jsonl, its answers, their counts, and routes to sources."""

    system: Record
    answers: list[dict[str, Any]]
    summary: SystemSummary
    routes: list[dict[str, object]] = field(default_factory=list)


AskSystem = Callable[[RunContext, SystemOptions, Sequence[SystemQuestion]], SystemRun]
"""Asks the model of a system every question."""


@dataclass
class SystemsStage(TaskByTask):
    """A task is a system; a last one writes the tables of all of them into the release."""

    ask: AskSystem
    name = "systems"

    def tasks(self) -> list[Task]:
        """Each system with the questions and, where it retrieves, with what was found; then the release."""
        systems = list(map(self._system_task, self.context.config.systems))
        # Read before anything is asked: an unreadable file must not show after hours of calls
        if systems and (references := self.context.config.questions.references):
            list(_references(self.context, references))
        # Answers that will be written again are an input that does not exist yet
        ready = all(self.done(task) for task in systems)
        return [*systems, self._release_task(ready=ready)] if systems else []

    def _system_task(self, options: SystemOptions) -> Task:
        context, settings = self.context, options.model_dump(mode="json", exclude={"url", "templates"})
        files = self._retrieved_files(options)
        digests = [context.cache.digest(path) for path in (*files, *(source.document for source in context.present if files))]
        inputs = {
            "system": settings,
            "model": context.model_settings,
            "code": code_digest(*CODE, *(SOURCES_CODE if options.asks_sources else ())),
            "retriever": [run_record(context, "")["retriever"], retriever_of(context, options)] if options.retrieves else "",
            "templates": context.cache.digest(options.templates) if options.templates else "",
            "found": None if None in digests else digest_of(digests),
            "questions": digest_of(context.questions()) if context.workspace.questions.is_file() else None,
            "types": digest_of(_question_types(context)) if options.templates and context.workspace.questions.is_file() else "",
        }
        return Task(self.name, options.id, inputs, files_of(context, options))

    def _retrieved_files(self, options: SystemOptions) -> list[Path]:
        """The files of what was found for a system, in the stage before."""
        if options.asks_sources:
            return [path for task in RouteStage(self.context).tasks_of(options) for path in task.outputs] or [UNKNOWN]
        if options.searches_corpus:
            return [search.out for search in corpus_searches(self.context, options)] or [UNKNOWN]
        if options.retrieves:
            return [self.context.workspace.retrieval(source.handbook_id) for source in self.context.present]
        return []

    def _release_task(self, *, ready: bool = True) -> Task:
        context = self.context
        files = [path for options in context.config.systems for path in files_of(context, options)]
        digests = [context.cache.digest(path) for path in files]
        inputs = {
            "answers": None if None in digests or not ready else digest_of([[path.name for path in files], digests]),
            "run": run_record(context, "answering systems"),
            "code": code_digest("release/write.py", *CODE),
            "documents": digest_of([context.cache.digest(source.document) for source in context.present]),
            "references": context.cache.digest(references) if (references := context.config.questions.references) else "",
        }
        tables = (*TABLES, *(SOURCE_TABLES if context.config.asks_sources else ()), *(["references"] if references else []))
        names = [f"{table}.jsonl" for table in tables]
        # Beside pairs, the judge's stage recreates the folder, and these files are made again after it
        names += [] if context.config.answers_handbooks else ["manifest.json", "questions.jsonl"]
        return Task(self.name, RELEASE, inputs, tuple(context.workspace.release / name for name in names))

    def carry_out(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        """The systems one after the other; the tables are written when all have answered."""
        failed = False
        for task in tasks:
            if task.name == RELEASE:
                # Its inputs are what the systems have just written
                yield from () if failed else super().carry_out([self._release_task()])
                continue
            for outcome in super().carry_out([task]):
                failed |= isinstance(outcome[1], Exception)
                yield outcome

    def run_task(self, task: Task) -> Figures:
        """Ask one system, or write the tables."""
        if task.name == RELEASE:
            return self._write_tables()
        (options,) = [options for options in self.context.config.systems if options.id == task.name]
        if options.calls_model:
            asked = self.ask(self.context, options, system_questions(self.context, options))
        else:
            asked = without_model(self.context, options)
        if asked.summary.not_asked:
            raise AuditError(f"{asked.summary.not_asked:,} questions have no reply. Those that came are kept.")
        record, answers, *routes = task.outputs
        for path in routes:
            write_lines(path, asked.routes)
        write_lines(answers, asked.answers)
        write_atomic(record, json.dumps(asked.system, ensure_ascii=False) + "\n")
        return {
            **asked.summary.as_record(),
            "findings": asked.summary.unread,
            "message": f"System {options.id}: {asked.summary.text}",
        }

    def _write_tables(self) -> Figures:
        context = self.context
        files = [files_of(context, options) for options in context.config.systems]
        tables: dict[str, Iterable[Record]] = {
            "systems": (record for path, *_ in files for record in read_lines(path)),
            "system_answers": (record for _, path, *_ in files for record in read_lines(path)),
            **(self._source_tables([path for _, _, *routes in files for path in routes]) if context.config.asks_sources else {}),
            **({"references": _references(context, path)} if (path := context.config.questions.references) else {}),
        }
        if context.config.answers_handbooks:
            written = [write_lines(context.workspace.release / f"{name}.jsonl", records) for name, records in tables.items()]
            return {"systems": written[0], "answers": written[1]}
        _write_systems_release(context, tables)
        return {"systems": len(files)}

    def _source_tables(self, routes: Sequence[Path]) -> dict[str, Iterable[Record]]:
        records = (record for path in routes for record in read_lines(path))
        return dict(zip(SOURCE_TABLES, (source_records(self.context), records), strict=True))


def files_of(context: RunContext, options: SystemOptions) -> tuple[Path, ...]:
    """The files of a system: its record, its answers and, where it asks sources, how its questions were routed."""
    routes = [context.workspace.routes(options.id)] if options.asks_sources else []
    return (*context.workspace.system(options.id), *routes)


def without_model(context: RunContext, options: SystemOptions) -> SystemRun:
    """The answers of a system that quotes its sources."""
    answers, routes = quoted_records(context, options)
    summary = SystemSummary()
    for answer in answers:
        summary.count_record(answer)
    return SystemRun(system_record(options), answers, summary, routes)


def sourced_run(
    context: RunContext, options: SystemOptions, task: SystemTask, replies: Replies, summary: SystemSummary
) -> SystemRun:
    """The answers of a model from several sources, with how their questions were routed, from the replies to its calls."""
    routed = routed_questions(context, options)
    by_question = dict(model_answers(task, replies, routed.evidence, routed.reader)) | dict(routed.without_passages())
    answers = [(name, answer) for name in routed.evidence if (answer := by_question.get(name))]
    records = [answer.record(name, options.id) for name, answer in answers]
    for record in records:
        summary.count_record(record)
    summary.count(not_asked=len(routed.evidence) - len(records))
    system = task.record
    settings = {**system["settings"], **source_settings(options)}
    routes = [answer.route_record(name, options.id) for name, answer in answers]
    return SystemRun({**system, "settings": settings}, records, summary, routes)


def _write_systems_release(context: RunContext, tables: dict[str, Iterable[Record]]) -> None:
    """A release of answering systems alone; handbooks and their texts are in it where a system retrieves from them."""
    root, documents = context.workspace.release, [read_document(source.document) for source in context.present]
    draft = root.with_name(f".{root.name}.{os.getpid()}.writing")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        write_release(
            draft,
            manifest=run_record(context, "answering systems"),
            questions=context.questions(),
            handbooks=map(handbook_record, documents) if documents else None,
            sections=section_records(documents) if documents else None,
            systems=tables,
        )
        # A folder cannot be renamed onto one that has files
        shutil.rmtree(root, ignore_errors=True)
        draft.rename(root)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _references(context: RunContext, path: Path) -> Iterator[Record]:
    """The references of the questions that are asked. Raises AuditError, with the line, where the file cannot be read."""
    asked = {str(question["question_id"]) for question in context.questions()}
    records = (REFERENCE_RECORD.canonical(record) for _, record in read_json_lines(path))
    return (record for record in records if str(record.get("question_id")) in asked)


def system_questions(context: RunContext, options: SystemOptions) -> list[SystemQuestion]:
    """Every question, with the best passages of the handbooks that it concerns where the system retrieves.

    A system that asks sources gets only questions for which they have passages.
    """
    if options.asks_sources:
        return routed_questions(context, options).to_ask(context)
    types = _question_types(context)
    queries = [replace(query, question_type=types.get(query.question_id, "")) for query in map(Query.of, context.questions())]
    if not options.retrieves:
        return [SystemQuestion(query) for query in queries]
    if options.searches_corpus:
        found = corpus_passages(context, options)
        return [SystemQuestion(query, found.get(query.question_id, ())) for query in queries]
    retrieved = _retrieved_by_question(context)
    return [SystemQuestion(query, best_passages(retrieved.get(query.question_id, ()), options.passages)) for query in queries]


def _question_types(context: RunContext) -> dict[str, str]:
    """Question -> its type, where the references state one."""
    references = context.config.questions.references
    records = _references(context, references) if references else ()
    return {str(record["question_id"]): str(kind) for record in records if (kind := record.get("question_type"))}


def _retrieved_by_question(context: RunContext) -> dict[str, list[Retrieved]]:
    """Question -> what was retrieved for it, handbook by handbook."""
    documents: list[Document] = [read_document(source.document) for source in context.present]
    organs = {question["question_id"]: Query.of(question) for question in context.questions()}
    retrieved: dict[str, list[Retrieved]] = {}
    for document in documents:
        for record in read_lines(context.workspace.retrieval(document.handbook_id)):
            query = organs.get(record["question_id"])
            if query and meets(query, document):
                retrieved.setdefault(query.question_id, []).append((document, record["retrieval"]))
    return retrieved


# -- several sources -----------------------------------------------------------------------------------------
# Systems that answer from several sources: what the stage of routing stored for them, and their records.

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
                yield question_id, SourcedAnswer(evidence.question, (), evidence, evidence.notes, PASSAGES_GENERATOR)


def routed_questions(context: RunContext, options: SystemOptions) -> RoutedQuestions:
    """The stored results of the routing stage for a system."""
    stored = {
        str(record["question_id"]): record for batch in RouteStage(context).batches(options) for record in read_lines(batch.out)
    }
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


def quoted_records(context: RunContext, options: SystemOptions) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
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
        "system_id": options.id, "name": options.name or "Several sources, their closest passages", "model": PASSAGES_GENERATOR,
        "mode": options.mode, "retriever": options.across.retriever, "settings": source_settings(options),
    }  # fmt: skip


def source_settings(options: SystemOptions) -> dict[str, object]:
    """The settings of a system that asks sources, as its record of systems.jsonl lists them."""
    return {
        "group_by": options.group_by,
        "authority": options.authority,
        "required": list(options.required),
        "entities": options.entities.name if options.entities else None,
        "learned_from": options.learn.name if options.learn else None,
        "across": options.across.record(),
    }
