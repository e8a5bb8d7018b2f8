"""Intervals from related pairs, against loops that spell out which pairs are related, and the cases without an interval."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit
from scipy.stats import t

from audit.stats import pair_table
from audit.stats.clustered import clustered_ratio_interval, group_counts, share_variance
from audit.stats.intervals import wilson
from audit.stats.pair_table import (
    DISAGREEING,
    EACH_QUESTION,
    PRESCREENED,
    PRESENT,
    RATES,
    UNSCORED,
    Pairs,
    rate_intervals,
    related_counts,
    related_side_counts,
    side_rate_intervals,
)

R_DIV = {"r_div": RATES["r_div"]}
OUTCOMES = (DISAGREEING, PRESENT)
Row = tuple[int, int, int, int]


def some_pairs(questions: int, handbooks: int, seed: int = 3) -> Pairs:
    """Random outcomes, with about one pair in five not asked."""
    rng = np.random.default_rng(seed)
    cells = [(q, a, b) for q in range(questions) for a, b in combinations(range(handbooks), 2) if rng.random() < 0.8]
    outcome = rng.choice([0, 1, 2, 3, 4, UNSCORED, PRESCREENED], p=[0.05, 0.2, 0.3, 0.2, 0.1, 0.05, 0.1], size=len(cells))
    q, a, b = np.array(cells).T
    return Pairs(q, a * 32768 + b, outcome.astype(np.uint8))


def pair_rows(pairs: Pairs) -> list[Row]:
    rows = zip(pairs.question.tolist(), pairs.couple.tolist(), pairs.outcome.tolist(), strict=True)
    return [(q, couple // 32768, couple % 32768, outcome) for q, couple, outcome in rows]


def everything(pairs: Pairs) -> np.ndarray:
    return np.ones((1, len(pairs.questions)), dtype=np.float32)


def share_a_handbook(one: Row, other: Row) -> bool:
    return bool({one[1], one[2]} & {other[1], other[2]})


def related(one: Row, other: Row) -> bool:
    return one[0] == other[0] or share_a_handbook(one, other)


def spelt_out(rows: list[Row], are_related: Callable[[Row, Row], bool]) -> np.ndarray:
    """Couples of related pairs by the outcomes of both, one after the other."""
    return np.array(
        [
            [sum(are_related(x, y) for x in rows if x[3] in one for y in rows if y[3] in other) for other in OUTCOMES]
            for one in OUTCOMES
        ]
    )


def test_pairs_are_related_by_a_question_or_a_handbook():
    pairs = some_pairs(8, 6)
    counts = related_counts(pairs, OUTCOMES, everything(pairs))
    assert counts.related[0].tolist() == spelt_out(pair_rows(pairs), related).tolist()
    assert counts.pairs[0].tolist() == [sum(row[3] in wanted for row in pair_rows(pairs)) for wanted in OUTCOMES]


def test_on_one_question_pairs_are_related_by_a_handbook():
    pairs = some_pairs(6, 7)
    counts = related_counts(pairs, OUTCOMES, EACH_QUESTION)
    for question in range(6):
        mine = [row for row in pair_rows(pairs) if row[0] == question]
        assert counts.related[question].tolist() == spelt_out(mine, share_a_handbook).tolist()


def test_of_a_center_pairs_are_related_by_a_question_or_by_the_handbook_of_another():
    pairs, center = some_pairs(7, 6), [0, 0, 0, 1, 1, 2]

    def other(row: Row) -> int | None:
        outside = [handbook for handbook in row[1:3] if center[handbook] != 0]
        return outside[0] if outside else None

    def related_for_it(one: Row, two: Row) -> bool:
        return one[0] == two[0] or (other(one) is not None and other(one) == other(two))

    counts = related_side_counts(pairs, OUTCOMES, np.array(center), 3)
    of_it = [row for row in pair_rows(pairs) if 0 in (center[row[1]], center[row[2]])]
    within = [row for row in of_it if other(row) is None]
    for scope, rows in (("all", of_it), ("within", within), ("between", [row for row in of_it if row not in within])):
        assert counts[scope].related[0].tolist() == spelt_out(rows, related_for_it).tolist(), scope


def test_counting_pair_by_pair_and_in_blocks_gives_the_same():
    pairs = some_pairs(12, 6)
    table = pd.DataFrame(pair_rows(pairs), columns=["question", "handbook_a", "handbook_b", "outcome"])
    table = table[table["outcome"].isin(PRESENT)]
    group, event = (table["question"] % 2).to_numpy(), table["outcome"].isin(DISAGREEING).to_numpy()
    members = np.array([np.arange(12) % 2 == 0, np.arange(12) % 2 == 1], dtype=np.float32)
    by_pair, in_blocks = group_counts(table, group, 2, event), related_counts(pairs, OUTCOMES, members)
    for name in ("pairs", "related", "units", "trials"):
        np.testing.assert_allclose(getattr(by_pair, name), getattr(in_blocks, name), rtol=1e-6, err_msg=name)


def test_of_all_disagreement_the_shares_of_groups_are_related_across_groups():
    pairs = some_pairs(8, 6)
    rows = [row for row in pair_rows(pairs) if row[3] in DISAGREEING]
    table = pd.DataFrame(rows, columns=["question", "handbook_a", "handbook_b", "outcome"])
    group = np.arange(len(table)) % 3
    counts = group_counts(table, group, 3, np.ones(len(table), dtype=bool), of_all=True)
    own = [row for row, number in zip(rows, group, strict=True) if number == 1]
    assert counts.pairs[1].tolist() == [len(own), len(rows)]
    assert counts.related[1][0, 1] == sum(related(x, y) for x in own for y in rows)
    assert counts.related[1][1, 1] == sum(related(x, y) for x in rows for y in rows)


def test_with_one_pair_a_question_the_variance_is_that_of_the_textbook():
    """3 of 10 independent trials: p (1 - p) / (n - 1) on the scale of logits, Student's t with 9 degrees of freedom."""
    event = np.array([[1.0] * 3 + [0.0] * 7])
    half = t.ppf(0.975, 9) * np.sqrt(0.3 * 0.7 / 9) / (0.3 * 0.7)
    expected = expit(logit(0.3) + np.array([-half, half]))
    assert np.ravel(clustered_ratio_interval(event, np.ones((1, 10)))) == pytest.approx(expected)


def test_the_variance_of_a_mean_is_estimated_without_bias_however_few_handbooks_there_are():
    """6 questions, 6 handbooks, effects of question, handbook and answer; on average the estimate is the spread of the means."""
    rng, (a, b) = np.random.default_rng(11), np.array(list(combinations(range(6), 2))).T
    means, estimates = [], []
    for _ in range(1500):
        chance = 0.5 + 0.2 * (rng.normal(size=(6, 1)) + rng.normal(size=6)[a] + rng.normal(size=6)[b])
        answer = rng.normal(size=(6, 6)) * 0.1
        event = rng.random((6, len(a))) < chance + answer[:, a] + answer[:, b]
        pairs = Pairs(np.repeat(np.arange(6), len(a)), np.tile(a * 32768 + b, 6), np.where(event, 3, 1).ravel().astype(np.uint8))
        counts = related_counts(pairs, OUTCOMES, everything(pairs))
        means.append(counts.pairs[0, 0] / counts.pairs[0, 1])
        estimates.append(share_variance(counts, 0, 1)[0])
    assert np.mean(estimates) == pytest.approx(np.var(means), rel=0.08)


@pytest.mark.parametrize("cells_in_a_block", [20, 1])
def test_how_pairs_are_cut_into_blocks_changes_nothing(monkeypatch, cells_in_a_block):
    pairs, sides = some_pairs(12, 6), (np.array([0, 0, 1, 1, 2, 2]), 3, RATES)
    whole = (
        rate_intervals(pairs, everything(pairs)),
        rate_intervals(pairs, EACH_QUESTION)["r_div"],
        side_rate_intervals(pairs, *sides),
    )
    monkeypatch.setattr(pair_table, "MAX_CELLS", cells_in_a_block)
    cut = (
        rate_intervals(pairs, everything(pairs)),
        rate_intervals(pairs, EACH_QUESTION)["r_div"],
        side_rate_intervals(pairs, *sides),
    )
    assert len(list(pairs.blocks())) > 1
    np.testing.assert_allclose(cut[0]["r_div"], whole[0]["r_div"])
    np.testing.assert_allclose(cut[1], whole[1])
    np.testing.assert_allclose(cut[2]["between"]["r_abs"], whole[2]["between"]["r_abs"])


def test_questions_that_share_no_handbooks_stay_in_small_blocks():
    """200 questions, each with five handbooks of its own: 2,000 pairs must not become 200 x 2,000 cells."""
    question = np.repeat(np.arange(200), 10)
    couple = np.array([(5 * q + a) * 32768 + 5 * q + b for q in range(200) for a, b in combinations(range(5), 2)])
    pairs = Pairs(question, couple, np.full(2000, 3, dtype=np.uint8))
    assert sum(block.outcomes.size for block in pairs.blocks()) <= 16 * 2000
    assert sum(int(block.indicator(DISAGREEING).sum()) for block in pairs.blocks()) == 2000


def test_the_ends_are_never_impossible_once_the_event_was_seen():
    """Disagreement on one question only, all of it: the interval neither starts at 0 nor leaves the scale."""
    pairs = some_pairs(50, 6)
    outcome = np.where(pairs.question == 0, 3, 1).astype(np.uint8)
    low, high = rate_intervals(Pairs(pairs.question, pairs.couple, outcome), everything(pairs), R_DIV)["r_div"]
    assert 0 < low[0] < np.mean(outcome == 3) < high[0] < 1


@pytest.mark.parametrize("with_event", range(1, 9))
def test_more_questions_with_the_event_never_lower_the_interval(with_event):
    """No cliff: the same denominator, one more question with two disagreeing pairs."""
    event, every = np.zeros((2, 40)), np.full((2, 40), 6.0)
    event[0, :with_event], event[1, : with_event + 1] = 2, 2
    low, high = clustered_ratio_interval(event, every)
    assert low[0] < low[1]
    assert high[0] < high[1]


def test_one_question_or_three_handbooks_leave_the_interval_unknown():
    for pairs in (some_pairs(1, 6), some_pairs(40, 2), some_pairs(40, 3)):
        assert np.isnan(rate_intervals(pairs, everything(pairs))["r_div"]).all()
    assert np.isnan(rate_intervals(some_pairs(5, 3), EACH_QUESTION)["r_div"]).all()
    within = side_rate_intervals(some_pairs(30, 6), np.array([0, 0, 0, 1, 1, 2]), 3, R_DIV)["within"]["r_div"]
    assert np.isnan([end[2] for end in within]).all(), "a center with one handbook has no pair within"
    assert not np.isnan([end[0] for end in within]).any()


def test_a_disagreement_never_seen_is_not_a_disagreement_ruled_out():
    """No disagreeing pair on ten questions by ten handbooks: 450 pairs, but ten questions' worth of knowledge."""
    pairs = some_pairs(10, 10)
    agreeing = Pairs(pairs.question, pairs.couple, np.ones_like(pairs.outcome))
    low, high = rate_intervals(agreeing, everything(pairs), R_DIV)["r_div"]
    assert (low[0], high[0]) == wilson(0, 10)
    assert rate_intervals(agreeing, EACH_QUESTION)["r_div"][1] == pytest.approx(np.full(10, wilson(0, 5)[1]))
    disagreeing = Pairs(pairs.question, pairs.couple, np.full_like(pairs.outcome, 3))
    assert np.ravel(rate_intervals(disagreeing, everything(pairs), R_DIV)["r_div"]) == pytest.approx(np.ravel(wilson(10, 10)))
