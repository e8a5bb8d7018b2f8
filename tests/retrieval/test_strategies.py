"""Strategies over a small handbook: what is found, what is given, and the trace that tells how."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from audit.embedding.encoders import default_model, sentence_encoder
from audit.errors import RetrievalError
from audit.retrieval import STRATEGIES, Query, build
from audit.retrieval.reranking import cross_encoder
from tests.retrieval.handbooks import ALDER, PASSAGES, meanings

FLY = Query("q1", "When may I fly?")


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_finds_the_section_that_answers(name: str) -> None:
    retrieval = build(name, ALDER, PASSAGES, meanings()).retrieve(FLY)
    assert retrieval.ranked[0] == retrieval.passages[0].section_id == "s2"
    assert "three months" in retrieval.passages[0].text
    assert (retrieval.strategy, retrieval.mode, retrieval.reason) == (name, "passages", None)


def test_an_unknown_strategy_is_refused_in_a_sentence() -> None:
    with pytest.raises(
        RetrievalError, match=r"no strategy 'oracle'\. Nothing was retrieved\. Allowed: hero, bm25, dense, fusion"
    ):
        build("oracle", ALDER, PASSAGES)


def test_the_real_model_finds_by_meaning_what_shares_no_word() -> None:
    model = default_model()
    if model is None:
        pytest.skip("no sentence model is installed (extras retrieval and minilm)")
    found = build("dense", ALDER, PASSAGES, sentence_encoder(model)).retrieve(Query("q", "I feel hot and shivery at night"))
    assert found.ranked[0] == "s3"


def test_a_reranker_that_is_not_to_be_had_ends_in_a_sentence(tmp_path: Path) -> None:
    if find_spec("sentence_transformers") is None:
        pytest.skip("sentence-transformers is not installed (extra retrieval)")
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(RetrievalError, match=r"Reranker .* Nothing was retrieved\. Name a folder that holds a cross-encoder"):
        build("hero", ALDER, PASSAGES, None, cross_encoder(str(tmp_path))).retrieve(FLY)
