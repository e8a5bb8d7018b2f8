"""A tiny release put straight into a store: what a metric needs, without the loader.

    con = store_from(tmp_path, '''
        q1 kidney topics=diet   ab=DIVERGENT/high  ac=COMPLEMENTARY  bc=ABSENT  d=absent
        q2 general              ab=UNSCORED  c=absent  d=notasked
    ''')

The notation is that of tests.support.tiny. Handbooks and questions are numbered from 0 in the order of the release.
"""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import audit.store
from audit.store.connection import Connection, create_store
from tests.support.tiny import release_from

SCHEMA = (Path(audit.store.__file__).parent / "schema.sql").read_text(encoding="utf-8")


def store_from(folder: Path, table: str, handbooks: list[dict[str, Any]] | None = None, *, answers: bool = True) -> Connection:
    """A store with the release that `table` describes; `answers=False` stands for a release of pairs only."""
    release = release_from(folder / uuid.uuid4().hex, table, handbooks)
    con = create_store(folder / f"{release.parent.name}.duckdb", SCHEMA)
    con.execute(
        "insert into run values ('tiny', 'A tiny release', $digest, false, $answers, now()::timestamp, '{}', '{}', '{}')",
        {"digest": release.parent.name, "answers": answers},
    )
    _fill(con, release, answers)
    return con


def _fill(con: Connection, release: Path, answers: bool) -> None:
    handbooks, questions = _lines(release / "handbooks.jsonl"), _lines(release / "questions.jsonl")
    h = {row["handbook_id"]: i for i, row in enumerate(handbooks)}
    q = {row["question_id"]: i for i, row in enumerate(questions)}
    places = ("handbook_id", "organ", "center", "phase")
    _insert(con, "handbooks", [(h[r["handbook_id"]], *(r[k] for k in places)) for r in handbooks])
    _insert(con, "questions", [(q[r["question_id"]], r["question_id"], r["question"], r["organ"]) for r in questions])
    _insert(con, "topics", [(q[r["question_id"]], topic) for r in questions for topic in r["topics"]])
    _insert(con, "subtopics", [(q[r["question_id"]], topic) for r in questions for topic in r["subtopics"]])
    if answers:
        told = _lines(release / "answers.jsonl")
        _insert(con, "answers", [(q[r["question_id"]], h[r["handbook_id"]], r["answer"], r["absent"]) for r in told])
    judged = [(c, p) for c in map(_json, (release / "comparisons").glob("*.json")) for p in c["pairs"]]
    _insert(con, "pairs", sorted((q[c["question_id"]], *_pair(p, h)) for c, p in judged))


def _pair(pair: dict[str, Any], h: dict[str, int]) -> tuple[Any, ...]:
    a, b = sorted((h[pair["handbook_a"]], h[pair["handbook_b"]]))
    return a, b, pair["classification"], pair["judge_metadata"] is None, pair["clinical_significance"]


def _insert(con: Connection, table: str, rows: list[tuple[Any, ...]]) -> None:
    columns = [row[0] for row in con.cursor().execute(f"select name from pragma_table_info('{table}') order by cid").fetchall()]
    if rows:
        names, holes = ", ".join(columns[: len(rows[0])]), ", ".join("?" * len(rows[0]))
        con.cursor().executemany(f"insert into {table} ({names}) values ({holes})", rows)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _json(path: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return record
