"""Clusters phrases into themes and themes into parents, and places phrases on the map: similar ones lie close together."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import isqrt

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage

from audit.optional_imports import optional
from audit.pipeline.embedding.vectors import Progress, Vectors, nearest, no_progress, unit_rows
from audit.pipeline.themes.linkage import NO_THEME, Labels, average_linkage, renumbered
from audit.release.taxonomy import AVERAGE, HDBSCAN

# -- the map -------------------------------------------------------------------------------------

UMAP_NEIGHBOURS = 15
MIN_PHRASES_FOR_UMAP = 12
FLAT = 1e-4


def principal_layout(vectors: Vectors, dimensions: int = 2) -> NDArray[np.float32]:
    """The first principal components, the largest coordinate 10: the map where UMAP is not installed, and UMAP's start."""
    centred = vectors - vectors.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    chosen = axes[:, ::-1][:, :dimensions]
    chosen = chosen * np.sign(
        chosen[np.abs(chosen).argmax(axis=0), np.arange(chosen.shape[1])]
    )  # the sign of an axis is arbitrary: fix it, so the same phrases give the same map
    points = np.zeros((len(vectors), dimensions), dtype=np.float32)
    points[:, : chosen.shape[1]] = centred @ chosen
    return np.asarray(points / max(float(np.abs(points).max(initial=0)), 1e-9) * 10, dtype=np.float32)


def umap_layout(
    vectors: Vectors, seed: int, *, dimensions: int = 2, min_dist: float = 0.1, progress: Progress = no_progress
) -> NDArray[np.float32]:
    """UMAP on cosine distance, from exact neighbours and the principal components.

    Both are cheaper than UMAP's own (13 CPU seconds instead of 32 for 16,000 phrases), and the start is deterministic. The same
    seed and number of threads give the same points; another number of threads may give others.
    Fewer than 12 phrases have no meaningful neighbourhoods and get their principal components.

    Raises MissingLibraryError where umap-learn or faiss-cpu is not installed.
    """
    if len(vectors) < MIN_PHRASES_FOR_UMAP:
        return principal_layout(vectors, dimensions)
    umap = optional("umap", "The map", "models")
    count = min(UMAP_NEIGHBOURS, len(vectors) - 1)
    # Each phrase is its own first neighbour, as UMAP expects.
    similarity, index = nearest(vectors, vectors, count)
    progress("map", 1, 3)
    start = principal_layout(vectors, dimensions)
    flat = bool((np.ptp(start, axis=0) < FLAT).any())  # phrases on a line: UMAP would divide by zero
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # UMAP warns that a seed means one thread, which is what we want
        fitted = umap.UMAP(
            n_neighbors=count, n_components=dimensions, min_dist=min_dist, metric="cosine", random_state=seed,
            precomputed_knn=(index, np.maximum(1 - similarity, 0)), init="random" if flat else start,
        ).fit_transform(vectors)  # fmt: skip
    progress("map", 3, 3)
    return np.asarray(fitted, dtype=np.float32)


# -- clusters -----------------------------------------------------------------------------------------------------------

# A cluster of fewer pairs is not a theme; one phrase that two pairs share is.
MIN_PAIRS = 2
# Mean cosine distance, after smoothing, up to which phrases form one theme: chosen on benchmarks/themes.py and the demo.
CUT = 0.4
# The same for comparison by words: phrases that share no word are removed afterwards, so the cut may be generous.
WORDS_CUT = 0.5
SMOOTHING_NEIGHBOURS, SMOOTHING, SHARPNESS = 10, 0.5, 8
BLOCK = 1024
# Cosine to the rest of its theme below which HDBSCAN's choice is not followed: chosen on one half of the simulator's topics; on
# the other half it raised the share of pairs under their true subject from .985 to .997.
LEAST_COSINE = 0.5
MOST_CUTS = 12  # that are tried for a target: what is done to themes afterwards makes a few more or fewer
# Those of BERTopic (Grootendorst 2022, arXiv:2203.05794).
HDBSCAN_DIMENSIONS, HDBSCAN_SIZE = 5, 10
Finish = Callable[[Labels], Labels]  # what is done to themes afterwards; a target is their number after it


@dataclass(frozen=True)
class ThemeBuildOptions:
    """The options of a build, all of which are stored in the taxonomy.

    method   average (linkage on cosine distance) or hdbscan (UMAP and HDBSCAN, as in BERTopic)
    target   target number of themes; None: determined by `cut`
    cut      mean cosine distance (after smoothing) up to which phrases form one theme; None: CUT, or WORDS_CUT without a model
    seed     of UMAP
    threads  of every library; the same seed and threads give the same bytes
    layout   umap, or principal (components), which needs no extra; None: umap where it is installed
    """

    method: str = AVERAGE
    target: int | None = None
    cut: float | None = None
    seed: int = 1
    threads: int = 1
    layout: str | None = None


def smoothed(vectors: Vectors) -> Vectors:
    """Each vector moved halfway towards the mean of its ten nearest, weighted by the eighth power of their cosine.

    Phrases that say similar things move together, and idiosyncratic wording counts for less. On the benchmark's 16,000 phrases
    this adds .02 to the adjusted mutual information and to the adjusted Rand index, at any number of themes.
    """
    count = min(SMOOTHING_NEIGHBOURS, len(vectors))
    moved = np.empty_like(vectors)
    for start in range(0, len(vectors), BLOCK):
        own = vectors[start : start + BLOCK]
        similar = own @ vectors.T
        near = np.argpartition(-similar, count - 1, axis=1)[:, :count]
        weight = np.maximum(np.take_along_axis(similar, near, axis=1), 0) ** SHARPNESS
        moved[start : start + BLOCK] = (1 - SMOOTHING) * own + SMOOTHING * unit_rows(
            np.einsum("ij,ijk->ik", weight, vectors[near])
        )
    return unit_rows(moved)


def by_average(
    vectors: Vectors, weights: Labels, options: ThemeBuildOptions, progress: Progress = no_progress, finished: Finish = np.copy
) -> Labels:
    """Average linkage on cosine distance between smoothed vectors, cut at a distance or for a number of themes.

    A phrase counts once in distances and with its pairs in sizes: weighed by them, it would draw in what is only close to itself.
    """
    tree = average_linkage(smoothed(vectors), progress)
    if options.target is None:
        return finished(tree.labels(tree.merges_below(CUT if options.cut is None else options.cut), MIN_PAIRS, weights))
    merges, tried = tree.merges_for(options.target, MIN_PAIRS, weights), dict[int, Labels]()
    while merges not in tried and len(tried) < MOST_CUTS:
        tried[merges] = finished(tree.labels(merges, MIN_PAIRS, weights))
        # A merge makes about one theme fewer
        merges = min(max(merges + _theme_count(tried[merges]) - options.target, 0), tree.count - 1)
    return _closest(tried.values(), options.target)


def by_hdbscan(
    vectors: Vectors, weights: Labels, options: ThemeBuildOptions, progress: Progress = no_progress, finished: Finish = np.copy
) -> Labels:
    """UMAP to five dimensions, then HDBSCAN, as in BERTopic; a target sets the smallest size of a theme."""
    reduced = umap_layout(vectors, options.seed, dimensions=HDBSCAN_DIMENSIONS, min_dist=0.0, progress=progress)
    most = min(60, int(weights.sum()) // 2)
    sizes = [HDBSCAN_SIZE] if options.target is None else range(MIN_PAIRS, max(MIN_PAIRS + 1, most))
    tried: list[Labels] = []
    for size in sizes:
        tried.append(_hdbscan(reduced, weights, size))
        progress("cluster", len(tried), len(sizes))
        # Themes become fewer with their smallest size, so the first size at or below the target ends the search.
        if options.target is None or _theme_count(tried[-1]) <= options.target:
            break
    return finished(_without_strangers(vectors, weights, _closest(tried, options.target or 0)))


def _closest(tried: Iterable[Labels], target: int) -> Labels:
    return min(tried, key=lambda labels: abs(_theme_count(labels) - target))


def _without_strangers(vectors: Vectors, weights: Labels, labels: Labels) -> Labels:
    """The themes without phrases that are close to the others in five dimensions alone, as happens where phrases are few."""
    if not _theme_count(labels):
        return labels
    weighted = vectors * weights[:, None].astype(np.float32)
    rest = sums_by(weighted, labels)[labels] - weighted
    cosine = (vectors * rest).sum(axis=1) / np.maximum(np.linalg.norm(rest, axis=1), FLAT)
    return renumbered(np.where(cosine < LEAST_COSINE, NO_THEME, labels))


def _hdbscan(points: Vectors, weights: Labels, size: int) -> Labels:
    # The package hdbscan, where the paper names none: with min_samples unset, scikit-learn's counts the point itself as a
    # neighbour and so finds other themes (976 against 892 on the benchmark's phrases). One process, or merges vary in order.
    hdbscan = optional("hdbscan", "The method hdbscan", "models")
    # It knows no weights, so a phrase is repeated: as often as makes it a theme by itself, with `size` copies around each copy.
    times = np.minimum(weights, size + 1)
    size = min(size, int(times.sum()) - 1)
    model = hdbscan.HDBSCAN(min_cluster_size=max(size, MIN_PAIRS), min_samples=size, core_dist_n_jobs=1)
    labels = model.fit_predict(np.repeat(points, times, axis=0))[np.cumsum(times) - times]
    return renumbered(np.asarray(labels, dtype=np.int64))


def _theme_count(labels: Labels) -> int:
    return int(labels.max(initial=NO_THEME)) + 1


METHODS: dict[str, Callable[[Vectors, Labels, ThemeBuildOptions, Progress, Finish], Labels]] = {
    AVERAGE: by_average,
    HDBSCAN: by_hdbscan,
}


def with_frequent(labels: Labels, weights: Labels) -> Labels:
    """The themes, and each phrase without one that enough pairs share as a theme by itself."""
    alone = np.flatnonzero((labels == NO_THEME) & (weights >= MIN_PAIRS))
    complete = labels.copy()
    complete[alone] = _theme_count(labels) + np.arange(len(alone))
    return renumbered(complete)


def sums_by(vectors: Vectors, labels: Labels) -> Vectors:
    """The sum of the vectors of each theme, one row per theme."""
    chosen = labels != NO_THEME
    total = np.zeros((_theme_count(labels), vectors.shape[1]), dtype=np.float32)
    np.add.at(total, labels[chosen], vectors[chosen])
    return total


# Fewer themes fit in one list and need no groups.
MIN_THEMES_IN_GROUPS = 12
# A group with a larger share of the themes says little about any of them.
LARGEST_GROUP = 0.5


def parents_of(vectors: Vectors, labels: Labels) -> Labels:
    """A parent per theme: Ward's method on the themes' directions, as many parents as the square root of the themes.

    Ward gives parents of similar size, so a treemap is readable; average linkage would give one giant and many tiny ones.
    Too few themes have no parent.
    """
    directions = unit_rows(sums_by(vectors, labels))
    if len(directions) < MIN_THEMES_IN_GROUPS:
        return np.full(len(directions), NO_THEME, dtype=np.int64)
    tree = linkage(directions.astype(np.float64), "ward")
    return renumbered(fcluster(tree, isqrt(len(directions)), "maxclust").astype(np.int64))


def given_parents(groups: Sequence[str | None], labels: Labels) -> tuple[Labels, list[str]]:
    """A parent per theme from the group of each phrase, and the parents' names; no names if the groups are uninformative.

    groups  per phrase; a theme belongs to the commonest group of its phrases
    """
    themes = [Counter(groups[int(row)] for row in np.flatnonzero(labels == theme)) for theme in range(_theme_count(labels))]
    chosen = [min(counter, key=lambda name: (-counter[name], str(name))) for counter in themes]
    if len(themes) < MIN_THEMES_IN_GROUPS or max(Counter(chosen).values()) > LARGEST_GROUP * len(chosen):
        return np.zeros(0, dtype=np.int64), []
    names = sorted({name for name in chosen if name is not None})
    return np.array([NO_THEME if name is None else names.index(name) for name in chosen], dtype=np.int64), names
