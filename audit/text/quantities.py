"""The amounts a text states: durations, intervals, shares, temperatures, weights, counts and the like."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from itertools import takewhile

from audit.text.grammar import PATTERNS, matches, plain_text
from audit.text.quantity import Quantity
from audit.text.units import (
    ADVERBS,
    CLOCK,
    COUNT,
    DAY,
    DECADES,
    DURATION,
    FRACTIONS,
    INTERVAL,
    ONES,
    POWERS,
    PRESSURE,
    SHARE,
    TENS,
    UNITS,
    YEAR,
    Unit,
)  # fmt: skip
from audit.text.words import STOP_WORDS

Parts = dict[str, str]
PIECES = {"half": 1 / 2, "third": 1 / 3, "quarter": 1 / 4, "fourth": 1 / 4, "fifth": 1 / 5, "tenth": 1 / 10}
NEGATED = re.compile(r"(?:\b(?:not|never|no|nothing|cannot|avoid\w*|without|nor)|n't)\b[^.;:!?\n]{0,40}$")
FOLLOWING = re.compile(r"(?:[\s-]([^\W\d_]+)){1,3}")
YEARS = UNITS["years"]


@lru_cache(maxsize=4096)
def quantities(text: str) -> tuple[Quantity, ...]:
    """Every amount that `text` states, in the order of the text, none overlapping another.

    "three months", "3-month" and "90 days" agree with each other (`Quantity.agrees`); so do "twice a day" and "every
    12 hours", "1 in 4" and "25 %", "38 °C" and "100.4 °F". Dates, telephone numbers, list and footnote markers, "type 2"
    and the pronoun "one" are no amounts. A bare year such as 1997 is a date, so "2000 people" is not seen.
    """
    plain = plain_text(text)
    return tuple(found for match in matches(plain) if (found := _read(text, plain, match)) is not None)


def _read(text: str, plain: str, match: re.Match[str]) -> Quantity | None:
    rule = match.lastgroup or "skip"
    parsed = PATTERNS[rule].match(plain, match.start())
    if rule == "skip" or parsed is None:
        return None
    parts = {name: value for name, value in parsed.groupdict().items() if value}
    found = READERS[rule](parts)
    if found is None:
        return None
    start, end = match.span()
    bound = _bound(parts, plain[max(0, start - 60) : start])
    return replace(
        found,
        start=start,
        end=end,
        text=" ".join(text[start:end].split()),
        bound=bound,
        noun=_noun(plain, end) if found.dimension == COUNT else "",
    )


def _noun(plain: str, end: int) -> str:
    """The words right after a count, up to the first that carries no meaning of its own: "main types" of "... of disease"."""
    following = FOLLOWING.match(plain, end)
    named = re.split(r"[\s-]+", following.group().strip(" -\n")) if following else []
    return " ".join(takewhile(lambda word: word not in STOP_WORDS, named))


def _bound(parts: Parts, before: str) -> str:
    # "Do not lift more than 10 pounds" sets a limit from above in words that elsewhere set one from below.
    if ("least" in parts or "most" in parts) and NEGATED.search(before):
        return ""
    if {"least", "or_more", "plus"} & parts.keys():
        return "at least"
    return "at most" if {"most", "or_less", "minus"} & parts.keys() else ""


def value_of(number: str) -> float:
    """The value of a number in digits or words: "2,000", "1 1/2", "twenty-four", "half a", "2.5 million"."""
    half = number.endswith(" and a half")
    words = number.removesuffix(" and a half").replace(",", "").replace("-", " ").split()
    power = POWERS[words.pop()] if words[-1] in POWERS else 1.0
    return (sum(map(_word_value, words)) or 1.0) * power + (0.5 * power if half else 0.0)


def _word_value(word: str) -> float:
    if word in ONES or word in TENS:
        return float(ONES.get(word) or TENS[word])
    if word == "half":
        return 0.5
    if word[-1] in FRACTIONS:
        return FRACTIONS[word[-1]] + float(word[:-1] or 0)
    if "/" in word:
        above, below = word.split("/")
        return float(above) / (float(below) or 1.0)
    return 0.0 if word in ("a", "an", "of") else float(word)


def unit_of(spelling: str, value: float) -> Unit:
    """The unit that a spelling means; "degrees" alone are Fahrenheit where only that makes a body temperature."""
    word = " ".join(spelling.split()).replace("mm hg", "mmhg").removeprefix("fluid ").removeprefix("fl. ").removeprefix("fl ")
    bare = re.sub(r"^(?:degrees?|[°º])\s?(?=[cf])", "", word)
    unit = UNITS[bare]
    if unit.system != "degrees":
        return unit
    return UNITS["f"] if value >= 60 else UNITS["c"]


def _found(dimension: str, system: str, low: float, high: float, vague: str = "") -> Quantity:
    return Quantity(0, 0, "", dimension, system, min(low, high), max(low, high), vague=vague)


def _range(parts: Parts) -> tuple[float, float]:
    low = value_of(parts["low"])
    return low, value_of(parts["high"]) if "high" in parts else low


def _measured(parts: Parts) -> Quantity | None:
    low, high = _range(parts)
    unit = unit_of(parts["unit"], high)
    low_unit = unit_of(parts["low_unit"], low) if "low_unit" in parts else unit
    if low_unit.dimension != unit.dimension:
        return None
    found = _found(unit.dimension, unit.system, low * low_unit.scale + low_unit.offset, high * unit.scale + unit.offset)
    for word in re.findall(r"[a-zµμ°º]+", re.sub(r"\bof\s[a-z]+|\b(?:per|an?|each|every)\b", " ", parts.get("per", ""))):
        found = _per(found, word)
    return found


def _per(found: Quantity, word: str) -> Quantity:
    unit = Unit(DURATION, "clock", ADVERBS[word]) if word in ADVERBS else UNITS[word]
    dimension, system = f"{found.dimension}/{unit.dimension}", f"{found.system}/{unit.system}"
    return replace(found, dimension=dimension, system=system, low=found.low / unit.scale, high=found.high / unit.scale)


def _every(parts: Parts) -> Quantity:
    unit = UNITS[parts["unit"]]
    low, high = _range(parts) if "low" in parts else (1.0, 1.0)
    step = 2.0 if "other" in parts else 1.0
    return _found(INTERVAL, unit.system, low * step * unit.scale, high * step * unit.scale, _vague(parts))


def _vague(parts: Parts) -> str:
    return "few" if "few" in parts else ""


def _times(parts: Parts) -> tuple[float, float]:
    """How often, at least and at most, in the time that follows."""
    if "low_often" in parts:
        low = 1.0 if parts["low_often"] == "once" else value_of(parts["low_often"])
        return low, 2.0 if "high_twice" in parts else value_of(parts["high_times"])
    count = value_of(parts["times"]) if "times" in parts else {"twice": 2.0}.get(parts.get("once", "once"), 1.0)
    return count, count


def _often(parts: Parts) -> Quantity | None:
    rarely, often = _times(parts)
    unit = UNITS[parts["unit"]]
    every = value_of(parts["every"]) if "every" in parts else 1.0
    longest = value_of(parts["every_high"]) if "every_high" in parts else every
    return _found(INTERVAL, unit.system, every * unit.scale / often, longest * unit.scale / rarely) if rarely else None


def _adverb(parts: Parts) -> Quantity | None:
    rarely, often = _times(parts)
    span = ADVERBS[parts["adverb"]]
    return _found(INTERVAL, "clock" if span < 28 * DAY else "calendar", span / often, span / rarely) if rarely else None


def _odds(parts: Parts) -> Quantity | None:
    (low, high), whole = _range(parts), value_of(parts["whole"])
    return _found(SHARE, "odds", low / whole, high / whole) if high <= whole else None


def _fraction(parts: Parts) -> Quantity:
    share = ONES.get(parts.get("parts", "one"), 1) * PIECES[parts["piece"]]
    return _found(SHARE, "odds", share, share)


def _age(parts: Parts) -> Quantity:
    low, high = _range(parts)
    return _found(DURATION, YEARS.system, low * YEAR, high * YEAR)


def _decade(parts: Parts) -> Quantity:
    first = _decade_start(parts["first"])
    last = _decade_start(parts["last"]) if "last" in parts else first
    return _found(DURATION, YEARS.system, first * YEAR, (last + 9) * YEAR)


def _decade_start(words: str) -> int:
    word = re.split(r"[-\s]", words)[-1]
    return DECADES.get(word) or int(re.sub(r"\D", "", word) or 10)


def _clock(parts: Parts) -> Quantity:
    hour = int(parts["hour"]) % 12 + (12 if parts["half"] == "p" else 0) + int(parts.get("minute", 0)) / 60
    return _found(CLOCK, CLOCK, hour, hour)


def _unit_only(parts: Parts) -> Quantity:
    unit = UNITS[parts["unit"]]
    return _found(unit.dimension, unit.system, unit.scale, unit.scale, _vague(parts))


READERS: dict[str, Callable[[Parts], Quantity | None]] = {
    "often": _often, "adverb": _adverb, "every": _every, "clock": _clock, "odds": _odds, "fraction": _fraction, "age": _age,
    "decade": _decade, "between": _measured, "quantity": _measured, "vague": _unit_only, "single": _unit_only,
    "pressure": lambda parts: _found(PRESSURE, "pair", *_range(parts)),
    "between_count": lambda parts: _found(COUNT, COUNT, *_range(parts)),
    "count": lambda parts: _found(COUNT, COUNT, *_range(parts)),
}  # fmt: skip
