"""The simulated answering systems: their true difference is arithmetic, and intervals recover it; records follow the truth."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audit.evaluation.criteria import CRITERIA, Criterion
from audit.evaluation.retrieval_measures import RETRIEVAL_MEASURES, retrieval_measures
from audit.metrics.systems import system_differences
from audit.stats.means import mean_change
from audit.store.connection import open_store
from audit.store.load import Loaded
from tests.simulator.build import DEFAULT_SEED, TRUTH_OF_SYSTEMS
from tests.simulator.config import small_config
from tests.simulator.retrieval import GIVEN, HandbookTexts, SimulatedSearches
from tests.simulator.source_records import with_sources
from tests.simulator.sources import ROUTING_SYSTEMS, SourceWorld
from tests.simulator.system_answers import ADDED, SystemWorld
from tests.simulator.system_records import system_tables, true_composites
from tests.simulator.systems import (
    ALONE,
    CLINICIAN,
    JUDGE,
    RETRIEVAL,
    expected_composite,
    misread,
    simulate_scores,
    true_difference,
)
from tests.simulator.world import draw_world
from tests.support.loading import load

N_QUESTIONS = 118


@cache
def recovered(seed: int) -> bool:
    """Whether the interval of a world contains the true difference as the judge scores it."""
    alone, retrieval, _ = true_composites(simulate_scores(N_QUESTIONS, seed, independent=True).judged)
    differences = (retrieval - alone)[~np.isnan(retrieval - alone)]
    change = mean_change(differences)
    return bool(change["change_low"] <= true_difference() <= change["change_high"])


def test_the_interval_of_the_paired_difference_holds_the_truth_in_95_percent_of_worlds() -> None:
    seeds = range(DEFAULT_SEED, DEFAULT_SEED + 200)
    assert 0.93 <= np.mean([recovered(seed) for seed in seeds]) <= 0.97
    assert 0.93 <= np.mean([recovered(seed) for seed in range(DEFAULT_SEED, DEFAULT_SEED + 400)]) <= 0.97


@pytest.mark.parametrize("reader", [None, JUDGE])
def test_the_expected_composite_is_the_mean_of_many_simulated_answers(reader: Any) -> None:
    scores = simulate_scores(40_000, 0, independent=True)
    composites = true_composites(scores.judged if reader else scores.true)
    for row, system in enumerate((ALONE, RETRIEVAL)):
        read = composites[row][~np.isnan(composites[row])]
        error = read.std() / np.sqrt(len(read))
        assert abs(read.mean() - expected_composite(system, reader)) < 4 * error


def test_the_expected_composite_by_hand() -> None:
    # Of all questions 3 % are refused, with a sum of 0 - 2 + 0 + 1 (grammar); of the others consensus .90 - .04,
    # inappropriate -.04 - .02, missing -.22 - .16, extent -.03 - .02, likelihood -.05, bias -.02, empathy .45 + .30, grammar .96
    answered = 0.86 - 0.06 - 0.38 - 0.05 - 0.05 - 0.02 + 0.75 + 0.96
    assert expected_composite(RETRIEVAL) == pytest.approx((0.03 * -1 + 0.97 * answered + 10) / 14 * 10)


def test_a_reader_errs_by_one_step_and_only_inwards_at_an_end() -> None:
    assert misread(Criterion.MISSING_CONTENT, 0.1).round(3).tolist() == [[0.9, 0.1, 0], [0.05, 0.9, 0.05], [0, 0.1, 0.9]]
    assert misread(Criterion.BIAS, 0.1).round(3).tolist() == [[0.9, 0.1], [0.1, 0.9]]


def test_harder_questions_bring_more_defects_and_the_clinician_reads_better_than_the_judge() -> None:
    scores = simulate_scores(4_000, 1)
    true = true_composites(scores.true)
    hard = scores.difficulty > 0.5
    assert all(true[row, hard].mean() < true[row, ~hard].mean() - 0.15 for row in (0, 1))
    errors = [(read != scores.true)[~np.isnan(read)].mean() for read in (scores.judged, scores.clinician)]
    assert errors == pytest.approx([JUDGE.errs, CLINICIAN.errs], rel=0.1)
    assert np.isnan(scores.judged).all(axis=2).mean() == pytest.approx(JUDGE.unread, rel=0.2)


@pytest.fixture(scope="module")
def systems() -> SystemWorld:
    world = draw_world(small_config(DEFAULT_SEED))
    return SystemWorld(world, SimulatedSearches(HandbookTexts(world)))


@pytest.fixture(scope="module")
def tables(systems: SystemWorld) -> dict[str, list[dict[str, Any]]]:
    return {name: list(records) for name, records in with_sources(system_tables(systems), SourceWorld(systems)).items()}


@pytest.fixture(scope="module")
def demo(written_demo: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Loaded]:
    return written_demo(), load(written_demo(), tmp_path_factory.mktemp("demo"))


def test_the_demo_is_loaded_without_a_fault_and_its_interval_holds_the_truth(demo: tuple[Path, Loaded]) -> None:
    folder, loaded = demo
    assert loaded.run.report["clean"]
    assert loaded.run.has_systems
    truth = json.loads((folder / TRUTH_OF_SYSTEMS).read_text())
    assert truth["better"] == RETRIEVAL.id
    with open_store(loaded.run.path) as con:
        table = system_differences(con, baseline=ALONE.id).set_index("measure")
    low, high = table.loc["composite", ["change_low", "change_high"]]
    assert low < truth["composite_difference"]["judged"] < high
    assert table.loc["composite", "moves"] == "rises"


def test_an_answer_earns_its_scores_with_its_text(systems: SystemWorld) -> None:
    for number in range(len(systems.world.questions)):
        details = systems._details(number)
        for row in (0, 1):
            text, true = systems.answer(row, number), dict(zip(CRITERIA, systems.scores.true[row, number], strict=True))
            if systems.scores.refused[row, number]:
                assert "cannot answer" in text
                continue
            assert sum(detail in text for detail in details) == 2 + true[Criterion.MISSING_CONTENT]
            assert systems.position(number)[0] in systems.reference_answer(number)
            assert "{" not in text
    defects = {(criterion, score) for criterion, score, _ in ADDED}
    assert {(criterion, score) for criterion, scale in CRITERIA.items() for score in scale.scores if score < scale.best} == (
        defects | {(Criterion.SCIENTIFIC_CONSENSUS, 0), (Criterion.SCIENTIFIC_CONSENSUS, -1), (Criterion.MISSING_CONTENT, -1)}
        | {(Criterion.MISSING_CONTENT, -2), (Criterion.EMPATHY, 1), (Criterion.EMPATHY, 0)}
    )  # fmt: skip


def test_measures_follow_from_the_evidence(tables: dict[str, list[dict[str, Any]]]) -> None:
    pytest.importorskip("ir_measures", reason="ir-measures is not installed (pip install -c constraints.txt -e .[pipeline])")
    gold = {record["question_id"]: record["gold_sections"] for record in tables["references"]}
    for system in (RETRIEVAL, *ROUTING_SYSTEMS):
        ranked = {
            record["question_id"]: [f"{passage['handbook_id']}/{passage['section_id']}" for passage in record["evidence"]]
            for record in tables["system_answers"] if record["system_id"] == system.id
        }  # fmt: skip
        found = [record for record in tables["measures"] if record["measure"] in RETRIEVAL_MEASURES]
        own = [record for record in found if record["system_id"] == system.id]
        values = {(record["question_id"], record["measure"]): record["value"] for record in own}
        computed = retrieval_measures(ranked, gold)
        assert values == {
            (question, name): pytest.approx(value, abs=1e-6) for question, of in computed.items() for name, value in of.items()
        }


def test_answers_are_better_where_their_section_was_found(systems: SystemWorld) -> None:
    composites = true_composites(systems.scores.true[1])
    assert composites[systems.rank == 0].mean() > composites[systems.rank == GIVEN].mean() + 0.3


def test_clinicians_prefer_the_better_system_with_sides_at_random(tables: dict[str, list[dict[str, Any]]]) -> None:
    human = [record for record in tables["preferences"] if record["rater_kind"] == "human"]
    choices = [record["preference"] for record in human]
    assert len(human) == 2 * 60
    assert choices.count("B") > 1.3 * choices.count("A")
    assert 40 < sum(record["shown_first"] == "A" for record in human) < 80
    assert {record["question_id"] for record in human} == {
        record["question_id"] for record in tables["criteria"] if record["judge"] == "clinician-1"
    }
