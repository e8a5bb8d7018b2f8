"""Encoders: words alone, and a model whose weights are the published ones."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from audit.errors import EmbeddingError
from audit.pipeline.embedding import encoders
from audit.pipeline.embedding.encoders import (
    MINILM,
    PINNED_WEIGHTS,
    STORED_VECTORS,
    VECTOR_TABLE,
    sentence_encoder,
    words_encoder,
)
from audit.pipeline.embedding.vectors import no_progress

CORPUS = ["time before dental work", "time before dental visits", "time before driving", "fever threshold", "fever at night"]


def test_phrases_are_similar_when_they_share_rare_words() -> None:
    vectors = words_encoder(CORPUS).encode(CORPUS, no_progress)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    similarity = vectors @ vectors.T
    assert similarity[0, 1] > similarity[0, 2] > similarity[0, 3], (
        "dental work: the visits share dental and time, driving only time, fever nothing"
    )


def test_a_typing_error_spoils_a_word_only_in_part() -> None:
    corpus = ["transplant clinic", "transplnat clinic", "raw seafood", "raw seafood dish", "transplant center", "clinic seafood"]
    vectors = words_encoder(corpus).encode(["transplant", "transplnat", "seafood"], no_progress)
    assert vectors[0] @ vectors[1] > 0.2 > vectors[0] @ vectors[2]


def test_a_phrase_that_shares_nothing_with_the_corpus_is_similar_to_none() -> None:
    encoder = words_encoder(CORPUS)
    assert not encoder.encode(["qqq zzz"], no_progress).any()


def test_more_phrases_than_dimensions_are_reduced() -> None:
    corpus = [
        f"{one} {two} {three}" for one in ("dental", "fever", "pets") for two in range(12) for three in ("work", "limit", "call")
    ]
    corpus += [f"{a}{b}{c}xy{c}{a}" for a in "bcdfgh" for b in "aeiou" for c in "klmnpqrst"]
    assert words_encoder(corpus).encode(corpus, no_progress).shape == (len(corpus), 256)


def test_the_digest_identifies_the_corpus_in_any_order() -> None:
    assert words_encoder(CORPUS).digest == words_encoder(CORPUS[::-1]).digest
    assert words_encoder(CORPUS).digest != words_encoder(CORPUS[1:]).digest


def test_the_digest_of_a_model_is_the_digest_of_its_weights(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    assert sentence_encoder(str(tmp_path)).digest == hashlib.sha256(b"weights").hexdigest()


def test_a_folder_without_weights_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError, match=r"contains neither model\.safetensors nor pytorch_model\.bin"):
        sentence_encoder(str(tmp_path))


def test_other_weights_under_a_known_name_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"not those")
    monkeypatch.setattr(encoders, "model_folder", lambda _: tmp_path)
    with pytest.raises(EmbeddingError, match="but the weights of sentence-transformers/all-MiniLM-L6-v2 have 53aa51172d14"):
        sentence_encoder(MINILM)


def test_the_real_model_finds_phrases_of_like_meaning_similar() -> None:
    if encoders.default_model() is None:
        pytest.skip("the extra models is not installed")
    encoder = sentence_encoder(MINILM)
    assert encoder.digest == PINNED_WEIGHTS[MINILM]
    vectors = encoder.encode(["when to see the dentist", "timing of dental care", "raw fish"], no_progress)
    assert vectors[0] @ vectors[1] > 0.5 > vectors[0] @ vectors[2]


def test_a_stored_vector_is_found_by_its_phrase_and_not_by_reading_all() -> None:
    with closing(sqlite3.connect(":memory:")) as con:
        con.execute(VECTOR_TABLE)
        con.execute("create temp table requested (phrase text primary key)")
        steps = [step[-1] for step in con.execute(f"explain query plan {STORED_VECTORS}")]
    assert [step for step in steps if "vectors" in step] == ["SEARCH vectors USING PRIMARY KEY (phrase=?)"]
