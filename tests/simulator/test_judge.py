"""The simulated judge errs as the published one does."""

import numpy as np
import pytest

from audit.vocabulary import LABELS, Label
from tests.simulator.config import paper_config, small_config
from tests.simulator.judge import UNSCORED, JudgeNoise, kernel, simulate_labels
from tests.simulator.world import draw_world

# arXiv:2605.29084, section 5.1: verdicts among the 146 pairs on which two clinicians agreed, in label order
VERDICTS = np.array([40, 25, 25, 18, 38])
F1 = [1.00, 0.83, 0.70, 0.69, 0.99]
CONSISTENT, COMPLEMENTARY, DIVERGENT = Label.CONSISTENT.code, Label.COMPLEMENTARY.code, Label.DIVERGENT.code


@pytest.fixture(scope="module")
def confusion() -> np.ndarray:
    """Pairs by true label (rows) and verdict in a sample stratified as the published one: expected counts of a large draw."""
    labels = simulate_labels(draw_world(paper_config(11)))
    scored = labels.judge != UNSCORED
    # The validation sample took pairs that were pre-screened for ABSENT, so judge-ABSENT pairs are no part of it.
    counted = scored & (labels.prescreened | (labels.judge != Label.ABSENT.code))
    joint = np.bincount(labels.truth[counted] * 5 + labels.judge[counted], minlength=25).reshape(5, 5)
    return joint / joint.sum(axis=0) * VERDICTS


def test_f1_by_label_is_the_published_one_within_three_hundredths(confusion):
    found = 2 * np.diag(confusion) / (confusion.sum(axis=0) + confusion.sum(axis=1))
    assert found == pytest.approx(F1, abs=0.03)


def test_there_are_about_18_errors_of_which_14_lie_on_the_complementary_boundary(confusion):
    assert confusion.sum() - np.trace(confusion) == pytest.approx(18, abs=1.5)
    assert confusion[COMPLEMENTARY, DIVERGENT] == pytest.approx(8, abs=0.6)
    assert confusion[COMPLEMENTARY, CONSISTENT] == pytest.approx(6, abs=0.6)


def test_the_rates_of_every_true_label_add_to_one():
    assert kernel(JudgeNoise()).sum(axis=-1) == pytest.approx(np.ones((2, 5)))


def test_a_complementary_pair_is_called_divergent_on_borderline_questions_only():
    settled, borderline = kernel(JudgeNoise())[:, COMPLEMENTARY, DIVERGENT]
    assert (settled, borderline > 0.1) == (0, True)


def test_questions_that_turn_on_no_value_hold_no_divergent_verdict():
    world = draw_world(small_config(2))
    labels = simulate_labels(world)
    calm = [i for i, q in enumerate(world.questions) if not q.contested]
    assert (labels.judge[calm] == DIVERGENT).sum() == 0


def test_a_judge_without_noise_of_its_own_leaves_nothing_unscored_and_calls_no_present_pair_absent():
    labels = simulate_labels(draw_world(small_config(2)), JudgeNoise(absent=0, unscored=0))
    assert (labels.judge == UNSCORED).sum() == 0
    assert ((labels.judge == Label.ABSENT.code) == labels.prescreened).all()


def test_every_verdict_is_a_label_or_unscored():
    labels = simulate_labels(draw_world(small_config(2)))
    assert set(np.unique(labels.judge)) == {UNSCORED, *range(len(LABELS))}
