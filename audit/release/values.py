"""One value of a record: taken as the type that the format wants, or refused with a sentence."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from audit.vocabulary import EMPTY_WORDS, nearest, plain

TRUE, FALSE = frozenset({"true", "yes", "1", "t", "y"}), frozenset({"false", "no", "0", "f", "n"})
LARGEST = 2**31 - 1
"""What a column of whole numbers of the store can hold."""
LARGEST_FRACTION = 3.4e38
"""What its columns of other numbers can."""
HALF = re.compile(r"(\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\[^u])|\\u[dD][89a-fA-F]..")
"""In JSON: whole characters outside the first plane and other escapes (kept), or half of such a character."""


class Reject(Exception):  # noqa: N818 - it is a verdict on a record, caught where it falls
    """Why a record is quarantined: a code for machines, a sentence for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


Repairs = list[str]


def whole_characters(text: str) -> tuple[str, int]:
    """JSON text in which the halves of characters that were cut in two are U+FFFD, and how many there were.

    A generator that is cut off inside an emoji leaves one, and no file in UTF-8 can hold it.
    """
    if "\\ud" not in text and "\\uD" not in text:
        return text, 0
    halves = sum(found[1] is None for found in HALF.finditer(text))
    return (HALF.sub(lambda found: found[1] or r"\ufffd", text), halves) if halves else (text, 0)


def missing(value: Any) -> bool:
    """None, and the NaN that table tools write for it."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def text(value: Any, name: str) -> str | None:
    """A text; a number or a truth value is taken as its text, a list or an object is not."""
    if isinstance(value, str):
        return value
    if missing(value):
        return None
    if isinstance(value, (int, float)):
        return str(value)
    raise Reject("wrong_type", f"field '{name}' is {type_words(value)}, but must be text.")


def needed(raw: Mapping[str, Any], name: str) -> str:
    """A text that must be there and not be empty."""
    value = (text(raw[name], name) or "").strip()
    if not value:
        raise Reject("missing_field", f"field '{name}' is empty.")
    return value


def word(value: Any, spellings: Mapping[str, Any], name: str, allowed: tuple[str, ...]) -> Any:
    """The term of a vocabulary that `value` spells, or None where there is no value."""
    if isinstance(value, bool):
        raise Reject("wrong_type", f"field '{name}' is {type_words(value)}, but must be one of: {', '.join(allowed)}.")
    found = (text(value, name) or "").strip()
    if plain(found) in EMPTY_WORDS:
        return None
    term = spellings.get(plain(found.removesuffix(".0")))
    if term is None:
        raise Reject(
            f"unknown_{name}",
            f"{name} {found!r} is not in the vocabulary.{nearest(found.upper(), allowed)} Allowed: {', '.join(allowed)}.",
        )
    return term


def flag(value: Any, name: str) -> bool | None:
    """A truth value; yes/no, true/false and 1/0 are taken."""
    if missing(value) or isinstance(value, bool):
        return None if missing(value) else bool(value)
    said = str(value).strip().lower()
    if said in TRUE or said in FALSE:
        return said in TRUE
    raise Reject("wrong_type", f"field '{name}' is {value!r}, but must be true or false.")


def whole(value: Any, name: str) -> int | None:
    """A whole number, also as text or as a float without a fraction."""
    found = number(value, name)
    if found is not None and found != int(found):
        raise Reject("wrong_type", f"field '{name}' is {value!r}, but must be a whole number.")
    if found is not None and abs(found) > LARGEST:
        raise Reject("wrong_type", f"field '{name}' is {_shown(value)}, but must be at most {LARGEST:,}.")
    return None if found is None else int(found)


def number(value: Any, name: str) -> float | None:
    """A finite number of at most LARGEST_FRACTION, also as text."""
    if missing(value) or value == "":
        return None
    try:
        found = float("nan") if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not abs(found) <= LARGEST_FRACTION:  # NaN is not either
        raise Reject("wrong_type", f"field '{name}' is {_shown(value)}, but must be a number.")
    return found


def texts(value: Any, name: str) -> list[str]:
    """A list of texts; one text is a list of one, and `;` or `|` or a JSON list separates several in a table's cell."""
    if missing(value):
        return []
    if isinstance(value, str):
        value = _cell(value) if value.startswith("[") and value.endswith("]") else value.replace("|", ";").split(";")
    if not isinstance(value, (list, tuple)):
        raise Reject("wrong_type", f"field '{name}' is {type_words(value)}, but must be a list of texts.")
    return [found for item in value if (found := (text(item, name) or "").strip())]


def mapping(value: Any, name: str) -> dict[str, Any] | None:
    """An object, also as JSON in a table's cell."""
    if missing(value) or value == "":
        return None
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = _cell(value)
    if not isinstance(value, dict):
        raise Reject("wrong_type", f"field '{name}' is {type_words(value)}, but must be an object.")
    return value


def listing(value: Any, name: str) -> list[Any]:
    """A list, also as JSON in a table's cell."""
    if missing(value) or value == "":
        return []
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = _cell(value)
    if not isinstance(value, list):
        raise Reject("wrong_type", f"field '{name}' is {type_words(value)}, but must be a list.")
    return value


def _cell(text: str) -> Any:
    """The JSON in a table's cell; what its reader raises is for `optional`."""
    return json.loads(whole_characters(text)[0])


def optional(read: Any, raw: Mapping[str, Any], name: str, repairs: Repairs) -> Any:
    """`read` the field, or drop it and say so: a record is not lost for a field it can do without."""
    try:
        return read(raw.get(name), name)
    except (Reject, ValueError, RecursionError) as error:
        repairs.append(f"{str(error).rstrip('.')}. It was loaded without that field.")
        return None


def _shown(value: Any) -> str:
    return repr(value)[:80]


def type_words(value: Any) -> str:
    """What a value is, in words."""
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
