"""Where questions come from: counts that a person can check."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit.metrics.composition import question_sources
from audit.store.connection import open_store
from tests.support.loading import load
from tests.support.tiny import release_from

TABLE = """
    q1 kidney  ab=DIVERGENT   ac=CONSISTENT  bc=CONSISTENT
    q2 general ab=CONSISTENT  ac=CONSISTENT  bc=CONSISTENT
    q3 lung    ab=CONSISTENT  ac=unscored    bc=CONSISTENT
"""


def with_sources(folder: Path, sources: dict[str, str]) -> None:
    (path,) = folder.glob("questions*")
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    kept = [
        record | {"source": sources[record["question_id"]]} if record["question_id"] in sources else record for record in records
    ]
    path.write_text("\n".join(json.dumps(record) for record in kept), "utf-8")


def test_every_source_has_its_questions_and_their_rates_and_those_without_come_last(tmp_path):
    folder = release_from(tmp_path / "releases", TABLE)
    with_sources(folder, {"q1": "survey", "q3": "clinic"})
    table = question_sources(open_store(load(folder, tmp_path / "data").run.path))
    assert table[["source", "questions", "present", "disagreeing"]].to_numpy().tolist() == [
        ["clinic", 1, 2, 0], ["survey", 1, 3, 1], ["(not stated)", 1, 3, 0],
    ]  # fmt: skip
    assert table["share"].tolist() == pytest.approx([1 / 3] * 3)
    assert table["r_div"].tolist() == pytest.approx([0, 1 / 3, 0])


def test_a_run_without_sources_has_one_row(store):
    assert question_sources(store(TABLE))["source"].tolist() == ["(not stated)"]
