"""JSON objects in a model's text: the one that was asked for, or whatever stands among fences, thoughts and chatter."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

MOST_STARTS = 50
"""A text with more opening braces than this is no reply, and reading each costs time."""
THOUGHTS = re.compile(r"\A.*</think>", re.DOTALL)
FENCE = re.compile(r"```\w*")
UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True)
class Found:
    """An object, and the text that follows it."""

    value: Mapping[str, Any]
    after: str


def obedient(text: str, schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """The object that `text` is, if it is one and obeys `schema` in every point; else None."""
    try:
        found = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or set(found) != set(schema["properties"]):
        return None
    return found if all(_allowed(found[name], rule) for name, rule in schema["properties"].items()) else None


def _allowed(value: Any, rule: Mapping[str, Any]) -> bool:
    if "enum" in rule:
        return value in rule["enum"]
    if value is None:
        return "null" in rule["type"]
    return isinstance(value, str) and len(value) <= rule["maxLength"]


def objects(text: str) -> list[Found]:
    """The objects in `text`, one after the other; raw control characters inside strings are taken as they are."""
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=_once)
    found: list[Found] = []
    start = text.find("{")
    for _ in range(MOST_STARTS):
        if start < 0:
            break
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            found.append(Found(value, text[end:]))
        start = text.find("{", end)
    return found


def _once(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys stand once: of two different labels under one key, neither can be believed."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found and found[key] != value:
            raise ValueError(f"'{key}' stands twice")
        found[key] = value
    return found


def spoken(text: str) -> str:
    """The text without what was thought before it."""
    return THOUGHTS.sub("", text).strip()


def unfenced(text: str) -> str:
    """The text without the fences of a code block."""
    return FENCE.sub("", text).strip()


def words_of(value: Any, longest: int) -> str | None:
    """A text that can be stored and shown: no control characters, no halves of characters, not endless; None where empty."""
    if not isinstance(value, str):
        return None
    return UNPRINTABLE.sub(" ", value).strip()[:longest] or None
