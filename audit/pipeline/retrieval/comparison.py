"""Configurations of a strategy of retrieval, compared on the same questions: each layer left out, numbers of passages, models.

The rows are those of the study of consumer health questions (Fensore et al., tables 1, 5 and 6) for `hybrid`, and the same
kinds of rows for the other strategies. What is searched is one handbook after the other, or all of them as one corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from audit.errors import RetrievalError
from audit.pipeline.embedding.encoders import Encoder
from audit.pipeline.retrieval.hybrid import HybridStrategy, TermStatistics
from audit.pipeline.retrieval.hybrid_settings import HYBRID_LAYERS
from audit.pipeline.retrieval.index import HandbookIndex, build_index
from audit.pipeline.retrieval.merged import home_of
from audit.pipeline.retrieval.model import Query, Retrieval
from audit.pipeline.retrieval.retrievers import Reranker
from audit.pipeline.retrieval.settings import RetrievalSettings
from audit.pipeline.retrieval.strategies import HERO, HYBRID, NEED_VECTORS, Strategy, index_settings, make_strategy
from audit.text.documents import Document

STRATEGIES, COMPONENTS, RERANKED, PASSAGES, MODELS = "strategies", "components", "reranked", "passages", "models"
INITIAL, FINAL = (5, 10, 20, 30, 50), (1, 3, 5, 10)
"""Chunks that are reranked, and passages: the numbers of the study."""
HERO_LAYERS = ("expansion", "dense", "bm25_chunks", "bm25_bodies", "bm25_headings", "navigation", "rerank")
"""The layers of HERO-QA that change which passages are found; the others add the text around them."""
LAYER_NAMES = {
    "expansion": "expansion", "dense": "vectors", "bm25": "BM25", "rerank": "reranking", "mmr": "MMR",
    "bm25_chunks": "BM25 of chunks", "bm25_bodies": "BM25 of sections", "bm25_headings": "BM25 of headings",
    "navigation": "less weight for contents pages",
}  # fmt: skip
NOT_RERANKED = "not reranked"
SECTION, DOCUMENT = "section", "document"
RELEVANT = (SECTION, DOCUMENT)
Record = dict[str, Any]


@dataclass(frozen=True)
class Collection:
    """What is searched at once: a handbook, or several as one document (`merged`), with the questions and their gold.

    gold  question -> the ids of the sections that answer it, in the document's own ids
    """

    name: str
    document: Document
    queries: tuple[Query, ...]
    gold: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Configuration:
    """One way to search: `comparison` is the table that it is a row of, and the first row there is what others are compared with.

    encoder, reranker  names, "" for none
    k                  passages that are measured
    """

    comparison: str
    name: str
    strategy: str
    settings: RetrievalSettings
    encoder: str
    reranker: str

    @property
    def k(self) -> int:
        """The number of passages."""
        return self.settings.hybrid.final_k if self.strategy == HYBRID else self.settings.passages


def strategies(names: Sequence[str], settings: RetrievalSettings, encoder: str, reranker: str) -> list[Configuration]:
    """Each strategy as it is."""
    return [Configuration(STRATEGIES, name, name, settings, encoder, reranker) for name in names]


def ablations(
    strategy: str, settings: RetrievalSettings, encoders: Sequence[str], rerankers: Sequence[str]
) -> list[Configuration]:
    """The rows of all tables for a strategy; the first encoder and the first reranker are those of every table but the last."""
    full = Configuration(COMPONENTS, f"{strategy}, full", strategy, settings, encoders[0], rerankers[0])
    rows = [full, *(replace(full, name=name, settings=less) for name, less in _left_out(full))]
    if strategy == HYBRID or full.reranker:
        asked = settings.hybrid.initial_k if strategy == HYBRID else settings.rerank_depth
        rows += [
            replace(full, comparison=RERANKED, name=f"{number} reranked", settings=_reranking(full, number))
            for number in _as_set_first(asked, INITIAL)
            if number >= full.k
        ]
    rows += [
        replace(full, comparison=PASSAGES, name=f"{number} passage{'s' * (number > 1)}", settings=_taking(settings, number))
        for number in _as_set_first(full.k, FINAL)
    ]
    for encoder in encoders if len(encoders) * len(rerankers) > 1 else ():
        rows += _models(full, encoder, rerankers) if encoder or strategy not in NEED_VECTORS else []
    return rows


def _models(full: Configuration, encoder: str, rerankers: Sequence[str]) -> Iterator[Configuration]:
    """A sentence model with each reranker; for `hybrid`, which reranks by terms where it has no model, also without any."""
    row, called = replace(full, comparison=MODELS, encoder=encoder), encoder or "words"
    otherwise = "reranked by the question's terms" if full.strategy == HYBRID else NOT_RERANKED
    for reranker in rerankers:
        yield replace(row, name=f"{called}, {reranker or otherwise}", reranker=reranker)
    if full.strategy == HYBRID and full.settings.hybrid.uses("rerank"):
        without = dict(_left_out(row))[f"without {LAYER_NAMES['rerank']}"]
        yield replace(row, name=f"{called}, {NOT_RERANKED}", settings=without, reranker="")


def _as_set_first(own: int, others: Sequence[int]) -> list[int]:
    """The number of the settings, which the others are compared with, and then these."""
    return list(dict.fromkeys((own, *others)))


def _left_out(full: Configuration) -> Iterator[tuple[str, RetrievalSettings]]:
    """(name, settings) without each layer that this configuration has, and for `hybrid` with one kind of search alone."""
    settings = full.settings
    if full.strategy == HYBRID:
        own = settings.hybrid
        used = [layer for layer in HYBRID_LAYERS if own.uses(layer) and (layer != "dense" or full.encoder)]
        both = {"dense", "bm25"} <= set(used)
        alone = {"vectors alone": ("expansion", "bm25", "rerank", "mmr"), "BM25 alone": ("expansion", "dense", "rerank", "mmr")}
        rows: dict[str, tuple[str, ...]] = {
            f"without {LAYER_NAMES[layer]}": (layer,) for layer in used if both or layer not in ("dense", "bm25")
        }
        rows |= {name: layers for name, layers in alone.items() if both or name == "BM25 alone"}
        for name, layers in rows.items():
            yield name, replace(settings, hybrid=replace(own, leave_out=own.leave_out | set(layers)))
    elif full.strategy == HERO:
        absent = {"dense": not full.encoder, "rerank": not full.reranker}
        for layer in HERO_LAYERS:
            if settings.uses(layer) and not absent.get(layer):
                yield f"without {LAYER_NAMES[layer]}", replace(settings, leave_out=settings.leave_out | {layer})


def _reranking(full: Configuration, number: int) -> RetrievalSettings:
    if full.strategy == HYBRID:
        return replace(full.settings, hybrid=replace(full.settings.hybrid, initial_k=number))
    return replace(full.settings, rerank_depth=number)


def _taking(settings: RetrievalSettings, number: int) -> RetrievalSettings:
    hybrid = replace(settings.hybrid, final_k=number, initial_k=max(number, settings.hybrid.initial_k))
    return replace(settings, passages=number, hybrid=hybrid)


# -- searching ----------------------------------------------------------------------------------------------------------


class ConfigurationSearch:
    """Searches collections by configurations; indexes, term statistics and models are made once for all of them.

    encoders   name -> encoder; None: words alone are compared
    rerankers  name -> reranker
    relevant   section: a passage is right where its section answers; document: where its handbook does
    """

    def __init__(
        self,
        folder: Path,
        encoders: Callable[[str], Encoder | None],
        rerankers: Callable[[str], Reranker | None],
        relevant: str = SECTION,
    ) -> None:
        self._folder, self._encoders, self._rerankers, self._relevant = folder, encoders, rerankers, relevant
        self._indexes: dict[tuple[str, RetrievalSettings, str], HandbookIndex] = {}
        self._statistics: dict[tuple[str, tuple[int, ...], int], TermStatistics] = {}

    def strategy(self, collection: Collection, configuration: Configuration) -> Strategy:
        """The strategy of a configuration over a collection."""
        settings = index_settings(configuration.strategy, configuration.settings)
        key = (collection.name, _chunks_of(settings), configuration.encoder)
        if key not in self._indexes:
            encoder = self._encoders(configuration.encoder)
            self._indexes[key] = build_index(collection.document, settings, encoder, self._folder)
        index = replace(self._indexes[key], settings=settings)
        reranker = self._rerankers(configuration.reranker)
        if configuration.strategy != HYBRID:
            return make_strategy(configuration.strategy, index, reranker)
        terms = (collection.name, settings.hybrid.chunk_sizes, settings.hybrid.pmi_window)
        hybrid = HybridStrategy(index, reranker, known=self._statistics.get(terms))
        self._statistics[terms] = hybrid.statistics
        return hybrid

    def trials(self, collection: Collection, configuration: Configuration) -> Iterator[tuple[Record, Retrieval]]:
        """A record of search_trials.jsonl for each question, and what was found."""
        strategy = self.strategy(collection, configuration)
        for query in collection.queries:
            retrieval = strategy.retrieve(query)
            passages = [passage for passage in retrieval.passages if passage.rank <= configuration.k]
            gold = collection.gold.get(query.question_id, ())
            yield {
                "question_id": query.question_id, "collection": collection.name, "comparison": configuration.comparison,
                "configuration": configuration.name, "passages": configuration.k,
                "ranked": [self._id(collection, passage.section_id) for passage in passages],
                "gold": list(dict.fromkeys(self._id(collection, section) for section in gold)),
                "seconds": round(retrieval.seconds, 4),
            }, retrieval  # fmt: skip

    def _id(self, collection: Collection, section_id: str) -> str:
        handbook, section = home_of(section_id)
        handbook = handbook or collection.document.handbook_id
        return handbook if self._relevant == DOCUMENT else f"{handbook}/{section}"


def _chunks_of(settings: RetrievalSettings) -> RetrievalSettings:
    """What chunks depend on, all else as it is by default: configurations with equal chunks share an index."""
    plain = RetrievalSettings()
    own = settings.hybrid
    sizes = replace(
        plain.hybrid, chunk_tokens=own.chunk_tokens, overlap_tokens=own.overlap_tokens, min_chunk_tokens=own.min_chunk_tokens,
        max_chunk_tokens=own.max_chunk_tokens,
    )  # fmt: skip
    return replace(
        plain, chunking=settings.chunking, chunk_words=settings.chunk_words, overlap_words=settings.overlap_words,
        heading_prefix=settings.heading_prefix, hybrid=sizes,
    )  # fmt: skip


def check_gold(collections: Sequence[Collection]) -> None:
    """Raise RetrievalError where no question has a known section: nothing could be compared."""
    if not any(collection.gold.get(query.question_id) for collection in collections for query in collection.queries):
        raise RetrievalError(
            "No question has a known section in these handbooks, so configurations cannot be compared. Nothing was searched. "
            "Name a file with --gold whose lines are {question_id, handbook_id, gold: [section ids]}."
        )
