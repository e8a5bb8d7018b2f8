import numpy as np
import pytest

from audit.stats.paired import spearman


def test_equal_values_share_their_mean_rank():
    """Ranks of x: 1.5, 1.5, 3 and of y: 1, 2, 3: rho = 1.5 / root(1.5 * 2) = 0.866."""
    assert spearman(np.array([5, 5, 9]), np.array([1, 2, 3]), np.ones((3, 1)))[0] == pytest.approx(np.sqrt(0.75))


def test_a_unit_drawn_twice_ranks_as_two_equal_units():
    x, y, times = np.array([0.3, 0.1, 0.9, 0.1]), np.array([0.2, 0.4, 0.8, 0.1]), np.array([2, 1, 1, 3])
    repeated = spearman(np.repeat(x, times), np.repeat(y, times), np.ones((7, 1)))
    assert spearman(x, y, times[:, None]) == pytest.approx(repeated)
