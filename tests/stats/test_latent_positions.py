"""Positions behind labels: against all partitions counted one by one, and in simulated runs whose truth is known."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from audit.stats import latent_positions
from audit.stats.latent_positions import (
    CONCENTRATION,
    AmountsTold,
    JudgeErrors,
    Partitions,
    amounts_told,
    best_partition,
    listed,
    partitions,
    share_disputed,
)

ERRORS = JudgeErrors(false=0.05, missed=0.15)


def labelled(rng: np.random.Generator, position: np.ndarray, errors: JudgeErrors) -> np.ndarray:
    """1 where the judge calls a pair of handbooks with these positions a disagreement."""
    count = len(position)
    a, b = np.triu_indices(count, 1)
    differ = position[a] != position[b]
    called = np.where(differ, rng.random(len(a)) > errors.missed, rng.random(len(a)) < errors.false)
    table = np.full((count, count), np.nan)
    table[a, b] = table[b, a] = called
    return table


def evidence_of(disagrees: np.ndarray) -> np.ndarray:
    found = ERRORS.evidence(disagrees)
    np.fill_diagonal(found, 0)
    return found


def spelled_out(disagrees: np.ndarray, share: float) -> tuple[float, np.ndarray]:
    """P(several positions) and P(same position) of every two, by going through every assignment of handbooks to tables."""
    count = len(disagrees)
    weights: dict[tuple[int, ...], float] = {}
    for row in product(range(count), repeat=count):
        if any(label > max(row[:place], default=-1) + 1 for place, label in enumerate(row)):
            continue  # the same partition with other numbers
        prior = 1.0
        for place, label in enumerate(row):
            seated = row[:place].count(label)
            prior *= (seated or CONCENTRATION) / (CONCENTRATION + place)
        likelihood = 1.0
        for one, other in zip(*np.triu_indices(count, 1), strict=True):
            rate = ERRORS.false if row[one] == row[other] else 1 - ERRORS.missed
            likelihood *= rate if disagrees[one, other] else 1 - rate
        weights[row] = prior * likelihood
        weights[row, "prior"] = prior  # type: ignore[index]
    rows = [row for row in weights if len(row) == count and "prior" not in row]
    one = (0,) * count
    prior_one = weights[one, "prior"]  # type: ignore[index]
    scaled = {row: weights[row] * (share / (1 - prior_one) if row != one else (1 - share) / prior_one) for row in rows}
    total = sum(scaled.values())
    same = sum(np.equal.outer(np.array(row), np.array(row)) * value for row, value in scaled.items()) / total
    return 1 - scaled[one] / total, np.asarray(same)


def same_position(found: Partitions, share: float) -> np.ndarray:
    """The probability that two handbooks share a position, from the partitions."""
    together = sum(weight * np.equal.outer(row, row) for row, weight in zip(found.drawn, found.weight, strict=True))
    return np.asarray(1 - found.disputed(share) + found.disputed(share) * together)


@pytest.mark.parametrize("seed", range(4))
def test_weighing_the_partitions_for_other_error_rates_is_computing_them_with_these(seed):
    disagrees = labelled(np.random.default_rng(seed), np.array([0, 0, 0, 1, 1, 2]), ERRORS)
    other = JudgeErrors(0.09, 0.25)
    changed = partitions(evidence_of(disagrees)).log_odds_with(other.evidence(disagrees) - ERRORS.evidence(disagrees))
    assert changed == pytest.approx(partitions(other.evidence(disagrees)).log_odds)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("limit", [8, 2], ids=["all partitions", "particles"])
def test_probabilities_are_those_of_all_partitions_counted_one_by_one(seed, limit, monkeypatch):
    monkeypatch.setattr(latent_positions, "MAX_ENUMERATED", limit)
    monkeypatch.setattr(latent_positions, "PARTICLES", 1500)
    rng = np.random.default_rng(seed)
    disagrees = labelled(rng, rng.choice(2, 5), JudgeErrors(0.2, 0.3))
    several, same = spelled_out(np.nan_to_num(disagrees), 0.4)
    found = partitions(evidence_of(disagrees))
    tolerance = 1e-9 if limit == 8 else 0.05
    assert found.disputed(0.4) == pytest.approx(several, abs=tolerance)
    assert same_position(found, 0.4) == pytest.approx(same, abs=tolerance)
    assert sum(found.numbers(0.4).values()) == pytest.approx(1)


@pytest.mark.parametrize("seed", range(3))
def test_what_was_seen_of_nine_handbooks_weighs_nearly_as_much_as_all_partitions(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    for shares in ([0.8, 0.2], [1.0], [0.5, 0.3, 0.2]):
        evidence = evidence_of(labelled(rng, rng.choice(len(shares), 9, p=shares), JudgeErrors(0.12, 0.3)))
        seen = partitions(evidence)
        with monkeypatch.context() as patch:
            patch.setattr(latent_positions, "MAX_ENUMERATED", 9)
            every = partitions(evidence)
        assert seen.log_odds == pytest.approx(every.log_odds, abs=0.3)
        assert seen.together(0.4) == pytest.approx(every.together(0.4), abs=0.1)


@pytest.mark.parametrize("seed", range(4))
def test_two_handbooks_of_many_that_stand_apart_are_found_though_the_judge_errs_more_often_than_assumed(seed):
    truth = np.repeat([0, 1], [20, 2])
    evidence = evidence_of(labelled(np.random.default_rng(seed), truth, JudgeErrors(0.17, 0.4)))
    assert partitions(evidence).disputed(0.1) > 0.95
    assert partitions(evidence_of(labelled(np.random.default_rng(seed), 0 * truth, JudgeErrors(0.05, 0.4)))).disputed(0.1) < 0.1


def test_one_stray_label_makes_no_dispute_and_a_block_of_labels_does():
    table = np.zeros((12, 12))
    table[0, 1] = table[1, 0] = 1
    assert partitions(evidence_of(table)).disputed(0.3) < 0.02
    table[0, 1] = table[1, 0] = 0
    table[:3, 3:] = table[3:, :3] = 1
    found = partitions(evidence_of(table))
    assert found.disputed(0.3) > 0.99
    assert best_partition(found, evidence_of(table), 0.3).tolist() == [0] * 3 + [1] * 9


def test_two_handbooks_that_disagree_are_as_probable_as_the_judge_s_errors_make_it():
    found = partitions(evidence_of(np.array([[np.nan, 1.0], [1.0, np.nan]])))
    assert found.disputed(0.1) == pytest.approx(0.1 * 0.85 / (0.1 * 0.85 + 0.9 * 0.05))


def test_without_labels_nothing_is_learned():
    found = partitions(np.zeros((4, 4)))
    assert found.disputed(0.3) == pytest.approx(0.3)
    assert partitions(np.zeros((1, 1))).disputed(0.3) == 0
    assert np.isnan(share_disputed(np.zeros(0)))


@pytest.mark.parametrize("errors", [JudgeErrors(0.02, 0.08), JudgeErrors(0.08, 0.30)], ids=["good", "noisy"])
def test_groups_shares_and_lists_of_simulated_runs_are_right(errors):
    """24 handbooks, 120 questions: two in five with one position. The judge's real errors are not those that are assumed."""
    rng = np.random.default_rng(11)
    right, disputed, found = [], [], []
    for _ in range(120):
        shares = {1: [1.0], 2: [0.7, 0.3], 3: [0.6, 0.25, 0.15]}[int(rng.choice([1, 2, 3], p=[0.4, 0.4, 0.2]))]
        truth = rng.choice(len(shares), 24, p=shares)
        evidence = evidence_of(labelled(rng, truth, errors))
        found.append(partitions(evidence))
        group = best_partition(found[-1], evidence, 0.5)
        disputed.append(len(np.unique(truth)) > 1)
        right.append((np.equal.outer(group, group) == np.equal.outer(truth, truth)).mean())
    share = share_disputed(np.array([one.log_odds for one in found]))
    chosen = listed(np.array([one.disputed(share) for one in found]), 0.05)
    assert np.mean(right) > 0.96
    assert share == pytest.approx(np.mean(disputed), abs=0.05)
    assert np.mean(np.array(disputed)[chosen]) >= 0.93
    assert np.sum(np.array(disputed)[chosen]) >= 0.95 * np.sum(disputed)


def test_groups_of_sixty_handbooks_are_exactly_right():
    rng, right = np.random.default_rng(3), []
    for _ in range(25):
        shares = {1: [1.0], 2: [0.7, 0.3], 3: [0.6, 0.25, 0.15]}[int(rng.choice([1, 2, 3], p=[0.4, 0.4, 0.2]))]
        truth = rng.choice(len(shares), 60, p=shares)
        evidence = evidence_of(labelled(rng, truth, JudgeErrors(0.08, 0.30)))
        group = best_partition(partitions(evidence), evidence, 0.5)
        right.append(np.array_equal(np.equal.outer(group, group), np.equal.outer(truth, truth)))
    assert np.mean(right) >= 0.95


def test_a_list_is_as_long_as_its_false_ones_allow():
    # Means of 1 - p: .01, .03, .047, .135
    assert listed(np.array([0.6, 0.95, 0.99, 0.92]), 0.05).tolist() == [False, True, True, True]
    assert not listed(np.array([0.5, 0.2]), 0.05).any()


def test_amounts_that_the_judge_cites_count_as_facts_of_handbooks_and_their_worth_is_learned_from_the_run():
    # Two questions of two handbooks: surely two positions with differing amounts, surely one with one amount
    apart, same = Partitions(np.array([[0, 1]]), np.ones(1), 50.0), Partitions(np.array([[0, 1]]), np.ones(1), -50.0)
    differ, equal = (np.array([[np.nan, value], [value, np.nan]]) for value in (1.0, 0.0))
    found = amounts_told([apart, same], 0.5, [differ, equal])
    assert (found.same, found.apart) == (pytest.approx(2 / 11), pytest.approx(9 / 11))  # 2 of 10 and 8 of 10 were imagined
    assert found.evidence(differ)[0, 1] == pytest.approx(np.log(2 / 9))
    assert found.evidence(equal)[0, 1] == pytest.approx(np.log(9 / 2))
    # Three pairs of three handbooks are two facts; a pair without amounts is none
    three = np.where(np.eye(3, dtype=bool), np.nan, 1.0)
    assert found.evidence(three)[0, 1] == pytest.approx(np.log(2 / 9) * 2 / 3)
    assert not AmountsTold(0.1, 0.9).evidence(np.full((3, 3), np.nan)).any()


def test_the_credible_number_that_share_a_position_by_hand():
    # All four together with .5; else three of four with .4 * 2 / 2 = .4, two of four with .1
    found = Partitions(np.array([[0, 0, 0, 1], [0, 0, 1, 1]]), np.array([0.8, 0.2]), 0.0)
    everyone = np.arange(4)
    assert found.disputed(0.5) == 0.5
    assert [found.at_least(0.5, everyone, tail) for tail in (0.05, 0.15, 0.55)] == [2, 3, 4]
    assert found.at_least(0.5, np.array([0, 1])) == 2
    assert Partitions(np.zeros((0, 1), dtype=int), np.zeros(0), -np.inf).at_least(0.5, np.array([0])) == 1


def test_at_least_so_many_share_a_position_in_simulated_questions_with_judges_of_several_kinds():
    rng = np.random.default_rng(5)
    for errors in (JudgeErrors(0.02, 0.08), JudgeErrors(0.08, 0.3)):
        held = []
        for _ in range(60):
            truth = rng.choice(3, rng.integers(5, 25), p=[0.6, 0.3, 0.1])
            evidence = evidence_of(labelled(rng, truth, errors))
            found = partitions(evidence)
            members = np.flatnonzero(best_partition(found, evidence, 0.5) == 0)
            held.append(found.at_least(0.5, members) <= np.bincount(truth[members]).max())
        assert np.mean(held) >= 0.93
