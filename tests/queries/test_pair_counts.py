"""Pairs as the bootstrap reads them from a store."""

import numpy as np

from audit.queries.pair_counts import JudgingCost, judging_cost, pairs_to_judge, read_pairs
from audit.stats.pair_table import COUPLE_BASE, PRESCREENED, UNSCORED, rate_intervals
from tests.support.tiny_store import store_from


def test_a_store_without_pairs_gives_no_blocks_and_no_error(tmp_path):
    pairs = read_pairs(store_from(tmp_path, "q1 kidney a=absent"))
    assert list(pairs.blocks()) == []
    assert np.isnan(rate_intervals(pairs, np.ones((1, 0), dtype=np.float32))["r_div"]).all()


def test_outcomes_are_read_as_the_store_means_them(tmp_path):
    con = store_from(tmp_path, "q1 kidney ab=ABSENT ac=CONSISTENT bc=UNSCORED d=absent\nq2 kidney bd=CONTRADICTORY")
    pairs = read_pairs(con)
    rows = zip(pairs.question.tolist(), pairs.couple.tolist(), pairs.outcome.tolist(), strict=True)
    read = {(question, couple // COUPLE_BASE, couple % COUPLE_BASE): outcome for question, couple, outcome in rows}
    assert read == {
        (0, 0, 1): 0, (0, 0, 2): 1, (0, 1, 2): UNSCORED, (0, 0, 3): PRESCREENED, (0, 1, 3): PRESCREENED,
        (0, 2, 3): PRESCREENED, (1, 1, 3): 4,
    }  # fmt: skip


def test_a_judge_would_be_asked_about_each_couple_of_present_answers(tmp_path):
    con = store_from(tmp_path, "q1 kidney ab=ABSENT ac=CONSISTENT bc=UNSCORED d=absent\nq2 kidney bd=CONTRADICTORY")
    cost = judging_cost(con)
    # q1: 6 couples of four handbooks, 3 of them of two present answers; q2: one
    assert (cost.pairs, cost.calls, pairs_to_judge(con)) == (6 + 1, 3 + 1, 3 + 1)
    assert cost.prompt_tokens > 4 * 3_700 / 4


def test_a_cost_is_put_in_words():
    assert JudgingCost(9, 1, 950).words == "about 1 call to a language model, which would read about 950 tokens"
    assert JudgingCost(9, 1_230, 2_140_000).words == (
        "about 1,230 calls to a language model, which would read about 2.1 million tokens"
    )
