"""The tables of the store come from the kinds of record: every field has a column, or is stored in another way."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.release.record_kind import RecordKind
from audit.release.schema import STORED
from audit.store.connection import create_store, rows
from audit.store.tables import store_schema
from audit.vocabulary import DISAGREEING, LABELS, PRESENT_LABELS

ELSEWHERE = {
    "question": {"topics", "subtopics"}, "reference": {"answers", "primary_source", "required_sources"},
    "source": {"handbook_ids"}, "theme": {"topics"}, "stress_call": {"document_id"}, "stress_sub_answer": {"document_id"},
    "human_rating": {
        f"{what}_{rater}" for what in ("annotator", "significance", "comment") for rater in ("a", "b")
    } | {"gold", "significance_gold"},
}  # fmt: skip
"""Kind of record -> the fields that schema.sql has a table of their own for, or that are stored as the place of something."""


@pytest.mark.parametrize("kind", [kind for kind in STORED if kind.table], ids=lambda kind: kind.name)
def test_each_field_has_a_column(kind: RecordKind, tmp_path: Path) -> None:
    with create_store(tmp_path / "empty.duckdb", store_schema()) as con:
        columns = {column for column, *_ in rows(con, f"describe {kind.table}")}
    known = columns | {*kind.id_fields.values(), *ELSEWHERE.get(kind.name, ())}
    missing = {field.name for field in kind.fields if not field.of and field.key not in known}
    assert not missing


def test_the_view_of_judged_pairs_calls_present_and_disagreeing_what_the_vocabulary_does(tmp_path: Path) -> None:
    pair = "select 0 as question, 0 as handbook_a, 1 as handbook_b, false as prescreened"
    with create_store(tmp_path / "words.duckdb", store_schema()) as con:
        for label in (*LABELS, None):
            con.execute(f"insert into pairs by name {pair}, $label as label", {"label": label})
        words = {label: words for label, *words in rows(con, "select label, present, disagrees from judged_pairs")}
    assert words == {None: [None, None]} | {label: [label in PRESENT_LABELS, label in DISAGREEING] for label in LABELS}
