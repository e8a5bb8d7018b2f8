"""No rule over foreign text grows faster than its text: a few kilobytes of capitals must not stop the server.

Every compiled pattern of the product is tried on repeated pieces that are made from the pattern itself: what it may repeat, what
its words are, and what it is anchored by. A pattern that takes four times the text may take four times the time.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

from annotation.studies.masking_preview import preview_masking
from audit.text.blinding import Masker
from audit.text.sentences import sentence_spans

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("audit", "annotation", "pages._blinded")
LEFT_OUT = ("audit.pipeline", "audit.__main__")
SHORT, LONG = 3_000, 12_000
NOISE_S = 0.003
GROWTH = 8.0
"""Linear is 4, quadratic 16."""
CLASSES = {
    codes.CATEGORY_DIGIT: "7", codes.CATEGORY_WORD: "A", codes.CATEGORY_SPACE: " ",
    codes.CATEGORY_NOT_DIGIT: "A", codes.CATEGORY_NOT_WORD: ".", codes.CATEGORY_NOT_SPACE: "A",
}  # fmt: skip
COMMON = ("A", "a", "7", " ", "A ", "a ", "A.", "Aa ", "7 ", "a, ", "(", "-", "\n", ". ")


def patterns(packages: tuple[str, ...] = PACKAGES, left_out: tuple[str, ...] = LEFT_OUT) -> dict[str, re.Pattern[str]]:
    """Every compiled pattern of texts, by module and name."""
    found: dict[str, re.Pattern[str]] = {}
    for package in packages:
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            if not module.name.startswith(left_out):
                _collect(importlib.import_module(module.name), found)
    return {name: found[name] for name in sorted(found)}


def _collect(module: Any, found: dict[str, re.Pattern[str]]) -> None:
    for name, value in vars(module).items():
        if isinstance(value, re.Pattern) and isinstance(value.pattern, str) and value not in found.values():
            found[f"{module.__name__}.{name}"] = value


def pieces(pattern: re.Pattern[str]) -> set[str]:
    """Short texts whose repetition may cost the pattern dearly."""
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    made = {"".join(_example(tree))[:40], *COMMON}
    for part in _repeats(tree):
        made.add(text := "".join(_example(part))[:40])
        made |= {f"{text} ", f"{text}. "}
    return {text for text in made if text}


def _repeats(tree: Any) -> Iterator[Any]:
    for code, value in tree:
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            yield value[2]
        for inner in _inside(code, value):
            yield from _repeats(inner)


def _inside(code: Any, value: Any) -> list[Any]:
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        return [value[2]]
    if code is codes.SUBPATTERN:
        return [value[3]]
    if code is codes.BRANCH:
        return list(value[1])
    if code in (codes.ASSERT, codes.ASSERT_NOT):
        return [value[1]]
    return [value] if code is codes.ATOMIC_GROUP else []


def _example(tree: Any) -> Iterator[str]:
    for code, value in tree:
        if code is codes.LITERAL:
            yield chr(value)
        elif code in (codes.NOT_LITERAL, codes.ANY):
            yield "A"
        elif code is codes.IN:
            yield _one_of(value)
        elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            yield "".join(_example(value[2])) * max(1, value[0])
        elif code is codes.BRANCH:
            yield from _example(value[1][0])
        elif code not in (codes.ASSERT, codes.ASSERT_NOT):
            for inner in _inside(code, value):
                yield from _example(inner)


def _one_of(allowed: Any) -> str:
    kind, value = allowed[0]
    if kind is codes.NEGATE:
        return "A"
    return CLASSES.get(value, "A") if kind is codes.CATEGORY else chr(value[0] if kind is codes.RANGE else value)


def seconds(pattern: re.Pattern[str], text: str, searched: bool) -> float:
    """The time to search a text to its end, or to match it at its beginning."""
    began = time.process_time()
    if searched:
        deque(pattern.finditer(text), 0)
    else:
        pattern.match(text)
        pattern.fullmatch(text)
    return time.process_time() - began


def grows(pattern: re.Pattern[str], searched: bool) -> str:
    """The piece whose repetition costs more than its length; "" where there is none."""
    for piece in sorted(pieces(pattern)):
        short, long = ((piece * size)[:size] + "\x00" for size in (SHORT, LONG))
        taken = seconds(pattern, short, searched)
        if taken > NOISE_S and (more := seconds(pattern, long, searched)) > GROWTH * taken:
            return f"{piece!r}: {taken:.4f} s, {more:.4f} s"
    return ""


def is_searched_for(full_name: str, sources: dict[str, str]) -> bool:
    """Whether a pattern is looked for anywhere in a text, or only at one place of it."""
    module, _, name = full_name.rpartition(".")
    used_in = (text for of, text in sources.items() if of == module or re.search(rf"from {module} import [^)]*?\b{name}\b", text))
    methods = {method for text in used_in for method in re.findall(rf"\b{name}\.(\w+)\(", text)}
    return not methods or not methods <= {"match", "fullmatch"}


@pytest.fixture(scope="module", name="sources")
def all_sources() -> dict[str, str]:
    """The product's source by module."""
    paths = (path for package in ("audit", "annotation", "pages") for path in (ROOT / package).rglob("*.py"))
    return {".".join(path.relative_to(ROOT).with_suffix("").parts): path.read_text(encoding="utf-8") for path in paths}


def slow_patterns(found: dict[str, re.Pattern[str]], sources: dict[str, str]) -> dict[str, str]:
    """Those that take more than their text takes, each with the piece and the times."""
    return {name: cost for name, one in found.items() if (cost := grows(one, is_searched_for(name, sources)))}


def test_no_pattern_takes_more_than_its_text_takes(sources: dict[str, str]) -> None:
    found = patterns()
    assert len(found) > 100
    assert slow_patterns(found, sources) == {}


@pytest.mark.parametrize("slow", [r"(?:[A-Z]\w* )*Trust", r"\s+$", r"(?:\w+\s){0,2}\w+,\d"])
def test_a_slow_pattern_is_found(slow: str) -> None:
    assert grows(re.compile(slow), True)


@pytest.mark.parametrize("piece", ["A", "A ", "Aa ", "7 ", "a.", "Dr. ", "St. ", "\n", "A-", "A'"])
def test_an_answer_of_capitals_is_read_and_masked_at_once(piece: str) -> None:
    text = (piece * 20_000)[:20_000]
    masker = Masker({"alderhospital": 0, "birch": 0})
    began = time.process_time()
    list(sentence_spans(text))
    masker.mask(text)
    preview_masking([], [text], masker)
    assert time.process_time() - began < 3
