"""Weights that find what decides a constructed set of questions."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from audit.errors import RetrievalError
from audit.pipeline.retrieval.across.features import source_features
from audit.pipeline.retrieval.across.learning import KnownQuestion, Predictors, conditional_logit, learned_on, learned_settings
from audit.pipeline.retrieval.across.library import ChunkHit
from audit.pipeline.retrieval.across.routing import source_scores
from audit.pipeline.retrieval.across.settings import DaksSettings
from audit.release.sourced_answers import ChunkId
from tests.pipeline.retrieval.across.libraries import library

AUTHORITY = {"a": 1.0, "b": 0.0}


def probe(source: str, *scores: float) -> list[ChunkHit]:
    return [ChunkHit(source, ChunkId(source, f"s{n}", 0), n, score, n + 1) for n, score in enumerate(scores)]


def test_weights_are_learned_from_the_questions_of_sources_that_exist() -> None:
    books = library()
    known = [("raw fish germs", "short"), ("swimming wounds", "guides"), ("fever", "nobody")]
    settings = learned_on(books, known, DaksSettings(), "bm25")
    assert set(settings.source_weights) == {"guides", "short"}
    assert settings != DaksSettings()
    with pytest.raises(RetrievalError, match="None of the 1 questions to learn from has one of these sources as primary_source"):
        learned_on(books, known[2:], DaksSettings(), "bm25")


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
    plain = DaksSettings(probe=2, top=2, authority_weight=3.0)
    learned = learned_settings(questions(1), AUTHORITY, plain, Predictors(authority=True, sources=False))
    assert share_right(plain, questions(2)) < 0.8, "a prior that strong misleads here"
    assert share_right(learned, questions(2)) > 0.9
    assert learned.weights["peak"] > 1
    assert abs(learned.authority_weight) < 1
    assert (learned.source_weights, learned.weights["opening"]) == ({}, 0), "no question has an opening"


def test_with_fewer_features_and_a_weight_for_each_source() -> None:
    learned = learned_settings(questions(1), AUTHORITY, DaksSettings(), Predictors(features=("mean",)))
    assert (learned.authority_weight, list(learned.weights), list(learned.source_weights)) == (0.0, ["mean"], ["a", "b"])
    assert share_right(learned, questions(2)) > 0.9


def test_a_source_that_is_mostly_primary_gets_its_log_odds() -> None:
    # Three of four times a, whatever the probes: the odds are 3 to 1
    alike = [KnownQuestion({"a": probe("a", 2), "b": probe("b", 2)}, primary) for primary in "aaab"]
    weights = learned_settings(alike, AUTHORITY, DaksSettings(), Predictors(penalty=1e-6)).source_weights
    assert weights["a"] - weights["b"] == pytest.approx(log(3), abs=1e-3)


def test_the_conditional_logit_agrees_with_a_logistic_regression_on_differences() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    generator = np.random.default_rng(4)
    design = generator.normal(size=(200, 2, 3))
    chosen = (generator.random(200) < 1 / (1 + np.exp((design[:, 0] - design[:, 1]) @ [2.0, -1.0, 0.0]))).astype(int)
    # Two alternatives: the logit of the second is the difference of their predictors
    model = linear_model.LogisticRegression(C=1 / 3.0, fit_intercept=False, tol=1e-8).fit(design[:, 1] - design[:, 0], chosen)
    assert conditional_logit(design, chosen, 3.0) == pytest.approx(model.coef_[0], abs=1e-3)
