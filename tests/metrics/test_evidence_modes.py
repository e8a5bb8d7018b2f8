"""Disagreement by what two answers were written from: counts that a person can check."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit.errors import NotInRunError
from audit.metrics.evidence_modes import evidence_modes
from audit.metrics.questions import organs
from audit.store.connection import open_store
from tests.support.loading import load
from tests.support.tiny import release_from

TABLE = """
    q1 kidney ab=DIVERGENT  ac=CONSISTENT bc=CONSISTENT d=absent
    q2 kidney ab=CONSISTENT ac=DIVERGENT  bc=DIVERGENT
"""
MODES = {"a": "passages", "b": "full_document", "c": "passages"}


def with_modes(folder: Path) -> None:
    (path,) = folder.glob("answers*")
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    given = [record | {"retrieval": {"mode": MODES.get(record["handbook_id"])}} for record in records]
    path.write_text("\n".join(json.dumps(record) for record in given), "utf-8")


def test_pairs_are_counted_by_the_modes_of_both_answers(tmp_path):
    folder = release_from(tmp_path / "releases", TABLE)
    with_modes(folder)
    table = evidence_modes(open_store(load(folder, tmp_path / "data").run.path))
    assert table[["one", "other", "questions", "present", "disagreeing"]].to_numpy().tolist() == [
        ["full_document", "passages", 2, 4, 2], ["passages", "passages", 2, 2, 1],
    ]  # fmt: skip
    assert table["r_con"].tolist() == [0.5, 0.5]


def test_answers_whose_mode_is_not_stated_have_a_row_of_their_own_with_the_intervals_of_the_run(store):
    con = store(TABLE.replace("bc=", "ad=CONSISTENT bd=CONSISTENT cd=DIVERGENT bc=").replace("d=absent", ""))
    (row,) = evidence_modes(con).to_dict("records")
    assert (row["one"], row["other"], row["present"]) == ("not stated", "not stated", 12)
    run = organs(con).iloc[-1]  # the row of all
    for rate in ("r_div", "r_con"):
        ends = [rate, f"{rate}_low", f"{rate}_high"]
        assert [row[end] for end in ends] == pytest.approx([run[end] for end in ends]), "one mode is the whole run"
        assert 0 < row[f"{rate}_low"] < row[rate] < row[f"{rate}_high"] < 1


def test_without_answers_it_is_unknown(store):
    with pytest.raises(NotInRunError, match="what its answers were written from"):
        evidence_modes(store(TABLE, answers=False))
