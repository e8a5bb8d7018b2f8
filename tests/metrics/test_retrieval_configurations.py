"""Configurations of retrieval by hand: what P, recall, nDCG and MRR count, and each against the first of its comparison."""

from __future__ import annotations

from collections.abc import Iterator
from math import log2
from pathlib import Path
from typing import Any

import pytest

from audit.errors import AuditError
from audit.evaluation.retrieval_measures import retrieval_measures
from audit.evaluation.search_trials import measured_trials
from audit.metrics.retrieval_configurations import retrieval_changes, retrieval_configurations
from audit.release.write import write_jsonl
from audit.store.connection import Connection, open_store
from tests.support.loading import load
from tests.support.tiny import release_from

TABLE = "\n".join(f"q{number} kidney ab=CONSISTENT" for number in range(1, 9))


def searched(
    question: str, name: str, ranked: str, gold: str = "d1", k: int = 5, comparison: str = "components"
) -> dict[str, Any]:
    return {
        "question_id": question, "collection": "general", "comparison": comparison, "configuration": name, "passages": k,
        "ranked": ranked.split(), "gold": gold.split(), "seconds": 0.5,
    }  # fmt: skip


BY_HAND = searched("q1", "full", "d2 d1 d1 d1 d3")
TRIALS = [
    BY_HAND,
    *(searched(f"q{number}", "full", "d1 d2") for number in range(2, 8)),
    *(searched(f"q{number}", "without reranking", "d2 d1") for number in range(1, 8)),
    searched("q8", "full", "d9", gold=""),
    *(searched(f"q{number}", "1 passage", "d1", k=1, comparison="passages") for number in range(1, 8)),
]


@pytest.fixture
def con(tmp_path: Path) -> Iterator[Connection]:
    folder = release_from(tmp_path / "releases", TABLE)
    write_jsonl(folder / "search_trials.jsonl", TRIALS)
    run = load(folder, tmp_path / "data").run
    with open_store(run.path) as con:
        yield con


def test_precision_counts_every_passage_and_the_rest_what_is_relevant_once() -> None:
    """Three of five passages are of the document that answers, the first of them second."""
    (row,) = measured_trials([BY_HAND]).to_dict("records")
    assert (row["precision"], row["recall"], row["mrr"]) == (3 / 5, 1, 1 / 2)
    assert row["ndcg"] == pytest.approx(1 / log2(3))


def test_the_measures_are_those_of_ir_measures() -> None:
    pytest.importorskip("ir_measures")
    ranked, gold = ["d2", "d1", "d1", "d4", "d3"], ["d1", "d3", "d7"]
    (row,) = measured_trials([searched("q1", "full", " ".join(ranked), " ".join(gold))]).to_dict("records")
    names = {"precision": "P@5", "recall": "R@5", "ndcg": "nDCG@5", "mrr": "RR"}
    (theirs,) = retrieval_measures({"q1": ranked}, {"q1": gold}, names).values()
    assert {name: row[name] for name in names} == pytest.approx(theirs)


def test_means_leave_out_searches_whose_answer_is_unknown(con: Connection) -> None:
    table = retrieval_configurations(con).set_index(["comparison", "configuration"])
    full = table.loc["components", "full"]
    assert (full["searches"], full["questions"], full["passages"]) == (7, 7, 5)
    assert full["mrr"] == pytest.approx((1 / 2 + 6) / 7)
    assert full["precision"] == pytest.approx((3 + 6) / 5 / 7)
    assert table.loc["passages", "1 passage"]["recall"] == 1
    assert list(retrieval_configurations(con, comparison="passages")["configuration"]) == ["1 passage"]


def test_each_is_compared_with_the_first_of_its_comparison(con: Connection) -> None:
    table = retrieval_changes(con)
    assert set(table["configuration"]) == {"without reranking"}, "a comparison of one has nothing to compare"
    mrr = table.set_index("measure").loc["mrr"]
    assert (mrr["against"], mrr["searches"], mrr["questions"], mrr["moves"]) == ("full", 7, 6, "falls")
    assert mrr["change"] == pytest.approx(-(6 / 2) / 7)


def test_an_unknown_comparison_is_refused(con: Connection) -> None:
    with pytest.raises(AuditError, match="layers"):
        retrieval_configurations(con, comparison="layers")
