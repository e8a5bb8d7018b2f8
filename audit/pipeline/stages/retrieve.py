"""Searches every handbook for the questions that concern it, one task each, in one process or in many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from audit.evaluation.gold import Gold, read_gold, unused_gold
from audit.pipeline.answers.evidence import meets
from audit.pipeline.embedding.encoders import FULL_PRECISION, Encoder, cached_encoder, loaded_encoder
from audit.pipeline.retrieval.closest import ClosestPassages
from audit.pipeline.retrieval.index import HandbookIndex, build_index
from audit.pipeline.retrieval.model import Query, Retrieval
from audit.pipeline.retrieval.retrievers import cross_encoder
from audit.pipeline.retrieval.settings import RetrievalSettings
from audit.pipeline.retrieval.strategies import (
    CLOSEST,
    ClosestStrategy,
    Strategy,
    compares_vectors,
    index_settings,
    make_strategy,
)
from audit.pipeline.stages.build_cache import BuildCache, Task, code_digest, digest_of, write_lines
from audit.pipeline.stages.context import Outcome, SourceDocument, Stage
from audit.pipeline.stages.corpus_search import corpus_task, search_corpus, searches_of_run
from audit.pipeline.stages.judging_input import check_questions_meet
from audit.pipeline.stages.workers import check_workers, run_tasks
from audit.release.taxonomy import LEXICAL
from audit.text.documents import Document, read_document

# -- one handbook: plain data in, files out, so any process can do it ----------------------------------------------

# Sections that a trial keeps, best first.
MAX_RANKED = 20


@dataclass(frozen=True)
class HandbookSearch:
    """A search task: the handbook, the settings, and the output file.

    strategies  answers are written from the passages of the first; all are compared where `trials` is a file
    gold        question -> the sections that contain its answer, if known
    precision   of the model (audit.pipeline.embedding.encoders: FULL_PRECISION, or HALF, whose vectors differ slightly)
    threads     of the model
    """

    handbook_id: str
    document: Path
    questions: tuple[Mapping[str, Any], ...]
    strategies: tuple[str, ...]
    options: RetrievalSettings
    encoder: str
    reranker: str
    cache: Path
    out: Path
    trials: Path | None = None
    gold: Mapping[str, Sequence[str]] | None = None
    precision: str = FULL_PRECISION
    threads: int = 1


MODEL_NOT_NEEDED = "Short handbooks are used in full; the sentence model was not needed to search them."


def search_handbook(task: HandbookSearch) -> Mapping[str, object]:
    """Search one handbook and write what was retrieved; returns how many questions and chunks there were.

    A `message` says so where the sentence model was not loaded.
    """
    document = read_document(task.document)
    # Strategies are compared by their rankings, gold is looked for in them: there the model counts in a short handbook too
    compared = task.gold is not None or len(task.strategies) > 1
    by_meaning = compared or compares_vectors(task.strategies, document, task.options)
    encoder = _encoder(task) if by_meaning and task.questions else None
    strategies = _strategies(task, document, encoder)
    queries = [Query.of(question) for question in task.questions]
    retrievals = {name: list(map(strategies[name].retrieve, queries)) for name in task.strategies}
    records = [
        {"question_id": query.question_id, "handbook_id": task.handbook_id, "retrieval": _record(retrieval)}
        for query, retrieval in zip(queries, retrievals[task.strategies[0]], strict=True)
    ]
    write_lines(task.out, records)
    if task.trials is not None:
        write_lines(task.trials, _trials(task, queries, retrievals))
    first = strategies[task.strategies[0]]
    chunks = first.passages.places if isinstance(first, ClosestStrategy) else first.index.chunks
    figures = {"questions": len(queries), "chunks": len(chunks)}
    return figures if by_meaning or task.encoder == LEXICAL else {**figures, "message": MODEL_NOT_NEEDED}


def _strategies(task: HandbookSearch, document: Document, encoder: Encoder | None) -> dict[str, Strategy]:
    """Name -> strategy over this handbook; its vectors are kept, so that whatever compares its texts finds them."""
    folder = task.cache / "indexes"
    reranker = cross_encoder(task.reranker) if task.reranker else None
    strategies: dict[str, Strategy] = {
        name: make_strategy(name, index, reranker) for name, index in _indexes(task, document, encoder, folder).items()
    }
    if CLOSEST in task.strategies:
        name = encoder.name if encoder else LEXICAL
        strategies[CLOSEST] = ClosestStrategy(ClosestPassages(document, encoder, folder), task.options, name)
    return strategies


def _indexes(task: HandbookSearch, document: Document, encoder: Encoder | None, folder: Path) -> dict[str, HandbookIndex]:
    """Strategy -> its index; strategies whose chunks are the same share one, and `closest` needs none."""
    cached = cached_encoder(encoder, task.cache / "vectors") if encoder else None
    settings = {name: index_settings(name, task.options) for name in task.strategies if name != CLOSEST}
    built = {options: build_index(document, options, cached, folder) for options in set(settings.values())}
    return {name: built[options] for name, options in settings.items()}


def _encoder(task: HandbookSearch) -> Encoder | None:
    """The model; None without one: words alone are then compared, which some strategies refuse."""
    return None if task.encoder == LEXICAL else loaded_encoder(task.encoder, task.threads, task.precision)


def _record(retrieval: Retrieval) -> dict[str, object]:
    # Seconds differ between runs. They are kept in the trials only, so the same search writes the same bytes here.
    return {name: value for name, value in retrieval.record().items() if name != "seconds"}


def _trials(
    task: HandbookSearch, queries: Sequence[Query], retrievals: Mapping[str, Sequence[Retrieval]]
) -> Iterator[dict[str, object]]:
    gold = task.gold or {}
    for position, query in enumerate(queries):
        for name, by_query in retrievals.items():
            retrieval = by_query[position]
            yield {
                "question_id": query.question_id, "handbook_id": task.handbook_id, "strategy": name, "mode": retrieval.mode,
                "ranked": list(retrieval.ranked[:MAX_RANKED]), "gold": list(gold.get(query.question_id, ())),
                "reason": retrieval.reason, "seconds": round(retrieval.seconds, 4),
            }  # fmt: skip


CODE = ("pipeline/retrieval", "pipeline/embedding", "text", "pipeline/stages/retrieve.py")


def search_task(search: HandbookSearch, cache: BuildCache) -> Task:
    """The search as a task of the build cache: it is repeated when anything that determines its result has changed."""
    # The table of synonyms by its content: a file may change under its name.
    expansion = cache.digest(search.options.expansion) if search.options.expansion else None
    inputs = {
        "document": cache.digest(search.document), "questions": digest_of(search.questions), "strategies": search.strategies,
        "trials": search.trials is not None, "options": search.options.record() | {"expansion": expansion},
        "encoder": (search.encoder, search.precision), "reranker": search.reranker, "gold": digest_of(search.gold),
        "code": code_digest(*CODE),
    }  # fmt: skip
    outputs = tuple(filter(None, (search.out, search.trials)))
    return Task("retrieve", search.handbook_id, inputs, outputs, search.handbook_id)


# -- the stage ----------------------------------------------------------------------------------------------------------


@dataclass
class RetrieveStage(Stage):
    """A task is a handbook, or the questions of one organ for a system that searches all handbooks as one corpus."""

    name = "retrieve"

    def tasks(self) -> list[Task]:
        """Each handbook's text, the questions that concern it, and how it is searched."""
        # Checked with the plan, before anything is searched.
        check_workers(self.context.config.retrieval.workers)
        check_questions_meet(self.context)
        handbooks = [self._task(source) for source in self.context.present] if self.context.config.searches_handbooks else []
        return [*handbooks, *(corpus_task(self.context, search) for search in searches_of_run(self.context))]

    def _task(self, source: SourceDocument) -> Task:
        task = search_task(self._search(source), self.context.cache)
        # Before the import of questions the task cannot be done yet. After it, a handbook that no question concerns is done.
        return task if self.context.questions() else replace(task, inputs={**task.inputs, "questions": None})

    def _search(self, source: SourceDocument) -> HandbookSearch:
        options, workspace, handbook = self.context.config.retrieval, self.context.workspace, source.handbook_id
        return HandbookSearch(
            handbook, source.document,
            questions=tuple(question for question in self.context.questions() if meets(Query.of(question), source)),
            strategies=tuple(dict.fromkeys((self.context.config.strategy, *options.compare))),
            options=options.options, encoder=options.encoder, reranker=options.reranker,
            cache=self.context.settings.data_dir.resolve() / "retrieval",
            out=workspace.retrieval(handbook), trials=workspace.trials(handbook) if options.compare else None,
            gold=self._gold.get(handbook),
        )  # fmt: skip

    @cached_property
    def _gold(self) -> Gold:
        path = self.context.config.retrieval.gold
        return read_gold(path, self._documents()) if path else {}

    def _documents(self) -> Iterator[Document]:
        return (read_document(source.document) for source in self.context.present if source.document.is_file())

    def warning(self) -> str:
        """Which entries of the file of gold sections match nothing."""
        path = self.context.config.retrieval.gold
        questions = {question["question_id"] for question in self.context.questions()}
        return unused_gold(path, self._documents(), questions) if path else ""

    def carry_out(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        """With as many workers as the config asks for."""
        config = self.context.config
        by_handbook = {task.handbook: task for task in tasks}
        corpus = {task.name: task for task in tasks if not task.handbook}
        searches = [self._search(source) for source in self.context.present if source.handbook_id in by_handbook]
        logs = self.context.workspace.root / "slurm"
        for search, outcome in run_tasks(config.retrieval.workers, config.cluster, search_handbook, searches, logs):
            yield by_handbook[search.handbook_id], outcome
        whole = [search for search in searches_of_run(self.context) if search.name in corpus]
        for one, result in run_tasks(config.retrieval.workers, config.cluster, search_corpus, whole, logs):
            yield corpus[one.name], result
