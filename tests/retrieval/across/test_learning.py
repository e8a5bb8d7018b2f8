"""Calibration by hand, and weights that find what decides a constructed set of questions."""

from __future__ import annotations

import numpy as np
import pytest

from audit.retrieval.across.features import source_features
from audit.retrieval.across.learning import KnownQuestion, learned_settings, typical_peaks
from audit.retrieval.across.library import ChunkHit, ChunkId
from audit.retrieval.across.routing import source_scores
from audit.retrieval.across.settings import DaksSettings

AUTHORITY = {"a": 1.0, "b": 0.0}


def probe(source: str, *scores: float) -> list[ChunkHit]:
    return [ChunkHit(source, ChunkId(source, f"s{n}", 0), n, score, n + 1) for n, score in enumerate(scores)]


def test_the_typical_peak_is_the_mean_best_score_of_a_source() -> None:
    probes = [{"a": probe("a", 8, 1), "b": probe("b", 2)}, {"a": probe("a", 4), "b": []}, {"c": []}]
    assert typical_peaks(probes) == {"a": (8 + 4) / 2, "b": 2}


def questions(seed: int) -> list[KnownQuestion]:
    """The source of the higher peak is the primary one in every question, whatever its authority."""
    peaks = np.random.default_rng(seed).uniform(1, 10, (60, 2))
    return [
        KnownQuestion({"a": probe("a", a, 1), "b": probe("b", b, 1)}, "a" if a > b else "b") for a, b in peaks.tolist()
    ]  # fmt: skip


def share_right(settings: DaksSettings, known: list[KnownQuestion]) -> float:
    right = [
        list(question.probes)[int(source_scores(source_features(question.probes, settings), [1, 0], settings).argmax())]
        == question.primary
        for question in known
    ]
    return sum(right) / len(right)


def test_learned_weights_find_what_decides_and_leave_the_rest() -> None:
    pytest.importorskip("sklearn")
    plain = DaksSettings(probe=2, top=2, authority_weight=3.0)
    learned = learned_settings(questions(1), AUTHORITY, plain)
    assert share_right(plain, questions(2)) < 0.8, "a prior that strong misleads here"
    assert share_right(learned, questions(2)) > 0.9
    assert learned.weights["peak"] > 1
    assert abs(learned.authority_weight) < 1


def test_without_the_prior_and_with_fewer_features() -> None:
    pytest.importorskip("sklearn")
    learned = learned_settings(questions(1), AUTHORITY, DaksSettings(), with_authority=False, names=("mean",))
    assert (learned.authority_weight, list(learned.weights)) == (0.0, ["mean"])
    assert share_right(learned, questions(2)) > 0.9
