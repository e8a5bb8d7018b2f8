"""Pairs are the same whether DuckDB reads them, Python validates every one of them, or Python reads the whole file."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from audit.store import stage_pairs
from audit.store.comparison_files import NO_LABEL, ComparisonHead, PairRepair
from audit.store.stage_pairs import PairStager
from tests.support.loading import BASE, ask, checks_in, load, pairs_in, quarantined, readings_in, spoil
from tests.support.tiny import release_from

VERDICTS = ("ABSENT", "CONSISTENT", "COMPLEMENTARY", "DIVERGENT", "DIVERGENT/low", "CONTRADICTORY/high", "UNSCORED", None)
READINGS = ("", "", "!strict", "!none:cut", "!label", "!odd")
CHECKS = ("", "", "+swap:DIVERGENT/low", "+swap:UNSCORED+repeat:ABSENT+repeat:CONSISTENT", "+blind:ABSENT/low", "+odd:ABSENT")
LETTERS = "abcd"


@st.composite
def verdicts(draw: st.DrawFn) -> str | None:
    verdict = draw(st.sampled_from(VERDICTS))
    return verdict and verdict + draw(st.sampled_from(READINGS)) + draw(st.sampled_from(CHECKS))


@st.composite
def tables(draw: st.DrawFn) -> str:
    lines = []
    for number in range(draw(st.integers(1, 4))):
        states = {letter: draw(st.sampled_from(["", "absent", "notasked"])) for letter in LETTERS}
        present = [letter for letter in LETTERS if not states[letter]]
        tokens = [f"{letter}={state}" for letter, state in states.items() if state]
        for i, a in enumerate(present):
            tokens += [f"{a}{b}={v}" for b in present[i + 1 :] if (v := draw(verdicts()))]
        lines.append(f"q{number} kidney topics=t {' '.join(tokens)} a={states['a'] or 'present'}")
    return "\n".join(lines)


def suspect_every_pair(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(stage_pairs, "SUSPECT", "true")


def parse_no_file(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(PairStager, "_append", lambda self, batch: batch)


def read_nothing_again(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(PairRepair, "read_file", lambda *_: pytest.fail("a file was read record by record"))


QUOTED = """
select a.handbook_id, b.handbook_id, quote_a, quote_b, difference, follow_both, quotes
from quoted_pairs p join handbooks a on a.handbook = p.handbook_a join handbooks b on b.handbook = p.handbook_b order by all
"""


@pytest.mark.parametrize("strategy", [lambda patch: None, suspect_every_pair, parse_no_file])
def test_quotes_stay_with_their_handbook_and_are_held_against_its_answer(
    strategy: Callable[[pytest.MonkeyPatch], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = release_from(tmp_path, "q1 kidney ab=DIVERGENT/low ac=CONTRADICTORY/high bc=CONSISTENT")

    def with_quotes(record: dict[str, Any]) -> None:
        first, second, third = record["pairs"]
        first |= {
            "handbook_a": "b",
            "handbook_b": "a",
            "quote_a": "what B says",
            "quote_b": "WHAT a — says",
            "difference": "amount",
        }
        second |= {"quote_a": "what A says", "quote_b": "never written", "difference": "Opposite Advice", "follow_both": "no"}
        third |= {"quote_a": "  ", "quote_b": None, "difference": "other time"}

    spoil(folder, "q1", with_quotes)
    lines = [json.loads(line) for line in (folder / "answers.jsonl").read_text().splitlines()]
    for line in lines:
        line["answer"] = f"Here is, \u201cwhat {line['handbook_id'].upper()}\u201d\n says."
    (folder / "answers.jsonl").write_text("\n".join(map(json.dumps, lines)))
    strategy(monkeypatch)
    loaded = load(folder, tmp_path / "data")
    assert quarantined(loaded) == []
    assert "difference 'other time' on CONSISTENT: only DIVERGENT and CONTRADICTORY have one" in str(loaded.report)
    assert ask(loaded, QUOTED) == [
        ("a", "b", "WHAT a — says", "what B says", "other amount", None, "supported"),
        ("a", "c", "what A says", "never written", "opposite advice", "no", "unsupported"),
        ("b", "c", "  ", None, None, None, "none"),
    ]


@pytest.mark.parametrize(
    ("quotes", "state"),
    [
        (("what A says", "what A says"), "unsupported"),  # the same words twice, and only one answer has them
        (("Here is", "Here is"), "supported"),
        (("was A sagt", "what B says"), "unsupported"),  # translated
        (("what A says", ""), "unsupported"),
        (("", " "), "none"),
        (("\u2026", None), "none"),
    ],
)
def test_each_quote_is_held_against_its_own_answer(quotes: tuple[str, str | None], state: str, tmp_path: Path) -> None:
    folder = release_from(tmp_path, "q1 kidney ab=DIVERGENT/low")
    spoil(folder, "q1", lambda record: record["pairs"][0].update(zip(("quote_a", "quote_b"), quotes, strict=True)))
    lines = [json.loads(line) for line in (folder / "answers.jsonl").read_text().splitlines()]
    texts = [line | {"answer": f"Here is what {line['handbook_id'].upper()} says."} for line in lines]
    (folder / "answers.jsonl").write_text("\n".join(map(json.dumps, texts)))
    assert [row[-1] for row in ask(load(folder, tmp_path / "data"), QUOTED)] == [state]


@pytest.mark.parametrize("strategy", [suspect_every_pair, parse_no_file])
@settings(max_examples=12, deadline=None)
@given(table=tables())
def test_every_strategy_loads_the_same_pairs(strategy: Callable[[pytest.MonkeyPatch], None], table: str) -> None:
    with tempfile.TemporaryDirectory() as scratch, pytest.MonkeyPatch.context() as patch:
        folder = release_from(Path(scratch) / "r", table)
        usual = load(folder, Path(scratch) / "usual")
        strategy(patch)
        other = load(folder, Path(scratch) / "other")
        assert pairs_in(usual) == pairs_in(other)
        assert readings_in(usual) == readings_in(other)
        assert checks_in(usual) == checks_in(other)
        assert usual.run.report["totals"] == other.run.report["totals"]
        assert usual.run.report["checks"] == other.run.report["checks"]


def test_a_sound_release_is_read_once(release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_nothing_again(monkeypatch)
    assert len(pairs_in(load(release, tmp_path))) == 12


def test_readings_and_checks_are_read_once_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_nothing_again(monkeypatch)
    loaded = load(release_from(tmp_path, "q1 kidney ab=DIVERGENT!label+swap:CONSISTENT ac=ABSENT bc=ABSENT"), tmp_path)
    assert (len(readings_in(loaded)), len(checks_in(loaded))) == (1, 1)


def test_the_nih_release_is_read_once(nih: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_nothing_again(monkeypatch)
    load(nih, tmp_path)


def test_only_suspect_pairs_of_a_file_are_validated_one_by_one(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    validated: list[int] = []
    load_pair = PairRepair._load

    def record_position(self: PairRepair, number: int, position: int, *others: Any) -> None:
        validated.append(position)
        load_pair(self, number, position, *others)

    monkeypatch.setattr(PairRepair, "_load", record_position)
    spoil(release, "q1", lambda record: record["pairs"][2].update(classification="DIVERGANT"))
    loaded = load(release, tmp_path)
    assert quarantined(loaded) == [("comparisons/q1.json", "pair 3", "unknown_classification")]
    assert validated == [3]


def test_several_batches_and_a_file_that_duckdb_cannot_parse_among_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = "\n".join(f"q{number} kidney ab=DIVERGENT/low ac=CONSISTENT bc=ABSENT" for number in range(9))
    folder = release_from(tmp_path, table)
    (folder / "comparisons" / "q4.json").write_text('{"question_id": "q4", "pairs": [NaN')
    monkeypatch.setattr(stage_pairs, "BATCH_BYTES", (folder / "comparisons" / "q0.json").stat().st_size * 4)
    loaded = load(folder, tmp_path / "data")
    assert quarantined(loaded) == [("comparisons/q4.json", "whole file", "broken_json")]
    assert len(pairs_in(loaded)) == 8 * 3


@pytest.mark.parametrize("ending", ["jsonl", "json"])
def test_all_comparisons_may_be_in_one_file(tmp_path: Path, ending: str) -> None:
    folder = release_from(tmp_path, BASE)
    usual = pairs_in(load(folder, tmp_path / "usual"))
    comparisons = [json.loads(path.read_text()) for path in sorted((folder / "comparisons").iterdir())]
    for path in (folder / "comparisons").iterdir():
        path.unlink()
    text = "\n".join(map(json.dumps, comparisons)) if ending == "jsonl" else json.dumps(comparisons)
    (folder / f"comparisons.{ending}").write_text(text)
    assert pairs_in(load(folder, tmp_path / "one")) == usual


def test_a_key_with_quotes_in_its_name_stays_a_name(tmp_path: Path) -> None:
    folder = release_from(tmp_path, BASE)
    spoil(folder, "q1", lambda record: record.update({"q\"'id": record.pop("question_id")}))
    assert len(pairs_in(load(folder, tmp_path / "data"))) == 12


PAIR_COLUMNS = "select column_name from duckdb_columns() where table_name = 'pairs' order by column_index"


def test_no_working_column_is_left_in_the_store(release: Path, tmp_path: Path) -> None:
    spoil(release, "q1", lambda record: record["pairs"][2].update(classification="DIVERGANT"))
    columns = [name for (name,) in ask(load(release, tmp_path), PAIR_COLUMNS)]
    assert sorted(columns) == sorted([
        "question", "handbook_a", "handbook_b", "label", "prescreened", "significance", "reasoning", "divergence_topic",
        "input_tokens", "output_tokens", "latency_s", "quote_a", "quote_b", "difference", "follow_both",
    ])  # fmt: skip


@pytest.mark.parametrize("separators", [(", ", ": "), (",", ":"), (",\n ", ": ")])
@pytest.mark.parametrize(("cell", "problem"), [(2, None), (7, "cells other than"), ([2], "cells other than")])
def test_a_matrix_is_the_same_however_it_is_spaced(
    tmp_path: Path, separators: tuple[str, str], cell: object, problem: str | None
):
    file = tmp_path / "q1.json"
    matrix = [[1, 4, None], [4, 1, cell], [None, cell, 1]]
    file.write_text(json.dumps({"handbooks": ["a", "b", "c"], "matrix": matrix, "pairs": []}, separators=separators))
    head = ComparisonHead.read(file, {"handbooks": "handbooks", "matrix": "matrix"})
    read = None if head.matrix is None else head.matrix.tolist()
    assert read == (None if problem else [[1, 4, NO_LABEL], [4, 1, 2], [NO_LABEL, 2, 1]])
    assert head.problem is None if problem is None else problem in (head.problem or "")
