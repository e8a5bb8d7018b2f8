"""Every field of the release format has a column in the store, or a reason why it has none."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from audit.release.schema import KINDS
from audit.store.connection import create_store, rows
from audit.vocabulary import DISAGREEING, LABELS, PRESENT_LABELS, SIGNIFICANCES

TABLES = {
    "handbook": ("handbooks",), "question": ("questions", "topics", "subtopics"), "answer": ("answers",), "pair": ("pairs",),
    "judge_metadata": ("pairs", "readings"), "check": ("checks",), "theme": ("themes", "theme_topics"), "section": ("sections",),
    "trial": ("trials",), "inconsistency": ("inconsistencies",), "place": ("inconsistency_places",),
    "self_comparison": ("self_comparisons",), "system": ("systems",),
    "reference": ("question_types", "reference_answers", "question_sources"),
    "system_answer": ("system_answers",), "criteria": ("criteria",), "usage": ("system_answers", "criteria"),
    "preference": ("preferences",), "measure": ("system_measures",), "source": ("sources", "source_handbooks"),
    "planted": ("planted",), "planted_change": ("planted",), "human_rating": ("rated_pairs", "ratings"),
    "position": ("positions",), "holder": ("position_holders",),
    "route": ("route_traces",), "source_route": ("routes",), "routed_evidence": ("routed_evidence",),
    "stress_instance": ("stress_instances",), "stress_document": ("stress_documents",), "stress_reply": ("stress_replies",),
    "stress_call": ("stress_calls",), "stress_sub_answer": ("stress_sub_answers",),
}  # fmt: skip
"""Kind of record -> the tables that its fields go to. A comparison is its pairs; a manifest and evidence are kept as JSON."""
STORED_AS = {
    "question_id": "question", "handbook_id": "handbook", "topics": "topic", "subtopics": "subtopic", "source_id": "source",
    "system_id": "system", "answers": "answer", "handbook_ids": "handbook", "primary_source": "is_primary",
    "required_sources": "source", "instance_id": "instance",
    "annotator_a": "label", "annotator_b": "label", "gold": "label", "significance_a": "significance",
    "significance_b": "significance", "significance_gold": "significance", "comment_a": "comment", "comment_b": "comment",
    "document_id": "place", "classification": "label", "clinical_significance": "significance",
}  # fmt: skip
NOT_STORED = {
    ("answer", "usage"): "no page or metric uses what an answer took",
    ("pair", "judge_metadata"): "its fields have columns of their own",
    ("pair", "checks"): "they have a table of their own",
    ("inconsistency", "places"): "they have a table of their own",
    ("system_answer", "usage"): "its fields have columns of their own",
    ("criteria", "usage"): "its fields have columns of their own",
    ("position", "holders"): "they have a table of their own",
    ("planted", "change"): "its fields have columns of their own",
    ("planted", "usage"): "its fields have columns of their own",
    ("stress_instance", "documents"): "they have a table of their own",
    ("stress_reply", "documents"): "they have a table of their own",
    ("stress_reply", "sub_answers"): "they have a table of their own",
    ("stress_reply", "usage"): "its fields have columns of their own",
    ("route", "routes"): "they have a table of their own",
    ("route", "evidence"): "it has a table of its own",
}


@pytest.mark.parametrize("kind", TABLES)
def test_each_field_has_a_column(kind: str, tmp_path: Path) -> None:
    schema = resources.files("audit.store").joinpath("schema.sql").read_text()
    with create_store(tmp_path / "empty.duckdb", schema) as con:
        columns = {column for table in TABLES[kind] for column, *_ in rows(con, f"describe {table}")}
    fields = {field.name for field in KINDS[kind] if (kind, field.name) not in NOT_STORED}
    missing = {field for field in fields if not {field, STORED_AS.get(field)} & columns}
    assert not missing, f"Add columns for {missing} to audit/store/schema.sql, or a reason to NOT_STORED."


def test_the_words_of_the_store_are_those_of_the_vocabulary(tmp_path: Path) -> None:
    schema = resources.files("audit.store").joinpath("schema.sql").read_text()
    pair = "select 0 as question, 0 as handbook_a, 1 as handbook_b, false as prescreened"
    with create_store(tmp_path / "words.duckdb", schema) as con:
        assert [word for (word,) in rows(con, "select unnest(enum_range(null::label))")] == list(LABELS)
        assert [word for (word,) in rows(con, "select unnest(enum_range(null::significance))")] == list(SIGNIFICANCES)
        for label in (*LABELS, None):
            con.execute(f"insert into pairs by name {pair}, $label as label", {"label": label})
        words = {label: words for label, *words in rows(con, "select label, present, disagrees from judged_pairs")}
    assert words == {None: [None, None]} | {label: [label in PRESENT_LABELS, label in DISAGREEING] for label in LABELS}
