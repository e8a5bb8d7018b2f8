"""HERO-QA: look up in four ways, fuse, read again, give the parents, and the whole handbook where that is short or evidence thin.

Source: arXiv:2605.29084, section 4.1 and appendix D. Each layer is one function; Options.leave_out leaves one out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from audit.retrieval.evidence import goes_whole, judged
from audit.retrieval.expansion import Expanded, expand, plain, read_groups
from audit.retrieval.fusion import combined, fused
from audit.retrieval.index import Index
from audit.retrieval.model import FULL_DOCUMENT, PASSAGES, Layer, Mode, Passage, Query, Retrieval
from audit.retrieval.options import RANKS
from audit.retrieval.passages import hits, titles, whole, with_parents
from audit.retrieval.ranking import Ranking, layer, one_a_section, ranks, ranks_of_sections, section_ids
from audit.retrieval.reranking import Reranker
from audit.retrieval.retrievers import by_bodies, by_chunk_words, by_headings, by_meaning
from audit.retrieval.scales import scaled

RETRIEVERS: Mapping[str, Callable[[Index, Expanded], Ranking]] = {
    "dense": lambda index, asked: by_meaning(index, asked.queries[:1]),
    "bm25_chunks": lambda index, asked: by_chunk_words(index, asked.weights),
    "bm25_bodies": lambda index, asked: by_bodies(index, asked.weights),
    "bm25_headings": lambda index, asked: by_headings(index, asked.weights),
}
OF_SECTIONS = ("bm25_bodies", "bm25_headings")
"""They rank sections; the chunks of one share its rank."""
LEFT_OUT, WHOLE = "left out", "the handbook went whole"
NO_ENCODER, NO_RERANKER = "no sentence model was given", "no reranker was given"


@dataclass(frozen=True)
class Hero:
    """HERO-QA over one handbook."""

    index: Index
    reranker: Reranker | None = None
    name: str = "hero"

    def retrieve(self, question: Query) -> Retrieval:
        """The handbook whole where it is short; else the best passages, or all of it where these are too thin to answer from."""
        began = time.process_time()
        index = self.index
        asked = expanded(index, question.text)
        found = first_stage(index, asked)
        merged = merge(index, question.text, found)
        given = whole_at_once(index, merged, found) or passages(index, question.text, merged, found, self.reranker)
        return Retrieval(
            self.name, given.mode, given.passages, section_ids(index, given.ranking), asked.queries, given.reason,
            time.process_time() - began, (*first_layers(index, found), layer(index, "fused", merged), *given.layers),
            titles(index, given.passages),
        )  # fmt: skip


@dataclass(frozen=True)
class Given:
    """What came of the fused ranking: the mode and its reason, the passages, the ranking they are from, and the last layers."""

    mode: Mode
    reason: str | None
    passages: tuple[Passage, ...]
    ranking: Ranking
    layers: tuple[Layer, Layer]


def whole_at_once(index: Index, merged: Ranking, found: Mapping[str, Ranking]) -> Given | None:
    """A short handbook, whole; None where it is longer."""
    if not goes_whole(index.document, index.options):
        return None
    skipped = Layer("reranked", skipped=WHOLE), Layer("expanded", skipped=WHOLE)
    return Given(FULL_DOCUMENT, None, whole(index, merged, found), merged, skipped)


def passages(index: Index, question: str, merged: Ranking, found: Mapping[str, Ranking], reranker: Reranker | None) -> Given:
    """The best passages with what is around them, or the whole handbook where they hold too little."""
    ranking, read_again = reranked(index, question, merged, reranker)
    best = parents(index, best_sections(index, ranking), found)
    mode, reason = judged(index, question, best)
    layers = read_again, Layer("expanded", tuple(passage.hit for passage in best))
    return Given(mode, reason, best if mode == PASSAGES else whole(index, ranking, found), ranking, layers)


def expanded(index: Index, question: str) -> Expanded:
    """The question with the words that mean the same."""
    options = index.options
    if not options.uses("expansion"):
        return plain(question)
    return expand(question, read_groups(options.expansion), options.expansion_weight)


def first_stage(index: Index, asked: Expanded) -> dict[str, Ranking]:
    """Name of a retriever -> what it found."""
    return {name: retriever(index, asked) for name, retriever in RETRIEVERS.items() if not _skipped(index, name)}


def _skipped(index: Index, name: str) -> str | None:
    if not index.options.uses(name):
        return LEFT_OUT
    return NO_ENCODER if name == "dense" and index.vectors is None else None


def first_layers(index: Index, found: Mapping[str, Ranking]) -> list[Layer]:
    """What each first-stage retriever found, or why it was not asked."""
    return [
        layer(index, name, found[name]) if name in found else Layer(name, skipped=_skipped(index, name)) for name in RETRIEVERS
    ]


def merge(index: Index, question: str, found: Mapping[str, Ranking]) -> Ranking:
    """One ranking of all: by scores and the weights of the retrievers, or by ranks; navigation counts less."""
    options = index.options
    weight = dict.fromkeys(index.navigation, options.navigation_weight) if options.uses("navigation") else {}
    if options.fusion == RANKS:
        return fused([(_places(index, name, ranking), 1.0) for name, ranking in found.items()], options.rrf_k, weight)
    scores = [(scaled(index, name, ranking, question), options.counts(name)) for name, ranking in found.items()]
    return combined(scores, weight)


def _places(index: Index, name: str, ranking: Ranking) -> dict[int, int]:
    return ranks_of_sections(index, ranking) if name in OF_SECTIONS else ranks(ranking)


def reranked(index: Index, question: str, merged: Ranking, reranker: Reranker | None) -> tuple[Ranking, Layer]:
    """What was fused, its head in the order in which the reranker reads it; and what the trace says of that."""
    if reranker is None or not index.options.uses("rerank"):
        return merged, Layer("reranked", skipped=LEFT_OUT if reranker else NO_RERANKER)
    head = one_a_section(index, merged)[: index.options.rerank_depth]
    scores = reranker.score([(question, index.text(row)) for row in head])
    order = sorted(zip(head, scores, strict=True), key=lambda each: -each[1])
    ranking = dict(order)
    return ranking | {row: score for row, score in merged.items() if row not in ranking}, layer(index, "reranked", ranking)


def best_sections(index: Index, ranking: Ranking) -> Ranking:
    """The best chunk of each of the best sections, as many as are given."""
    return {row: ranking[row] for row in one_a_section(index, ranking)[: index.options.passages]}


def parents(index: Index, best: Ranking, found: Mapping[str, Ranking]) -> tuple[Passage, ...]:
    """The hits with the section around them, or as they are where that layer is left out."""
    passages = hits(index, best, found)
    return with_parents(index, passages) if index.options.uses("parents") else passages
