"""The reranker: a cross-encoder that reads the question and a passage together. Passed in; there is a step without one too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from audit.errors import RetrievalError
from audit.optional_imports import optional

Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Reranker:
    """Scores (question, passage) pairs; higher is better. `name` is what records call it."""

    name: str
    score: Callable[[Pairs], Sequence[float]]


def cross_encoder(model: str, threads: int = 1) -> Reranker:
    """A cross-encoder of sentence-transformers by name or folder (such as cross-encoder/ms-marco-MiniLM-L6-v2), on the processor.

    Raises MissingLibraryError without the library; the model is loaded when the first pairs come, and a RetrievalError where it
    is not to be had.
    """
    optional("sentence_transformers", "A reranker", "retrieval")
    loaded: list[Any] = []

    def score(pairs: Pairs) -> Sequence[float]:
        loaded.extend([] if loaded else [_load(model, threads)])
        return [float(one) for one in loaded[0].predict(list(pairs), show_progress_bar=False)]

    return Reranker(model, score)


def _load(model: str, threads: int) -> Any:
    library = optional("sentence_transformers", "A reranker", "retrieval")
    optional("torch", "A reranker", "retrieval").set_num_threads(threads)
    try:
        return library.CrossEncoder(model, device="cpu")
    except (OSError, ValueError) as error:  # not there, no network, no such name, no cross-encoder
        told = (str(error).splitlines() or [type(error).__name__])[0][:120]
        raise RetrievalError(
            f"Reranker '{model}' is neither a folder nor to be had from Hugging Face ({told}). Nothing was retrieved. "
            "Name a folder that holds a cross-encoder, or leave the reranker out: the trace then says so."
        ) from error
