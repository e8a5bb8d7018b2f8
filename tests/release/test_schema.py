"""The JSON Schema that others validate against, and the data card, say what the reader does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from audit.cli.main import main
from audit.release.layout import PARTS, SYSTEM_PARTS
from audit.release.route_kinds import ROUTE
from audit.release.schema import KINDS, canonical, json_schema, markdown
from audit.release.values import Reject
from tests.support.systems import systems_release

DATA = Path(__file__).resolve().parents[2] / "data"


def validator(kind: str) -> Draft202012Validator:
    schema = json_schema()
    return Draft202012Validator({"$defs": schema["$defs"], "$ref": f"#/$defs/{kind}"})


def every_record(release: Path) -> list[tuple[str, Any]]:
    lines = {"handbook": "handbooks.jsonl", "question": "questions.jsonl", "answer": "answers.jsonl"}
    found = [(kind, json.loads(line)) for kind, name in lines.items() for line in (release / name).read_text().splitlines()]
    found += [("comparison", json.loads(path.read_text())) for path in (release / "comparisons").iterdir()]
    return [*found, ("manifest", json.loads((release / "manifest.json").read_text()))]


def test_the_file_beside_the_data_is_the_one_the_code_prints() -> None:
    assert json.loads((DATA / "release.schema.json").read_text()) == json_schema(), "run: audit schema > data/release.schema.json"


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(json_schema())


def test_what_the_writer_writes_is_valid(release: Path) -> None:
    for kind, record in every_record(release):
        validator(kind).validate(record)


def test_what_the_writer_writes_of_answering_systems_is_valid(tmp_path: Path) -> None:
    folder = systems_release(tmp_path / "release")
    for part in SYSTEM_PARTS:
        (name,) = PARTS[part]
        lines = (folder / f"{name}.jsonl").read_text().splitlines()
        assert lines
        for line in lines:
            validator(part).validate(json.loads(line))


def test_the_nih_release_is_valid(nih: Path) -> None:
    for kind, record in every_record(nih)[::7]:
        validator(kind).validate(record)


@pytest.mark.parametrize(
    ("kind", "record"),
    [
        ("pair", {"handbook_a": "a", "handbook_b": "b", "classification": "AGREES"}),
        ("pair", {"handbook_b": "b", "classification": "ABSENT"}),
        ("comparison", {"question_id": "q", "handbooks": ["a"], "matrix": [[5]], "pairs": []}),
        ("handbook", {"handbook_id": "a", "organ": "kidney", "center": "x", "phase": "during"}),
        ("criteria", {"question_id": "q", "system_id": "s", "bias": 1}),
        ("criteria", {"question_id": "q", "bias": 0}),
        ("system_answer", {"question_id": "q", "system_id": "s", "answer": "x", "evidence": ["passage"]}),
        ("preference", {"question_id": "q", "system_a": "a", "system_b": "b", "preference": "C"}),
        ("system", {"system_id": "a", "mode": "open"}),
    ],
)
def test_what_is_wrong_is_invalid(kind: str, record: dict[str, Any]) -> None:
    assert not validator(kind).is_valid(record)


def test_no_two_fields_of_a_record_claim_the_same_name() -> None:
    for kind in KINDS.values():
        names = [name for field in kind.fields for name in (field.name, *field.aliases)]
        assert len(names) == len(set(names)), kind.name


def test_a_fields_own_name_beats_its_alias() -> None:
    assert canonical({"label": "x", "classification": "y"}, "pair") == {"classification": "y"}
    assert canonical({"classification": "y", "label": "x"}, "pair") == {"classification": "y"}


def test_the_tables_of_the_data_card_name_every_field_and_every_other_name_of_it() -> None:
    card = markdown()
    for kind in KINDS.values():
        assert f"### {kind.name}" in card
        for field in kind.fields:
            assert all(f"`{name}`" in card for name in (field.name, *field.aliases)), field.name


def test_the_digest_of_a_release_takes_its_files_in_the_same_order_for_ever() -> None:
    # New kinds come last: studies refer to a run by this digest
    assert tuple(PARTS) == (
        "manifest", "handbook", "question", "answer", "pair", "theme", "section", "trial", "planted", "human_rating", "position",
        "inconsistency", "self_comparison", "system", "reference", "system_answer", "criteria", "preference", "measure", "source",
        "route", "stress_instance", "stress_reply", "further_verdict", "search_trial",
    )  # fmt: skip


def test_the_tables_of_the_data_card_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "--markdown"]) == 0
    assert "| `handbook_id` (needed) | text |" in capsys.readouterr().out


def test_a_list_that_is_broken_json_rejects_the_record_that_needs_it() -> None:
    with pytest.raises(Reject, match="field 'routes' cannot be read"):
        ROUTE.read({"question_id": "q", "system_id": "s", "routes": "[broken"}, [])
