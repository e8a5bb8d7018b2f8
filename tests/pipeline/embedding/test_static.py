"""Static word vectors: what ships is whole, and near words have near vectors."""

from __future__ import annotations

import numpy as np
import pytest

from audit.pipeline.embedding.static import static_encoder, weighted_vectors
from audit.pipeline.embedding.vectors import no_progress


def test_words_of_like_meaning_are_near_and_length_is_one() -> None:
    vectors = static_encoder().encode(["my belly aches", "Stomach PAIN", "parking at the clinic"], no_progress)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    similarity = vectors @ vectors.T
    assert similarity[0, 1] > similarity[0, 2] + 0.2


def test_an_unknown_word_is_read_in_pieces_and_an_unknown_sign_is_left_out() -> None:
    vectors = static_encoder().encode(["tenofovir", "teno fovir", "\ue000", "café", "cafe"], no_progress)
    assert np.linalg.norm(vectors[0]) == pytest.approx(1, abs=1e-5)
    assert np.abs(vectors[2]).sum() == 0
    assert vectors[3] == pytest.approx(vectors[4])


def test_a_word_counts_by_its_weight_and_one_of_weight_0_not_at_all() -> None:
    weights = {"fever": 3.0, "what": 0.0, "parking": 1.0}
    vectors = weighted_vectors(["What fever?", "fever", "fever parking", "what", "parking"], weights.__getitem__)
    assert vectors[0] == pytest.approx(vectors[1])
    assert np.abs(vectors[3]).sum() == 0
    assert vectors[2] @ vectors[1] > vectors[2] @ vectors[4] + 0.2
