"""The expanded query, the first-stage retrievers, and the reranker of the best hits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from audit.errors import RetrievalError, describe_error
from audit.optional_imports import optional
from audit.pipeline.embedding.encoders import first_line
from audit.pipeline.embedding.vectors import nearest, no_progress
from audit.pipeline.retrieval.bm25 import tokens
from audit.pipeline.retrieval.fusion import Ranking, top_rows
from audit.pipeline.retrieval.index import HandbookIndex
from audit.text.synonyms import MEDICAL, read_groups

# -- query expansion ----------------------------------------------------------------------------------------------------

Phrase = tuple[str, ...]
SynonymGroups = tuple[tuple[tuple[str, Phrase], ...], ...]
"""Groups of phrases with the same meaning, each phrase as written and as stems."""


@dataclass(frozen=True)
class ExpandedQuery:
    """The expanded query: `texts`, the question first, and `weights`, token -> weight."""

    texts: tuple[str, ...]
    weights: Mapping[str, float]


def _token_counts(question_tokens: Sequence[str]) -> dict[str, float]:
    return {token: float(count) for token, count in Counter(question_tokens).items()}


def unexpanded_query(text: str, language: str | None = None) -> ExpandedQuery:
    """The question alone, in a language."""
    return ExpandedQuery((text,), _token_counts(tokens(text, language)))


def expand_query(text: str, groups: SynonymGroups, weight: float, language: str | None = None) -> ExpandedQuery:
    """The question and a second text with its synonyms; each added token has weight `weight`."""
    question_tokens = tokens(text, language)
    synonyms = list(_synonyms(question_tokens, groups))
    if not synonyms:
        return unexpanded_query(text, language)
    # Words of the question keep their full weight.
    added = {token for _, phrase in synonyms for token in phrase} - set(question_tokens)
    words = ", ".join(dict.fromkeys(written for written, _ in synonyms))
    weights = _token_counts(question_tokens) | dict.fromkeys(sorted(added), weight)
    return ExpandedQuery((text, f"{text} ({words})"), weights)


def _synonyms(question_tokens: Sequence[str], groups: SynonymGroups) -> Iterator[tuple[str, Phrase]]:
    for group in groups:
        present = [phrase for _, phrase in group if _contains(question_tokens, phrase)]
        if present:
            yield from ((written, phrase) for written, phrase in group if phrase not in present)


def _contains(question_tokens: Sequence[str], phrase: Phrase) -> bool:
    starts = range(len(question_tokens) - len(phrase) + 1)
    return any(tuple(question_tokens[start : start + len(phrase)]) == phrase for start in starts)


@lru_cache(maxsize=8)
def read_synonym_groups(path: Path | None = None, language: str | None = None) -> SynonymGroups:
    """The groups of a TOML file: `groups = [["kidney", "renal"], ...]`; None: the medical ones of `audit.text.synonyms`.

    language  whose stems they are compared by

    Raises RetrievalError where the file cannot be read or has another form.
    """
    path = path or MEDICAL
    try:
        groups = read_groups(path)
        stems = partial(tokens, language=language)
        return tuple(tuple((written, tuple(stems(written))) for written in group if stems(written)) for group in groups)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RetrievalError(
            f"{path} is not a table of synonyms ({describe_error(error)}). Nothing was retrieved. "
            'It must contain: groups = [["kidney", "renal"], ["heart attack", "myocardial infarction"]]'
        ) from error


# -- first-stage retrievers ---------------------------------------------------------------------------------------------

TokenWeights = Mapping[str, float]
QuestionAndPassage = tuple[str, str]


def bm25_over_chunks(index: HandbookIndex, weights: TokenWeights) -> Ranking:
    """Chunks by BM25."""
    scores = index.bm25["chunks"].scores(weights)
    return {int(row): float(scores[row]) for row in top_rows(scores, index.settings.depth)}


def bm25_over_sections(index: HandbookIndex, part: str, weights: TokenWeights) -> Ranking:
    """Sections by BM25 over their `bodies`, or their `headings` and those above; the chunks of a section share its score."""
    scores = index.bm25[part].scores(weights)
    sections = index.document.sections
    return {
        row: float(scores[number])
        for number in top_rows(scores, index.settings.depth)
        for row in index.rows_by_section[sections[number].section_id]
    }


def dense_over_chunks(index: HandbookIndex, texts: Sequence[str]) -> Ranking:
    """Chunks by the cosine of their vector with that of each text; the highest cosine counts.

    Exact. Empty without vectors. Raises MissingLibraryError without faiss-cpu for a large corpus (`vectors.FAISS_FROM`).
    """
    if index.vectors is None or index.encoder is None or not index.chunks:
        return {}
    depth = index.settings.depth
    queries = index.encoder.encode(list(texts), no_progress)
    cosines, rows = nearest(index.vectors, queries, depth, lambda: index.faiss_index)
    best: dict[int, float] = {}
    for row, cosine in zip(rows.ravel().tolist(), cosines.ravel().tolist(), strict=True):
        if cosine > 0:
            best[row] = max(cosine, best.get(row, cosine))
    return dict(sorted(best.items(), key=lambda item: (-item[1], item[0]))[:depth])


@dataclass(frozen=True)
class Reranker:
    """Scores (question, passage) pairs; higher is better. `name` is its name in records."""

    name: str
    score: Callable[[Sequence[QuestionAndPassage]], Sequence[float]]


def cross_encoder(model: str, threads: int = 1) -> Reranker:
    """A cross-encoder of sentence-transformers by name or folder (such as cross-encoder/ms-marco-MiniLM-L6-v2), on the CPU.

    Raises MissingLibraryError without the library. The model is loaded at the first call of `score`, which raises
    RetrievalError where it cannot be found.
    """
    optional("sentence_transformers", "A reranker", "models")
    loaded: list[Any] = []

    def score(pairs: Sequence[QuestionAndPassage]) -> Sequence[float]:
        # Loaded at the first use: most runs rerank nothing.
        loaded.extend([] if loaded else [_load_cross_encoder(model, threads)])
        return [float(value) for value in loaded[0].predict(list(pairs), show_progress_bar=False)]

    return Reranker(model, score)


def _load_cross_encoder(model: str, threads: int) -> object:
    library = optional("sentence_transformers", "A reranker", "models")
    optional("torch", "A reranker", "models").set_num_threads(threads)
    try:
        return library.CrossEncoder(model, device="cpu")
    except (OSError, ValueError) as error:  # unknown name, no network, or a model of another kind
        raise RetrievalError(
            f"Reranker '{model}' is not a folder and could not be downloaded from Hugging Face ({first_line(error)}). "
            "Nothing was retrieved. Name a folder that contains a cross-encoder, or leave the reranker out; "
            "the trace then reports that it was skipped."
        ) from error
