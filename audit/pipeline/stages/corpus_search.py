"""Searches all handbooks that questions concern as one corpus, for systems with `search = "corpus"`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from audit.pipeline.answers.evidence import meets, retrieved_passage
from audit.pipeline.embedding.encoders import FULL_PRECISION, Encoder, cached_encoder, loaded_encoder
from audit.pipeline.generation.system_answers import SystemPassage
from audit.pipeline.retrieval.index import build_index
from audit.pipeline.retrieval.merged import corpus_settings, home_of, merged_document
from audit.pipeline.retrieval.model import Query
from audit.pipeline.retrieval.retrievers import cross_encoder
from audit.pipeline.retrieval.settings import RetrievalSettings
from audit.pipeline.retrieval.strategies import CLOSEST, HERO, Strategy, index_settings, make_strategy
from audit.pipeline.stages.build_cache import Task, code_digest, digest_of, read_lines, write_lines
from audit.pipeline.stages.context import RunContext
from audit.pipeline.stages.source_groups import Files, documents_of, read_files
from audit.pipeline.stages.system_options import SystemOptions
from audit.release.taxonomy import LEXICAL
from audit.text.documents import Document

CODE = ("pipeline/retrieval", "pipeline/embedding", "text", "pipeline/stages/corpus_search.py")


@dataclass(frozen=True)
class CorpusSearch:
    """A search task: the questions of one organ, and the handbooks that they concern; plain data, so that any process can do it.

    documents  files of the handbooks, named by their content
    encoder    name of the sentence model, or words
    """

    name: str
    documents: Files
    questions: tuple[Mapping[str, Any], ...]
    strategy: str
    options: RetrievalSettings
    encoder: str
    reranker: str
    cache: Path
    out: Path
    precision: str = FULL_PRECISION
    threads: int = 1


def corpus_strategy(
    name: str, documents: Sequence[Document], options: RetrievalSettings, encoder: Encoder | None, cache: Path, reranker: str = ""
) -> Strategy:
    """The strategy over one index of these handbooks; section ids of what it finds are those of the merged document."""
    settings = index_settings(name, corpus_settings(options))
    cached = cached_encoder(encoder, cache / "vectors") if encoder else None
    index = build_index(merged_document(documents), settings, cached, cache / "indexes")
    return make_strategy(name, index, cross_encoder(reranker) if reranker else None)


def search_corpus(task: CorpusSearch) -> dict[str, object]:
    """Search the corpus for every question and write the passages; returns how many questions and chunks there were.

    A record has the question's id and its `passages`, best first, each with its handbook.
    """
    encoder = None if task.encoder == LEXICAL else loaded_encoder(task.encoder, task.threads, task.precision)
    strategy = corpus_strategy(task.strategy, read_files(task.documents), task.options, encoder, task.cache, task.reranker)
    records = []
    for question in task.questions:
        retrieval = strategy.retrieve(Query.of(question))
        passages = [
            {"handbook_id": handbook_id, **replace(passage, section_id=section_id).record(number)}
            for number, passage in enumerate(retrieval.passages, 1)
            for handbook_id, section_id in [home_of(passage.section_id)]
        ]
        records.append({"question_id": question["question_id"], "strategy": strategy.name, "passages": passages})
    write_lines(task.out, records)
    return {"questions": len(records)}


def corpus_searches(context: RunContext, options: SystemOptions) -> list[CorpusSearch]:
    """The searches of a system, one for each organ of the questions."""
    by_organ: dict[str, list[dict[str, Any]]] = {}
    for question in context.questions():
        by_organ.setdefault(Query.of(question).organ, []).append(question)
    retrieval, settings = context.config.retrieval, retrieval_of(context, options)
    return [
        CorpusSearch(
            f"{options.id} {organ}", files, tuple(questions), strategy_of(context, options), settings, retrieval.encoder,
            retrieval.reranker, context.settings.data_dir.resolve() / "retrieval", context.workspace.routed(options.id, organ),
        )
        for organ, questions in by_organ.items()
        if (files := _concerned(context, Query.of(questions[0])))
    ]  # fmt: skip


def _concerned(context: RunContext, asked: Query) -> Files:
    return tuple((source.document, context.cache.digest(source.document)) for source in context.present if meets(asked, source))


def strategy_of(context: RunContext, options: SystemOptions) -> str:
    """The strategy that a system searches the corpus by: its own, else that of [retrieval]; `closest` is for single handbooks."""
    own = context.config.strategy
    return options.strategy or (HERO if own == CLOSEST else own)


def retriever_of(context: RunContext, options: SystemOptions) -> str:
    """The retriever of a system that takes passages, as systems.jsonl names it."""
    return f"{strategy_of(context, options)}, one corpus" if options.searches_corpus else context.config.strategy


def retrieval_of(context: RunContext, options: SystemOptions) -> RetrievalSettings:
    """The settings of [retrieval], with as many passages as the system takes."""
    settings, passages = context.config.retrieval.options, options.passages
    hybrid = replace(settings.hybrid, final_k=passages, initial_k=max(passages, settings.hybrid.initial_k))
    return replace(settings, passages=passages, hybrid=hybrid)


def corpus_task(context: RunContext, search: CorpusSearch) -> Task:
    """The search as a task of the build cache."""
    cache = context.cache
    expansion = cache.digest(search.options.expansion) if search.options.expansion else None
    inputs = {
        "documents": digest_of([digest for _, digest in search.documents]), "questions": digest_of(search.questions),
        "strategy": search.strategy, "options": search.options.record() | {"expansion": expansion}, "encoder": search.encoder,
        "reranker": search.reranker, "code": code_digest(*CODE),
    }  # fmt: skip
    return Task("retrieve", search.name, inputs, (search.out,))


def corpus_passages(context: RunContext, options: SystemOptions) -> dict[str, tuple[SystemPassage, ...]]:
    """Question -> the passages that were found for it, best first."""
    documents = {document.handbook_id: document for document in documents_of(context)}
    return {
        str(record["question_id"]): tuple(
            SystemPassage(
                passage["handbook_id"],
                retrieved_passage(number, passage, documents[passage["handbook_id"]]),
                passage["score"],
            )
            for number, passage in enumerate(record["passages"][: options.passages], 1)
        )
        for search in corpus_searches(context, options)
        for record in read_lines(search.out)
    }


def searches_of_run(context: RunContext) -> list[CorpusSearch]:
    """The searches of all systems that search the corpus as one."""
    return [
        search for options in context.config.systems if options.searches_corpus for search in corpus_searches(context, options)
    ]
