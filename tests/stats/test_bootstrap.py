"""Resampling: what a draw of questions and handbooks counts, and draws within strata."""

from itertools import combinations

import numpy as np
import pandas as pd

from audit.stats.bootstrap import draws, resample_groups, stratified_draws


def test_a_pair_counts_as_often_as_its_question_and_both_its_handbooks_were_drawn():
    rows = [(q, a, b) for q in range(5) for a, b in combinations(range(4), 2) if (q + a + b) % 4]
    group = np.array([(q + b) % 2 for q, _, b in rows])
    counts = resample_groups(pd.DataFrame(rows, columns=["question", "handbook_a", "handbook_b"]), group, 2)
    w_q, w_h = draws(5, stream=0), draws(4, stream=1)
    for number in range(2):
        mine = [row for row, own in zip(rows, group, strict=True) if own == number]
        np.testing.assert_allclose(counts.replicates[number], sum(w_q[q] * w_h[a] * w_h[b] for q, a, b in mine))
        assert counts.observed[number] == len(mine)
        assert counts.by_handbook[number].sum() == 2 * len(mine)


def test_strata_are_drawn_apart_and_a_stratum_rated_whole_is_not_drawn():
    times, stratum = np.array([3, 2, 4]), np.array([0, 0, 1])
    drawn = stratified_draws(times, stratum, fixed=np.array([False, True]), seed=1, replicates=50)
    assert (drawn[:, :2].sum(axis=1) == 5).all()
    assert (drawn[:, 2] == 4).all()
    assert len(np.unique(drawn[:, 0])) > 1
