"""A label that all others of its question contradict is doubted; one that they bear out is not."""

from __future__ import annotations

import numpy as np
import pytest

from audit.metrics.doubted_labels import doubted_labels
from audit.stats.latent_positions import partitions
from audit.stats.measured_errors import ASSUMED_ERRORS

LETTERS = "abcdefg"


def labels_of(apart: str, stray: tuple[str, str]) -> str:
    """One question: the letters `apart` disagree with all others, and one stray pair has the label that it should not have."""
    words = []
    for place, one in enumerate(LETTERS):
        for other in LETTERS[place + 1 :]:
            differs = ((one in apart) != (other in apart)) != ({one, other} == set(stray))
            words.append(f"{one}{other}={'DIVERGENT/low' if differs else 'CONSISTENT'}")
    return "q1 kidney " + " ".join(words)


def test_one_label_against_all_others_of_its_question_is_doubted(store):
    table = doubted_labels(store(labels_of("fg", ("a", "b"))))
    assert table[["first", "second", "label"]].to_numpy().tolist() == [["a", "b", "DIVERGENT"]]
    assert 0.9 < table["wrong"].item() <= 1


def test_a_missing_disagreement_between_two_positions_is_doubted(store):
    table = doubted_labels(store(labels_of("fg", ("a", "g"))))
    assert table[["first", "second", "label"]].to_numpy().tolist() == [["a", "g", "CONSISTENT"]]


def test_labels_that_bear_each_other_out_are_not_doubted(store):
    assert doubted_labels(store(labels_of("fg", ("x", "y")))).empty


def test_without_pairs_there_is_nothing_to_doubt(store):
    assert doubted_labels(store("q1 kidney a=absent")).empty


def test_two_share_a_position_with_the_probability_that_all_partitions_give():
    called = np.array([[np.nan, 0.0, 1.0], [0.0, np.nan, 1.0], [1.0, 1.0, np.nan]])
    evidence = np.nan_to_num(ASSUMED_ERRORS.evidence(called))
    np.fill_diagonal(evidence, 0)
    found, share = partitions(evidence), 0.3
    apart = found.disputed(share)
    # The four partitions of three into several: {ab}{c}, {ac}{b}, {bc}{a}, {a}{b}{c}; Ewens' weights 1, 1, 1, 1
    agree, differ = evidence[0, 1], evidence[0, 2]
    weights = np.exp([agree, differ, differ, 0.0])
    expected = 1 - apart + apart * weights[0] / weights.sum()
    assert found.together(share)[0, 1] == pytest.approx(expected)
