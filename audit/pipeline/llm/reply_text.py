"""JSON objects in a model's text: the one that was asked for, or any among code fences, thinking and chatter."""

from __future__ import annotations

import json
import re
import string
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from json_repair import repair_json

from audit.pipeline.llm.calls import ANSWERED, CUT
from audit.pipeline.llm.foreign_text import LINE_MARK
from audit.release.journal_files import Reply
from audit.text.quotes import find_quote
from audit.vocabulary import plain

T = TypeVar("T")
EMPTY, THINKING = "empty", "thinking only"
ECHO, LOOP = "an echo of the instructions", "one phrase over and over"
# Fewer words may be the instructions' by chance: a topic, a label
MIN_ECHO_WORDS = 5
# The end of a text, which is what a loop leaves of it, and how often a phrase must fill it
LOOP_LETTERS, MIN_LOOP_LETTERS, MIN_ROUNDS = 240, 60, 3
# A text with more opening braces than this is not a reply, and trying each of them takes time.
MAX_BRACES = 50
# Greedy, up to the last end tag. Chat templates often open the block themselves, so its start tag may be missing.
THINKING_BLOCK = re.compile(r"\A.*</think>", re.DOTALL)
FENCE = re.compile(r"```\w*")
# What only separates values in JSON; a sign and a decimal point are part of a number. An escaped line break is white space.
PUNCTUATION = re.compile(r"\\[bfnrt]|[\s{}\[\]:,\"'\\]")
SWALLOWED = re.compile(r"""[{}]|["']\s*:|["']\s*,\s*["']""")
QUOTED = r'"(?:[^"\\]|\\.)*"'
COMMENT = re.compile(rf"{QUOTED}|(?P<comment>//[^\n]*|/\*.*?\*/|(?<![^\s,])#[^\n]*)", re.DOTALL)
TRAILING_COMMA = re.compile(rf"{QUOTED}|(?P<comma>,)(?=\s*[}}\]])", re.DOTALL)
TAG = re.compile(r"<[/|]?\w+\|?>")
CLOSING = frozenset(string.whitespace + "]}),;.*_-\"'")
EMPHASIS = re.compile(r"[*`]")
# What a statement may be wrapped in, layer by layer; no layer has its own marks inside.
PAIRS = [r"\(([^()]*)\)", r"\[([^\[\]]*)\]", r"\{([^{}]*)\}", '"([^"]*)"', "'([^']*)'", "“([^”]*)”", "‘([^’]*)’", "_([^_]*)_"]
ELEMENTS = [
    r"\$([^$]*)\$",
    r"\\(?:boxed|text)\{([^{}]*)\}",
    r"\\(?:boxed)\{(\\text\{[^{}]*\})\}",
    "<(?:answer|b|strong)>([^<]*)</\\w+>",
]
WRAPPED = re.compile("|".join(PAIRS + ELEMENTS))
BOX = re.compile(r"\\(?:boxed|text)\{")
LINE_MARKS = re.compile(r"^(?:[#>•-]+\s+)+")
SENTENCE_END = (".", "!")
REASON_NAMES = ("reasoning", "reason", "reasons", "explanation", "rationale", "justification")
"""What the reasons may call themselves that a text gives after what it states."""
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


def no_own_words(text: str, instructions: str) -> str | None:
    """Why a text of a reply says nothing of its own: words of the instructions, or one phrase over and over; None if it does."""
    if len(text.split()) >= MIN_ECHO_WORDS and find_quote(text, instructions):
        return ECHO
    return LOOP if _period(text[-LOOP_LETTERS:]) * MIN_ROUNDS <= len(text[-LOOP_LETTERS:]) >= MIN_LOOP_LETTERS else None


def _period(text: str) -> int:
    """After how many letters a text repeats itself all along: its length where it does not."""
    borders = [0] * len(text)  # the longest beginning that is also an end, of each beginning (Knuth, Morris, Pratt 1977)
    for place in range(1, len(text)):
        length = borders[place - 1]
        while length and text[place] != text[length]:
            length = borders[length - 1]
        borders[place] = length + (text[place] == text[length])
    return len(text) - borders[-1] if text else 0


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


def relaxed_json(text: str) -> tuple[str, str]:
    """(`text` from its first brace without comments and trailing commas, the comments): nothing else is touched."""
    comments: list[str] = []

    def without_comment(match: re.Match[str]) -> str:
        comments.append(match["comment"] or "")
        return " " if match["comment"] else match[0]

    bare = COMMENT.sub(without_comment, text[max(text.find("{"), 0) :])
    return TRAILING_COMMA.sub(lambda match: "" if match["comma"] else match[0], bare), " ".join(filter(None, comments))


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
    return None if any(SWALLOWED.search(one) for one in texts_of(value)) else value


def _content(text: str) -> str:
    return PUNCTUATION.sub("", text)


def texts_of(value: Any) -> Iterator[str]:
    """All texts in a value of JSON, however deep."""
    if isinstance(value, str):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts_of(part)


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


def says_more(text: str) -> bool:
    """Whether what follows an object is more than the marks and tags with which texts end."""
    return bool(set(TAG.sub("", without_fences(text))) - CLOSING)


def opens_object(text: str) -> bool:
    """Whether a text has a brace that may begin an object, and not only a box of LaTeX."""
    return "{" in BOX.sub("", text)


def unwrapped(text: str) -> str:
    """A statement without emphasis, quotation marks, brackets and the like around it; a question or a deletion stays one."""
    bare = LINE_MARKS.sub("", EMPHASIS.sub("", text).strip())
    while match := WRAPPED.fullmatch(bare):
        bare = next(inner for inner in match.groups() if inner is not None).strip()
    return bare


def without_full_stop(text: str) -> str:
    """A text without the full stop or exclamation mark at its end."""
    return text.removesuffix(".").removesuffix("!").strip()


def stated_term(text: str, names: Iterable[str], details: Iterable[str], terms: Mapping[str, T]) -> T | None:
    """The one term that a text without an object states; None wherever that is not beyond doubt.

    names    what a statement may call itself before a colon or `=`: "label", "final answer"
    details  names of lines that may follow it, beside REASON_NAMES, whose lines may go on to the end
    terms    plain spelling -> term; a term that two spellings have is stated by either

    Prose may deny, weigh, suppose or take back a term in words of any kind. So the text is the term, or one line states it
    and has nothing else, after whole sentences and before nothing but details, and no other part of the text has a term.
    """
    lines = [unwrapped(line) for line in without_fences(text).splitlines()]
    lines = [line for line in lines if line]
    if len(lines) == 1 and (word := without_full_stop(lines[0])).isalpha() and plain(word) in terms:
        return terms[plain(word)]
    stated = [(place, value) for place, line in enumerate(lines) if (value := _value_of(line, names)) is not None]
    if len(stated) != 1:
        return None
    ((place, value),) = stated
    before, after = lines[:place], lines[place + 1 :]
    if before and not before[-1].endswith(SENTENCE_END):
        return None
    own = _without_reasons(after)
    if any(_value_of(line, details) is None for line in own) or any(words_of(line) & terms.keys() for line in before + after):
        return None
    return terms.get(plain(value)) if value.replace(" ", "").isalpha() else None


def _without_reasons(lines: list[str]) -> list[str]:
    """The lines before the one that begins the reasons."""
    return lines[: next((n for n, line in enumerate(lines) if _value_of(line, REASON_NAMES) is not None), len(lines))]


def stated_line(text: str, names: Iterable[str], *, closes: bool = False) -> str | None:
    """The value of the one line `name: value` with one of these names; None where no line has one, or lines have several.

    closes  nothing but reasons may follow it: other words may take it back
    """
    lines = [line for line in map(unwrapped, without_fences(text).splitlines()) if line]
    stated = [(place, value) for place, line in enumerate(lines) if (value := _value_of(line, names)) is not None]
    if len({value for _, value in stated}) != 1 or (closes and _without_reasons(lines[stated[-1][0] + 1 :])):
        return None
    return stated[0][1]


def _value_of(line: str, names: Iterable[str]) -> str | None:
    """What a line `name: value` or `name = value` states; None if it is another line."""
    name, separator, value = re.sub("[:=]", "\0", line, count=1).partition("\0")
    known = {plain(one) for one in names}
    return without_full_stop(unwrapped(value)) if separator and plain(unwrapped(name)) in known else None


def visible(text: str) -> str:
    """A word without characters that have no width, which some tokenizers leave in it."""
    return "".join(character for character in text if unicodedata.category(character) != "Cf")


def words_of(text: str) -> set[str]:
    """The words of a text in their plain spelling."""
    return {plain(word) for word in re.findall(r"[^\W\d_]+", text)}


def clean_text(value: Any, max_length: int) -> str | None:
    """A text that can be stored and shown, without control characters, half characters and our marks; None if nothing remains."""
    if not isinstance(value, str):
        return None
    return UNPRINTABLE.sub(" ", value).replace(LINE_MARK, "").strip()[:max_length] or None
