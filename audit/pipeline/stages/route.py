"""Routes questions to sources and packs the evidence, batch by batch, for systems that answer from several sources."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from audit.errors import RetrievalError
from audit.pipeline.answers.evidence import meets
from audit.pipeline.answers.files import read_json_lines
from audit.pipeline.embedding.encoders import Encoder, cached_encoder, sentence_encoder
from audit.pipeline.generation.source_passages import SourceQuoter
from audit.pipeline.llm.tasks import batches
from audit.pipeline.retrieval.across.entities import DictionaryRecogniser, EntityRecogniser, medical_recogniser, read_entity_terms
from audit.pipeline.retrieval.across.evidence import GatheredEvidence, gather
from audit.pipeline.retrieval.across.learning import learned_on
from audit.pipeline.retrieval.across.library import DENSE, Library, build_library
from audit.pipeline.retrieval.across.settings import SEMANTIC, CrossSourceSettings, DaksSettings
from audit.pipeline.retrieval.across.sources import Source
from audit.pipeline.retrieval.model import Query
from audit.pipeline.retrieval.settings import RetrievalSettings
from audit.pipeline.stages.build_cache import Task, code_digest, digest_of, write_lines
from audit.pipeline.stages.context import Outcome, Stage
from audit.pipeline.stages.source_groups import Files, documents_of, read_files, source_records, sources_of
from audit.pipeline.stages.system_options import SystemOptions
from audit.pipeline.stages.workers import check_workers, run_tasks
from audit.release.taxonomy import LEXICAL
from audit.text.documents import Document

CODE = (
    "pipeline/retrieval",
    "pipeline/embedding",
    "pipeline/answers",
    "pipeline/generation/source_passages.py",
    "pipeline/stages/route.py",
    "pipeline/stages/source_groups.py",
    "release/sourced_answers.py",
    "text",
)
BATCH = 50
"""Questions of one batch: what is lost when a run is killed, and what a worker gets at once."""


# -- one batch: plain data in, a file out, so any process can do it -------------------------------------------------


class Handbooks(NamedTuple):
    """The handbooks that questions of one organ concern, and how they are searched; named by the content of their files."""

    documents: Files
    sources: tuple[Source, ...]
    options: RetrievalSettings
    encoder: str
    cache: Path


@dataclass(frozen=True)
class RouteBatch:
    """A routing task: the questions, the sources, the settings, and the output file.

    encoder     name of the sentence model, where the retriever is one by meaning
    quotes      whether the answers are written too: the closest passages, quoted
    learn       file of questions whose primary source is known, to learn the weights of routing from, and its digest
    """

    system_id: str
    name: str
    handbooks: Handbooks
    questions: tuple[Mapping[str, Any], ...]
    across: CrossSourceSettings
    required: tuple[str, ...]
    entities: Path | None
    quotes: bool
    out: Path
    learn: tuple[Path, str | None] | None = None


@lru_cache(maxsize=2)
def _library(handbooks: Handbooks) -> tuple[Library, SourceQuoter]:
    documents = read_files(handbooks.documents)
    encoder = _encoder(handbooks.encoder, handbooks.cache)
    library = build_library(documents, handbooks.sources, handbooks.options, encoder, handbooks.cache / "indexes")
    return library, SourceQuoter(library, encoder)


def read_known(path: Path) -> list[tuple[str, str]]:
    """(question, primary source) of each line of a JSONL file. Raises RetrievalError, with the line, where one lacks either."""
    known = []
    for number, record in read_json_lines(path):
        question, primary = record.get("question"), record.get("primary_source")
        if not (isinstance(question, str) and isinstance(primary, str)):
            raise RetrievalError(
                f"{path}, line {number}: to learn from, a line needs the texts question and primary_source. Nothing was searched."
            )
        known.append((question, primary))
    return known


@lru_cache(maxsize=2)
def _learned(handbooks: Handbooks, learn: Path, _digest: str | None, daks: str, retriever: str) -> DaksSettings:
    # The settings as text: a mapping is no key of a cache
    library, _ = _library(handbooks)
    return learned_on(library, read_known(learn), DaksSettings(**json.loads(daks)), retriever)


def _encoder(name: str, cache: Path) -> Encoder | None:
    return cached_encoder(sentence_encoder(name), cache / "vectors") if name else None


def route_batch(batch: RouteBatch) -> dict[str, object]:
    """Route a batch of questions, pack their evidence, and write both; returns how many questions there were."""
    library, quoter = _library(batch.handbooks)
    recogniser = recogniser_of(batch.entities)
    across = batch.across
    if batch.learn:
        daks = _learned(batch.handbooks, *batch.learn, json.dumps(across.daks.record()), across.retriever)
        across = replace(across, daks=daks)
    records = []
    for question in batch.questions:
        evidence = gather(library, str(question["question"]), across, batch.required, recogniser)
        records.append(_record(batch, str(question["question_id"]), evidence, quoter))
    write_lines(batch.out, records)
    return {"questions": len(records)}


def _record(batch: RouteBatch, question_id: str, evidence: GatheredEvidence, quoter: SourceQuoter) -> dict[str, object]:
    duplicates = {str(number): [list(chunk) for chunk in chunks] for number, chunks in evidence.duplicates().items()}
    record = {"question_id": question_id, "question": evidence.question, "duplicates": duplicates}
    if not batch.quotes:
        return {**record, "routed": evidence.record(), "answer": None}
    answer = quoter.answer(evidence)
    # Seconds differ between runs, and the same questions are to give the same bytes
    own = answer.record(question_id, batch.system_id) | {"usage": None}
    return {**record, "routed": answer.route_record(question_id, batch.system_id), "answer": own}


def recogniser_of(entities: Path | None) -> EntityRecogniser:
    """Finds the terms of a vocabulary file; None: the medical terms of this program."""
    return DictionaryRecogniser(read_entity_terms(entities), entities.name) if entities else medical_recogniser()


# -- the stage ----------------------------------------------------------------------------------------------------------


@dataclass
class RouteStage(Stage):
    """A task is a batch of questions of one system; questions of one organ are together, as they concern the same handbooks."""

    name = "route"

    def tasks(self) -> list[Task]:
        """The texts, the questions, the sources and all settings of each batch."""
        check_workers(self.context.config.retrieval.workers)
        # Before anything is routed: a release has one source of each name
        if self._ready:
            source_records(self.context)
        return [task for options in self._systems for task in self.tasks_of(options)]

    @property
    def _ready(self) -> bool:
        """Whether there are texts and questions; else an earlier stage will write them."""
        return bool(self.context.questions()) and all(source.document.is_file() for source in self.context.present)

    @property
    def _systems(self) -> list[SystemOptions]:
        return [options for options in self.context.config.systems if options.asks_sources]

    def tasks_of(self, options: SystemOptions) -> list[Task]:
        """The batches of one system."""
        if not self._ready:
            # How many batches there will be is not known yet
            return [Task(self.name, options.id, {"documents": None})]
        return [self._task(batch) for batch in self.batches(options)]

    def _task(self, batch: RouteBatch) -> Task:
        cache, handbooks = self.context.cache, batch.handbooks
        expansion = cache.digest(handbooks.options.expansion) if handbooks.options.expansion else None
        inputs = {
            "documents": digest_of([digest for _, digest in handbooks.documents]), "questions": digest_of(batch.questions),
            "sources": list(map(asdict, handbooks.sources)), "across": batch.across.record(),
            "options": handbooks.options.record() | {"expansion": expansion}, "encoder": handbooks.encoder,
            "required": batch.required, "quotes": batch.quotes, "system": batch.system_id,
            "entities": cache.digest(batch.entities) if batch.entities else "", "learn": batch.learn[1] if batch.learn else "",
            "code": code_digest(*CODE),
        }  # fmt: skip
        return Task(self.name, f"{batch.system_id} {batch.name}", inputs, (batch.out,))

    def batches(self, options: SystemOptions) -> list[RouteBatch]:
        """The batches of a system, those of one organ one after the other."""
        context = self.context
        documents = documents_of(context)
        sources = sources_of(options, documents)
        by_organ: dict[str, list[dict[str, object]]] = {}
        for question in context.questions():
            by_organ.setdefault(Query.of(question).organ, []).append(question)
        return [
            self._batch(options, f"{organ} {number}", handbooks, questions)
            for organ, asked in by_organ.items()
            if (handbooks := self._handbooks(options, Query.of(asked[0]), documents, sources))
            for number, questions in enumerate(batches(asked, BATCH), start=1)
        ]

    def _handbooks(
        self, options: SystemOptions, asked: Query, documents: Sequence[Document], sources: Sequence[Source]
    ) -> Handbooks | None:
        """The handbooks that a question concerns; None if there are none in any source."""
        context, retrieval = self.context, self.context.config.retrieval
        concerned = {
            document.handbook_id: source
            for document, source in zip(documents, context.present, strict=True)
            if meets(asked, document)
        }
        concerned_sources = tuple(
            Source(source.source_id, own, source.authority)
            for source in sources
            if (own := tuple(handbook_id for handbook_id in source.handbook_ids if handbook_id in concerned))
        )
        files = tuple((source.document, context.cache.digest(source.document)) for source in concerned.values())
        by_meaning = options.across.retriever == DENSE or options.across.consolidation.ranker == SEMANTIC
        encoder = retrieval.encoder if by_meaning and retrieval.encoder != LEXICAL else ""
        cache = context.settings.data_dir.resolve() / "retrieval"
        return Handbooks(files, concerned_sources, retrieval.options, encoder, cache) if concerned_sources else None

    def _batch(self, options: SystemOptions, name: str, handbooks: Handbooks, questions: Sequence[dict[str, Any]]) -> RouteBatch:
        return RouteBatch(
            options.id, name, handbooks, tuple(questions), options.across, options.required, options.entities,
            not options.calls_model, self.context.workspace.routed(options.id, name),
            (options.learn, self.context.cache.digest(options.learn)) if options.learn else None,
        )  # fmt: skip

    def carry_out(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        """With as many workers as the config asks for."""
        config, open_tasks = self.context.config, {task.name: task for task in tasks}
        batches = [batch for options in self._systems for batch in self.batches(options)]
        to_do = [batch for batch in batches if f"{batch.system_id} {batch.name}" in open_tasks]
        logs = self.context.workspace.root / "slurm"
        for batch, outcome in run_tasks(config.retrieval.workers, config.cluster, route_batch, to_do, logs):
            yield open_tasks[f"{batch.system_id} {batch.name}"], outcome
