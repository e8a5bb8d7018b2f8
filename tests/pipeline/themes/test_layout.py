"""The map without UMAP: the first principal components of the phrases."""

from __future__ import annotations

import numpy as np
import pytest

from audit.pipeline.themes.clusters import principal_layout

# Four phrases round (7, 5): far apart on the first axis, near on the second, alike on the third.
PHRASES = np.array([[11, 5, 2], [3, 5, 2], [7, 6, 2], [7, 4, 2]], dtype=np.float32)


def test_the_map_is_spread_by_how_phrases_differ_and_not_by_what_all_have_in_common() -> None:
    assert principal_layout(PHRASES) == pytest.approx(np.array([[10, 0], [-10, 0], [0, 2.5], [0, -2.5]]), abs=1e-4)


def test_phrases_that_are_all_alike_lie_on_one_point() -> None:
    assert principal_layout(np.ones((3, 4), dtype=np.float32)) == pytest.approx(np.zeros((3, 2)), abs=1e-4)


def test_a_single_direction_leaves_the_second_coordinate_at_zero() -> None:
    assert principal_layout(np.array([[1.0], [3.0]], dtype=np.float32)).tolist() == [[-10, 0], [10, 0]]
