"""The simulated stress tests: contexts as asked for, errors where they are said to be, intervals that hold the known curves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from audit.evaluation.stress_measures import StressMeasure
from audit.metrics.stress import stress_curves
from audit.release.write import write_release
from audit.store.connection import open_store
from audit.vocabulary import StressTest
from tests.simulator.build import DEFAULT_SEED, question_records
from tests.simulator.config import small_config
from tests.simulator.retrieval import HandbookTexts
from tests.simulator.stress import (
    MEASURES,
    MODEL_ID,
    RATES,
    SHARES,
    SIZE,
    StressWorld,
    expected_measure,
    model_reply,
    with_stress,
)
from tests.simulator.world import draw_world
from tests.support.loading import load

SEEDS = (DEFAULT_SEED, 7, 8)


@pytest.fixture(scope="module")
def world() -> StressWorld:
    return StressWorld(HandbookTexts(draw_world(small_config(DEFAULT_SEED))))


@pytest.fixture(scope="module")
def curves(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """The curves of a release for each seed."""
    folder = tmp_path_factory.mktemp("stress")
    return pd.concat([curves_of(folder / str(seed), seed).assign(seed=seed) for seed in SEEDS], ignore_index=True)


def curves_of(folder: Path, seed: int) -> pd.DataFrame:
    world = StressWorld(HandbookTexts(draw_world(small_config(seed))))
    release = write_release(
        folder / "release", manifest={"run_id": "stress"}, questions=question_records(world.library.world),
        systems=with_stress({"systems": []}, world),
    )  # fmt: skip
    loaded = load(release, folder / "data")
    assert loaded.run.report["clean"]
    with open_store(loaded.run.path) as con:
        return stress_curves(con)


def truth_of(row: pd.Series) -> float:
    """The expected value of a row; share 0 of the standard test is no documents."""
    test = StressTest(row["test"])
    share = 0 if test == StressTest.STANDARD and row["size"] == 0 else row["signal_share"]
    return expected_measure(StressMeasure(row["measure"]), test, int(share))


def test_the_intervals_hold_the_known_curves(curves: pd.DataFrame) -> None:
    known = {(test.value, measure.value) for test, measures in MEASURES.items() for measure in measures}
    is_known = np.array([key in known for key in zip(curves["test"], curves["measure"], strict=True)])
    own = curves[(curves["system_id"] == MODEL_ID) & is_known]
    truth = own.apply(truth_of, axis=1)
    held = (own["value_low"] <= truth) & (truth <= own["value_high"])
    # 95 % intervals, about 50 figures for each of three seeds
    assert len(own) > 100
    assert held.mean() >= 0.9, own[~held]
    assert (own["value"] - truth).abs().max() < 0.3


def test_readers_have_the_curves_that_follow_from_what_they_do(curves: pd.DataFrame) -> None:
    value = curves[curves["seed"] == DEFAULT_SEED].set_index(["system_id", "test", "size", "signal_share", "measure"])["value"]
    assert value["oracle", "sufficiency", SIZE, 0, "insufficient"] == 1
    assert [value["oracle", "sufficiency", SIZE, share, "accuracy"] for share in SHARES[StressTest.SUFFICIENCY][1:]] == [1, 1, 1]
    for share in SHARES[StressTest.ROBUSTNESS]:
        assert value["copycat", "robustness", SIZE, share, "sub_exact"] == pytest.approx(share / 100)
        assert value["copycat", "robustness", SIZE, share, "error_detection"] == pytest.approx(share / 100)


def test_a_context_has_as_much_signal_as_is_said(world: StressWorld) -> None:
    for one in world.instances:
        sound = [one_of.is_factual if one.test == StressTest.ROBUSTNESS else one_of.is_signal for one_of in one.documents]
        assert len(one.documents) == one.size
        assert not one.documents or sum(sound) == SIZE * one.signal_share / 100
        assert len({document.document_id for document in one.documents}) == len(one.documents)


def test_a_signal_document_states_the_right_option_and_an_altered_one_another(world: StressWorld) -> None:
    for one in world.instances:
        gold = one.options[one.gold]
        for document in one.documents:
            if not document.is_signal:
                continue
            stated = document.sub_answer if document.is_factual else document.false_answer
            assert (stated == gold) == document.is_factual
            assert stated in document.text
            if document.edit:
                edit = document.edit
                assert document.text[edit["start"] :].startswith(edit["after"])
                assert edit["after"] in one.options.values()


def test_the_model_replies_at_its_rates(world: StressWorld) -> None:
    rng = np.random.default_rng(3)
    (one, *_) = [one for one in world.instances if one.test == StressTest.SUFFICIENCY and one.signal_share == 60]
    replies = [model_reply(one, rng) for _ in range(4_000)]
    read = [reply for reply in replies if not reply.reason]
    rates = RATES[StressTest.SUFFICIENCY]
    assert rates.insufficient is not None
    # Four standard errors of a share of about 4,000
    assert np.mean([reply.insufficient for reply in read]) == pytest.approx(rates.insufficient[60], abs=0.025)
    assert np.mean([reply.choice == one.gold for reply in read]) == pytest.approx(
        expected_measure(StressMeasure.ACCURACY, StressTest.SUFFICIENCY, 60), abs=0.032
    )
    assert len(replies) - len(read) == pytest.approx(80, abs=36)
