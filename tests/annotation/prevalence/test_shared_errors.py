"""Corrected shares if annotators are wrong together: by hand, and in simulated studies with known errors."""

from __future__ import annotations

import numpy as np
import pytest

from annotation.prevalence.estimates import ROWS, append_disagreement, corrected_shares
from annotation.prevalence.shared_errors import SHARED_ERROR_RATES, _without_errors, neighbour_errors, shared_errors
from annotation.ratings.design import SampleDesign
from audit.vocabulary import LABELS
from tests.annotation.prevalence.test_estimates import STUDY
from tests.annotation.tables import ratings

TRUE = np.array([0.6, 0.08, 0.19, 0.125, 0.005])
# P(judge's label | true label)
JUDGE = np.array(
    [[0.97, 0.02, 0.01, 0, 0], [0.02, 0.85, 0.12, 0.01, 0], [0.01, 0.05, 0.85, 0.09, 0], [0, 0.02, 0.2, 0.75, 0.03],
     [0, 0, 0.05, 0.25, 0.7]]
)  # fmt: skip


def covered(wrong: float, assumed: float, studies: int = 300) -> dict[str, float]:
    """Share of studies of 40 items a label whose interval contains the true share, per row."""
    rng = np.random.default_rng(7)
    joint = np.einsum("t,th,tj->jh", TRUE, neighbour_errors(wrong), JUDGE)
    by_judge = joint / joint.sum(axis=1, keepdims=True)
    design = SampleDesign(tuple("abcde"), np.rint(joint.sum(axis=1) * 100_000), np.repeat(np.arange(5), 40))
    truth, hits = append_disagreement(TRUE[None])[0], np.zeros(len(ROWS))
    for _ in range(studies):
        labels = np.eye(5)[np.concatenate([rng.choice(5, 40, p=by_judge[stratum]) for stratum in range(5)])]
        shares = corrected_shares(design, labels)
        ends = [_without_errors(shares, row, assumed)[1:] for row in ROWS]
        hits += [low <= true <= high for (low, high), true in zip(ends, truth, strict=True)]
    return dict(zip(ROWS, hits / studies, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("wrong", SHARED_ERROR_RATES[1:])
def test_intervals_contain_the_true_share_where_the_assumption_holds(wrong: float) -> None:
    result = covered(wrong, assumed=wrong)
    assert min(result.values()) >= 0.9, result


@pytest.mark.slow
def test_without_the_correction_shared_errors_are_not_seen() -> None:
    result = covered(0.05, assumed=0)
    assert result["CONSISTENT"] < 0.6
    assert result["ABSENT"] < 0.8


def test_errors_go_to_the_labels_next_to_the_true_one() -> None:
    assert neighbour_errors(0.1)[:2].tolist() == [[0.9, pytest.approx(0.1), 0, 0, 0], [0.05, 0.9, 0.05, 0, 0]]


def test_without_errors_it_is_the_corrected_share_and_by_hand_with_them() -> None:
    table = shared_errors(ratings(STUDY), "ABSENT")
    assert table["wrong"].tolist() == [0, 0.02, 0.05, 0.1]
    assert table["value"][0] == pytest.approx(0.9)
    # Observed .900 ABSENT, 0 CONSISTENT, .072 COMPLEMENTARY, .028 DIVERGENT: the inverse of the error matrix by its first column
    inverse = np.linalg.inv(neighbour_errors(0.05))
    assert table["value"][2] == pytest.approx(0.9 * inverse[0, 0] + 0.072 * inverse[2, 0] + 0.028 * inverse[3, 0])
    assert table["least"].tolist() == pytest.approx([max(table["value_low"][0] - wrong, 0) for wrong in table["wrong"]])
    assert len(LABELS) == 5
