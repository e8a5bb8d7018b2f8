"""A kind of record, declared once: its fields, how they are read and checked, and where they are stored."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

from audit import vocabulary as v
from audit.release.values import (
    DoubledKeys,
    Reject,
    Repairs,
    boolean,
    integer,
    integers,
    is_missing,
    list_value,
    number,
    object_value,
    page_starts,
    parse_status,
    passages,
    phrases,
    required_text,
    settings,
    text,
    texts,
    type_name,
    vocabulary_term,
    word,
)
from audit.vocabulary import composed, plain

# -- fields --------------------------------------------------------------------------------------------------
# What a field of the release format is, the types that it may have, and the fields that several records
# share.

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
    names      whether its texts name something, so that both Unicode forms of one are the same; others are kept as written
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
    names: bool = False

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
DIFFERENCE = Terms(v.DIFFERENCES, v.DIFFERENCE_SPELLINGS)
FOLLOW_BOTH = Terms(v.FOLLOW_BOTH, v.FOLLOW_BOTH_SPELLINGS)
PHASE = Terms(v.PHASES, v.PHASE_SPELLINGS)
CHECK_KIND = Terms(v.CHECK_KINDS, v.CHECK_KIND_SPELLINGS, "check_kind")
FURTHER_KIND = Terms(v.FURTHER_KINDS, v.FURTHER_KIND_SPELLINGS)
CHANGED_SIDE = Terms(v.CHANGED_SIDES, v.CHANGED_SIDE_SPELLINGS)
PLANTED_KIND = Terms(v.PLANTED_KINDS, v.PLANTED_KIND_SPELLINGS, "planted_kind")
POSITION_METHOD = Terms(v.POSITION_METHODS, v.POSITION_METHOD_SPELLINGS, "position_method")
FOUND = Terms(v.FOUND, v.FOUND_SPELLINGS)
SYSTEM_MODE = Terms(v.SYSTEM_MODES, v.SYSTEM_MODE_SPELLINGS)
PREFERENCE = Terms(v.PREFERENCES, v.PREFERENCE_SPELLINGS)
RATERS = Terms(v.RATERS, v.RATERS_SPELLINGS)
RATER_KIND = Terms(v.RATER_KINDS, v.RATER_KIND_SPELLINGS)
SIDE = Terms(v.SIDES, v.SIDE_SPELLINGS)
STRESS_TEST = Terms(v.STRESS_TESTS, v.STRESS_TEST_SPELLINGS)
DOCUMENT_CALL = Terms(v.DOCUMENT_CALLS, v.DOCUMENT_CALL_SPELLINGS)
QUESTION_ID = Text("question_id", "the question's id", "qid", "question_key", required=True, names=True)
SYSTEM_ID = Text("system_id", "the system's id", "system", required=True, names=True)
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


Record: TypeAlias = dict[str, Any]
"""A validated record: the fields of its kind under their own names."""
Read = Callable[[Mapping[str, Any], Repairs], Any]
EARLIER = "occurs earlier; the first record was kept."
NUMBERED = {"question": "integer", "handbook": "smallint", "system": "smallint", "source": "smallint", "instance": "integer"}
"""What the store numbers from 0 in the order of the release -> the type of the number."""


@dataclass(frozen=True, eq=False)
class RecordKind:
    """One kind of record.

    about    what the data card says of it
    files    the names, without ending, that a file or a folder of such records may have; none: part of other records
    counted  the field of the manifest that declares how many there are
    group    systems, routes or stress: the release may be about these alone
    check    further checks and changes: (known fields of the raw record, values, repairs) -> nothing
    whole    like check, with the record as it is in the file
    numbers  what its records are, if the store numbers them (a key of NUMBERED)
    ids      what it names by id: `question` for the field `question_id`, `handbook_a` for `handbook_a`
    unique   the values that no two records share, or a function that returns them; None: no other record is the same
    same     the sentence about a second one
    table    where it is stored
    columns  columns that are no field, and those of another type than the field's; an empty type: none in this table
    """

    name: str
    fields: tuple[Field, ...]
    about: str = ""
    files: tuple[str, ...] = ()
    counted: Field | None = None
    group: str = ""
    check: Callable[[Record, Record, Repairs], None] | None = None
    whole: Callable[[Record, Record, Repairs], None] | None = None
    numbers: str = ""
    ids: tuple[str, ...] = ()
    unique: tuple[str, ...] | Callable[[Record], Hashable] = ()
    same: str = ""
    table: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)

    def read(self, record: Any, repairs: Repairs) -> Record:
        """The record as it is stored. An unusable optional field is dropped; raises Reject for an unusable record."""
        raw = self.known_fields(record, repairs)
        values: Record = {}
        for key, read in self._readers:
            if key:
                values[key] = read(raw, repairs)
            else:
                values |= read(raw, repairs)
        for key in self._name_keys:
            values[key] = _composed(values[key])
        if self.check:
            self.check(raw, values, repairs)
        if self.whole:
            self.whole(record, values, repairs)
        return values

    def known_fields(self, record: Any, repairs: Repairs | None = None) -> Record:
        """The known fields under their own names. Rejects what is not an object or lacks a required field.

        A field that is given twice with different values is left out with a sentence in `repairs`, if the record can spare it.
        """
        if not isinstance(record, Mapping):
            raise Reject("wrong_type", f"this is {type_name(record)}, but each record must be an object.")
        spelled, missing, rivals = _spelling(self, tuple(record))
        if missing:
            known = f" (or {', '.join(missing.aliases)})" if missing.aliases else ""
            it_has = ", ".join(map(str, record)) or "nothing"
            raise Reject("missing_field", f"it has no field '{missing.name}'{known}; it has: {it_has}.")
        known_fields = {name: record[key] for name, key in spelled}
        if rivals or type(record) is DoubledKeys:
            self._settle(record, known_fields, rivals, repairs)
        return known_fields

    def _settle(self, record: Mapping[str, Any], known: Record, rivals: Rivals, repairs: Repairs | None) -> None:
        """Settle the fields that a record gives twice: reject it where values differ, or leave out a field that it can spare."""
        for name, keys in rivals:
            # One spelling may be empty: then another has the value
            if _is_blank(known[name]):
                known[name] = next((record[key] for key in keys if not _is_blank(record[key])), known[name])
        for one, keys in self._contradicted(record, rivals):
            message = _twice(one, keys)
            if one.required or one.strict or repairs is None:
                raise Reject("doubled_field", f"{message}, so its value is unknown.")
            repairs.append(f"{message}. It was loaded without that field.")
            known[one.name] = None

    def ambiguity(self, record: Mapping[str, Any]) -> str | None:
        """A sentence on the first known field that a record gives twice with different values; None where there is none."""
        return next((f"{_twice(*one)}." for one in self._contradicted(record, _spelling(self, tuple(record))[2])), None)

    def _contradicted(self, record: Mapping[str, Any], rivals: Rivals) -> Iterator[tuple[Field, tuple[str, ...]]]:
        """The fields whose value is unknown, each with the keys that give it."""
        doubled = record.own if isinstance(record, DoubledKeys) else ()
        by_name = {one.name: one for one in self.fields}
        for key in doubled:
            if one := by_name.get(_names(self).get(plain(key), "")):
                yield one, (key,)
        for name, keys in rivals:
            values = [record[key] for key in keys if not _is_blank(record[key])]
            if any(not _same(by_name[name], values[0], value) for value in values[1:]):
                yield by_name[name], keys

    def canonical(self, record: Mapping[str, Any]) -> Record:
        """`record` with every known field under its own name; fields that the format does not know are left out.

        Where a record has a field under two names, the field's own name wins.
        """
        return {name: record[key] for name, key in _spelling(self, tuple(record))[0]}

    def spelling(self, record: Mapping[str, Any]) -> dict[str, str]:
        """The field's own name -> the name that `record` uses for it, for the fields that it has."""
        return dict(_spelling(self, tuple(record))[0])

    def only_spelling(self, keys: Iterable[str]) -> dict[str, str] | None:
        """The name among `keys` -> the field's own name; None where a field is there twice, or a required one is not."""
        spelled, missing, rivals = _spelling(self, tuple(keys))
        return None if missing or rivals else {key: name for name, key in spelled}

    def key_of(self, record: Record) -> Hashable:
        """What no other record shares; None if there is no such thing."""
        if callable(self.unique):
            return self.unique(record)
        return tuple(record[name] for name in self.unique) or None

    @cached_property
    def _name_keys(self) -> tuple[str, ...]:
        return tuple(one.key for one in self.fields if one.column != "" and one.names)

    @cached_property
    def id_fields(self) -> Mapping[str, str]:
        """What is named by id -> the field with the id."""
        names = {one.name for one in self.fields}
        return {name: f"{name}_id" if f"{name}_id" in names else name for name in self.ids}

    @cached_property
    def table_columns(self) -> Mapping[str, str]:
        """Column -> type, of its table."""
        own = {self.numbers: f"{NUMBERED[self.numbers]} primary key"} if self.numbers else {}
        ids = {name: f"{NUMBERED[name.removesuffix('_a').removesuffix('_b')]} not null" for name in self.ids}
        named = set(self.id_fields.values())
        fields = {one.key: one.column_type for one in _stored(self.fields) if one.name not in named}
        columns = {**own, **ids, **fields, **self.columns}
        return {name: sql for name, sql in columns.items() if sql}

    @cached_property
    def _readers(self) -> tuple[tuple[str, Read], ...]:
        return tuple(
            ("", _parts_reader(one)) if one.type == "object" and one.of else (one.key, _reader(one))
            for one in self.fields
            if one.column != ""
        )


def _stored(fields: tuple[Field, ...]) -> Iterator[Field]:
    """The fields that have a column; entries of lists have tables of their own."""
    for one in fields:
        if one.column == "" or (one.of and one.type == "list"):
            continue
        if one.of:
            yield from _stored(one.of.fields)
        else:
            yield one


Rivals: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""Field -> the keys of a record that are all names of it, where there is more than one."""


@lru_cache
def _names(kind: RecordKind) -> Mapping[str, str]:
    """Plain spelling -> the field's own name. The own names last, so a field's own name wins over an alias of another field."""
    names = {plain(alias): one.name for one in kind.fields for alias in one.aliases}
    return names | {plain(one.name): one.name for one in kind.fields}


@lru_cache(1024)  # the records of a file nearly always have the same keys
def _spelling(kind: RecordKind, keys: tuple[str, ...]) -> tuple[tuple[tuple[str, str], ...], Field | None, Rivals]:
    """(field's own name, name among `keys`) for the fields that are there, the first required one that is not, and rivals."""
    names, spellings = _names(kind), dict[str, str]()
    given: dict[str, list[str]] = {}
    for key in keys:
        name = names.get(plain(key)) if isinstance(key, str) else None
        if name:
            given.setdefault(name, []).append(key)
            if name not in spellings or key == name:
                spellings[name] = key
    missing = next((one for one in kind.fields if one.required and one.name not in spellings), None)
    rivals = tuple((name, tuple(spelled)) for name, spelled in given.items() if len(spelled) > 1)
    return tuple(spellings.items()), missing, rivals


def _twice(one: Field, keys: tuple[str, ...]) -> str:
    spelled = "' and '".join(keys)
    if len(keys) == 1:
        return f"field '{spelled}' occurs twice"
    return f"'{spelled}' are both the field '{one.name}' and have different values"


def _composed(value: Any) -> Any:
    if isinstance(value, list):
        return [composed(item) for item in value]
    return composed(value) if isinstance(value, str) else value


def _is_blank(value: Any) -> bool:
    return is_missing(value) or bool(value == "")


def _same(one: Field, value: Any, other: Any) -> bool:
    if one.terms and isinstance(value, str) and isinstance(other, str):
        return plain(value) == plain(other)
    return bool(value == other)


# -- reading the value of a field ----------------------------------------------------------------------------------


def _reader(one: Field) -> Read:
    name, convert, default, is_list = one.name, _converter(one), one.default, TYPES[one.type].is_list
    if one.required and one.type == "text" and not one.terms and default is None:
        return lambda raw, _: required_text(raw, name)

    def read_strict(raw: Mapping[str, Any], _: Repairs) -> Any:
        try:
            value = convert(raw.get(name), name)
        except (ValueError, RecursionError) as error:
            raise Reject("wrong_type", f"field '{name}' cannot be read ({error}).") from error
        if value is None and one.required and default is None:
            raise Reject("missing_field", one.empty or f"field '{name}' is empty.")
        return default if value is None else value

    def read_optional(raw: Mapping[str, Any], repairs: Repairs) -> Any:
        value = raw.get(name)
        if value is not None:
            try:
                value = convert(value, name)
            except (Reject, ValueError, RecursionError) as error:
                repairs.append(f"{str(error).rstrip('.')}. It was loaded without that field.")
                value = None
        if value is None:
            return [] if is_list else default
        return value

    return read_strict if one.required or one.strict else read_optional


def _parts_reader(one: Field) -> Read:
    """Reads the fields of an object that are stored in its place."""
    assert one.of
    read, parts = _reader(one), [(part.key, _reader(part)) for part in one.of.fields]

    def read_parts(raw: Mapping[str, Any], repairs: Repairs) -> Record:
        values = read(raw, repairs) or {}
        return {key: read_part(values, repairs) for key, read_part in parts}

    return read_parts


def _converter(one: Field) -> Convert:
    if one.convert:
        return one.convert
    if terms := one.terms:
        return lambda value, name: vocabulary_term(value, terms.spellings, name, terms.allowed)
    if one.scores:
        return lambda value, name: _one_of(integer(value, name), name, one.scores)
    if one.least is not None:
        return lambda value, name: _within((integer if one.type == "integer" else number)(value, name), one)
    return TYPES[one.type].convert


def _one_of(value: int | None, name: str, allowed: tuple[int, ...]) -> int | None:
    if value is None or value in allowed:
        return value
    raise Reject("out_of_range", f"field '{name}' is {value}, but must be one of {', '.join(map(str, allowed))}.")


def _within(value: float | None, one: Field) -> float | None:
    assert one.least is not None
    if value is None or (one.least <= value and (one.most is None or value <= one.most)):
        return value
    shown = value if isinstance(value, int) else f"{value:g}"
    allowed = f"at least {one.least}" if one.most is None else f"from {one.least} to {one.most:,}"
    raise Reject("out_of_range", f"field '{one.name}' is {shown}, but must be {allowed}.")
