"""An order of handbooks that puts those who agree beside each other, and the groups in it. Pure: labels in, numbers out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from audit.vocabulary import Label

Labels = npt.NDArray[np.object_]
Numbers = npt.NDArray[np.int64]
Distances = npt.NDArray[np.float64]

DISTANCE: dict[str, float] = {Label.CONSISTENT: 0.0, Label.COMPLEMENTARY: 1.0, Label.DIVERGENT: 3.0, Label.CONTRADICTORY: 4.0}
UNKNOWN = 1.5
"""No verdict between two handbooks that both answer (unscored, not asked, or judged ABSENT): it neither joins them before
a known agreement nor keeps them apart."""
APART = 3.0
"""Two handbooks at least this far from each other disagree."""


class Seriation(NamedTuple):
    """`order`: positions in the matrix, agreeing neighbours side by side. `camp`: one number per handbook of the matrix,
    camps counted from 0 along the order.
    """

    order: Numbers
    camp: Numbers


def seriate(labels: Labels) -> Seriation:
    """The order and the camps of the handbooks that answer one question, from the square matrix of their labels.

    A camp is a group in which no two members disagree: complete linkage, cut below DIVERGENT. Where labels alone leave a
    choice, handbooks that disagree with the same others join first. The order is the optimal leaf order of that tree
    (Bar-Joseph et al. 2001), so every camp stands together.
    """
    count = len(labels)
    if count < 2:
        return Seriation(np.arange(count), np.zeros(count, dtype=np.int64))
    # scipy takes 0.2 s to import, and most pages never need it.
    from scipy.cluster.hierarchy import fcluster, leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    condensed = squareform(distances(labels), checks=False)
    tree = optimal_leaf_ordering(linkage(condensed, method="complete"), condensed)
    order = leaves_list(tree).astype(np.int64)
    return Seriation(order, _numbered(fcluster(tree, t=APART - 1e-9, criterion="distance"), order))


def distances(labels: Labels) -> Distances:
    """Distances between handbooks: by label, and up to 0.9 more the less alike the two are in whom they disagree with."""
    base = np.vectorize(lambda label: DISTANCE.get(label, UNKNOWN), otypes=[float])(labels)
    np.fill_diagonal(base, 0.0)
    against = (base >= APART).astype(float)
    unlike = against @ (1 - against).T
    either = np.maximum(unlike + unlike.T + against @ against.T, 1.0)
    total = base + 0.9 * (unlike + unlike.T) / either
    np.fill_diagonal(total, 0.0)
    return np.asarray(total, dtype=np.float64)


def _numbered(camp: npt.NDArray[np.int32], order: Numbers) -> Numbers:
    first_met = {number: i for i, number in enumerate(dict.fromkeys(camp[order].tolist()))}
    return np.array([first_met[number] for number in camp.tolist()], dtype=np.int64)
