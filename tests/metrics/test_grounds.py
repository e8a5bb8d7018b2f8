"""Whether quotes stand in the answers, and why advice differs, counted by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from audit.metrics.grounds import differences, judge_quotes
from audit.store.connection import open_store
from tests.support.loading import load, spoil
from tests.support.tiny import release_from

TABLE = """
q1 kidney ab=DIVERGENT/low ac=CONSISTENT bc=ABSENT
q2 kidney ab=DIVERGENT/high ac=CONSISTENT bc=CONSISTENT
"""
QUOTES = {
    "q1": [("says a", "says b"), ("It says a", "invented"), ("says b", None)],
    "q2": [("SAYS A", "says b"), ("says a", None), (None, None)],
}


@pytest.fixture
def quoted(tmp_path: Path) -> Path:
    """Six pairs: three supported, one with words that nobody wrote, one with one side alone, one without quotes."""
    folder = release_from(tmp_path, TABLE)
    lines = [json.loads(line) for line in (folder / "answers.jsonl").read_text().splitlines()]
    for line in lines:
        line["answer"] = f"It says {line['handbook_id']} here."
    (folder / "answers.jsonl").write_text("\n".join(map(json.dumps, lines)))
    for question, several in QUOTES.items():

        def add(record: dict[str, Any], several: list[tuple[str | None, str | None]] = several) -> None:
            for pair, (a, b) in zip(record["pairs"], several, strict=True):
                pair |= {"quote_a": a, "quote_b": b}
            record["pairs"][0] |= {"difference": "other time", "follow_both": "no"}

        spoil(folder, question, add)
    return load(folder, tmp_path / "data").run.path


def test_quotes_are_counted_by_label(quoted: Path) -> None:
    with open_store(quoted) as con:
        table = judge_quotes(con)
    assert table[["label", "count", "of"]].values.tolist() == [
        ["(all)", 3, 5], ["ABSENT", 1, 1], ["CONSISTENT", 0, 2], ["DIVERGENT", 2, 2],
    ]  # fmt: skip
    assert table["value"].tolist() == pytest.approx([0.6, 1.0, 0.0, 1.0])


def test_reasons_are_shares_of_the_disagreements(quoted: Path) -> None:
    with open_store(quoted) as con:
        table = differences(con)
    counted = table[table["count"] > 0]
    assert counted[["part", "name", "count", "of"]].values.tolist() == [
        ["difference", "other time", 2, 2], ["follow_both", "no", 2, 2],
    ]  # fmt: skip


def test_a_run_whose_judge_quotes_nothing_has_neither(release: Path, tmp_path: Path) -> None:
    with open_store(load(release, tmp_path / "data").run.path) as con:
        assert judge_quotes(con).empty
        assert differences(con).empty
