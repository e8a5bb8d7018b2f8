"""Each layer of `hybrid` on its own: what it does, by hand, and the trace that it leaves."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2
from typing import Any

import numpy as np
import pytest

from audit.pipeline.retrieval.hybrid import (
    TermStatistics,
    expanded,
    expansion_terms,
    medical_terms,
    most_relevant_and_unlike,
    repeats,
    term_statistics,
    with_overlap,
)
from audit.pipeline.retrieval.hybrid_settings import HybridSettings
from audit.pipeline.retrieval.index import HandbookIndex, build_index
from audit.pipeline.retrieval.model import Query, Retrieval
from audit.pipeline.retrieval.retrievers import Reranker
from audit.pipeline.retrieval.settings import RetrievalSettings
from audit.pipeline.retrieval.strategies import index_settings
from audit.text.documents import Section
from tests.pipeline.retrieval.handbooks import ALDER, FLY, build_strategy, handbook, meanings

FOODS = handbook(
    Section("s1", "", "Tacrolimus clashes grapefruit. Tacrolimus grapefruit daily."),
    Section("s2", "", "Prednisone raises sugar. Sugar checks daily."),
    Section("s3", "", "Walking daily helps everybody."),
)


def index_of(document: Any = FOODS, **changes: Any) -> HandbookIndex:
    settings = index_settings("hybrid", RetrievalSettings(hybrid=HybridSettings(**changes)))
    return build_index(document, settings)


def statistics_of(document: Any = FOODS, window: int = 5) -> TermStatistics:
    return term_statistics(index_of(document), window)


def retrieve(question: str, encoder: Any = None, reranker: Reranker | None = None, **changes: Any) -> Retrieval:
    settings = RetrievalSettings(hybrid=HybridSettings(**changes))
    return build_strategy("hybrid", ALDER, settings, encoder, reranker).retrieve(Query("q", question))


def test_mutual_information_is_that_of_counts_by_hand() -> None:
    # a b c: with a distance of 1 the pairs are a-b and b-c, each in both orders: 4 in all
    statistics = statistics_of(handbook(Section("s1", "", "alpha beta gamma")), window=1)
    column = [statistics.column_of[stem] for stem in ("alpha", "beta", "gamma")]
    assert statistics.pmi[column[0], column[1]] == pytest.approx(log2((1 / 4) / (1 / 3 * 1 / 3)))
    assert statistics.pmi[column[0], column[2]] == 0, "not within the window"
    assert (statistics.pmi.toarray() == statistics.pmi.toarray().T).all()


def test_the_weight_of_a_word_is_the_variance_of_its_tf_idf() -> None:
    statistics = statistics_of()
    assert statistics.weights == pytest.approx(statistics.tf_idf.toarray().var(axis=0))
    assert np.linalg.norm(statistics.tf_idf.toarray(), axis=1) == pytest.approx(1)
    weight = {stem: statistics.weights[column] for stem, column in statistics.column_of.items()}
    assert weight["daili"] == min(weight.values()), "it is in every chunk"
    assert weight["grapefruit"] > weight["walk"], "it stands twice"


def test_a_number_and_a_stop_word_are_no_terms() -> None:
    assert list(statistics_of(handbook(Section("s1", "", "Call us within 24 hours"))).column_of) == ["call", "hour"]


def test_medical_terms_are_the_words_of_the_question_that_the_handbook_has() -> None:
    statistics = statistics_of()
    stems = list(statistics.column_of)

    def terms(percentile: float) -> list[str]:
        settings = HybridSettings(medical_percentile=percentile)
        return [stems[column] for column in medical_terms("What about daily grapefruit and cheese?", statistics, settings)]

    assert terms(0) == ["daili", "grapefruit"]
    assert terms(90) == ["grapefruit"]


def test_words_that_occur_with_a_medical_term_are_added_in_their_usual_spelling() -> None:
    statistics, settings = statistics_of(window=1), HybridSettings(weight_percentile=50)
    query = expanded("Is grapefruit safe?", statistics, settings)
    added = query.texts[-1].removeprefix("Is grapefruit safe? ").split()
    assert set(added) == {"tacrolimus"}, "'clashes' and 'daily' are below the median weight"
    column = statistics.column_of["tacrolimus"]
    assert len(added) == query.weights["tacrolimus"] == repeats(column, statistics.weights, 4)
    assert query.weights["grapefruit"] == 1


def test_only_the_words_of_highest_mutual_information_are_added() -> None:
    statistics = statistics_of()
    every = expansion_terms("grapefruit", statistics, HybridSettings(weight_percentile=0, added_terms=99))
    first = expansion_terms("grapefruit", statistics, HybridSettings(weight_percentile=0, added_terms=1))
    row = statistics.pmi.toarray()[statistics.column_of["grapefruit"]]
    assert len(every) > len(first) == 1
    assert row[list(first)].item() == max(row[list(every)])
    assert not expansion_terms("grapefruit", statistics, HybridSettings(weight_percentile=0, pmi_threshold=99))


def test_a_word_is_repeated_one_to_four_times_by_its_weight() -> None:
    weights = np.array([0.0, 0.34, 0.67, 1.0])
    assert [repeats(column, weights, 4) for column in range(4)] == [1, 2, 3, 4]
    assert repeats(0, np.array([0.5]), 4) == 1, "all alike"


def test_the_overlap_is_the_share_of_the_medical_terms_in_the_chunk() -> None:
    statistics = statistics_of()
    terms = [statistics.column_of["sugar"], statistics.column_of["daili"]]
    assert with_overlap({2: 1.0, 1: 0.9}, terms, statistics) == {2: (1 + 1 / 2) / 2, 1: pytest.approx((0.9 + 1) / 2)}
    assert with_overlap({2: 1.0}, [], statistics) == {2: 1.0}, "without a term the search decides"


def test_passages_are_relevant_and_unlike_each_other() -> None:
    twins = handbook(
        *(Section(f"s{number}", "", text) for number, text in enumerate(("Eat no fish.", "Eat no fish.", "Call us.")))
    )
    index = index_of(twins, final_k=2)
    ranked = {0: 1.0, 1: 0.99, 2: 0.5}
    statistics = term_statistics(index, 5)
    assert list(most_relevant_and_unlike(index, ranked, statistics)) == [0, 2], "the second repeats the first"
    by_relevance = index_of(twins, final_k=2, mmr_lambda=1.0)
    assert list(most_relevant_and_unlike(by_relevance, ranked, statistics)) == [0, 1]
    assert most_relevant_and_unlike(index, {}, statistics) == {}


def test_a_cross_encoder_takes_the_place_of_the_overlap() -> None:
    asked = []

    def prefer_dentists(pairs: Sequence[tuple[str, str]]) -> list[float]:
        asked.extend(pairs)
        return [float("dentist" in text) for _, text in pairs]

    retrieval = retrieve("When may I fly or see a dentist?", meanings(), Reranker("prefers dentists", prefer_dentists))
    assert retrieval.ranked[0] == "s4"
    assert {question for question, _ in asked} == {"When may I fly or see a dentist?"}


@pytest.mark.parametrize(("layer", "name"), [("dense", "dense"), ("bm25", "bm25"), ("rerank", "reranked"), ("mmr", "mmr")])
def test_a_layer_that_is_left_out_says_so_in_the_trace(layer: str, name: str) -> None:
    retrieval = retrieve(FLY.text, meanings(), leave_out=frozenset({layer}))
    skipped = {found.name: found.skipped for found in retrieval.layers}
    assert skipped == {"dense": None, "bm25": None, "fused": None, "reranked": None, "mmr": None} | {name: "left out"}
    assert retrieval.ranked[0] == "s2"


def test_without_expansion_the_question_alone_is_searched_for() -> None:
    assert retrieve(FLY.text, leave_out=frozenset({"expansion"})).queries == (FLY.text,)


def test_without_a_model_it_searches_by_words_and_the_trace_says_so() -> None:
    retrieval = retrieve(FLY.text)
    assert retrieval.layers[0].skipped == "no sentence model was given"
    assert retrieval.ranked[0] == "s2"


def test_it_returns_as_many_passages_as_asked_for_from_as_many_hits() -> None:
    retrieval = retrieve("travel fever dentist vaccines fish", meanings(), initial_k=4, final_k=2)
    kept = {layer.name: len(layer.hits) for layer in retrieval.layers}
    assert (len(retrieval.passages), kept["reranked"], kept["mmr"]) == (2, 4, 2)
    assert [passage.rank for passage in retrieval.passages] == [1, 2]
    assert retrieval.ranked[:2] == tuple(passage.section_id for passage in retrieval.passages)


def test_a_question_of_unknown_words_finds_nothing() -> None:
    retrieval = retrieve("Xylophone?")
    assert (retrieval.passages, retrieval.ranked) == ((), ())


def test_the_weight_of_vectors_decides_between_two_searches() -> None:
    document = handbook(Section("s1", "", "Your temperature is high."), Section("s2", "", "The film was long."))

    def first(weight: float) -> str:
        hybrid = HybridSettings(dense_weight=weight, leave_out=frozenset({"expansion", "rerank"}))
        strategy = build_strategy("hybrid", document, RetrievalSettings(hybrid=hybrid), meanings())
        return strategy.retrieve(Query("q", "fever film")).ranked[0]

    assert (first(0.9), first(0.1)) == ("s1", "s2"), "one shares the meaning, the other a word"


def test_settings_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="leave_out has the unknown layer parents; allowed: expansion, dense, bm25, rerank, mmr"):
        HybridSettings(leave_out=frozenset({"parents"}))
    with pytest.raises(ValueError, match="nothing would be searched by"):
        HybridSettings(leave_out=frozenset({"dense", "bm25"}))
    with pytest.raises(ValueError, match="final_k must be at least 1, not 0"):
        HybridSettings(final_k=0)
    with pytest.raises(ValueError, match="dense_weight must be between 0 and 1, not 2"):
        HybridSettings(dense_weight=2)
