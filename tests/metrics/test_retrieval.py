"""Strategies of retrieval on small trials by hand, and on the simulator, whose truth is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from audit.errors import AuditError, NotInRunError
from audit.metrics.retrieval import retrieval, retrieval_answers, retrieval_missed, retrieval_paired
from audit.release.write import write_jsonl
from audit.store.connection import Connection, open_store
from tests.simulator.config import small_config
from tests.simulator.retrieval import HIT_RATES, HandbookTexts, SimulatedSearches, trials
from tests.simulator.world import draw_world
from tests.store.test_sections import change_answer
from tests.support.loading import load
from tests.support.tiny import release_from

TABLE = """
    q1 kidney  ab=CONSISTENT
    q2 lung    ab=CONSISTENT
    q3 lung    b=absent  a=absent
"""
Trials = list[dict[str, Any]]
Open = Callable[[Trials], Connection]


def trial(question: str, handbook: str, strategy: str, ranked: str, gold: str = "s1", **more: Any) -> dict[str, Any]:
    lists = {"ranked": ranked.split(), "gold": gold.split()}
    return {"question_id": question, "handbook_id": handbook, "strategy": strategy, "mode": "passages", **lists, **more}


TRIALS = [
    trial("q1", "a", "hero", "s1 s2", seconds=0.2),
    trial("q1", "b", "hero", "s2 s3", mode="full_document_fallback", seconds=0.4),
    trial("q2", "a", "hero", "s2 s1"),
    trial("q3", "a", "hero", "s2 s3", gold=""),
    trial("q1", "a", "bm25", "s3 s2 s4 s1"),
    trial("q1", "b", "bm25", "s1"),
    trial("q2", "a", "bm25", "s2 s3 s4 s5 s6 s1"),
]  # fmt: skip


@pytest.fixture
def release(tmp_path: Path) -> Path:
    return release_from(tmp_path / "releases", TABLE)


@pytest.fixture
def opened(release: Path, tmp_path: Path) -> Iterator[Open]:
    """Open a run with these trials."""
    connections: list[Connection] = []

    def opener(records: Trials) -> Connection:
        write_jsonl(release / "trials.jsonl", records)
        connections.append(open_store(load(release, tmp_path / "data").run.path))
        return connections[-1]

    yield opener
    for con in connections:
        con.close()


def test_a_section_that_is_listed_twice_takes_one_place_in_every_measure(opened: Open):
    (row,) = retrieval(opened([trial("q1", "a", "hero", "s2 s2 s2 s3 s3 s1")])).to_dict("records")
    assert (row["hit_1"], row["hit_5"], row["mrr"]) == (0, 1, pytest.approx(1 / 3))
    assert row["ndcg_5"] == pytest.approx(1 / 2), "1 / log2(3 + 1): it stands third of s2, s3, s1"


def test_measures_are_means_over_the_trials_with_gold(opened: Open) -> None:
    table = retrieval(opened(TRIALS)).set_index("strategy")
    hero, bm25 = table.loc["hero"], table.loc["bm25"]
    assert (hero["trials"], hero["questions"], hero["no_gold"]) == (3, 2, 1)
    assert hero[["hit_1", "hit_5"]].tolist() == pytest.approx([1 / 3, 2 / 3])
    assert hero["mrr"] == pytest.approx((1 + 0 + 1 / 2) / 3)
    assert hero["ndcg_5"] == pytest.approx((1 + 0 + 1 / np.log2(3)) / 3)
    assert hero["given"] == 1.0  # the one that missed was given the whole document
    assert hero["seconds"] == pytest.approx(0.3)
    assert hero[["passages", "full_document", "full_document_fallback", "mode_unknown"]].tolist() == [3, 0, 1, 0]
    assert bm25["mrr"] == pytest.approx((1 / 4 + 1 + 1 / 6) / 3)
    assert bm25["hit_5"] == bm25["given"] == pytest.approx(2 / 3)
    assert np.isnan(bm25["seconds"])


def test_strategies_stand_in_the_order_of_the_release(opened: Open) -> None:
    assert retrieval(opened(TRIALS))["strategy"].tolist() == ["hero", "bm25"]


def test_groups_are_organs_of_questions_or_handbooks(opened: Open) -> None:
    con = opened(TRIALS)
    by_organ = retrieval(con, by="organ").set_index(["name", "strategy"])["trials"]
    assert by_organ.to_dict() == {("kidney", "hero"): 2, ("kidney", "bm25"): 2, ("lung", "hero"): 1, ("lung", "bm25"): 1}
    by_handbook = retrieval(con, by="handbook").set_index(["name", "strategy"])["hit_1"]
    assert by_handbook["b", "bm25"] == 1.0
    assert by_handbook["b", "hero"] == 0.0
    with pytest.raises(AuditError, match=r"Group 'center' is not available\. Allowed: all, organ, handbook"):
        retrieval(con, by="center")


def test_a_trial_without_gold_is_no_miss(opened: Open) -> None:
    (row,) = retrieval(opened([TRIALS[3]])).to_dict("records")
    assert (row["trials"], row["no_gold"], row["passages"]) == (0, 1, 1)
    assert np.isnan(row["hit_1"])


def test_without_trials_there_is_no_row(opened: Open) -> None:
    con = opened([])
    assert len(retrieval(con)) == len(retrieval_paired(con)) == 0
    with pytest.raises(NotInRunError, match="It has none"):
        retrieval_missed(con, "hero")


def test_a_difference_is_taken_on_the_searches_that_both_made(opened: Open) -> None:
    table = retrieval_paired(opened([*TRIALS, trial("q2", "b", "bm25", "s1")])).set_index("measure")
    assert table["strategy"].unique().tolist() == ["bm25"]
    assert table["trials"].unique().tolist() == [3]
    assert table.loc["mrr", "change"] == pytest.approx(((1 / 4 + 1 + 1 / 6) - (1 + 0 + 1 / 2)) / 3)
    assert table.loc["mrr", "questions"] == 2
    assert (table.loc["mrr", "moves"], np.isnan(table.loc["mrr", "change_low"])) == ("too few questions", True)


def test_a_miss_names_the_strategies_that_found_it(opened: Open) -> None:
    (missed,) = retrieval_missed(opened(TRIALS), "hero").to_dict("records")
    assert (missed["question_id"], missed["handbook_id"], missed["found_by"], missed["found"]) == ("q1", "b", "bm25", 1)
    assert pd.isna(missed["place"])
    (other,) = retrieval_missed(opened(TRIALS), "bm25").to_dict("records")
    assert (other["place"], other["found_by"], other["others"]) == (6, "hero", 1)


def test_an_answer_rests_on_gold_on_something_else_on_nothing_or_is_absent(release: Path, opened: Open) -> None:
    def citing(*sections: str, known: bool = True) -> dict[str, Any]:
        return {"citations": [{"passage": 1, "section_id": name, "known": known} for name in sections]}

    change_answer(release, "q1", "a", retrieval=citing("s9", "s1"))
    change_answer(release, "q1", "b", retrieval=citing("s9"))
    change_answer(release, "q2", "a", retrieval=citing("s1", known=False))
    told = retrieval_answers(opened([*TRIALS, trial("q3", "b", "hero", "s1")])).set_index("answer")
    assert told["count"].to_dict() == {"from gold": 1, "from elsewhere": 1, "cites nothing": 1, "absent": 1, "unread": 0}
    assert told["of"].unique().tolist() == [4]


@pytest.mark.parametrize("retrieval_record", [None, {"citations": "s1"}, {"citations": [5, None, {}]}])
def test_citations_of_another_shape_are_none(release: Path, opened: Open, retrieval_record: Any) -> None:
    change_answer(release, "q1", "a", retrieval=retrieval_record)
    assert retrieval_answers(opened(TRIALS[:1])).set_index("answer").loc["cites nothing", "count"] == 1


@pytest.fixture(scope="module")
def demo(written_demo: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    with open_store(load(written_demo(), tmp_path_factory.mktemp("demo")).run.path) as con:
        yield con


def test_on_the_simulator_every_interval_holds_what_the_strategies_were_made_to_find(demo: Connection) -> None:
    table = retrieval(demo).set_index("strategy")
    for strategy, found in HIT_RATES.items():
        row = table.loc[strategy]
        assert row["hit_1_low"] <= found[0] <= row["hit_1_high"]
        assert row["hit_5_low"] <= found[4] <= row["hit_5_high"]


def test_on_the_simulator_the_measures_are_those_of_its_records(demo: Connection) -> None:
    world = draw_world(small_config(2057))
    first = [
        record["ranked"][0] in record["gold"]
        for record in trials(SimulatedSearches(HandbookTexts(world)))
        if record["strategy"] == "bm25"
    ]
    assert retrieval(demo).set_index("strategy").loc["bm25", "hit_1"] == pytest.approx(np.mean(first))


def test_on_the_simulator_the_paired_difference_is_better_known_than_the_two_shares(demo: Connection) -> None:
    table, paired = retrieval(demo).set_index("strategy"), retrieval_paired(demo).set_index(["strategy", "measure"])
    row = paired.loc[("bm25", "hit_1")]
    assert row["moves"] == "falls"
    apart = np.hypot(*(table.loc[name, "hit_1_high"] - table.loc[name, "hit_1_low"] for name in ("hero", "bm25")))
    assert row["change_high"] - row["change_low"] < apart


def test_in_the_demo_every_answer_that_is_there_rests_on_its_section(demo: Connection) -> None:
    told = retrieval_answers(demo).set_index("answer")
    assert (told.loc["from gold", "count"], told.loc["from gold", "of"]) == (300, 300)
