"""Answers a question from the handbooks of a run: extractive answers, labels by rules, and one answer from all sources.

Texts come from the run, indexes from a folder that is addressed by content. Existing indexes are read, so a process that was
killed while indexing continues with the next handbook.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from audit.errors import AuditError
from audit.jobs.asking import NOTHING, QUESTION_ID, Asked, AskScope, Step, clean_question, no_step
from audit.metrics.position_groups import ANSWERS, NOT_ADDRESSED, SELF, UNREAD, UNSCORED, in_groups
from audit.pipeline.answers.evidence import GroundedQuestion, meets
from audit.pipeline.answers.files import unread_record
from audit.pipeline.answers.unreadable import asked_in, other_language
from audit.pipeline.retrieval.across.evidence import gather
from audit.pipeline.retrieval.across.library import LANGUAGE_SAMPLE, Library, build_library
from audit.pipeline.retrieval.across.sources import sources_by
from audit.pipeline.retrieval.model import Query
from audit.pipeline.retrieval.settings import RetrievalSettings
from audit.pipeline.retrieval.strategies import HERO, make_strategy
from audit.pipeline.rules.answers.extractive_generator import extractive_answer
from audit.pipeline.rules.labels.baseline import judge
from audit.pipeline.rules.marks.several_sources import SourceReader, answer_from_sources
from audit.pipeline.rules.marks.statement_labels import statement_label
from audit.pipeline.verdict import Verdict
from audit.queries.run_texts import run_documents
from audit.release.sourced_answers import StoredEvidence
from audit.store.connection import open_store
from audit.text.documents import Document
from audit.text.language import language_of
from audit.vocabulary import GENERAL

SETTINGS = RetrievalSettings()
MAX_LIBRARIES = 4


class RunLibrary:
    """The handbooks of one run, ready for questions. Create it once per run; it reads a handbook at first use."""

    def __init__(self, documents: Iterable[Document], folder: Path | None, step: Step = no_step) -> None:
        # Detected once from part of the text: detecting it from the full text for every question would take most of the time
        documents = tuple(map(_with_language, documents))
        if not any(section.text.strip() for document in documents for section in document.sections):
            raise AuditError(
                f"This run has no texts of its handbooks, so they cannot be asked. {NOTHING} "
                "A run that `audit run` made has them; a release may bring them as sections.jsonl."
            )
        for number, document in enumerate(documents):
            step("Indexing", number / len(documents))
            # One by one, so finished indexes are kept if the process is killed
            build_library([document], sources_by([document], "center"), SETTINGS, folder=folder)
        self.library = build_library(documents, sources_by(documents, "center"), SETTINGS, folder=folder)
        self._libraries_by_scope: dict[AskScope, Library] = {}
        self.reader = SourceReader({document.handbook_id: document for document in documents}, self.library.sources)

    @classmethod
    def of_store(cls, path: Path, folder: Path | None, step: Step = no_step) -> RunLibrary:
        """The handbooks of the run in a store file. Raises AuditError where the run has no texts."""
        with open_store(path) as con:
            return cls(run_documents(con), folder, step)

    @property
    def documents(self) -> tuple[Document, ...]:
        """The handbooks, in the order of the run."""
        return tuple(index.document for index in self.library.indexes.values())

    def ask(self, text: str, scope: AskScope | None = None, step: Step = no_step) -> Asked:
        """The answers of the handbooks in the scope. Raises AuditError for an empty or too long question or an empty scope."""
        began, question, scope = time.perf_counter(), clean_question(text), scope or AskScope()
        library = self._in_scope(scope)
        query = Query(QUESTION_ID, question, scope.organ or GENERAL)
        answers = list(self._answers(library, query, step))
        step("Comparing", 1.0)
        verdicts = _verdicts(question, answers)
        table, labels = _table(library, answers), _labels(answers, verdicts)
        reasonings = [str(verdict["reasoning"]) for verdict in verdicts]
        grouped = in_groups(table, labels.to_numpy(dtype=object), reasonings)
        evidence = gather(library, question)
        # A handbook's answers do not depend on the scope
        sourced = answer_from_sources(evidence, replace(self.reader, sources=library.sources), statement_label)
        citations = {answer["handbook_id"]: answer["retrieval"]["citations"] for answer in answers}
        seconds = time.perf_counter() - began
        # The dashboard unpickles the reply, and knows only how evidence is stored
        stored = StoredEvidence(question, evidence.record(), evidence.duplicates())
        sourced = replace(sourced, evidence=stored)
        return Asked(question, scope, grouped, citations, labels, verdicts, sourced, sourced.notes, seconds, tuple(answers))

    def _in_scope(self, scope: AskScope) -> Library:
        """The library with the sources and handbooks of the scope; cached, because first use counts words and links passages."""
        if scope not in self._libraries_by_scope:
            if len(self._libraries_by_scope) >= MAX_LIBRARIES:
                self._libraries_by_scope.clear()
            self._libraries_by_scope[scope] = self._narrowed_library(scope)
        return self._libraries_by_scope[scope]

    def _narrowed_library(self, scope: AskScope) -> Library:
        if unknown := sorted(set(scope.sources) - self.library.source_by_id.keys()):
            raise AuditError(f"There is no source '{unknown[0]}'. {NOTHING} Sources: {', '.join(self.library.source_by_id)}.")
        in_scope = {document.handbook_id for document in self.documents if _concerns(scope, document)}
        sources = [
            replace(source, handbook_ids=members)
            for source in self.library.sources
            if (not scope.sources or source.source_id in scope.sources)
            and (members := tuple(handbook_id for handbook_id in source.handbook_ids if handbook_id in in_scope))
        ]
        if not sources:
            raise AuditError(f"No handbook is in this scope. {NOTHING} Choose more organs or more sources.")
        asked = {handbook_id for source in sources for handbook_id in source.handbook_ids}
        indexes = {name: index for name, index in self.library.indexes.items() if name in asked}
        return replace(self.library, sources=tuple(sources), indexes=indexes)

    def _answers(self, library: Library, query: Query, step: Step) -> Iterable[dict[str, Any]]:
        """The record of each handbook's answer, in the order of the run."""
        language = asked_in([query.text])
        for number, (handbook_id, index) in enumerate(library.indexes.items()):
            step("Reading", number / len(library.indexes))
            retrieval = make_strategy(HERO, index).retrieve(query).record()
            # The record omits most sections of a handbook that is used in full; these are read from the document
            grounded = GroundedQuestion(query, index.document, retrieval)
            reason = other_language(index.document, language)
            yield unread_record(grounded, reason) if reason else extractive_answer(grounded, self.reader.relevance(handbook_id))


def _with_language(document: Document) -> Document:
    return replace(document, language=document.language or language_of(document.full_text[:LANGUAGE_SAMPLE]))


def _concerns(scope: AskScope, document: Document) -> bool:
    return scope.organ is None or meets(Query(QUESTION_ID, "", scope.organ), document)


def _state(answer: dict[str, Any]) -> str:
    if answer["absent"] is None:
        return UNREAD
    return NOT_ADDRESSED if answer["absent"] else ANSWERS


def _verdicts(question: str, answers: list[dict[str, Any]]) -> tuple[dict[str, object], ...]:
    """One record per pair of answering handbooks."""
    answering = [answer for answer in answers if _state(answer) == ANSWERS]
    return tuple(
        _verdict_record(one["handbook_id"], other["handbook_id"], judge(question, one["answer"], other["answer"]))
        for one, other in combinations(answering, 2)
    )


def _verdict_record(handbook_a: str, handbook_b: str, verdict: Verdict) -> dict[str, Any]:
    return {
        "handbook_a": handbook_a, "handbook_b": handbook_b, "label": verdict.label, "significance": verdict.significance,
        "topic": verdict.topic, "reasoning": verdict.reasoning,
    }  # fmt: skip


def _table(library: Library, answers: list[dict[str, Any]]) -> pd.DataFrame:
    source_of = {handbook_id: source.source_id for source in library.sources for handbook_id in source.handbook_ids}
    records = []
    for answer in answers:
        document, state = library.indexes[answer["handbook_id"]].document, _state(answer)
        records.append({
            "handbook_id": document.handbook_id, "organ": document.organ, "center": document.center, "phase": document.phase,
            "answer": answer["answer"] if state == ANSWERS else None, "state": state,
            "source_id": source_of[document.handbook_id], "unread_reason": answer["unread_reason"],
        })  # fmt: skip
    return pd.DataFrame(records)


def _labels(answers: list[dict[str, Any]], verdicts: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Handbooks x handbooks: ABSENT where one of the two does not address the question."""
    names, states = [answer["handbook_id"] for answer in answers], np.array([_state(answer) for answer in answers])
    silent = states == NOT_ADDRESSED
    square = np.where(silent[:, None] | silent[None, :], "ABSENT", UNSCORED).astype(object)
    at = {name: number for number, name in enumerate(names)}
    for verdict in verdicts:
        one, other = at[verdict["handbook_a"]], at[verdict["handbook_b"]]
        square[one, other] = square[other, one] = verdict["label"] or UNSCORED
    np.fill_diagonal(square, SELF)
    return pd.DataFrame(square, index=names, columns=names)
