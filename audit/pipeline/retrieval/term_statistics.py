"""Term statistics of a handbook's own text: how unevenly words are spread over the chunks, and which occur together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import norm

from audit.pipeline.retrieval.bm25 import TOKEN, english_stem
from audit.pipeline.retrieval.index import HandbookIndex
from audit.text.tokens import STOP_WORDS, plain_text


@dataclass(frozen=True)
class TermStatistics:
    """The terms of one handbook: the stems of its words without stop words and numbers.

    column_of  stem -> its number in what follows
    spellings  the commonest spelling of each, to write it in a query
    tf_idf     chunks x terms, rows of length 1
    weights    of each term: the variance over the chunks of its TF-IDF; high where few chunks are about it
    pmi        terms x terms: log2 P(a, b) / (P(a) P(b)), where the two occur together; elsewhere not stored
    """

    column_of: Mapping[str, int]
    spellings: tuple[str, ...]
    tf_idf: csr_array
    weights: NDArray[np.float64]
    pmi: csr_array


def term_statistics(index: HandbookIndex, window: int) -> TermStatistics:
    """The statistics of a handbook; `window` is the largest distance in words at which two occur together."""
    sections = [list(_terms(section.text)) for section in index.document.sections]
    spellings: dict[str, Counter[str]] = {}
    for stem, word in (pair for section in sections for pair in section):
        spellings.setdefault(stem, Counter())[word] += 1
    column_of = {stem: column for column, stem in enumerate(spellings)}
    chunks = [[column_of[stem] for stem, _ in _terms(index.text(row)) if stem in column_of] for row in range(len(index.chunks))]
    tf_idf = _tf_idf(chunks, len(column_of))
    # The text of sections, because overlapping chunks would count a pair twice
    sequences = [np.array([column_of[stem] for stem, _ in section], dtype=np.int64) for section in sections]
    commonest = tuple(counts.most_common(1)[0][0] for counts in spellings.values())
    return TermStatistics(column_of, commonest, tf_idf, _variances(tf_idf), _pmi(sequences, window, len(column_of)))


def _terms(text: str) -> Iterator[tuple[str, str]]:
    """(stem, spelling) of every word that is neither a stop word nor a number, in order."""
    for word in TOKEN.findall(plain_text(text)):
        if word not in STOP_WORDS and not word.isdigit():
            yield english_stem(word), word


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
        (sequence[:-distance], sequence[distance:]) for sequence in sequences for distance in range(1, window + 1)
        if len(sequence) > distance
    ]  # fmt: skip
    first, second = (np.concatenate(ends) for ends in zip(*nearby, strict=True)) if nearby else (np.zeros(0, int),) * 2
    # Both orders, so the table is symmetric
    together = csr_array((np.ones(2 * len(first)), (np.r_[first, second], np.r_[second, first])), shape=(terms, terms))
    together.sum_duplicates()
    counts = np.bincount(np.concatenate([np.zeros(0, int), *sequences]), minlength=terms)
    rows = np.repeat(np.arange(terms), [end - start for start, end in pairwise(together.indptr.tolist())])
    expected = counts[rows] * counts[together.indices] / max(counts.sum(), 1) ** 2
    observed = together.data / max(2 * len(first), 1)
    return csr_array((np.log2(observed / expected), together.indices, together.indptr), shape=together.shape)
