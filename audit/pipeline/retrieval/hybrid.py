"""The strategy `hybrid`: an expanded query, vectors and BM25 by weight, reranking, and passages that are unlike each other.

Source: Fensore, Carrillo-Larco, Shah and Ho, "Does Domain-Specific Retrieval Augmented Generation Help LLMs Answer Consumer
Health Questions?". Each layer is one function; `HybridSettings.leave_out` skips it.

A medical term is a word of the question that the handbook has and that is not a stop word, as in the study's published code: no
list of terms has to be kept, and it works in any field. `medical_percentile` keeps only words that few chunks are about: with the
rarer quarter, MRR on 828 questions is .770 instead of .785 (benchmarks/retrieval.md).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from math import floor

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import norm

from audit.pipeline.retrieval.bm25 import stemmed_words, tokens
from audit.pipeline.retrieval.fusion import Ranking, layer_of, max_scale, min_max_scale, score_fusion, section_ids
from audit.pipeline.retrieval.hybrid_settings import HybridSettings
from audit.pipeline.retrieval.index import HandbookIndex
from audit.pipeline.retrieval.model import PASSAGES, Layer, Query, Retrieval
from audit.pipeline.retrieval.passages import passages_of, section_titles
from audit.pipeline.retrieval.retrievers import ExpandedQuery, Reranker, bm25_over_chunks, dense_over_chunks, unexpanded_query

NO_ENCODER, LEFT_OUT = "no sentence model was given", "left out"


@dataclass(frozen=True)
class HybridStrategy:
    """The strategy over one handbook, whose index has chunks of whole sentences.

    reranker  a cross-encoder in place of the overlap of medical terms
    known     the term statistics of the same chunks and `pmi_window`, where another strategy has them
    """

    index: HandbookIndex
    reranker: Reranker | None = None
    name: str = "hybrid"
    known: TermStatistics | None = field(default=None, compare=False, repr=False)

    @cached_property
    def statistics(self) -> TermStatistics:
        """The handbook's term statistics; computed at the first question."""
        return self.known or term_statistics(self.index, self.index.settings.hybrid.pmi_window)

    def retrieve(self, question: Query) -> Retrieval:
        """The best passages for the question."""
        began = time.process_time()
        index, settings = self.index, self.index.settings.hybrid
        query = expanded(question.text, self.statistics, settings)
        rankings = first_stage(index, query)
        fused = weighted_sum(index, rankings)
        head = dict(list(fused.items())[: settings.initial_k])
        ranked = rerank(index, question.text, head, self.statistics, self.reranker)
        chosen = most_relevant_and_unlike(index, ranked, self.statistics)
        passages = passages_of(index, chosen, rankings)
        return Retrieval(
            strategy=self.name,
            mode=PASSAGES,
            passages=passages,
            ranked=section_ids(index, [*chosen, *ranked, *fused]),
            queries=query.texts,
            reason=None,
            seconds=time.process_time() - began,
            layers=_layers(index, rankings, fused, ranked, chosen),
            titles=section_titles(index, passages),
        )


def _layers(
    index: HandbookIndex, rankings: Mapping[str, Ranking], fused: Ranking, ranked: Ranking, chosen: Ranking
) -> tuple[Layer, ...]:
    uses = index.settings.hybrid.uses
    reasons = {name: NO_ENCODER if uses(name) else LEFT_OUT for name in ("dense", "bm25")}
    return (
        *(
            layer_of(index, name, rankings[name]) if name in rankings else Layer(name, skipped=reason)
            for name, reason in reasons.items()
        ),
        layer_of(index, "fused", fused),
        layer_of(index, "reranked", ranked) if uses("rerank") else Layer("reranked", skipped=LEFT_OUT),
        layer_of(index, "mmr", chosen) if uses("mmr") else Layer("mmr", skipped=LEFT_OUT),
    )


# -- query expansion ----------------------------------------------------------------------------------------------------


def medical_terms(question: str, statistics: TermStatistics, settings: HybridSettings) -> list[int]:
    """The columns of the question's medical terms, in its order, each once."""
    known = statistics.columns_of(question)
    least = _percentile(statistics, settings.medical_percentile)
    return [column for column in known if statistics.weights[column] >= least]


def _percentile(statistics: TermStatistics, percentile: float) -> float:
    return float(np.percentile(statistics.weights, percentile)) if len(statistics.weights) else 0.0


def expansion_terms(question: str, statistics: TermStatistics, settings: HybridSettings) -> dict[int, int]:
    """Column of an added term -> how often it stands in the query; those of the question itself are not added."""
    asked = set(statistics.columns_of(question))
    least = _percentile(statistics, settings.weight_percentile)
    added: dict[int, int] = {}
    for term in medical_terms(question, statistics, settings):
        row = statistics.pmi[[term]].tocoo()
        above = [
            (-pmi, column)
            for column, pmi in zip(row.col.tolist(), row.data.tolist(), strict=True)
            if pmi > settings.pmi_threshold and statistics.weights[column] > least and column not in asked
        ]
        strongest = [column for _, column in sorted(above)[: settings.added_terms]]
        added |= {column: repeats(column, statistics.weights, settings.max_repeats) for column in strongest}
    return added


def repeats(column: int, weights: NDArray[np.float64], most: int) -> int:
    """1 for the term of least weight, rising to `most` for the term of most weight."""
    lowest, highest = float(weights.min()), float(weights.max())
    share = (float(weights[column]) - lowest) / (highest - lowest) if highest > lowest else 0.0
    return 1 + floor((most - 1) * share)


def expanded(question: str, statistics: TermStatistics, settings: HybridSettings) -> ExpandedQuery:
    """The question, and with the added terms behind it where there are any."""
    plain = unexpanded_query(question, statistics.language)
    added = expansion_terms(question, statistics, settings) if settings.uses("expansion") else {}
    if not added:
        return plain
    stems = list(statistics.column_of)
    words = [statistics.spellings[column] for column, count in added.items() for _ in range(count)]
    weights = {stems[column]: float(count) for column, count in added.items()}
    return ExpandedQuery((question, " ".join((question, *words))), {**plain.weights, **weights})


# -- search, reranking and choice ---------------------------------------------------------------------------------------


def first_stage(index: HandbookIndex, query: ExpandedQuery) -> dict[str, Ranking]:
    """The rankings by cosine of the expanded text and by BM25; without a sentence model the second alone."""
    settings, rankings = index.settings.hybrid, {}
    if settings.uses("dense") and index.vectors is not None:
        rankings["dense"] = dense_over_chunks(index, query.texts[-1:])
    if settings.uses("bm25"):
        rankings["bm25"] = bm25_over_chunks(index, query.weights)
    return rankings


def weighted_sum(index: HandbookIndex, rankings: Mapping[str, Ranking]) -> dict[int, float]:
    """One ranking by `dense_weight`, each score scaled to [0, 1] first."""
    weight = index.settings.hybrid.dense_weight if len(rankings) > 1 else 1.0
    weights = {"dense": weight, "bm25": 1 - weight if len(rankings) > 1 else 1.0}
    scales = {"dense": min_max_scale, "bm25": max_scale}
    return score_fusion((scales[name](index, ranking, ""), weights[name]) for name, ranking in rankings.items())


def rerank(
    index: HandbookIndex, question: str, head: Ranking, statistics: TermStatistics, reranker: Reranker | None
) -> dict[int, float]:
    """The first hits in a new order, with scores in [0, 1]: by the cross-encoder, else by their medical terms too."""
    if not index.settings.hybrid.uses("rerank"):
        return dict(head)
    if reranker:
        scores = reranker.score([(question, index.text(row)) for row in head])
        return _best_first(min_max_scale(index, dict(zip(head, scores, strict=True)), ""))
    return _best_first(with_overlap(head, medical_terms(question, statistics, index.settings.hybrid), statistics))


def with_overlap(head: Ranking, terms: Sequence[int], statistics: TermStatistics) -> dict[int, float]:
    """The mean of a hit's score and of the share of the medical terms that its chunk has."""
    if not terms:
        return dict(head)
    shares = (statistics.tf_idf[list(head)][:, terms] > 0).sum(axis=1) / len(terms)
    return {row: (score + float(share)) / 2 for (row, score), share in zip(head.items(), shares, strict=True)}


def _best_first(scores: Mapping[int, float]) -> dict[int, float]:
    # A stable sort: equal scores stay in the order of the search
    return dict(sorted(scores.items(), key=lambda item: -item[1]))


def most_relevant_and_unlike(index: HandbookIndex, ranked: Ranking, statistics: TermStatistics) -> dict[int, float]:
    """The passages: one after the other, the hit whose score is high and which is least like those already taken.

    Maximal marginal relevance: lambda x score - (1 - lambda) x highest cosine with a passage taken. Source: Carbonell and
    Goldstein (1998), SIGIR. The scores returned are those of `ranked`.
    """
    settings, rows = index.settings.hybrid, list(ranked)
    if not settings.uses("mmr") or not rows:
        return {row: ranked[row] for row in rows[: settings.final_k]}
    cosines = _cosines(index, rows, statistics)
    relevance = settings.mmr_lambda * np.array([ranked[row] for row in rows])
    taken = [int(np.argmax(relevance))]
    while len(taken) < min(settings.final_k, len(rows)):
        gain = relevance - (1 - settings.mmr_lambda) * cosines[:, taken].max(axis=1)
        gain[taken] = -np.inf
        taken.append(int(np.argmax(gain)))
    return {rows[choice]: ranked[rows[choice]] for choice in taken}


def _cosines(index: HandbookIndex, rows: Sequence[int], statistics: TermStatistics) -> NDArray[np.float64]:
    """The cosine of each of these chunks with each other: of their vectors, or of their words if there are none."""
    if index.vectors is not None:
        vectors = index.vectors[list(rows)].astype(np.float64)
        return np.asarray(vectors @ vectors.T)
    words = statistics.tf_idf[list(rows)]
    return np.asarray((words @ words.T).toarray())


# -- term statistics -----------------------------------------------------------------------------------------
# How unevenly words are spread over the chunks of a handbook's own text, and which occur together.


@dataclass(frozen=True)
class TermStatistics:
    """The terms of one handbook: the stems of its words without stop words and numbers.

    column_of  stem -> its number in what follows
    spellings  the commonest spelling of each, to write it in a query
    tf_idf     chunks x terms, rows of length 1
    weights    of each term: the variance over the chunks of its TF-IDF; high where few chunks are about it
    pmi        terms x terms: log2 P(a, b) / (P(a) P(b)), where the two occur together; elsewhere not stored
    language   of the handbook
    """

    column_of: Mapping[str, int]
    spellings: tuple[str, ...]
    tf_idf: csr_array
    weights: NDArray[np.float64]
    pmi: csr_array
    language: str | None = None

    def columns_of(self, text: str) -> list[int]:
        """The columns of the terms of a text, in its order, each once."""
        return list(dict.fromkeys(self.column_of[token] for token in tokens(text, self.language) if token in self.column_of))


def term_statistics(index: HandbookIndex, window: int) -> TermStatistics:
    """The statistics of a handbook; `window` is the largest distance in words at which two occur together."""
    language = index.document.language
    sections = [list(_terms(section.text, language)) for section in index.document.sections]
    spellings: dict[str, Counter[str]] = {}
    for stem, word in (pair for section in sections for pair in section):
        spellings.setdefault(stem, Counter())[word] += 1
    column_of = {stem: column for column, stem in enumerate(spellings)}
    texts = map(index.text, range(len(index.chunks)))
    chunks = [[column_of[stem] for stem, _ in _terms(text, language) if stem in column_of] for text in texts]
    tf_idf = _tf_idf(chunks, len(column_of))
    # The text of sections, because overlapping chunks would count a pair twice
    sequences = [np.array([column_of[stem] for stem, _ in section], dtype=np.int64) for section in sections]
    commonest = tuple(counts.most_common(1)[0][0] for counts in spellings.values())
    return TermStatistics(column_of, commonest, tf_idf, _variances(tf_idf), _pmi(sequences, window, len(column_of)), language)


def _terms(text: str, language: str | None) -> Iterator[tuple[str, str]]:
    """(stem, spelling) of every word that is neither a stop word nor a number, in order."""
    return ((stem, word) for stem, word in stemmed_words(text, language) if not word.isdigit())


def _tf_idf(chunks: Sequence[Sequence[int]], terms: int) -> csr_array:
    ends = np.cumsum([0, *(len(chunk) for chunk in chunks)])
    columns = np.array([column for chunk in chunks for column in chunk], dtype=np.int64)
    counts = csr_array((np.ones(len(columns)), columns, ends), shape=(len(chunks), terms))
    counts.sum_duplicates()
    frequency = np.bincount(counts.indices, minlength=terms)
    table = counts @ diags_array(np.log((1 + len(chunks)) / (1 + frequency)) + 1)
    # A long chunk would otherwise make all of its words vary more
    length = norm(table, axis=1)
    return csr_array(diags_array(1 / np.where(length > 0, length, 1)) @ table)


def _variances(tf_idf: csr_array) -> NDArray[np.float64]:
    means = np.asarray(tf_idf.mean(axis=0)).ravel()
    variances: NDArray[np.float64] = np.asarray(tf_idf.multiply(tf_idf).mean(axis=0)).ravel() - means**2
    return variances


def _pmi(sequences: Sequence[NDArray[np.int64]], window: int, terms: int) -> csr_array:
    """Two words occur together where at most `window` words apart in one section; P(a, b) is their share of all such pairs."""
    nearby = [
        (sequence[:-distance], sequence[distance:])
        for sequence in sequences
        for distance in range(1, window + 1)
        if len(sequence) > distance
    ]
    first, second = (np.concatenate(ends) for ends in zip(*nearby, strict=True)) if nearby else (np.zeros(0, int),) * 2
    # Both orders, so the table is symmetric
    together = csr_array((np.ones(2 * len(first)), (np.r_[first, second], np.r_[second, first])), shape=(terms, terms))
    together.sum_duplicates()
    counts = np.bincount(np.concatenate([np.zeros(0, int), *sequences]), minlength=terms)
    rows = np.repeat(np.arange(terms), [end - start for start, end in pairwise(together.indptr.tolist())])
    expected = counts[rows] * counts[together.indices] / max(counts.sum(), 1) ** 2
    observed = together.data / max(2 * len(first), 1)
    return csr_array((np.log2(observed / expected), together.indices, together.indptr), shape=together.shape)
