"""DAKS by hand: features of short score lists, budgets with an exact sum, and what is said of input that cannot be routed."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from math import log

import numpy as np
import pytest

from audit.pipeline.retrieval.across.budgets import budgets
from audit.pipeline.retrieval.across.features import NOTHING_FOUND, Features, probe_features, source_features, standardised
from audit.pipeline.retrieval.across.library import ChunkHit, build_library
from audit.pipeline.retrieval.across.routing import route, source_scores
from audit.pipeline.retrieval.across.settings import STANDARDISED, DaksSettings
from audit.pipeline.retrieval.across.sources import Source
from audit.release.sourced_answers import ChunkId
from tests.pipeline.retrieval.across.libraries import GUIDES, NOTHING, SETTINGS, SHORT, document, library


def probe(source: str, *scores: float) -> list[ChunkHit]:
    return [
        ChunkHit(source, ChunkId(source, f"s{rank}", 0), rank, score, rank) for rank, score in enumerate(scores, start=1)
    ]  # fmt: skip


def test_features_of_three_scores_by_hand() -> None:
    settings = DaksSettings(probe=4, top=3, entropy_temperature=1.0)
    features = probe_features([1.0, 0.6, 0.2], 2, settings)
    assert (features.peak, features.mean) == (1.0, pytest.approx((1.0 + 0.6 + 0.2) / 3))
    assert (features.margin, features.coverage) == (pytest.approx(0.8), 2 / 4)
    powers = np.exp([1.0, 0.6, 0.2])
    shares = powers / powers.sum()
    assert features.entropy == pytest.approx(-(shares * np.log(shares)).sum() / log(4))


def test_a_probe_of_equal_scores_has_the_highest_entropy_and_a_short_one_counts_what_is_missing_as_0() -> None:
    settings = DaksSettings(probe=4, top=2)
    assert probe_features([0.5] * 4, 4, settings) == Features(0.5, 0.5, 0.0, pytest.approx(1.0), 1.0)
    assert probe_features([0.5], 1, settings) == Features(0.5, 0.25, 0.5, 0.0, 0.25)
    assert probe_features([], 0, settings) == NOTHING_FOUND


def test_the_entropy_of_the_source_paper_is_that_of_a_plain_softmax() -> None:
    paper = replace(DaksSettings.paper(), probe=4, top=3)
    assert probe_features([4.0, 3.0, 2.0, 1.0], 3, paper) == Features(4.0, 3.0, 2.0, pytest.approx(0.94754, abs=1e-5), 3 / 4)
    assert probe_features([0.5] * 4, 4, paper).entropy == pytest.approx(log(4)) == probe_features([], 0, paper).entropy
    assert set(paper.weights) == {"peak", "mean", "margin", "entropy", "coverage"}


def test_scores_are_shares_of_the_best_of_the_question_or_standardised_over_the_sources() -> None:
    probes = {"a": probe("a", 8, 4), "b": probe("b", 4, 4)}
    features = source_features(probes, DaksSettings(probe=2, top=2))
    assert [(one.peak, one.mean, one.margin) for one in features.values()] == [(1.0, 0.75, 0.5), (0.5, 0.5, 0.0)]
    # Of their own best: peak 1 and 1, mean .75 and 1; so z is 0 and 0, -1 and +1
    features = source_features(probes, DaksSettings(probe=2, top=2, scale=STANDARDISED))
    assert [(one.peak, one.mean, one.margin) for one in features.values()] == [(0, -1, 1), (0, 1, -1)]
    assert standardised({}) == {}


def test_calibration_divides_by_the_typical_peak_of_a_source() -> None:
    probes = {"a": probe("a", 8), "b": probe("b", 4)}
    features = source_features(probes, DaksSettings(probe=2, top=1, typical_peak={"a": 8, "b": 2}))
    # 8 / 8 = 1 and 4 / 2 = 2, of which the best is 2
    assert [one.peak for one in features.values()] == [0.5, 1.0]


def test_the_score_is_the_weighted_sum_of_features_and_the_authority() -> None:
    features = {"a": Features(1, 0.5, 0.25, 0.5, 1), "b": Features(0.5, 0.5, 0, 1, 0)}
    weights = {"peak": 2.0, "mean": 1.0, "margin": 4.0, "entropy": -1.0, "coverage": 0.5}
    scores = source_scores(features, [0.0, 1.0], DaksSettings(weights=weights, authority_weight=0.3))
    assert scores.tolist() == pytest.approx([2 + 0.5 + 1 - 0.5 + 0.5, 1 + 0.5 - 1 + 0.3])


def test_a_source_whose_section_opens_with_the_subject_is_told_by_its_opening() -> None:
    handbooks = (
        document("first", "Shingles is a rash of old age. " + "It hurts. " * 30),
        document("second", "It hurts. " * 30 + "Shingles is a rash of old age."),
    )
    sources = (Source("a", ("first",)), Source("b", ("second",)))
    books = build_library(handbooks, sources, replace(SETTINGS, chunk_words=100))
    routing = route(books, "shingles or measles?")
    features = {one.source_id: one.features for one in routing.routes}
    # Measles is in neither: as rare as a word can be, log(1 + 2.5 / .5), beside log(1 + .5 / 2.5) of one that is in both
    assert features["a"].opening == pytest.approx(log(1 + 0.5 / 2.5) / (log(1 + 0.5 / 2.5) + log(1 + 2.5 / 0.5)))
    assert features["b"].opening == 0
    assert route(books, "shingles or measles?", DaksSettings(weights={"opening": 1}, authority_weight=0)).ranking == ("a", "b")
    assert route(books, "shingles", DaksSettings(source_weights={"b": 9.0})).ranking == ("b", "a")


@pytest.mark.parametrize(
    ("shares", "total", "minimum", "expected"),
    [
        # 2 + round(14 x .5, .3, .2) = 2 + (7, 4, 3): exact
        ([0.5, 0.3, 0.2], 20, 2, [9, 6, 5]),
        # 1 + round(7 x 1/3) = 3 each, 9 in all: the largest share gets the tenth
        ([1 / 3, 1 / 3, 1 / 3], 10, 1, [4, 3, 3]),
        # round(5 x .5) = 3 each, 6 in all: the first of the largest gives one back
        ([0.5, 0.5], 5, 0, [2, 3]),
        # 3 for each of 3 is more than 5: 1 each, 2 left; round(2 x .6, .3, .1) = (1, 1, 0)
        ([0.6, 0.3, 0.1], 5, 3, [2, 2, 1]),
        # fewer chunks than sources
        ([0.2, 0.7, 0.1], 2, 1, [0, 2, 0]),
        ([1.0], 7, 1, [7]),
        ([], 7, 1, []),
    ],
)
def test_budgets_by_hand(shares: list[float], total: int, minimum: int, expected: list[int]) -> None:
    assert budgets(shares, total, minimum) == expected


def test_budgets_always_add_up_and_keep_the_minimum() -> None:
    generator = np.random.default_rng(3)
    for sources, total, minimum in product((1, 2, 3, 9, 102), (1, 5, 20, 21, 200), (0, 1, 2)):
        shares = generator.dirichlet(np.full(sources, 0.3)).tolist()
        numbers = budgets(shares, total, minimum)
        assert sum(numbers) == total
        assert min(numbers) >= min(minimum, total // sources)


def test_authority_decides_between_sources_that_are_alike() -> None:
    even = DaksSettings(weights={}, authority_weight=1.0, share_temperature=1.0, budget=2, minimum=1)
    routing = route(library(SHORT, GUIDES), "fever", even)
    assert routing.ranking == ("guides", "short")
    assert [one.share for one in routing.routes] == pytest.approx([np.e / (1 + np.e), 1 / (1 + np.e)])
    assert [one.budget for one in routing.routes] == [1, 1]
    assert route(library(SHORT, GUIDES), "fever", DaksSettings(weights={}, authority_weight=0.0)).ranking == ("short", "guides")


def test_the_pool_has_the_best_chunks_of_each_source_within_its_budget() -> None:
    routing = route(library(), "fever", DaksSettings(budget=3, minimum=1, weights={}, authority_weight=5.0))
    assert [(one.source_id, one.budget) for one in routing.routes] == [("guides", 2), ("short", 1)]
    assert [one.source_id for one in routing.pool] == ["guides", "guides", "short"]
    uniform = route(library(), "fever", DaksSettings(budget=2, weights={}, authority_weight=0.0))
    assert [one.budget for one in uniform.routes] == [1, 1]


def test_the_trace_names_every_setting_and_is_the_same_in_every_run() -> None:
    traces = [json.dumps(route(library(), "fever").trace()) for _ in range(2)]
    assert traces[0] == traces[1]
    trace = json.loads(traces[0])
    assert set(trace["settings"]) == set(DaksSettings.__dataclass_fields__)
    assert trace["pool"][0].keys() == {"chunk", "source", "rank", "score"}


@pytest.mark.parametrize("question", ["", "  \n", "what is the?", "???"])
def test_an_empty_question_routes_nowhere_and_says_so(question: str) -> None:
    routing = route(library(), question)
    assert (routing.routes, routing.pool) == ((), ())
    assert routing.notes == ("The question has no words to search for. No source was searched; ask it in full words.",)


def test_a_source_without_text_gets_no_budget() -> None:
    routing = route(library(GUIDES, NOTHING, SHORT), "fever", DaksSettings(budget=4))
    assert set(routing.ranking) == {"guides", "short"}
    assert sum(one.budget for one in routing.routes) == 4
    assert routing.notes == ("Source 'nothing' has no text. It was given no budget; index its handbooks or leave it out.",)
    alone = route(library(NOTHING), "fever")
    assert (alone.routes, alone.pool, len(alone.notes)) == ((), (), 1)


def test_a_required_source_that_has_nothing_is_named() -> None:
    routing = route(library(), "gloves", required=["short", "oak", "guides"])
    assert routing.notes == (
        "Required source 'oak' does not exist. The evidence does not cover it.",
        "Required source 'short' has nothing on this question. The evidence does not cover it.",
    )
    assert [one.source_id for one in routing.pool] == ["guides"]


def test_a_budget_below_the_minimum_is_divided_and_said() -> None:
    routing = route(library(), "fever", DaksSettings(budget=3, minimum=2))
    assert sorted(one.budget for one in routing.routes) == [1, 2]
    assert routing.notes == (
        "A budget of 3 is below 2 for each of 2 sources. It was divided equally, and what is left over went to the best sources.",
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"top": 0}, "top must be"),
        ({"scale": "log"}, "allowed: best, standardised"),
        ({"share_temperature": 0}, "temperatures must be above 0"),
        ({"weights": {"peek": 1}}, "unknown feature peek"),
        ({"budget": 0}, "a budget of 0"),
        ({"typical_peak": {"a": 0}}, "typical peaks"),
        ({"opening_characters": 0}, "opening_characters"),
    ],
)
def test_settings_that_contradict_themselves_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DaksSettings(**changes)  # type: ignore[arg-type]
