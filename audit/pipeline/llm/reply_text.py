"""JSON objects in a model's text: the one that was asked for, or any among code fences, thinking and chatter."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from json_repair import repair_json

from audit.pipeline.llm.calls import ANSWERED, CUT
from audit.release.journal_files import Reply

EMPTY, THINKING = "empty", "thinking only"
# A text with more opening braces than this is not a reply, and trying each of them takes time.
MAX_BRACES = 50
# Greedy, up to the last end tag. Chat templates often open the block themselves, so its start tag may be missing.
THINKING_BLOCK = re.compile(r"\A.*</think>", re.DOTALL)
FENCE = re.compile(r"```\w*")
# What only separates values in JSON; a sign and a decimal point are part of a number. An escaped line break is white space.
PUNCTUATION = re.compile(r"\\[bfnrt]|[\s{}\[\]:,\"'\\]")
SWALLOWED = re.compile(r"""[{}]|["']\s*:|["']\s*,\s*["']""")
UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True)
class JsonMatch:
    """A JSON object in a text, and the text after it."""

    value: Mapping[str, Any]
    after: str


def unreadable_reason(reply: Reply) -> str | None:
    """Why a reply has no text to read: refused, failed, cut, empty, or thinking only; None if it has one."""
    if reply.outcome not in (ANSWERED, CUT):
        return reply.outcome
    text = reply.text or ""
    thought = bool(reply.usage.get("reasoning_tokens") or reply.error) or "<think>" in text  # the client notes thinking there
    # A block that was opened and never closed has no answer behind it.
    if not without_thinking(text) or ("<think>" in text and "</think>" not in text):
        return THINKING if thought else CUT if reply.outcome == CUT else EMPTY
    return None


def whole_object(text: str) -> dict[str, Any] | None:
    """The JSON object that `text` consists of, with one value for each key; None if it is anything else."""
    try:
        value = json.loads(text, object_pairs_hook=_unambiguous)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def json_objects(text: str) -> list[JsonMatch]:
    """The JSON objects in `text`, in order; raw control characters inside strings are accepted.

    xgrammar lets such characters through in strings with a maximum length: 9 of 60 replies of a real server had one.
    """
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=_unambiguous)
    matches: list[JsonMatch] = []
    start = text.find("{")
    for _ in range(MAX_BRACES):
        if start < 0:
            break
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            # Not an object: the next brace may begin one.
            end = start + 1
        else:
            matches.append(JsonMatch(value, text[end:]))
        start = text.find("{", end)
    return matches


def repaired_object(text: str) -> dict[str, Any] | None:
    """The object that a text without one was meant to be, if only its punctuation is broken; None otherwise.

    A repair reads much into a text: of `"full" or "none"` it keeps the first, of a key with two values the last, and what was
    cut off it completes. So it counts only where the text begins and ends as an object, every letter and digit stays, and no
    text swallowed what follows it.
    """
    bare = without_fences(text)
    if not (bare.startswith("{") and bare.endswith("}")) or bare.count("{") > MAX_BRACES:
        return None
    try:
        value = repair_json(bare, return_objects=True, skip_json_loads=True, strict=True)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or _content(json.dumps(value, ensure_ascii=False)) != _content(bare):
        return None
    return None if any(SWALLOWED.search(one) for one in _texts(value)) else value


def _content(text: str) -> str:
    return PUNCTUATION.sub("", text)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(part)


def _unambiguous(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """The object, unless one key has two values: of two labels under one key, neither can be believed."""
    value: dict[str, Any] = {}
    for key, item in pairs:
        if key in value and value[key] != item:
            raise ValueError(f"'{key}' has two values")
        value[key] = item
    return value


def without_thinking(text: str) -> str:
    """The text without the thinking block before it."""
    return THINKING_BLOCK.sub("", text).strip()


def without_fences(text: str) -> str:
    """The text without the fences of a code block."""
    return FENCE.sub("", text).strip()


def clean_text(value: Any, max_length: int) -> str | None:
    """A text that can be stored and shown, without control characters and half characters; None if nothing remains."""
    if not isinstance(value, str):
        return None
    return UNPRINTABLE.sub(" ", value).strip()[:max_length] or None
