"""MedCPT: an encoder of questions and one of articles, trained on PubMed's search logs (arXiv:2307.00589).

A vector is the state of the first token, and is not scaled to length 1: the score of a passage is the product of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from audit.optional_imports import optional
from audit.pipeline.embedding.encoders import BATCH_SIZE, Encoder, model_folder, weights_digest
from audit.pipeline.embedding.vectors import Progress, Vectors, no_progress

QUERY, ARTICLE = "MedCPT-Query-Encoder", "MedCPT-Article-Encoder"
PUBLISHER = "ncbi"
# As published: 64 tokens of a question, 512 of an article
QUERY_TOKENS, ARTICLE_TOKENS = 64, 512


def medcpt_encoders(folder: Path | None = None, threads: int = 1) -> tuple[Encoder, Encoder]:
    """The encoders of questions and of articles, by name or from their folders in `folder`; loaded at the first use, on the CPU.

    Raises EmbeddingError where one cannot be found, MissingLibraryError without sentence-transformers.
    """
    return _encoder(QUERY, folder, QUERY_TOKENS, threads), _encoder(ARTICLE, folder, ARTICLE_TOKENS, threads)


def _encoder(name: str, folder: Path | None, tokens: int, threads: int) -> Encoder:
    model = str(folder / name) if folder else f"{PUBLISHER}/{name}"
    found = model_folder(model)
    loaded: list[Any] = []

    def encode(phrases: Sequence[str], progress: Progress = no_progress) -> Vectors:
        loaded.extend([] if loaded else [_load(found, tokens, threads)])
        parts = []
        for start in range(0, len(phrases), 16 * BATCH_SIZE):
            part = list(phrases[start : start + 16 * BATCH_SIZE])
            parts.append(np.asarray(loaded[0].encode(part, batch_size=BATCH_SIZE, show_progress_bar=False), dtype=np.float32))
            progress("embed", min(start + 16 * BATCH_SIZE, len(phrases)), len(phrases))
        return np.concatenate(parts) if parts else np.zeros((0, 1), dtype=np.float32)

    return Encoder(model, weights_digest(found, model), encode)


def _load(folder: Path, tokens: int, threads: int) -> Any:
    library = optional("sentence_transformers", "MedCPT", "models")
    optional("torch", "MedCPT", "models").set_num_threads(threads)
    words = library.models.Transformer(str(folder), max_seq_length=tokens)
    first = library.models.Pooling(words.get_word_embedding_dimension(), pooling_mode="cls")
    return library.SentenceTransformer(modules=[words, first], device="cpu")
