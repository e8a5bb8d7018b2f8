"""Resampling: draws within strata."""

import numpy as np

from audit.stats.bootstrap import stratified_draws


def test_strata_are_drawn_apart_and_a_stratum_rated_whole_is_not_drawn():
    times, stratum = np.array([3, 2, 4]), np.array([0, 0, 1])
    drawn = stratified_draws(times, stratum, fixed=np.array([False, True]), seed=1, replicates=50)
    assert (drawn[:, :2].sum(axis=1) == 5).all()
    assert (drawn[:, 2] == 4).all()
    assert len(np.unique(drawn[:, 0])) > 1
