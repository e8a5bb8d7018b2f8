"""The tables of the store come from the kinds of record: every field has a column, or is stored in another way."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.release.record_kind import RecordKind
from audit.release.schema import STORED
from audit.store.connection import create_store, rows
from audit.store.tables import store_schema

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
