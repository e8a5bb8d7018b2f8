"""The demo's second judge and panel: what the metrics say of them is what the simulator was told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from audit.metrics.second_judge import judge_drift, rates_by_both, second_judge
from audit.store.connection import open_store
from audit.vocabulary import DISAGREEING, PRESENT_LABELS
from tests.simulator.config import small_config
from tests.simulator.further import SECOND_NOISE, further_records
from tests.simulator.judge import draw_verdicts, kernel, simulate_labels
from tests.simulator.world import draw_world
from tests.support.loading import load, messages

SEEDS = range(30)
DISAGREE = [label.code for label in DISAGREEING]


def test_the_figures_of_the_demo_hold_what_the_second_judge_says_of_all_pairs(written_demo: Callable[..., Path], tmp_path: Path):
    loaded = load(written_demo(), tmp_path)
    assert messages(loaded, "repaired") == messages(loaded, "quarantined") == []
    world = draw_world(small_config(2057))
    labels = simulate_labels(world)
    judged = ~labels.prescreened
    # Every draw of the judge at once: the expectation over its errors, given the true relation of each pair
    chances = kernel(SECOND_NOISE)[np.array([[int(q.contested)] for q in world.questions]), labels.truth]
    disagrees, first = chances[..., DISAGREE].sum(axis=-1), np.isin(labels.judge, DISAGREE) & judged
    present = np.isin(labels.judge, [label.code for label in PRESENT_LABELS]) & judged
    with open_store(loaded.run.path) as con:
        table, both = second_judge(con).set_index("figure"), rates_by_both(con).set_index("figure")
        drift = judge_drift(con).set_index(["round", "figure"])
    read = 1 - SECOND_NOISE.unscored
    for row, truth in (
        (table.loc["confirmed"], disagrees[first].mean() / read),
        (table.loc["second only"], disagrees[judged & ~first & (labels.judge >= 0)].mean() / read),
        (both.loc["r_div both"], disagrees[first].sum() / read / present.sum()),
    ):
        assert row["value_low"] < truth < row["value_high"]
    assert drift.loc[(1, "beyond repeat"), "value_low"] < 0 < drift.loc[(2, "beyond repeat"), "value_low"]
    assert drift.loc[(2, "r_div change"), "value_high"] < 0


def test_readings_of_one_date_differ_as_often_from_each_other_as_from_the_run_until_the_judge_changes():
    counts = {number: np.zeros(3) for number in (1, 2)}
    for seed in SEEDS:
        world = draw_world(small_config(seed))
        labels = simulate_labels(world)
        place = {question.id: number for number, question in enumerate(world.questions)}
        pairs = {(world.handbooks[a].id, world.handbooks[b].id): n for n, (a, b) in enumerate(zip(*world.pairs, strict=True))}
        readings: dict[tuple[int, int, int], list[str | None]] = {}
        for record in further_records(world, labels, "judge"):
            if record["kind"] == "recheck":
                at = (record["round"], place[record["question_id"]], pairs[record["handbook_a"], record["handbook_b"]])
                readings.setdefault(at, []).append(record["label"])
        for (number, question, pair), (one, two) in readings.items():
            if one and two:
                run = ("ABSENT", "CONSISTENT", "COMPLEMENTARY", "DIVERGENT", "CONTRADICTORY")[labels.judge[question, pair]]
                counts[number] += (one != two, one != run, 1)
    (chance, changed, pairs_read), (_, later, read_later) = counts[1], counts[2]
    assert chance / pairs_read == pytest.approx(changed / pairs_read, abs=0.006)
    assert later / read_later - chance / pairs_read > 0.03


def test_two_judges_err_apart_but_on_the_same_questions():
    world = draw_world(small_config(3))
    labels = simulate_labels(world)
    again = draw_verdicts(world, labels.truth, SECOND_NOISE, np.random.default_rng([3, 21]))
    wrong, wrong_too = ((codes != labels.truth) & ~labels.prescreened for codes in (labels.judge, again))
    true_complementary = labels.truth == 2
    rate, rate_too = wrong[true_complementary].mean(), wrong_too[true_complementary].mean()
    both = (wrong & wrong_too)[true_complementary].mean()
    contested = np.array([question.contested for question in world.questions])[:, None] & true_complementary
    # Errors cluster on borderline questions, as of one judge, and are independent within them
    assert both > rate * rate_too
    assert (wrong & wrong_too)[contested].mean() == pytest.approx(wrong[contested].mean() * wrong_too[contested].mean(), abs=0.02)
