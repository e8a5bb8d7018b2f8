"""Replies of a model: the JSON object that was asked for, found in the text, read into its model, and how it was read.

A task declares its reply once, as a `ReplyModel`: the schema that a server gets comes from it, and so does the reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import getitem
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, ValidationInfo, WrapValidator, model_validator

from audit.pipeline.llm.calls import CUT
from audit.pipeline.llm.reply_text import (
    JsonMatch,
    clean_text,
    json_objects,
    opens_object,
    relaxed_json,
    repaired_object,
    says_more,
    texts_of,
    unreadable_reason,
    whole_object,
    without_fences,
    without_thinking,
    words_of,
)
from audit.release.journal_files import Reply
from audit.vocabulary import Parse, plain

GOES_ON = "text after the verdict"
FAULTY = "faulty"
"""The context of validating an object that may have faults; without it, an object must obey its model in every point."""
SCHEMA_KEYWORDS = ("type", "properties", "required", "additionalProperties", "items", "maxItems", "maxLength", "enum")


class ReplyModel(BaseModel):
    """What a reply contains: its fields in the order in which a model writes them.

    keys           an object of a text is this reply if it has one of these fields, of `key_type`; without keys, any object is
    other_names    plain spelling -> field: what models of other prompts call it; case, spaces and hyphens never matter
    repairable     False where a task has rules of its own for broken objects
    thinks_inside  whether some models put their thinking into a field
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    keys: ClassVar[tuple[str, ...]] = ()
    key_type: ClassVar[type] = object
    other_names: ClassVar[Mapping[str, str]] = {}
    repairable: ClassVar[bool] = True
    thinks_inside: ClassVar[bool] = False

    @classmethod
    def recognises(cls, value: Mapping[str, Any]) -> bool:
        """Whether an object of a text is meant as this reply."""
        return not cls.keys or any(key in value and isinstance(value[key], cls.key_type) for key in cls.keys)

    @classmethod
    def with_own_names(cls, value: Mapping[str, Any]) -> dict[str, Any]:
        """An object under the names of the fields; where two of its names mean one field and differ, both values as a list."""
        fields = {plain(name): name for name in cls.model_fields} | dict(cls.other_names)
        named: dict[str, list[Any]] = {}
        for name, part in value.items():
            parts = named.setdefault(fields.get(plain(name), name), [])
            parts.extend([] if part in parts else [part])
        return {name: parts[0] if len(parts) == 1 else parts for name, parts in named.items()}

    @classmethod
    def schema_to_send(cls) -> dict[str, Any]:
        """The JSON Schema of the reply, without pydantic's titles and references: journals know calls by these words."""
        schema = cls.model_json_schema()
        return _plain_schema(schema, schema.get("$defs", {}))

    @model_validator(mode="before")
    @classmethod
    def _known_fields(cls, value: Any, info: ValidationInfo) -> Any:
        if info.context == FAULTY and isinstance(value, Mapping):
            own = cls.with_own_names(value)
            return {name: own.get(name) for name in cls.model_fields}
        return value


M = TypeVar("M", bound=ReplyModel)


def faulty(read: Callable[[Any], Any]) -> WrapValidator:
    """A field of an object that may have faults is what `read` makes of its value, or of None where it is missing."""
    return WrapValidator(lambda value, check, info: read(value) if info.context == FAULTY else check(value))


def spelled(read: Callable[[Any], Any]) -> WrapValidator:
    """The same, and it must then be what was asked for: else the object cannot be read."""
    return WrapValidator(lambda value, check, info: check(read(value) if info.context == FAULTY else value))


def cleaned(max_length: int) -> WrapValidator:
    """A text without control characters, shortened where it is too long; empty if the value is not a text."""
    return faulty(lambda value: clean_text(value, max_length) or "")


def needed(max_length: int) -> WrapValidator:
    """The same, without which the object cannot be read."""
    return spelled(lambda value: clean_text(value, max_length))


def entries_of(model: type[M], most: int | None = None) -> WrapValidator:
    """The first `most` entries of a list, each read as `model`; what cannot be read is left out, and no list has no entries."""
    return faulty(
        lambda values: (
            [one for value in values[:most] if (one := _read(model, value)) is not None] if isinstance(values, list) else []
        )
    )


def all_entries_of(model: type[ReplyModel]) -> WrapValidator:
    """The entries of a list, all read as `model`; where one cannot be read, the object with the list cannot."""

    def read(values: Any) -> list[ReplyModel]:
        if not isinstance(values, list):
            raise ValueError("no list")
        return [model.model_validate(value, context=FAULTY) for value in values]

    return faulty(read)


def annotated(kind: Any, *rules: Any) -> Any:
    """The type of a field, for a model that is made from a table: `kind`, or one of a tuple of words, and rules on it."""
    declared = getitem(Literal, tuple(kind)) if isinstance(kind, tuple) else kind
    return getitem(Annotated, (declared, *rules)) if rules else declared


@dataclass(frozen=True)
class ReplyReading(Generic[M]):
    """The objects of a reply that are meant as its model, in order.

    found    the objects as they stand; `values`: those that could be read, `unread`: the others
    parse    strict: the text is one object as asked for in every point; lenient: anything else with an object; none
    reason   why the reply has no text to read
    objects  how many JSON objects the text has; `whole`: it is one of them and nothing else
    text     without thinking; `after`: what follows the last object
    """

    found: tuple[Mapping[str, Any], ...] = ()
    values: tuple[M, ...] = ()
    unread: tuple[Mapping[str, Any], ...] = ()
    parse: Parse = Parse.NONE
    reason: str | None = None
    cut: bool = False
    objects: int = 0
    whole: bool = False
    text: str = ""
    after: str = ""

    @property
    def goes_on(self) -> bool:
        """Whether words follow the last object: they may take back what it says."""
        return says_more(self.after)

    @property
    def plain_words(self) -> str:
        """The whole text, where it has no object and was not cut; else empty."""
        return "" if self.reason or self.cut or self.objects or opens_object(self.text) else without_fences(self.text)

    def only_verdict(self, missing: str) -> tuple[M | None, str | None]:
        """The same as `only` for a verdict, which what follows may take back."""
        value, reason = self.only(missing)
        return (None, GOES_ON) if value is not None and self.goes_on else (value, reason)

    def only(self, missing: str) -> tuple[M | None, str | None]:
        """The value of a reply with one object, or None and why: of two objects it is unclear which one is meant."""
        if self.reason:
            return None, self.reason
        if len(self.values) + len(self.unread) != 1:
            return None, CUT if self.cut else missing
        return (self.values[0], None) if self.values else (None, missing)


def read_reply(model: type[M], reply: Reply, asked: type[ReplyModel] | None = None) -> ReplyReading[M]:
    """What a reply has of `model`; `asked`: what was asked for, if that is less.

    Objects may stand among thinking, code fences and chatter, and their fields may have faults as far as the model reads them.
    In a text without such an object, comments and commas too many are left out. What is then left of it is repaired where its
    punctuation alone is broken, and believed if it then obeys the model.
    """
    if reason := unreadable_reason(reply):
        return ReplyReading(reason=reason)
    cut, text, asked = reply.outcome == CUT, (reply.text or "").strip(), asked or model
    if "</think>" in text and not (model.thinks_inside and _read(asked, whole_object(text), None)):
        text = without_thinking(text)
    whole = whole_object(text)
    matches = json_objects(text) if whole is None else [JsonMatch(whole, "")]
    found = _recognised(model, matches)
    if not found and whole is not None and len(whole) == 1 and _read(asked, inner := next(iter(whole.values())), None):
        # An object under a name of the model's own
        found = [inner]
    after, comments = matches[-1].after if matches else "", ""
    if not (found or cut):
        relaxed, comments = relaxed_json(text)
        found = _recognised(model, json_objects(relaxed))
        after = text.rpartition("}")[2] if found else after
    repaired = repaired_object(text) if model.repairable and not (found or cut) else None
    if repaired is not None and _read(asked, repaired, None):
        found = [repaired]
    values = [None if _is_disputed(value, comments, model) else _read(model, value) for value in found]
    return ReplyReading(
        tuple(found),
        tuple(value for value in values if value is not None),
        tuple(raw for raw, value in zip(found, values, strict=True) if value is None),
        Parse.STRICT if _read(asked, whole, None) else Parse.LENIENT if found else Parse.NONE,
        cut=cut,
        objects=len(matches),
        whole=whole is not None,
        text=text,
        after=after,
    )


def _recognised(model: type[M], matches: Iterable[JsonMatch]) -> list[Mapping[str, Any]]:
    """The objects that are meant as this reply, under its names."""
    named = (model.with_own_names(match.value) for match in matches)
    return [value for value in named if model.recognises(value)]


def _is_disputed(value: Mapping[str, Any], comments: str, model: type[ReplyModel]) -> bool:
    """Whether a comment in an object names a term of its schema that the object itself does not: `"part", // or none`."""
    terms = {plain(term) for term in _terms(model.schema_to_send())}
    return bool(words_of(comments) & terms - {plain(text) for text in texts_of(value)}) if comments else False


def _terms(schema: Any) -> Iterator[str]:
    """The words of all lists of allowed values in a schema."""
    if isinstance(schema, Mapping):
        yield from (term for term in schema.get("enum", ()) if isinstance(term, str))
    for part in schema.values() if isinstance(schema, Mapping) else schema if isinstance(schema, list) else ():
        yield from _terms(part)


def _read(model: type[M], value: Any, context: str | None = FAULTY) -> M | None:
    """A value as its model, or None; without `context` it must be what was asked for, in every point."""
    try:
        return model.model_validate(value, context=context)
    except ValidationError:
        return None


def _plain_schema(rule: Mapping[str, Any], shared: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords of a rule that a server needs, in one order; a value or null is one rule with two types."""
    if "$ref" in rule:
        return _plain_schema(shared[rule["$ref"].rpartition("/")[2]], shared)
    if "anyOf" in rule:
        first, *others = (_plain_schema(part, shared) for part in rule["anyOf"])
        words = [word for part in (first, *others) for word in part.get("enum", ())]
        if {"type": "null"} not in others:
            return first | {"enum": words}
        return first | {"type": [first["type"], "null"]} | ({"enum": [*words, None]} if words else {})
    # pydantic says `const` of a single word
    rule = {"enum": [rule["const"]], **rule} if "const" in rule else rule
    plain = {name: rule[name] for name in SCHEMA_KEYWORDS if name in rule}
    if "properties" in plain:
        plain["properties"] = {name: _plain_schema(part, shared) for name, part in plain["properties"].items()}
    if "items" in plain:
        plain["items"] = _plain_schema(plain["items"], shared)
    return plain
