"""The bootstrap against loops that spell out its definition, and the cases in which an interval must stay unknown."""

from itertools import combinations

import numpy as np
import pytest

from audit.stats import pair_table
from audit.stats.bootstrap import (
    Resampled,
    ResampledCounts,
    clustered_ratio_interval,
    ratio_interval,
    statistic_interval,
    stratified_draws,
)
from audit.stats.intervals import percentiles, wilson
from audit.stats.pair_table import (
    CONSISTENT,
    DISAGREEING,
    PRESCREENED,
    PRESENT,
    RATES,
    UNSCORED,
    Pairs,
    handbook_draws,
    question_draws,
    rate_intervals,
    resample,
    side_rate_intervals,
)

R_DIV = {"r_div": RATES["r_div"]}
EVENT, PRESENT_PAIRS = RATES["r_div"]


def some_pairs(questions: int, handbooks: int, seed: int = 3) -> Pairs:
    """Random outcomes, with about one pair in five not asked."""
    rng = np.random.default_rng(seed)
    cells = [(q, a, b) for q in range(questions) for a, b in combinations(range(handbooks), 2) if rng.random() < 0.8]
    outcome = rng.choice([0, 1, 2, 3, 4, UNSCORED, PRESCREENED], p=[0.05, 0.2, 0.3, 0.2, 0.1, 0.05, 0.1], size=len(cells))
    q, a, b = np.array(cells).T
    return Pairs(q, a * 32768 + b, outcome.astype(np.uint8))


def pair_rows(pairs: Pairs) -> list[tuple[int, int, int, int]]:
    rows = zip(pairs.question.tolist(), pairs.couple.tolist(), pairs.outcome.tolist(), strict=True)
    return [(q, couple // 32768, couple % 32768, outcome) for q, couple, outcome in rows]


def everything(pairs: Pairs) -> np.ndarray:
    return np.ones((1, len(pairs.questions)), dtype=np.float32)


def middle(numerator: np.ndarray, denominator: np.ndarray, pairs: int, units: int) -> np.ndarray:
    """The interval of numerator / denominator over the draws that keep a third of the pairs."""
    kept = np.array([n / d if d >= pairs / 3 else np.nan for n, d in zip(numerator, denominator, strict=True)])
    return np.ravel(percentiles(kept[None, :], [units]))


def test_a_pair_counts_as_often_as_its_question_and_both_its_handbooks_were_drawn():
    pairs = some_pairs(12, 6)
    w_q, w_h = question_draws(pairs), handbook_draws(pairs)
    event = sum(w_q[q] * w_h[a] * w_h[b] for q, a, b, o in pair_rows(pairs) if o in EVENT)
    present = sum(w_q[q] * w_h[a] * w_h[b] for q, a, b, o in pair_rows(pairs) if o in PRESENT_PAIRS)
    expected = middle(event, present, sum(o in PRESENT_PAIRS for *_, o in pair_rows(pairs)), 6)
    assert np.ravel(rate_intervals(pairs, everything(pairs), R_DIV)["r_div"]) == pytest.approx(expected, abs=1e-5)


def test_on_one_question_only_handbooks_are_drawn():
    pairs = some_pairs(8, 7)
    w_h = handbook_draws(pairs)
    low, high = rate_intervals(pairs)["r_div"]
    for question in range(8):
        mine = [(a, b, o) for q, a, b, o in pair_rows(pairs) if q == question and o in PRESENT_PAIRS]
        event, present = sum(w_h[a] * w_h[b] * (o in EVENT) for a, b, o in mine), sum(w_h[a] * w_h[b] for a, b, o in mine)
        expected = middle(event, present, len(mine), len({h for a, b, _ in mine for h in (a, b)}))
        assert (low[question], high[question]) == pytest.approx(expected, abs=1e-5)


def test_for_one_handbook_only_the_questions_and_the_others_are_drawn():
    pairs = some_pairs(12, 6)
    w_q, w_h = question_draws(pairs), handbook_draws(pairs)
    low, high = side_rate_intervals(pairs, np.arange(6), 6, R_DIV)["all"]["r_div"]
    mine = [(q, a + b - 2, o) for q, a, b, o in pair_rows(pairs) if 2 in (a, b) and o in PRESENT_PAIRS]
    event, present = (
        sum(w_q[q] * w_h[other] * (o in EVENT) for q, other, o in mine),
        sum(w_q[q] * w_h[other] for q, other, _ in mine),
    )
    assert (low[2], high[2]) == pytest.approx(middle(event, present, len(mine), 5), abs=1e-5)


def test_within_a_center_only_questions_are_drawn():
    pairs = some_pairs(30, 6)
    w_q = question_draws(pairs)
    low, high = side_rate_intervals(pairs, np.array([0, 0, 0, 1, 1, 2]), 3, R_DIV)["within"]["r_div"]
    mine = [(q, o) for q, a, b, o in pair_rows(pairs) if b <= 2 and o in PRESENT_PAIRS]
    event, present = sum(w_q[q] * (o in EVENT) for q, o in mine), sum(w_q[q] for q, _ in mine)
    assert (low[0], high[0]) == pytest.approx(middle(event, present, len(mine), len({q for q, _ in mine})), abs=1e-5)
    assert np.isnan([low[2], high[2]]).all(), "a center with one handbook has no pair within"


@pytest.mark.parametrize(("cells_in_a_block", "columns"), [(20, 8192), (8_000_000, 2), (1, 1)])
def test_how_pairs_are_cut_into_blocks_changes_nothing(monkeypatch, cells_in_a_block, columns):
    pairs, sides = some_pairs(12, 6), (np.array([0, 0, 1, 1, 2, 2]), 3, RATES)
    whole = rate_intervals(pairs, everything(pairs)), rate_intervals(pairs)["r_div"], side_rate_intervals(pairs, *sides)
    monkeypatch.setattr(pair_table, "MAX_CELLS", cells_in_a_block)
    monkeypatch.setattr(pair_table, "MAX_COUPLES", columns)
    cut = rate_intervals(pairs, everything(pairs)), rate_intervals(pairs)["r_div"], side_rate_intervals(pairs, *sides)
    assert len(list(pairs.blocks())) > 1
    np.testing.assert_allclose(cut[0]["r_div"], whole[0]["r_div"], atol=1e-5)
    np.testing.assert_allclose(cut[1], whole[1], atol=1e-5)
    np.testing.assert_allclose(cut[2]["between"]["r_abs"], whole[2]["between"]["r_abs"], atol=1e-5)


def test_questions_that_share_no_handbooks_stay_in_small_blocks():
    """200 questions, each with five handbooks of its own: 2,000 pairs must not become 200 x 2,000 cells."""
    question = np.repeat(np.arange(200), 10)
    couple = np.array([(5 * q + a) * 32768 + 5 * q + b for q in range(200) for a, b in combinations(range(5), 2)])
    pairs = Pairs(question, couple, np.full(2000, 3, dtype=np.uint8))
    assert sum(block.outcomes.size for block in pairs.blocks()) <= 16 * 2000
    assert sum(int(block.indicator(EVENT).sum()) for block in pairs.blocks()) == 2000


def test_a_draw_that_keeps_little_of_the_denominator_is_left_out():
    """30 pairs on 10 questions, a third of which disagree: two draws keep all, one keeps a single pair, which disagrees."""
    event, everything = np.ones((1, 10)), np.full((1, 10), 3.0)
    denominator = ResampledCounts(np.array([[30.0, 30.0, 1.0]]), everything, np.ones((1, 4)), Resampled.BOTH)
    numerator = ResampledCounts(np.array([[10.0, 10.0, 1.0]]), event, np.ones((1, 4)), Resampled.BOTH)
    low, high = ratio_interval(numerator, denominator)
    assert (low[0], high[0]) == (pytest.approx(1 / 3), pytest.approx(1 / 3))


def test_the_same_pairs_always_give_the_same_interval():
    first, again = (rate_intervals(some_pairs(12, 6), np.ones((1, 12), dtype=np.float32))["r_div"] for _ in range(2))
    assert np.array_equal(first, again)


def test_one_question_or_two_handbooks_leave_the_interval_unknown():
    for pairs in (some_pairs(1, 6), some_pairs(40, 2)):
        assert np.isnan(rate_intervals(pairs, everything(pairs))["r_div"]).all()
    assert np.isnan(rate_intervals(some_pairs(5, 2))["r_div"]).all()


def test_a_disagreement_never_seen_is_not_a_disagreement_ruled_out():
    """No disagreeing pair on ten questions by ten handbooks: 450 pairs, but ten questions' worth of knowledge."""
    pairs = some_pairs(10, 10)
    agreeing = Pairs(pairs.question, pairs.couple, np.ones_like(pairs.outcome))
    low, high = rate_intervals(agreeing, everything(pairs), R_DIV)["r_div"]
    assert (low[0], high[0]) == wilson(0, 10)
    assert rate_intervals(agreeing)["r_div"][1] == pytest.approx(np.full(10, wilson(0, 5)[1]))


def test_a_disagreement_on_few_questions_is_not_left_to_draws_that_mostly_miss_it():
    pairs = some_pairs(50, 6)
    outcome = np.where(pairs.question == 0, 3, 1).astype(np.uint8)
    low, high = rate_intervals(Pairs(pairs.question, pairs.couple, outcome), everything(pairs), R_DIV)["r_div"]
    share = np.mean(outcome == 3)
    assert (low[0], high[0]) == pytest.approx(np.ravel(wilson(share * 50, 50)), abs=1e-6)
    assert low[0] > 0


def entropy(counts: np.ndarray) -> np.ndarray:
    """Shannon entropy of the outcomes, in bits: (groups, outcomes, replicates) to (groups, replicates)."""
    p = counts / counts.sum(axis=1, keepdims=True)
    return -np.sum(p * np.log2(np.where(p > 0, p, 1)), axis=1)


def test_a_share_is_a_statistic_like_any_other():
    pairs = some_pairs(40, 6)
    counts = resample(pairs, [DISAGREEING, PRESENT - DISAGREEING], everything(pairs))
    found = statistic_interval(lambda drawn: drawn[:, 0] / drawn.sum(axis=1), counts)
    np.testing.assert_array_equal(found, rate_intervals(pairs, everything(pairs), R_DIV)["r_div"])


def test_the_entropy_of_labels_has_an_interval_from_the_same_draws():
    pairs = some_pairs(12, 6)
    outcomes = [CONSISTENT, DISAGREEING, PRESENT - DISAGREEING - CONSISTENT]
    counts = resample(pairs, outcomes, everything(pairs))
    w_q, w_h = question_draws(pairs), handbook_draws(pairs)
    drawn = [sum(w_q[q] * w_h[a] * w_h[b] for q, a, b, o in pair_rows(pairs) if o in wanted) for wanted in outcomes]
    kept = np.sum(drawn, axis=0) >= counts.observed.sum() / 3
    expected = percentiles(np.where(kept, entropy(np.array(drawn)[None])[0], np.nan)[None, :], [6])
    assert np.ravel(statistic_interval(entropy, counts)) == pytest.approx(np.ravel(expected), abs=1e-5)


def test_a_difference_and_a_median_are_statistics_too():
    pairs = some_pairs(40, 6)
    halves = np.repeat(np.eye(2, dtype=np.float32), 20, axis=1)
    counts = resample(pairs, [DISAGREEING, PRESENT - DISAGREEING], halves)

    def difference(drawn: np.ndarray) -> np.ndarray:
        shares = drawn[:, 0] / drawn.sum(axis=1)
        return np.stack([shares[0] - shares[1], np.median(shares, axis=0)])

    low, high = statistic_interval(difference, counts)
    assert low[0] < 0 < high[0]
    assert 0 < low[1] < high[1] < 1


def test_a_statistic_of_pairs_that_hardly_vary_has_no_interval():
    pairs = some_pairs(40, 6)
    outcome = np.where(pairs.question < 4, 3, 1).astype(np.uint8)
    rare = Pairs(pairs.question, pairs.couple, outcome)
    for groups in (everything(pairs), None):
        counts = resample(rare, [CONSISTENT, DISAGREEING], groups)
        assert np.isnan(statistic_interval(entropy, counts)).all()


def test_on_one_question_a_statistic_is_known_from_three_handbooks_on():
    for handbooks, known in ((2, False), (7, True)):
        counts = resample(some_pairs(8, handbooks), [CONSISTENT, DISAGREEING, PRESENT - DISAGREEING - CONSISTENT])
        low, high = statistic_interval(entropy, counts)
        assert (low < high).all() if known else np.isnan([low, high]).all()


def test_counts_per_question_are_resampled_by_question():
    event, total = np.array([[1, 0, 2, 1, 0, 3, 1, 0]], dtype=float), np.full((1, 8), 4.0)
    low, high = clustered_ratio_interval(event, total)
    assert 0 < low[0] < 8 / 32 < high[0] < 1


def test_strata_are_drawn_apart_and_a_stratum_rated_whole_is_not_drawn():
    times, stratum = np.array([3, 2, 4]), np.array([0, 0, 1])
    drawn = stratified_draws(times, stratum, fixed=np.array([False, True]), seed=1, replicates=50)
    assert (drawn[:, :2].sum(axis=1) == 5).all()
    assert (drawn[:, 2] == 4).all()
    assert len(np.unique(drawn[:, 0])) > 1
