"""The demo's labels are known before they are written: what the metrics count after loading must be what was drawn."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from audit.metrics.handbooks import handbooks
from audit.metrics.labels import labels
from audit.metrics.position_groups import matrix
from audit.metrics.questions import organs, topics
from audit.store.connection import Connection, open_store
from audit.vocabulary import LABELS
from tests.simulator.build import DEFAULT_SEED
from tests.simulator.config import small_config
from tests.simulator.judge import UNSCORED, simulate_labels
from tests.simulator.world import draw_world
from tests.support.loading import load

WORLD = draw_world(small_config(DEFAULT_SEED))
DRAWN = simulate_labels(WORLD)


@pytest.fixture(scope="module")
def folder(written_demo: Callable[..., Path]) -> Path:
    return written_demo()


@pytest.fixture(scope="module")
def con(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Connection:
    return open_store(load(folder, tmp_path_factory.mktemp("data")).run.path)


def shares(rows: np.ndarray) -> tuple[float, float]:
    """r_abs and R_div of drawn judge labels."""
    present = np.isin(rows, (1, 2, 3, 4))
    return float((rows == 0).sum() / (rows != UNSCORED).sum()), float(np.isin(rows, (3, 4)).sum() / present.sum())


def test_labels_are_those_drawn(con: Connection) -> None:
    counted = labels(con).set_index(["how", "label"])["pairs"]
    assert counted["pre-screened", "ABSENT"] == DRAWN.prescreened.sum()
    assert counted["unscored", "UNSCORED"] == (DRAWN.judge == UNSCORED).sum()
    judged = DRAWN.judge[~DRAWN.prescreened]
    assert [counted["judged", label.value] for label in LABELS] == [(judged == label.code).sum() for label in LABELS]


def test_rates_by_organ_are_those_drawn(con: Connection) -> None:
    drawn = np.array([question.organ for question in WORLD.questions])
    table = organs(con).set_index("organ")
    for organ in set(drawn):
        assert (table.loc[organ, "r_abs"], table.loc[organ, "r_div"]) == pytest.approx(shares(DRAWN.judge[drawn == organ]))
    assert (table.loc["(all)", "r_abs"], table.loc["(all)", "r_div"]) == pytest.approx(shares(DRAWN.judge))


def test_absence_is_that_of_the_policies_held(con: Connection) -> None:
    assert handbooks(con)["absence"].to_numpy() == pytest.approx(1 - WORLD.present.mean(axis=0))


def test_topics_hold_the_pairs_of_their_questions(con: Connection) -> None:
    table = topics(con).set_index("topic")
    assert table["pairs"].sum() >= DRAWN.judge.size  # a question of two topics counts in both
    assert set(table["pairs"] % DRAWN.judge.shape[1]) == {0}


def test_the_written_truth_is_the_drawn_one_and_the_judge_mostly_finds_it(con: Connection, folder: Path) -> None:
    codes = {label.value: label.code for label in LABELS}
    agreed = []
    for line in (folder / "truth.jsonl").read_text().splitlines():
        truth = json.loads(line)
        read = matrix(con, truth["question_id"]).map(codes.get).to_numpy(dtype=float)
        there = ~np.isnan(read)
        agreed.append((read[there] == np.array(truth["relation"])[there]).mean())
    assert np.mean(agreed) > 0.9
