"""Average linkage on cosine, without a matrix of distances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.cluster import HDBSCAN, AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score

from audit.pipeline.embedding.vectors import unit_rows
from audit.pipeline.themes.clusters import _hdbscan
from audit.pipeline.themes.linkage import average_linkage


def directions(count: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return unit_rows(rng.normal(size=(count // 8, 24))[rng.integers(0, count // 8, count)] + 0.6 * rng.normal(size=(count, 24)))


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_tree_that_the_textbook_method_gives(seed: int) -> None:
    vectors = directions(240, seed)
    textbook = linkage(vectors.astype(np.float64), "average", metric="cosine")
    tree = average_linkage(vectors)
    assert tree.heights == pytest.approx(textbook[:, 2], abs=1e-5)
    assert sorted(tree.sizes.tolist()) == sorted(textbook[:, 3].astype(int).tolist())
    for count in (5, 30, 100):
        mine = tree.labels(tree.count - count, smallest=1)
        assert adjusted_rand_score(mine, fcluster(textbook, count, "maxclust")) == 1


@pytest.mark.parametrize("seed", range(3))
def test_its_clusters_are_those_of_scikit_learn(seed: int) -> None:
    """At a distance and for a number of clusters, on cosine distance."""
    vectors = directions(240, seed)
    tree = average_linkage(vectors)
    for count in (5, 30, 100):
        theirs = AgglomerativeClustering(count, metric="cosine", linkage="average").fit_predict(vectors)
        assert adjusted_rand_score(tree.labels(tree.count - count, smallest=1), theirs) == 1
    for distance in (0.3, 0.6):
        cut = AgglomerativeClustering(None, metric="cosine", linkage="average", distance_threshold=distance).fit_predict(vectors)
        assert adjusted_rand_score(tree.labels(tree.merges_below(distance), smallest=1), cut) == 1


@pytest.mark.parametrize("seed", range(3))
def test_hdbscan_gives_the_clusters_and_the_noise_of_scikit_learn(seed: int) -> None:
    """Scikit-learn counts a point among its own neighbours and the package hdbscan does not: one more there is the same."""
    pytest.importorskip("hdbscan")
    points = directions(400, seed)[:, :5]
    for size in (5, 10):
        theirs = HDBSCAN(min_cluster_size=size, min_samples=size + 1, copy=True).fit_predict(points)
        # Phrases that two pairs share stand twice: where every phrase is in one pair, nothing is repeated
        ours = _hdbscan(points, np.ones(len(points), dtype=np.int64), size)
        assert ((ours == -1) == (theirs == -1)).mean() > 0.99
        assert adjusted_rand_score(ours, theirs) > 0.98


def test_three_phrases_by_hand() -> None:
    """0, 30 and 90 degrees: the first two merge at 1 - cos 30; the third joins at 1 - (cos 60 + cos 90) / 2."""
    angle = np.radians([0, 30, 90])
    tree = average_linkage(unit_rows(np.column_stack([np.cos(angle), np.sin(angle)])))
    assert tree.heights == pytest.approx([1 - 0.8660254, 1 - (0.5 + 0) / 2], abs=1e-6)
    assert tree.sizes.tolist() == [2, 3]
    assert tree.labels(tree.merges_below(0.2), smallest=2).tolist() == [0, 0, -1]


def test_phrases_that_mean_exactly_the_same_never_stop_it() -> None:
    vectors = unit_rows(np.repeat(np.eye(3), 50, axis=0))
    tree = average_linkage(vectors)
    assert len(tree.heights) == 149
    assert tree.labels(tree.merges_below(0.5), smallest=2).tolist() == [0] * 50 + [1] * 50 + [2] * 50


def test_a_merge_never_stands_below_those_it_is_made_of() -> None:
    assert (np.diff(average_linkage(directions(400, 9)).heights) >= 0).all()


@pytest.mark.parametrize("wanted", [3, 10, 20])
def test_as_many_themes_as_asked_for(wanted: int) -> None:
    tree = average_linkage(directions(240, 1))
    labels = tree.labels(tree.merges_for(wanted, smallest=2), smallest=2)
    assert labels.max() + 1 == wanted


def test_more_themes_than_there_can_be_give_as_many_as_there_can_be() -> None:
    tree = average_linkage(directions(80, 1))
    most = max(tree.labels(merges, 2).max() + 1 for merges in range(80))
    assert tree.labels(tree.merges_for(1000, smallest=2), smallest=2).max() + 1 == most


def test_with_weights_a_cluster_is_as_large_as_the_pairs_of_its_phrases() -> None:
    """0, 30 and 90 degrees, shared by 1, 1 and 5 pairs: before any merge only the last one is a theme of two pairs."""
    angle = np.radians([0, 30, 90])
    tree, weights = average_linkage(unit_rows(np.column_stack([np.cos(angle), np.sin(angle)]))), np.array([1, 1, 5])
    assert tree.labels(0, 2, weights).tolist() == [-1, -1, 0]
    assert tree.labels(1, 2, weights).tolist() == [0, 0, 1]
    assert tree.merges_for(2, 2, weights) == 1
    assert tree.merges_for(1, 2, weights) == 2
    assert tree.merges_for(5, 2, np.array([3, 3, 5])) == 0, "each is a theme by itself, and more there cannot be"
