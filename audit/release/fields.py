"""What a field of the release format is, the types that it may have, and the fields that several records share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from audit import vocabulary as v
from audit.release.values import (
    boolean,
    integer,
    integers,
    list_value,
    number,
    object_value,
    page_starts,
    parse_status,
    passages,
    phrases,
    settings,
    text,
    texts,
    word,
)

if TYPE_CHECKING:
    from audit.release.record_kind import RecordKind

Convert = Callable[[Any, str], Any]
"""(value, field's name) -> the value as it is stored, None for a missing one. Raises Reject for an unusable one."""


@dataclass(frozen=True)
class FieldType:
    """A type that fields may have.

    word   what the data card calls it
    json   its JSON Schema
    sql    its type in the store
    is_list  a missing value is an empty list
    """

    word: str
    json: Mapping[str, Any]
    convert: Convert
    sql: str = "json"
    is_list: bool = False


def _list_of(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": ["array", "null"], "items": items}


TEXT, FLAG, INTEGER, NUMBER, OBJECT = ({"type": [name, "null"]} for name in ("string", "boolean", "integer", "number", "object"))
TEXTS = _list_of({"type": "string"})
PAGE_START = {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 2, "maxItems": 2}
MATRIX_ROW = {"type": "array", "items": {"type": ["integer", "null"], "minimum": 0, "maximum": 4}}
TYPES: Mapping[str, FieldType] = {
    "text": FieldType("text", TEXT, text, "varchar"),
    "word": FieldType("text", TEXT, word, "varchar"),
    "flag": FieldType("flag", FLAG, boolean, "boolean"),
    "integer": FieldType("integer", INTEGER, integer, "integer"),
    "number": FieldType("number", NUMBER, number, "double"),
    "texts": FieldType("texts", TEXTS, texts, "varchar[]", is_list=True),
    "passages": FieldType("texts", TEXTS, passages, "varchar[]", is_list=True),
    "phrases": FieldType("texts", TEXTS, phrases, "varchar[]", is_list=True),
    "integers": FieldType("integers", _list_of({"type": "integer"}), integers, "integer[]", is_list=True),
    "page starts": FieldType("page starts", _list_of(PAGE_START), page_starts, "integer[][]", is_list=True),
    "matrix": FieldType("matrix", _list_of(MATRIX_ROW), list_value),
    "object": FieldType("object", OBJECT, object_value),
    "settings": FieldType("object", OBJECT, settings),
    "list": FieldType("list", _list_of({"type": "object"}), list_value, is_list=True),
}
"""`word` is a text without spaces around it, `phrases` and `passages` are texts with them, `settings` an object as JSON text."""


@dataclass(frozen=True)
class Terms:
    """A vocabulary: its terms, how else they may be spelled, and its type in the store (empty: plain text)."""

    allowed: tuple[str, ...]
    spellings: Mapping[str, Any] = field(default_factory=dict)
    enum: str = ""


@dataclass(frozen=True, eq=False)
class Field:
    """One field of a record.

    type       one of the keys of `TYPES`
    required   a record without it is rejected
    strict     an unusable value rejects the record; otherwise the record is loaded without it
    aliases    other names of the field
    terms      the vocabulary that it is from; scores: the integers that it may be
    least, most  the range of a number
    default    its value where a record has none
    empty      the sentence about a required value that is missing, where it says more than that
    of         the kind of its entries (list), or of the object whose fields are stored in its place (object)
    convert    reads the value where the type alone does not say how
    column     its name in the validated record and in the store; empty: it is declared only, or read by the kind's check
    sql        its type in the store, where that is not the one of its type
    """

    name: str
    type: str
    meaning: str
    required: bool = False
    aliases: tuple[str, ...] = ()
    terms: Terms | None = None
    scores: tuple[int, ...] = ()
    least: float | None = None
    most: float | None = None
    strict: bool = False
    default: Any = None
    empty: str = ""
    of: RecordKind | None = None
    convert: Convert | None = None
    column: str | None = None
    sql: str = ""

    @property
    def allowed(self) -> tuple[str, ...] | tuple[int, ...]:
        """The only values that it may have; empty: any."""
        return self.terms.allowed if self.terms else self.scores

    @property
    def key(self) -> str:
        """Its name in the validated record."""
        return self.column or self.name

    @property
    def column_type(self) -> str:
        """The type of its column, with `not null` where it always has a value."""
        own = TYPES[self.type]
        sql = self.sql or (self.terms and (self.terms.enum or "varchar")) or own.sql
        always = self.required or self.default is not None or own.is_list
        return f"{sql} not null" if always else sql


def _of_type(kind: str) -> Callable[..., Field]:
    def declare(name: str, meaning: str, *aliases: str, **options: Any) -> Field:
        return Field(name, kind, meaning, aliases=aliases, **options)

    return declare


Text, Word, Flag, Integer, Number = map(_of_type, ("text", "word", "flag", "integer", "number"))
Texts, Passages, Phrases, Integers = map(_of_type, ("texts", "passages", "phrases", "integers"))
PageStarts, Matrix, Object, Settings, List = map(_of_type, ("page starts", "matrix", "object", "settings", "list"))
"""A field of that type: name, meaning, other names, and what else `Field` says of it."""
LABEL = Terms(v.LABELS, v.LABEL_SPELLINGS, "label")
SIGNIFICANCE = Terms(v.SIGNIFICANCES, v.SIGNIFICANCE_SPELLINGS, "significance")
PHASE = Terms(v.PHASES, v.PHASE_SPELLINGS)
CHECK_KIND = Terms(v.CHECK_KINDS, v.CHECK_KIND_SPELLINGS, "check_kind")
CHANGED_SIDE = Terms(v.CHANGED_SIDES, v.CHANGED_SIDE_SPELLINGS)
PLANTED_KIND = Terms(v.PLANTED_KINDS, v.PLANTED_KIND_SPELLINGS, "planted_kind")
POSITION_METHOD = Terms(v.POSITION_METHODS, v.POSITION_METHOD_SPELLINGS, "position_method")
SYSTEM_MODE = Terms(v.SYSTEM_MODES, v.SYSTEM_MODE_SPELLINGS)
PREFERENCE = Terms(v.PREFERENCES, v.PREFERENCE_SPELLINGS)
RATER_KIND = Terms(v.RATER_KINDS, v.RATER_KIND_SPELLINGS)
SIDE = Terms(v.SIDES, v.SIDE_SPELLINGS)
STRESS_TEST = Terms(v.STRESS_TESTS, v.STRESS_TEST_SPELLINGS)
DOCUMENT_CALL = Terms(v.DOCUMENT_CALLS, v.DOCUMENT_CALL_SPELLINGS)
QUESTION_ID = Text("question_id", "the question's id", "qid", "question_key", required=True)
SYSTEM_ID = Text("system_id", "the system's id", "system", required=True)
PARSE = Text(
    "parse",
    "how the judge's reply was read; rules: no model was asked",
    terms=Terms(v.PARSES, enum="parse"),
    convert=parse_status,
)
JUDGE_USAGE = (
    Integer("input_tokens", "tokens of the prompt"),
    Integer("output_tokens", "tokens of the reply"),
    Number("latency_s", "seconds until the reply was there"),
)


def field_names(fields: Iterable[Field]) -> tuple[str, ...]:
    """The format's own names of `fields`, in order."""
    return tuple(field.name for field in fields)


def count(name: str, what: str = "", *aliases: str) -> Field:
    """The declared count of a kind of record, a field of the manifest."""
    return Integer(name, f"declared count{what and f' of {what}'}", f"n_{name}", *aliases)
