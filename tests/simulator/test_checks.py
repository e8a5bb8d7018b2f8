"""The simulated judge, asked again, changes its mind as often as it is told to."""

import json
from collections import Counter

import numpy as np
import pytest

from audit.vocabulary import DISAGREEING, LABELS, CheckKind, Label
from tests.simulator.config import paper_config, small_config
from tests.simulator.judge import CHANGED_LABELS, N_CHECKED, UNSCORED, CheckNoise, simulate_checks, simulate_labels
from tests.simulator.world import draw_world

WORLD = draw_world(small_config(7))
LABELLED = simulate_labels(WORLD)
CHECKS = simulate_checks(WORLD, LABELLED)


def main(question: int, place: int) -> Label | None:
    verdict = LABELLED.judge[question, place]
    return None if verdict == UNSCORED else LABELS[verdict]


def test_a_fixed_number_of_judged_pairs_is_checked_in_every_way():
    assert len(CHECKS) == N_CHECKED
    assert not any(LABELLED.prescreened[place] for place in CHECKS)
    assert {tuple(verdicts) for verdicts in CHECKS.values()} == {tuple(CheckKind)}


def test_checks_change_no_verdict_and_draw_the_same_each_time():
    assert (simulate_labels(WORLD).judge == LABELLED.judge).all()
    assert simulate_checks(WORLD, LABELLED) == CHECKS


@pytest.mark.parametrize(("kind", "rate"), [(CheckKind.SWAP, 0.09), (CheckKind.REPEAT, 0.03)])
def test_labels_move_at_the_true_rate(kind, rate):
    moved, scored = 0, 0
    for seed in range(8):
        world = draw_world(small_config(seed))
        labels = simulate_labels(world)
        for (question, place), verdicts in simulate_checks(world, labels).items():
            before, after = labels.judge[question, place], verdicts[kind]
            if before != UNSCORED and after is not None:
                scored, moved = scored + 1, moved + (after.code != before)
    assert moved / scored == pytest.approx(rate, abs=3 * np.sqrt(rate / scored))


def test_hiding_the_names_of_centers_makes_disagreements_milder_and_leaves_most_else():
    for (question, place), verdicts in CHECKS.items():
        before, after = main(question, place), verdicts[CheckKind.BLIND]
        if before in DISAGREEING and after is not None:
            assert after in (before, CHANGED_LABELS[before])
            assert after.code <= before.code


def test_an_unscored_pair_stays_unscored():
    assert all(set(verdicts.values()) == {None} for place, verdicts in CHECKS.items() if main(*place) is None)


def test_a_judge_that_never_wavers_says_the_same_each_time():
    firm = CheckNoise(0, 0, 0, 0, 0)
    for place, verdicts in simulate_checks(WORLD, LABELLED, firm).items():
        assert set(verdicts.values()) == {main(*place)}


def test_the_release_has_the_checks_and_says_how_every_reply_was_read(written_demo):
    root = written_demo(7)
    pairs = [pair for path in (root / "comparisons").iterdir() for pair in json.loads(path.read_text())["pairs"]]
    judged = [pair for pair in pairs if pair["judge_metadata"]]
    assert sum("checks" in pair for pair in pairs) == N_CHECKED
    assert all((pair["judge_metadata"]["parse"] == "none") == (pair["classification"] is None) for pair in judged)
    reasons = Counter(pair["judge_metadata"].get("unscored_reason") for pair in judged if pair["classification"] is None)
    assert set(reasons) == {"empty", "cut"}


def test_the_paper_s_shape_says_nothing_of_how_replies_were_read():
    assert not paper_config(7).parse_status
