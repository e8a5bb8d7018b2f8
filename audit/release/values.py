"""Single values of a record: converted to the type that the format asks for, or rejected with a message."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from audit.formatting import UNPRINTABLE
from audit.vocabulary import EMPTY_WORDS, PARSE_SPELLINGS, PARSES, Parse, nearest, plain

TRUE, FALSE = frozenset({"true", "yes", "1", "t", "y"}), frozenset({"false", "no", "0", "f", "n"})
# The largest value of the store's integer columns
MAX_INTEGER = 2**31 - 1
# The largest value of its columns of other numbers
MAX_NUMBER = 3.4e38
AS_JSON = json.JSONEncoder(ensure_ascii=False, default=str).encode
# In JSON: complete surrogate pairs and other escapes (kept), a lone surrogate, or an unprintable character, escaped or not
CONTROL = r"\\u00(?:0[0-8bBcCeEfF]|1[0-9a-fA-F]|7[fF]|[89][0-9a-fA-F])|\\u[fF]{3}[eEfF]|\\[bf]|" + UNPRINTABLE.pattern
DAMAGED = re.compile(rf"(\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\[^ubf])|(\\u[dD][89a-fA-F]..)|{CONTROL}")
MAYBE_DAMAGED = re.compile(rf"\\u[dD]|{CONTROL}")
LONE_SURROGATE = "lone surrogate read as \N{REPLACEMENT CHARACTER}"
CONTROL_CHARACTER = "control character read as a space"


class DoubledKeys(dict[str, Any]):
    """An object whose file gives a key more than once, in it or inside it; which value is meant is unknown.

    own     its keys that are given twice; the last value stands
    inside  those of objects inside it
    """

    def __init__(self, values: Mapping[str, Any], own: tuple[str, ...], inside: tuple[str, ...] = ()) -> None:
        super().__init__(values)
        self.own, self.inside = own, inside


class Reject(Exception):  # noqa: N818 - a verdict on a record, always caught by the reader
    """Why a record is quarantined: a code for machines, a sentence for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


Repairs = list[str]


def clean_json(text: str) -> tuple[str, list[str]]:
    """JSON text without lone surrogates (U+FFFD) and control characters (spaces), and what was done, once for each."""
    # A generator that stops inside an emoji leaves half of it, and PDF text has form feeds: neither can be displayed or stored.
    done: list[str] = []
    # The first test takes a tenth of the time of the second, and nearly every line of a table passes it
    if text.strip().isprintable() and r"\u" not in text and r"\b" not in text and r"\f" not in text:
        return text, done
    if not MAYBE_DAMAGED.search(text):
        return text, done

    def mend(match: re.Match[str]) -> str:
        if match[1]:
            return match[1]
        done.append(LONE_SURROGATE if match[2] else CONTROL_CHARACTER)
        return r"\ufffd" if match[2] else " "

    return DAMAGED.sub(mend, text), done


def is_missing(value: Any) -> bool:
    """None, and the NaN that table tools write for it."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def text(value: Any, name: str) -> str | None:
    """A text; numbers and booleans are converted, lists and objects are refused."""
    if isinstance(value, str):
        return value
    if is_missing(value):
        return None
    if isinstance(value, (int, float)):
        return str(value)
    raise Reject("wrong_type", f"field '{name}' is {type_name(value)}, but must be text.")


def word(value: Any, name: str) -> str | None:
    """A text without spaces around it; None for an empty one."""
    return (text(value, name) or "").strip() or None


def required_text(raw: Mapping[str, Any], name: str) -> str:
    """A text that must not be missing or empty."""
    value = (text(raw[name], name) or "").strip()
    if not value:
        raise Reject("missing_field", f"field '{name}' is empty.")
    return value


def vocabulary_term(value: Any, spellings: Mapping[str, Any], name: str, allowed: tuple[str, ...]) -> Any:
    """The vocabulary's term for a spelling, or None where there is no value."""
    if isinstance(value, bool):
        raise Reject("wrong_type", f"field '{name}' is {type_name(value)}, but must be one of: {', '.join(allowed)}.")
    spelling = (text(value, name) or "").strip()
    if plain(spelling) in EMPTY_WORDS:
        return None
    # Table tools write the code 2 as 2.0 if its column has missing values
    term = spellings.get(plain(spelling.removesuffix(".0")))
    if term is None:
        raise Reject(
            f"unknown_{name}",
            f"{name} {spelling!r} is not in the vocabulary.{nearest(spelling.upper(), allowed)} Allowed: {', '.join(allowed)}.",
        )
    return term


def parse_status(value: Any, name: str) -> Any:
    """How a judge's reply was read, a `Parse`; None without a value."""
    # Elsewhere `none` means a missing value; here it is a term of the vocabulary.
    is_none = isinstance(value, str) and plain(value) == Parse.NONE
    return Parse.NONE if is_none else vocabulary_term(value, PARSE_SPELLINGS, name, PARSES)


def boolean(value: Any, name: str) -> bool | None:
    """A boolean; yes/no, true/false and 1/0 are accepted."""
    if is_missing(value) or isinstance(value, bool):
        return None if is_missing(value) else bool(value)
    spelled = str(value).strip().lower()
    if spelled in TRUE or spelled in FALSE:
        return spelled in TRUE
    raise Reject("wrong_type", f"field '{name}' is {value!r}, but must be true or false.")


def integer(value: Any, name: str) -> int | None:
    """An integer, also as text or as a float without a fraction."""
    parsed = number(value, name)
    if parsed is not None and parsed != int(parsed):
        raise Reject("wrong_type", f"field '{name}' is {value!r}, but must be a whole number.")
    if parsed is not None and abs(parsed) > MAX_INTEGER:
        raise Reject("wrong_type", f"field '{name}' is {_short_repr(value)}, but must be at most {MAX_INTEGER:,}.")
    return None if parsed is None else int(parsed)


def number(value: Any, name: str) -> float | None:
    """A finite number of at most MAX_NUMBER, also as text."""
    if is_missing(value) or value == "":
        return None
    try:
        # float(True) is 1.0, but true is not a number here
        parsed = float("nan") if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        parsed = math.nan
    if not abs(parsed) <= MAX_NUMBER:  # written so NaN fails too
        raise Reject("wrong_type", f"field '{name}' is {_short_repr(value)}, but must be a number.")
    return parsed


def texts(value: Any, name: str) -> list[str]:
    """A list of texts; a single text may contain several, separated by `;` or `|` or as a JSON list."""
    if is_missing(value):
        return []
    if isinstance(value, str):
        value = _parse_cell(value) if value.startswith("[") and value.endswith("]") else value.replace("|", ";").split(";")
    if not isinstance(value, (list, tuple)):
        raise Reject("wrong_type", f"field '{name}' is {type_name(value)}, but must be a list of texts.")
    return [item_text for item in value if (item_text := (text(item, name) or "").strip())]


def passages(value: Any, name: str) -> list[str]:
    """A list of texts with their spaces and punctuation; a single text is one of them, unless it is a JSON list."""
    # Not `texts`, which would split a reference answer at each semicolon
    if isinstance(value, str):
        value = list_value(value, name) if value.startswith("[") and value.endswith("]") else [value]
    return [passage for item in list_value(value, name) if (passage := text(item, name)) and passage.strip()]


def phrases(value: Any, name: str) -> list[str]:
    """A list of texts, unchanged."""
    # Not `texts`, which would strip leading spaces of a divergence topic.
    return [phrase for item in list_value(value, name) if (phrase := text(item, name)) and phrase.strip()]


def integers(value: Any, name: str) -> list[int]:
    """A list of integers; a cell of a table may contain several."""
    return [parsed for item in texts(value, name) if (parsed := integer(item, name)) is not None]


def page_starts(value: Any, name: str) -> list[list[int]]:
    """A list of [page, first character], also as JSON in a cell of a table."""
    if is_missing(value) or value == "":
        return []
    entries = _parse_cell(value) if isinstance(value, str) else value
    if not isinstance(entries, list) or not all(isinstance(entry, list) and len(entry) == 2 for entry in entries):
        raise Reject("wrong_type", f"field '{name}' is {_short_repr(value)}, but must be a list of [page, first character].")
    return [[integer(number, name) or 0 for number in entry] for entry in entries]


def object_value(value: Any, name: str) -> dict[str, Any] | None:
    """An object, also as JSON in a cell of a table."""
    if is_missing(value) or value == "":
        return None
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = _parse_cell(value)
    if not isinstance(value, dict):
        raise Reject("wrong_type", f"field '{name}' is {type_name(value)}, but must be an object.")
    if isinstance(value, DoubledKeys):
        raise Reject("doubled_key", f"in field '{name}' the key '{(*value.own, *value.inside)[0]}' occurs twice.")
    return value


def settings(value: Any, name: str) -> str | None:
    """An object as it is stored: as JSON text."""
    parsed = object_value(value, name)
    return AS_JSON(parsed) if parsed else None


def list_value(value: Any, name: str) -> list[Any]:
    """A list, also as JSON in a cell of a table."""
    if is_missing(value) or value == "":
        return []
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = _parse_cell(value)
    if not isinstance(value, list):
        raise Reject("wrong_type", f"field '{name}' is {type_name(value)}, but must be a list.")
    return value


def _parse_cell(text: str) -> Any:
    """The JSON in a cell of a table. Raises ValueError or RecursionError, which `optional` catches."""
    return json.loads(clean_json(text)[0], object_pairs_hook=Objects())


class Objects:
    """Makes the objects of one JSON text, an `object_pairs_hook`; one with a key given twice is marked as DoubledKeys."""

    def __init__(self) -> None:
        self.any_doubled = False

    def __call__(self, items: list[tuple[str, Any]]) -> dict[str, Any]:
        """The object of `items`; the objects inside it were made before."""
        values = dict(items)
        if len(values) == len(items) and not self.any_doubled:
            return values
        names = [name for name, _ in items]
        own = tuple(name for name in values if names.count(name) > 1)
        inside = tuple(name for _, value in items for name in doubled_inside(value))
        self.any_doubled |= bool(own)
        return DoubledKeys(values, own, inside) if own or inside else values


def doubled_inside(value: Any) -> tuple[str, ...]:
    """The keys that are given twice in an object, or in the objects of a list, and inside them."""
    if isinstance(value, DoubledKeys):
        return value.own + value.inside
    return tuple(name for item in value for name in doubled_inside(item)) if isinstance(value, list) else ()


def optional(read: Any, raw: Mapping[str, Any], name: str, repairs: Repairs) -> Any:
    """The field as converted by `read`, or None and a sentence in `repairs`: no record is lost for an optional field."""
    try:
        return read(raw.get(name), name)
    except (Reject, ValueError, RecursionError) as error:
        repairs.append(f"{str(error).rstrip('.')}. It was loaded without that field.")
        return None


def _short_repr(value: Any) -> str:
    return repr(value)[:80]


def type_name(value: Any) -> str:
    """The type of a value in words: "a list", "an object"."""
    names = {
        str: "text",
        bool: "true/false",
        int: "a number",
        float: "a number",
        list: "a list",
        dict: "an object",
        type(None): "nothing",
    }
    return names.get(type(value), f"a {type(value).__name__}")
