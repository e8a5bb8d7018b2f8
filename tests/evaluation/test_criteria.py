import numpy as np
import pytest

from audit.errors import AuditError
from audit.evaluation.criteria import CRITERIA, Criterion, Incomplete, composites, parse_weights

BEST = [1, 0, 0, 0, 0, 0, 2, 1]
WORST = [-1, -2, -2, -2, -2, -1, 0, 0]


def test_the_best_scores_add_to_4_and_the_worst_to_minus_10():
    assert [scale.best for scale in CRITERIA.values()] == BEST
    assert [scale.worst for scale in CRITERIA.values()] == WORST
    assert (sum(BEST), sum(WORST)) == (4, -10)
    assert all(scale.scores == tuple(range(scale.best, scale.worst - 1, -1)) for scale in CRITERIA.values())


def test_the_composite_stretches_the_sum_to_0_to_10():
    """Consensus 1, missing content -2, grammar 1: the sum is 0, and (0 + 10) / 14 is 0.714."""
    middling = [1, 0, -2, 0, 0, 0, 0, 1]
    assert composites([BEST, WORST, middling]) == pytest.approx([10, 0, 100 / 14])


def test_an_unreadable_criterion_excludes_the_answer_or_counts_as_0_points():
    """Without its consensus, the best answer has 3 points: (3 + 10) / 14 x 10."""
    unreadable = [np.nan, *BEST[1:]]
    assert np.isnan(composites([unreadable])).all()
    assert composites([unreadable, BEST], Incomplete.ZERO) == pytest.approx([130 / 14, 10])


def test_a_criterion_of_weight_0_does_not_matter_and_the_ends_stay_0_and_10():
    """Twice the missing content and no empathy: the range is -12 to 2; missing content -1 alone costs 2 of its 14 points."""
    weights = parse_weights("missing_content=2, empathy=0")
    cold = [1, 0, -1, 0, 0, 0, 0, 1]
    assert composites([BEST, WORST, cold], weights=weights) == pytest.approx([10, 0, 10 * 12 / 14])


def test_weights_are_equal_where_none_are_given():
    assert parse_weights("") == dict.fromkeys(Criterion, 1.0)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("emphaty=2", "Did you mean 'empathy'"),
        ("bias=-1", "must be a number of at least 0"),
        ("bias=nan", "must be a number of at least 0"),
        ("bias", "the weight of 'bias' is ''"),
        ("bias=1,bias=2", "'bias' is named twice"),
        (",".join(f"{criterion}=0" for criterion in Criterion), "all weights are 0"),
    ],
)
def test_weights_that_cannot_be_used_are_refused_in_a_sentence(text, problem):
    with pytest.raises(AuditError, match=problem):
        parse_weights(text)
