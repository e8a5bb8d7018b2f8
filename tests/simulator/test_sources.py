"""The simulated systems that search several sources: their rates are known, and the metrics of routing recover them."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from audit.evaluation.retrieval_measures import QUOTE_CHECK
from audit.metrics.routing import routing, routing_differences
from audit.pipeline.judging.cited_texts import read_cited_texts
from audit.stats.means import mean_change
from audit.store.connection import open_store
from audit.store.load import Loaded
from tests.simulator.build import DEFAULT_SEED, TRUTH_OF_SYSTEMS
from tests.simulator.config import small_config
from tests.simulator.retrieval import GIVEN, HandbookTexts, SimulatedSearches
from tests.simulator.source_records import MISQUOTE
from tests.simulator.sources import MERGED, ROUTED, ROUTING_SYSTEMS, SourceWorld, simulate_routes
from tests.simulator.system_answers import SystemWorld
from tests.simulator.world import draw_world
from tests.support.loading import ask, load

N_QUESTIONS = 118


@pytest.fixture(scope="module")
def demo(written_demo: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Loaded]:
    return written_demo(), load(written_demo(), tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="module")
def sources() -> SourceWorld:
    world = draw_world(small_config(DEFAULT_SEED))
    return SourceWorld(SystemWorld(world, SimulatedSearches(HandbookTexts(world))))


@cache
def recovered(seed: int) -> bool:
    """Whether the interval of the difference in PrimaryAcc contains the true one."""
    rank = simulate_routes(N_QUESTIONS, seed).rank
    change = mean_change((rank[0] == 0).astype(float) - (rank[1] == 0))
    return bool(change["change_low"] <= ROUTED.first - MERGED.first <= change["change_high"])


def test_the_interval_of_the_difference_holds_the_truth_in_95_percent_of_worlds() -> None:
    assert 0.92 <= np.mean([recovered(seed) for seed in range(300)]) <= 0.98


def test_the_rates_are_those_declared() -> None:
    routes = simulate_routes(40_000, 3)
    for row, system in enumerate(ROUTING_SYSTEMS):
        assert (routes.rank[row] == 0).mean() == pytest.approx(system.first, abs=0.01)
        assert (routes.rank[row] == 1).mean() == pytest.approx(system.second, abs=0.01)
        assert routes.covers[row].mean() == pytest.approx(system.covers, abs=0.01)
    hard = [routes.rank[row] > 0 for row in (0, 1)]
    assert np.corrcoef(*hard)[0, 1] > 0.3, "what is hard for one is hard for the other"


def test_the_metrics_give_the_true_values_of_the_demo(demo: tuple[Path, Loaded], sources: SourceWorld) -> None:
    folder, loaded = demo
    assert loaded.run.report["clean"]
    assert loaded.run.has_routes
    truth = json.loads((folder / TRUTH_OF_SYSTEMS).read_text())["routing"]
    needed = [len(sources.systems.required(number)) for number in range(N_QUESTIONS)]
    known, several = np.array(needed) > 0, np.array(needed) > 1
    with open_store(loaded.run.path) as con:
        table = routing(con).set_index(["system_id", "measure"])
        difference = routing_differences(con, baseline=MERGED.id).set_index("measure")
    for row, system in enumerate(ROUTING_SYSTEMS):
        rank, covers = sources.routes.rank[row], sources.routes.covers[row]
        counts = {"PrimaryAcc": (rank == 0)[known], "Top2Hit": (rank <= 1)[known], "CrossEv@5": covers[several]}
        for measure, right in counts.items():
            own = table.loc[(system.id, measure)]
            assert (own["mean"], own["measured"]) == (pytest.approx(right.mean()), len(right))
            assert own["mean_low"] <= truth["rates"][system.id][measure] <= own["mean_high"]
    assert difference.loc["PrimaryAcc", ["moves"]].tolist() == ["rises"]
    assert difference.loc["EDR", "moves"] == "falls"


def test_the_densest_source_is_the_one_that_the_metric_takes(demo: tuple[Path, Loaded], sources: SourceWorld) -> None:
    dense = sources.source_ids[sources.densest]
    with open_store(demo[1].run.path) as con:
        assert routing(con).equals(routing(con, densest=dense))


def test_a_question_needs_one_source_for_each_position(sources: SourceWorld) -> None:
    world, systems = sources.systems.world, sources.systems
    numbers = [number for number in range(N_QUESTIONS) if len(systems.required(number)) > 1]
    assert len(numbers) > 20
    for number in numbers:
        books = systems.required(number)
        values = world.value[world.row[number], books].tolist()
        assert len(set(values)) == len(values) == len({sources.center_of[book] for book in books})
        assert world.present[number, books].all()
        assert books[0] == systems.source[number]


def test_the_evidence_is_five_different_sections_and_gold_where_it_says_so(sources: SourceWorld) -> None:
    books = sources.systems.world.handbooks
    for row in (0, 1):
        for number in range(N_QUESTIONS):
            given = sources.evidence[row][number]
            assert len({(one.handbook, one.section_id) for one in given}) == GIVEN
            gold = set(sources.systems.gold(number))
            assert all(one.is_gold == (f"{books[one.handbook].id}/{one.section_id}" in gold) for one in given)


def test_quotes_are_in_their_sections_but_for_those_that_the_truth_names(demo: tuple[Path, Loaded]) -> None:
    folder, loaded = demo
    texts = {(book, section): text for book, section, text in ask(
        loaded, "select handbook_id, section_id, text from sections join handbooks using (handbook)"
    )}  # fmt: skip
    answers = [json.loads(line) for line in (folder / "system_answers.jsonl").read_text().splitlines()]
    wrong, cited = [], 0
    for record in answers:
        for place, citation in enumerate(record.get("citations", []), 1):
            text = texts[citation["handbook_id"], citation["section_id"]]
            quote, says = citation["quote"], text[citation["quote_start"] : citation["quote_end"]]
            cited += 1
            assert record["answer"][citation["start"] : citation["end"]].endswith(says)
            if quote not in text:
                assert quote == MISQUOTE + says
                wrong.append([record["question_id"], record["system_id"], place])
    truth = json.loads((folder / TRUTH_OF_SYSTEMS).read_text())["routing"]["misquoted"]
    assert sorted(wrong) == sorted(truth)
    checked = read_cited_texts(folder, 2**20)
    stored = [json.loads(line) for line in (folder / "measures.jsonl").read_text().splitlines()]
    for record in (record for record in stored if record["measure"] == QUOTE_CHECK):
        assert checked.quote_check((record["question_id"], record["system_id"])) == pytest.approx(record["value"], abs=1e-6)
    assert 0 < len(wrong) < 0.1 * cited
