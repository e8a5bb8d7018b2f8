"""Position groups and order from hand-made matrices of labels."""

import numpy as np
import pytest

from audit.metrics.position_groups import seriate
from audit.stats.latent_positions import JudgeErrors

WORDS = {
    "=": "CONSISTENT",
    "+": "COMPLEMENTARY",
    "/": "DIVERGENT",
    "!": "CONTRADICTORY",
    "?": "unscored",
    "0": "ABSENT",
    "-": "not asked",
}


def square(rows):
    """A symmetric matrix of labels from the rows above the diagonal."""
    lines = [line.split() for line in rows.strip().splitlines()]
    labels = np.full((len(lines) + 1, len(lines) + 1), "self", dtype=object)
    for i, line in enumerate(lines):
        for j, sign in enumerate(line, start=i + 1):
            labels[i, j] = labels[j, i] = WORDS[sign]
    return labels


def members(labels, **errors):
    order, group, _ = seriate(labels, **errors)
    assert sorted(order.tolist()) == list(range(len(labels)))
    return {frozenset(np.flatnonzero(group == number).tolist()) for number in set(group.tolist())}


def sets(*members):
    return {frozenset(group) for group in members}


def test_handbooks_that_agree_form_one_group_and_those_that_differ_another():
    #              b c d   group {a, b}, group {c, d}
    labels = square("""= / /
                         / /
                           +""")
    assert members(labels) == sets({0, 1}, {2, 3})


def test_of_three_handbooks_two_that_disagree_never_share_a_group():
    # a agrees with b and with c, but b and c diverge: half of the pairs between {a, b} and c disagree.
    assert members(square("= = \n /")) in (sets({0, 1}, {2}), sets({0, 2}, {1}))


def test_one_doubtful_verdict_among_many_breaks_up_no_group():
    # a, b, c, d, e agree but for one pair (d and e); f disagrees with all.
    labels = square("""= = = = /
                         = = = /
                           = = /
                             / /
                               /""")
    assert members(labels) == sets({0, 1, 2, 3, 4}, {5})


@pytest.mark.parametrize("sign", ["?", "0", "-"])
def test_a_pair_without_a_verdict_neither_joins_nor_separates(sign):
    labels = square(f"""= / {sign}
                          / {sign}
                            =""")
    assert members(labels) == sets({0, 1}, {2, 3})


def test_nothing_known_keeps_nobody_apart():
    assert members(square("? ? \n ?")) == sets({0, 1, 2})


def test_one_contradiction_splits_two_handbooks():
    assert members(square("!")) == sets({0}, {1})


def test_a_judge_that_errs_often_splits_off_nobody_for_two_verdicts_and_one_that_never_errs_does():
    #                    eight handbooks; the last disagrees with two of the seven others
    labels = square("""= = = = = = /
                         = = = = = /
                           = = = = =
                             = = = =
                               = = =
                                 = =
                                   =""")
    assert len(members(labels, errors=JudgeErrors(false=0.3, missed=0.15))) == 1
    assert sets({7}) < members(labels, errors=JudgeErrors(false=0.001, missed=0.45))


def test_every_group_is_contiguous_in_the_order_and_numbered_along_it():
    labels = square("""/ = / = /
                         / = / =
                           / = /
                             / =
                               /""")
    order, group, _ = seriate(labels)
    assert group[order].tolist() == [0, 0, 0, 1, 1, 1]


def test_no_handbook_and_one_handbook_have_an_order_too():
    assert seriate(np.empty((0, 0), dtype=object)).order.tolist() == []
    assert seriate(np.array([["self"]], dtype=object)).position_group.tolist() == [0]
