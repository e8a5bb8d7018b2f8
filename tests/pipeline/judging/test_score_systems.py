"""`audit systems score`: what is written, what is left out and counted, and what a stopped command keeps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audit.cli.main import main
from audit.errors import AuditError
from audit.evaluation.reference_metrics import ReferenceScorer
from audit.pipeline.judging.score_systems import BATCH, reference_values, retrieval_values, write_measures
from audit.pipeline.judging.system_records import read_system_records
from audit.pipeline.value_cache import ValueCache
from tests.support.loading import load
from tests.support.systems import answered, system_tables, systems_release

MAX_BYTES = 2**20


class Counting:
    """A scorer that gives an answer's number of words, and remembers what it was asked."""

    def __init__(self, stop_at: int | None = None) -> None:
        self.asked: list[str] = []
        self.stop_at = stop_at
        self.scorer = ReferenceScorer(("words_shared",), "counting 1", self.score)

    def score(self, answers: Any, _: Any) -> Any:
        if self.stop_at is not None and len(self.asked) >= self.stop_at:
            raise KeyboardInterrupt
        self.asked += answers
        return np.array([[len(answer.split())] for answer in answers], dtype=float)


def score(folder: Path, *options: str) -> int:
    return main(["systems", "score", str(folder), *options])


def lines(folder: Path) -> dict[tuple[str, str, str], float]:
    records = [json.loads(line) for line in (folder / "measures.jsonl").read_text().splitlines()]
    return {(record["question_id"], record["system_id"], record["measure"]): record["value"] for record in records}


def no_progress(*_: Any) -> None:
    pass


def test_texts_are_measured_and_refusals_and_unread_answers_are_counted(tmp_path):
    records = read_system_records(systems_release(tmp_path), MAX_BYTES)
    counting = Counting()
    values = reference_values(records, counting.scorer, ValueCache(tmp_path / "cache"), no_progress)
    # q3 has no reference; there `rag` refused and `alone` could not be read
    assert values == {
        ("q1", "alone", "words_shared"): 1, ("q1", "rag", "words_shared"): 2, ("q2", "alone", "words_shared"): 1,
        ("q2", "rag", "words_shared"): 2,
    }  # fmt: skip


def test_what_was_computed_before_a_stop_is_not_computed_again(tmp_path):
    tables = system_tables()
    names = tuple(f"q{number}" for number in range(BATCH + 20))
    tables["references"] = [{"question_id": name, "answers": ["Rest."]} for name in names]
    tables["system_answers"] = [answered(name, "alone", f"Answer {name}.") for name in names]
    records = read_system_records(systems_release(tmp_path / "release", tables, names), MAX_BYTES)
    cache, stopped, again = ValueCache(tmp_path / "cache"), Counting(stop_at=BATCH), Counting()
    with pytest.raises(KeyboardInterrupt):
        reference_values(records, stopped.scorer, cache, no_progress)
    values = reference_values(records, again.scorer, cache, no_progress)
    assert (len(stopped.asked), len(again.asked), len(values)) == (BATCH, 20, BATCH + 20)


def test_a_changed_answer_is_measured_again_and_its_old_value_goes(tmp_path):
    tables = system_tables()
    cache = ValueCache(tmp_path / "cache")
    for text, words in (("One two.", 2), ("One two three.", 3)):
        tables["system_answers"] = [answered("q1", "rag", text)]
        tables["measures"] = [{"question_id": "q1", "system_id": "rag", "measure": "own", "value": 9}]
        folder = systems_release(tmp_path / "release", tables)
        records = read_system_records(folder, MAX_BYTES)
        write_measures(records, reference_values(records, Counting().scorer, cache, no_progress))
        assert lines(folder) == {("q1", "rag", "own"): 9, ("q1", "rag", "words_shared"): words}


def test_evidence_is_measured_against_gold_sections_and_no_evidence_found_nothing(tmp_path):
    pytest.importorskip("ir_measures", reason="ir_measures is not installed (extra pipeline)")
    tables = system_tables()
    tables["references"] = [
        {"question_id": name, "answers": ["A."], "gold_sections": ["s1", "h/s9"]} for name in ("q1", "q2", "q3")
    ]
    evidence = [{"section_id": "s2", "rank": 2}, {"section_id": "s7", "rank": 1}, {"handbook_id": "h", "section_id": "s9"}]
    tables["system_answers"] = [
        answered("q1", "rag", "B.", evidence=evidence), answered("q2", "rag", "I cannot say.", refused=True),
        answered("q3", "rag", None, unread_reason="cut_short"), answered("q1", "alone", "B."),
    ]  # fmt: skip
    values = retrieval_values(read_system_records(systems_release(tmp_path, tables), MAX_BYTES))
    mrr = {where[:2]: value for where, value in values.items() if where[2] == "mrr"}
    assert mrr == {("q1", "rag"): pytest.approx(1 / 3), ("q2", "rag"): 0}
    assert values["q1", "rag", "p_at_5"] == pytest.approx(1 / 5)


def test_the_command_writes_measures_that_load_with_the_declared_count(tmp_path, monkeypatch, capsys):
    pytest.importorskip("rouge_score", reason="rouge-score is not installed (extra pipeline)")
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    folder = systems_release(tmp_path / "release")
    assert score(folder, "--measures", "rouge", "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert {name: result[name] for name in ("scored", "refused", "unread", "without_reference", "unreadable")} == {
        "scored": 4, "refused": 1, "unread": 1, "without_reference": 0, "unreadable": 0,
    }  # fmt: skip
    measures = lines(folder)
    assert measures["q2", "rag", "rouge_1"] == 1  # `Call us.` is the reference
    assert measures["q1", "rag", "bleu_1"] == 0.5  # the release's own value stays
    assert len(measures) == result["values"] == 4 * 2 + 2
    report = load(folder, tmp_path / "data").run.report
    assert report["clean"], report
    assert score(folder, "--measures", "rouge") == 0
    assert "rouge_1" in capsys.readouterr().out
    assert lines(folder) == measures


def test_what_cannot_be_scored_is_one_sentence_and_nothing_is_written(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    tables = system_tables()
    tables["references"], tables["measures"] = [], []
    folder = systems_release(tmp_path / "release", tables)
    before = (folder / "measures.jsonl").read_bytes()
    assert score(folder, "--measures", "retrieval") == 2
    assert "there is nothing to measure" in capsys.readouterr().err
    (folder / "measures.jsonl").write_text('{"question_id": "q1"}\n')
    assert score(folder) == 2
    assert "measures.jsonl, line 1: " in capsys.readouterr().err
    (folder / "measures.jsonl").rename(folder / "measures.json")
    assert score(folder) == 2
    assert "Convert the file to measures.jsonl" in capsys.readouterr().err
    assert score(tmp_path / "nothing") == 2
    assert "is not a folder" in capsys.readouterr().err
    assert before == b""


def test_records_that_cannot_be_read_are_counted_and_the_others_are_scored(tmp_path, monkeypatch, capsys):
    pytest.importorskip("rouge_score", reason="rouge-score is not installed (extra pipeline)")
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    folder = systems_release(tmp_path / "release")
    with (folder / "system_answers.jsonl").open("a") as file:
        file.write('{"question_id": "q9"}\nno JSON\n')
    assert score(folder, "--measures", "rouge") == 1
    assert "2 records could not be read" in capsys.readouterr().err


def test_a_damaged_cache_is_named(tmp_path):
    (tmp_path / "cache").write_text("not a database, but long enough to be taken for one" * 20)
    with pytest.raises(AuditError, match="cannot be used to keep computed values"):
        ValueCache(tmp_path / "cache").stored(["a"])
