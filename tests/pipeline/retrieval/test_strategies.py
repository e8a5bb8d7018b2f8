"""Strategies over a small handbook: what is found and what is returned."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from audit.errors import RetrievalError
from audit.pipeline.embedding.encoders import default_model, sentence_encoder
from audit.pipeline.retrieval.model import Query
from audit.pipeline.retrieval.retrievers import cross_encoder
from audit.pipeline.retrieval.strategies import STRATEGIES
from tests.pipeline.retrieval.handbooks import ALDER, FLY, PASSAGES, build_strategy, meanings


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_finds_the_section_that_answers(name: str) -> None:
    retrieval = build_strategy(name, ALDER, PASSAGES, meanings()).retrieve(FLY)
    assert retrieval.ranked[0] == retrieval.passages[0].section_id == "s2"
    assert "three months" in retrieval.passages[0].text
    assert (retrieval.strategy, retrieval.mode, retrieval.reason) == (name, "passages", None)


def test_an_unknown_strategy_is_refused_in_a_sentence() -> None:
    with pytest.raises(
        RetrievalError,
        match=r"no strategy 'oracle'\. Allowed: closest, hero, bm25, dense, fusion, hybrid\. Nothing was",
    ):
        build_strategy("oracle", ALDER, PASSAGES)


def test_the_real_model_finds_by_meaning_a_section_that_shares_no_word() -> None:
    model = default_model()
    if model is None:
        pytest.skip("no sentence model is installed (extra models)")
    retrieval = build_strategy("dense", ALDER, PASSAGES, sentence_encoder(model)).retrieve(
        Query("q", "I feel hot and shivery at night")
    )
    assert retrieval.ranked[0] == "s3"


def test_a_reranker_that_cannot_be_loaded_is_refused_in_a_sentence(tmp_path: Path) -> None:
    if find_spec("sentence_transformers") is None:
        pytest.skip("sentence-transformers is not installed (extra models)")
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(RetrievalError, match=r"Reranker .* Nothing was retrieved\. Name a folder that contains a cross-encoder"):
        build_strategy("hero", ALDER, PASSAGES, None, cross_encoder(str(tmp_path))).retrieve(FLY)


def test_dense_without_a_model_is_refused_in_a_sentence() -> None:
    with pytest.raises(RetrievalError, match="'dense' needs a sentence model"):
        build_strategy("dense", ALDER, PASSAGES)
