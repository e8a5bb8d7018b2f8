"""Searches every handbook for the questions that concern it, one task each, in one process or in many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from audit.corpus.documents import Document
from audit.generation.evidence import meets
from audit.pipeline.build_cache import Task, code_digest, digest_of
from audit.pipeline.context import CachedStage, Outcome, SourceDocument
from audit.pipeline.coverage_check import check_questions_meet
from audit.pipeline.handbook_search import HandbookSearch, query_of, search_handbook
from audit.pipeline.workers import check_workers, run_tasks
from audit.retrieval.gold import Gold, read_gold, unused_gold

CODE = ("retrieval", "embedding", "text", "pipeline/handbook_search.py")


@dataclass
class RetrieveStage(CachedStage):
    """A task is a handbook."""

    name = "retrieve"

    def tasks(self) -> list[Task]:
        """Each handbook's text, the questions that concern it, and how it is searched."""
        check_workers(self.context.config.retrieval.workers)
        check_questions_meet(self.context, 1)
        return [self._task(source, self._search(source)) for source in self.context.present]

    def _task(self, source: SourceDocument, search: HandbookSearch) -> Task:
        inputs = {
            "document": self.context.cache.digest(source.document),
            "questions": digest_of(search.questions) if search.questions else None,
            "strategies": search.strategies, "trials": search.trials is not None, "options": self._settings(),
            "encoder": search.encoder, "reranker": search.reranker, "gold": digest_of(search.gold), "code": code_digest(*CODE),
        }  # fmt: skip
        return Task(self.name, source.handbook_id, inputs, tuple(filter(None, (search.out, search.trials))), source.handbook_id)

    def _settings(self) -> dict[str, Any]:
        """The settings of retrieval, with the table of synonyms by its content: a file may change under its name."""
        settings = self.context.config.retrieval.options
        digest = self.context.cache.digest(settings.expansion) if settings.expansion else None
        return settings.record() | {"expansion": digest}

    def _search(self, source: SourceDocument) -> HandbookSearch:
        options, workspace, handbook = self.context.config.retrieval, self.context.workspace, source.handbook_id
        return HandbookSearch(
            handbook, source.document,
            questions=tuple(question for question in self.context.questions() if meets(query_of(question), source)),
            strategies=tuple(dict.fromkeys((options.strategy, *options.compare))),
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
        return (self.context.document(source) for source in self.context.present if source.document.is_file())

    def warning(self) -> str:
        """Which entries of the file of gold sections match nothing."""
        path = self.context.config.retrieval.gold
        questions = {question["question_id"] for question in self.context.questions()}
        return unused_gold(path, self._documents(), questions) if path else ""

    def carry_out(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        """With as many workers as the config asks for."""
        config = self.context.config
        by_handbook = {task.handbook: task for task in tasks}
        searches = [self._search(source) for source in self.context.present if source.handbook_id in by_handbook]
        logs = self.context.workspace.root / "slurm"
        for search, outcome in run_tasks(config.retrieval.workers, config.cluster, search_handbook, searches, logs):
            yield by_handbook[search.handbook_id], outcome
