"""The bootstrap against loops that spell out its definition, and the cases in which it must not pretend to know."""

from itertools import combinations

import numpy as np
import pytest

from audit.metrics import pair_blocks
from audit.metrics.intervals import percentiles, wilson
from audit.metrics.pair_blocks import PRESCREENED, UNSCORED, Pairs, read_pairs
from audit.metrics.pigeonhole import (
    RATES,
    Support,
    Weighed,
    handbook_draws,
    interval,
    pooled_intervals,
    question_draws,
    question_intervals,
)
from audit.metrics.pigeonhole_sides import side_intervals

R_DIV = {"r_div": RATES["r_div"]}
PART, WHOLE = RATES["r_div"]


def some_pairs(questions: int, handbooks: int, seed: int = 3) -> Pairs:
    """Random outcomes, with about one pair in five not asked."""
    rng = np.random.default_rng(seed)
    cells = [(q, a, b) for q in range(questions) for a, b in combinations(range(handbooks), 2) if rng.random() < 0.8]
    outcome = rng.choice([0, 1, 2, 3, 4, UNSCORED, PRESCREENED], p=[0.05, 0.2, 0.3, 0.2, 0.1, 0.05, 0.1], size=len(cells))
    q, a, b = np.array(cells).T
    return Pairs(q, a * 32768 + b, outcome.astype(np.uint8))


def cells(pairs: Pairs) -> list[tuple[int, int, int, int]]:
    told = zip(pairs.question.tolist(), pairs.couple.tolist(), pairs.outcome.tolist(), strict=True)
    return [(q, couple >> 15, couple & 32767, outcome) for q, couple, outcome in told]


def everything(pairs: Pairs) -> np.ndarray:
    return np.ones((1, len(pairs.questions)), dtype=np.float32)


def middle(part: np.ndarray, whole: np.ndarray, pairs: int, units: int) -> np.ndarray:
    """The interval of part / whole over the draws that keep a third of the pairs."""
    kept = np.array([p / w if w >= pairs / 3 else np.nan for p, w in zip(part, whole, strict=True)])
    return np.ravel(percentiles(kept[None, :], [units]))


def test_a_pair_counts_as_often_as_its_question_and_both_its_handbooks_were_drawn():
    pairs = some_pairs(12, 6)
    w_q, w_h = question_draws(pairs), handbook_draws(pairs)
    part = sum(w_q[q] * w_h[a] * w_h[b] for q, a, b, o in cells(pairs) if o in PART)
    whole = sum(w_q[q] * w_h[a] * w_h[b] for q, a, b, o in cells(pairs) if o in WHOLE)
    expected = middle(part, whole, sum(o in WHOLE for *_, o in cells(pairs)), 6)
    assert np.ravel(pooled_intervals(pairs, everything(pairs), R_DIV)["r_div"]) == pytest.approx(expected, abs=1e-5)


def test_on_one_question_only_handbooks_are_drawn():
    pairs = some_pairs(8, 7)
    w_h = handbook_draws(pairs)
    low, high = question_intervals(pairs)
    for question in range(8):
        mine = [(a, b, o) for q, a, b, o in cells(pairs) if q == question and o in WHOLE]
        part, whole = sum(w_h[a] * w_h[b] * (o in PART) for a, b, o in mine), sum(w_h[a] * w_h[b] for a, b, o in mine)
        expected = middle(part, whole, len(mine), len({h for a, b, _ in mine for h in (a, b)}))
        assert (low[question], high[question]) == pytest.approx(expected, abs=1e-5)


def test_for_one_handbook_only_the_questions_and_the_others_are_drawn():
    pairs = some_pairs(12, 6)
    w_q, w_h = question_draws(pairs), handbook_draws(pairs)
    low, high = side_intervals(pairs, np.arange(6), 6, R_DIV)["all"]["r_div"]
    mine = [(q, a + b - 2, o) for q, a, b, o in cells(pairs) if 2 in (a, b) and o in WHOLE]
    part, whole = sum(w_q[q] * w_h[other] * (o in PART) for q, other, o in mine), sum(w_q[q] * w_h[other] for q, other, _ in mine)
    assert (low[2], high[2]) == pytest.approx(middle(part, whole, len(mine), 5), abs=1e-5)


def test_within_a_center_only_questions_are_drawn():
    pairs = some_pairs(30, 6)
    w_q = question_draws(pairs)
    low, high = side_intervals(pairs, np.array([0, 0, 0, 1, 1, 2]), 3, R_DIV)["within"]["r_div"]
    mine = [(q, o) for q, a, b, o in cells(pairs) if b <= 2 and o in WHOLE]
    part, whole = sum(w_q[q] * (o in PART) for q, o in mine), sum(w_q[q] for q, _ in mine)
    assert (low[0], high[0]) == pytest.approx(middle(part, whole, len(mine), len({q for q, _ in mine})), abs=1e-5)
    assert np.isnan([low[2], high[2]]).all(), "a center with one handbook has no pair within"


@pytest.mark.parametrize(("cells_in_a_block", "columns"), [(20, 8192), (8_000_000, 2), (1, 1)])
def test_how_pairs_are_cut_into_blocks_changes_nothing(monkeypatch, cells_in_a_block, columns):
    pairs, sides = some_pairs(12, 6), (np.array([0, 0, 1, 1, 2, 2]), 3, RATES)
    whole = pooled_intervals(pairs, everything(pairs)), question_intervals(pairs), side_intervals(pairs, *sides)
    monkeypatch.setattr(pair_blocks, "MOST_CELLS", cells_in_a_block)
    monkeypatch.setattr(pair_blocks, "MOST_COLUMNS", columns)
    cut = pooled_intervals(pairs, everything(pairs)), question_intervals(pairs), side_intervals(pairs, *sides)
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
    assert sum(int(block.holds(PART).sum()) for block in pairs.blocks()) == 2000


def test_a_draw_that_keeps_little_of_the_denominator_is_left_out():
    """Nine pairs, three of which disagree: two draws keep all, one keeps a single pair, which disagrees."""
    one = np.ones(1, dtype=int)
    whole = Weighed(np.array([[9.0, 9.0, 1.0]]), np.full((1, 9), 1.0), np.ones((1, 4)))
    part = Weighed(np.array([[3.0, 3.0, 1.0]]), np.repeat([[1.0, 0.0]], [3, 6], axis=1), np.ones((1, 4)))
    low, high = interval(part, whole, Support(known=one == 1, rare=one == 0, units=9 * one, trials=9 * one))
    assert (low[0], high[0]) == (pytest.approx(1 / 3), pytest.approx(1 / 3))


def test_the_same_pairs_always_give_the_same_interval():
    first, again = (pooled_intervals(some_pairs(12, 6), np.ones((1, 12), dtype=np.float32))["r_div"] for _ in range(2))
    assert np.array_equal(first, again)


def test_one_question_or_two_handbooks_leave_the_interval_unknown():
    for pairs in (some_pairs(1, 6), some_pairs(40, 2)):
        assert np.isnan(pooled_intervals(pairs, everything(pairs))["r_div"]).all()
    assert np.isnan(question_intervals(some_pairs(5, 2))).all()


def test_a_disagreement_never_seen_is_not_a_disagreement_ruled_out():
    """No disagreeing pair on ten questions by ten handbooks: 450 pairs, but ten questions' worth of knowledge."""
    pairs = some_pairs(10, 10)
    agreeing = Pairs(pairs.question, pairs.couple, np.ones_like(pairs.outcome))
    low, high = pooled_intervals(agreeing, everything(pairs), R_DIV)["r_div"]
    assert (low[0], high[0]) == wilson(0, 10)
    assert question_intervals(agreeing)[1] == pytest.approx(np.full(10, wilson(0, 5)[1]))


def test_a_disagreement_on_few_questions_is_not_left_to_draws_that_mostly_miss_it():
    pairs = some_pairs(50, 6)
    outcome = np.where(pairs.question == 0, 3, 1).astype(np.uint8)
    low, high = pooled_intervals(Pairs(pairs.question, pairs.couple, outcome), everything(pairs), R_DIV)["r_div"]
    share = np.mean(outcome == 3)
    assert (low[0], high[0]) == pytest.approx(np.ravel(wilson(share * 50, 50)), abs=1e-6)
    assert low[0] > 0


def test_a_store_without_pairs_gives_no_blocks_and_no_error(store):
    pairs = read_pairs(store("q1 kidney a=absent"))
    assert list(pairs.blocks()) == []
    assert np.isnan(pooled_intervals(pairs, np.ones((1, 0), dtype=np.float32))["r_div"]).all()


def test_outcomes_are_read_as_the_store_means_them(store):
    con = store("q1 kidney ab=ABSENT ac=CONSISTENT bc=UNSCORED d=absent\nq2 kidney bd=CONTRADICTORY")
    read = {(q, a, b): o for q, a, b, o in cells(read_pairs(con))}
    assert read == {
        (0, 0, 1): 0, (0, 0, 2): 1, (0, 1, 2): UNSCORED, (0, 0, 3): PRESCREENED, (0, 1, 3): PRESCREENED,
        (0, 2, 3): PRESCREENED, (1, 1, 3): 4,
    }  # fmt: skip
