"""The release format as data: every kind of record, in the order in which the digest of a release takes their files.

The reader, the loader, the tables of the store, the JSON Schema that others validate against (`audit schema`,
data/release.schema.json) and the tables of the data card (`audit schema --markdown`) all come from `KINDS`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from audit.release.handbook_kinds import ANSWER, HANDBOOK, MANIFEST_FIELDS, PROMPT, QUESTION, SEARCH_TRIAL, SECTION, TRIAL, USAGE
from audit.release.pair_kinds import (
    CHECK,
    COMPARISON,
    FURTHER_VERDICT,
    INCONSISTENCY,
    JUDGE_METADATA,
    PAIR,
    PLACE,
    READING,
    SELF_COMPARISON,
    THEME,
)
from audit.release.rating_kinds import HOLDER, HUMAN_RATING, PLANTED, PLANTED_CHANGE, POSITION
from audit.release.record_kind import TYPES, Field, Record, RecordKind
from audit.release.route_kinds import ROUTE, ROUTED_EVIDENCE, SOURCE, SOURCE_ROUTE
from audit.release.stress_kinds import STRESS_CALL, STRESS_DOCUMENT, STRESS_INSTANCE, STRESS_REPLY, STRESS_SUB_ANSWER
from audit.release.system_kinds import CRITERIA_SCORES, EVIDENCE, MEASURE, PREFERENCE, REFERENCE_RECORD, SYSTEM, SYSTEM_ANSWER

# Never in another order: the digest by which studies refer to a run depends on it. New kinds come last.
TABLES = (
    HANDBOOK,
    QUESTION,
    ANSWER,
    PAIR,
    THEME,
    SECTION,
    TRIAL,
    PLANTED,
    HUMAN_RATING,
    POSITION,
    INCONSISTENCY,
    SELF_COMPARISON,
    SYSTEM,
    REFERENCE_RECORD,
    SYSTEM_ANSWER,
    CRITERIA_SCORES,
    PREFERENCE,
    MEASURE,
    SOURCE,
    ROUTE,
    STRESS_INSTANCE,
    STRESS_REPLY,
    FURTHER_VERDICT,
    SEARCH_TRIAL,
)
"""The kinds that have files of their own."""
MANIFEST = RecordKind(
    "manifest",
    # Stress tests are counted too, but their counts are kept where a manifest has them, as unknown fields are
    (*MANIFEST_FIELDS, *(kind.counted for kind in TABLES if kind.counted and kind.group != "stress")),
    about=(
        "One object. All of it is optional: without a manifest the run is named after its folder or archive, and no count "
        "can be compared with a declared one."
    ),
    files=("manifest", "run"),
)
PARTS_OF_RECORDS = (
    PROMPT,
    COMPARISON,
    JUDGE_METADATA,
    CHECK,
    PLACE,
    EVIDENCE,
    USAGE,
    SOURCE_ROUTE,
    ROUTED_EVIDENCE,
    PLANTED_CHANGE,
    HOLDER,
    STRESS_DOCUMENT,
    STRESS_CALL,
    STRESS_SUB_ANSWER,
)
"""The kinds that are part of other records, and the comparison, which is a file of pairs."""
KINDS: Mapping[str, RecordKind] = {kind.name: kind for kind in (MANIFEST, *TABLES, *PARTS_OF_RECORDS)}
STORED = (*KINDS.values(), READING)
"""Every kind that may have a table in the store."""


def canonical(record: Mapping[str, Any], kind: str) -> Record:
    """`record` with every known field of `kind` under its own name; see `RecordKind.canonical`."""
    return KINDS[kind].canonical(record)


def spelling(record: Mapping[str, Any], kind: str) -> dict[str, str]:
    """The field's own name -> the name that `record` uses for it, for the fields that it has."""
    return KINDS[kind].spelling(record)


# -- JSON Schema ---------------------------------------------------------------------------------------------------


def json_schema() -> dict[str, Any]:
    """A JSON Schema (draft 2020-12) with one definition per record of the format."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A release of answers and judgements",
        "description": "Validate a manifest against #/$defs/manifest, a handbook against #/$defs/handbook, and so on.",
        "$defs": {name: _definition(kind) for name, kind in KINDS.items()},
        "$ref": "#/$defs/comparison",
    }


def _definition(kind: RecordKind) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {field.name: _property(field) for field in kind.fields},
        "required": [field.name for field in kind.fields if field.required],
    }


def _property(field: Field) -> dict[str, Any]:
    described = {**_type(field), "description": field.meaning}
    return {**described, "enum": [*field.allowed, None]} if field.allowed else described


def _type(field: Field) -> Mapping[str, Any]:
    if not field.of or field.of.name not in KINDS:
        return TYPES[field.type].json
    reference = {"$ref": f"#/$defs/{field.of.name}"}
    if field.type == "object":
        return {"anyOf": [reference, {"type": "null"}]}
    return {"type": "array" if field.required else ["array", "null"], "items": reference}


# -- the tables of the data card -----------------------------------------------------------------------------------


def markdown() -> str:
    """The tables of the release format, as Markdown."""
    return "\n".join(line for kind in KINDS.values() for line in _section(kind))


def _section(kind: RecordKind) -> Iterator[str]:
    files = ", or ".join(f"`{name}`" for name in kind.files)
    yield f"### {kind.name}{files and f': {files}'}\n"
    if kind.about:
        yield f"{kind.about}\n"
    yield "| field | type | meaning | also known as |\n|---|---|---|---|"
    yield from (_row(field) for field in kind.fields)
    yield ""


def _row(field: Field) -> str:
    needed = " (needed)" if field.required else ""
    allowed = f" ({', '.join(map(str, field.allowed))})" if field.terms else ""
    aliases = ", ".join(f"`{alias}`" for alias in field.aliases)
    return f"| `{field.name}`{needed} | {_type_words(field)} | {field.meaning}{allowed} | {aliases} |"


def _type_words(field: Field) -> str:
    words = TYPES[field.type].word
    if not field.of or field.of.name not in KINDS:
        return words
    return f"{words} of {field.of.name}" if field.type == "list" else field.of.name
