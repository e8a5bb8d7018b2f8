"""A kind of record, declared once: its fields, how they are read and checked, and where they are stored."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

from audit.release.fields import TYPES, Convert, Field
from audit.release.values import Reject, Repairs, integer, number, required_text, type_name, vocabulary_term
from audit.vocabulary import plain

Record: TypeAlias = dict[str, Any]
"""A validated record: the fields of its kind under their own names."""
Read = Callable[[Mapping[str, Any], Repairs], Any]
EARLIER = "occurs earlier; the first record was kept."
NUMBERED = {
    "question": "integer",
    "handbook": "smallint",
    "system": "smallint",
    "source": "smallint",
    "instance": "integer",
}
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
        raw = self.known_fields(record)
        values: Record = {}
        for key, read in self._readers:
            if key:
                values[key] = read(raw, repairs)
            else:
                values |= read(raw, repairs)
        if self.check:
            self.check(raw, values, repairs)
        if self.whole:
            self.whole(record, values, repairs)
        return values

    def known_fields(self, record: Any) -> Record:
        """The known fields under their own names. Rejects what is not an object or lacks a required field."""
        if not isinstance(record, Mapping):
            raise Reject("wrong_type", f"this is {type_name(record)}, but each record must be an object.")
        spelled, missing = _spelling(self, tuple(record))
        if missing:
            known = f" (or {', '.join(missing.aliases)})" if missing.aliases else ""
            it_has = ", ".join(map(str, record)) or "nothing"
            raise Reject("missing_field", f"it has no field '{missing.name}'{known}; it has: {it_has}.")
        return {name: record[key] for name, key in spelled}

    def canonical(self, record: Mapping[str, Any]) -> Record:
        """`record` with every known field under its own name; fields that the format does not know are left out.

        Where a record has a field under two names, the field's own name wins.
        """
        return {name: record[key] for name, key in _spelling(self, tuple(record))[0]}

    def spelling(self, record: Mapping[str, Any]) -> dict[str, str]:
        """The field's own name -> the name that `record` uses for it, for the fields that it has."""
        return dict(_spelling(self, tuple(record))[0])

    def key_of(self, record: Record) -> Hashable:
        """What no other record shares; None if there is no such thing."""
        if callable(self.unique):
            return self.unique(record)
        return tuple(record[name] for name in self.unique) or None

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


@lru_cache(1024)  # the records of a file nearly always have the same keys
def _spelling(kind: RecordKind, keys: tuple[str, ...]) -> tuple[tuple[tuple[str, str], ...], Field | None]:
    """(field's own name, name among `keys`) for the fields that are there, and the first required one that is not."""
    # The own names last, so a field's own name wins over an alias of another field
    names = {plain(alias): one.name for one in kind.fields for alias in one.aliases}
    names |= {plain(one.name): one.name for one in kind.fields}
    spellings: dict[str, str] = {}
    for key in keys:
        name = names.get(plain(key))
        if name and (name not in spellings or key == name):
            spellings[name] = key
    missing = next((one for one in kind.fields if one.required and one.name not in spellings), None)
    return tuple(spellings.items()), missing


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
