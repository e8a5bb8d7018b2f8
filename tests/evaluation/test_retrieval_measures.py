"""Measures of retrieval: arithmetic by hand, and what is unknown."""

from __future__ import annotations

from math import log2
from pathlib import Path

import pytest

from audit.evaluation.retrieval_measures import retrieval_measures, write_trec_qrels, write_trec_run

pytest.importorskip("ir_measures", reason="ir_measures is not installed (extra pipeline)")


def test_measures_of_a_list_with_one_of_two_gold_passages_at_rank_two():
    values = retrieval_measures({"q": ["x", "a", "y"]}, {"q": {"a", "b"}})["q"]
    assert values["p_at_5"] == 1 / 5
    assert values["recall_at_5"] == 1 / 2
    assert values["mrr"] == 1 / 2
    assert values["ndcg"] == pytest.approx((1 / log2(3)) / (1 / log2(2) + 1 / log2(3)))


def test_an_id_listed_twice_counts_at_its_first_rank_and_precision_counts_passages():
    values = retrieval_measures({"q": ["x", "x", "a", "a"]}, {"q": {"a"}})["q"]
    assert (values["mrr"], values["recall_at_5"], values["p_at_5"]) == (1 / 2, 1, 2 / 5)
    # Three of the first five chunks are of the right document; the sixth does not count
    chunks = ["d2", "d1", "d1", "d1", "d3", "d1"]
    assert retrieval_measures({"q": chunks}, {"q": {"d1"}})["q"]["p_at_5"] == 3 / 5


def test_an_empty_list_finds_nothing_and_a_question_without_gold_is_unknown():
    values = retrieval_measures({"empty": [], "unknown": ["a"]}, {"empty": {"a"}, "unknown": set()})
    assert values == {"empty": {"p_at_5": 0, "recall_at_5": 0, "ndcg": 0, "mrr": 0}}
    assert retrieval_measures({}, {}) == {}


def test_other_measures_go_by_the_names_of_the_library():
    values = retrieval_measures({"q": ["x", "a"]}, {"q": {"a"}}, {"first": "P@1", "two": "P@2"})
    assert values["q"] == {"first": 0, "two": 1 / 2}


def test_trec_files_read_by_the_library_give_the_same_measures(tmp_path: Path):
    ir_measures = pytest.importorskip("ir_measures")
    ranked = {"q 1": ["x", "a"], "q2": ["a", "a", "b"]}
    gold = {"q 1": {"a"}, "q2": {"b"}}
    write_trec_run(tmp_path / "run", ranked, "my system")
    write_trec_qrels(tmp_path / "qrels", gold)
    assert (tmp_path / "run").read_text().splitlines()[1] == "q_1 Q0 a 2 0.500000 my_system"
    run, qrels = ir_measures.read_trec_run(str(tmp_path / "run")), ir_measures.read_trec_qrels(str(tmp_path / "qrels"))
    read = {result.query_id: result.value for result in ir_measures.iter_calc([ir_measures.RR], qrels, run)}
    ours = retrieval_measures(ranked, gold)
    assert read == {"q_1": ours["q 1"]["mrr"], "q2": ours["q2"]["mrr"]} == {"q_1": 1 / 2, "q2": 1 / 2}
