"""The quantities that a text states: durations, intervals, shares, temperatures, weights, counts and the like."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import takewhile
from math import isclose, isnan, nan

from audit.text.tokens import STOP_WORDS, plain_text, stems
from audit.text.units import (
    ADVERBS,
    CLOCK,
    COUNT,
    DAY,
    DECADES,
    DIVISOR,
    DURATION,
    FRACTIONS,
    INTERVAL,
    LABELLED,
    ONES,
    POWERS,
    PRESSURE,
    RAISED,
    SHARE,
    TEMPERATURE,
    TEMPERATURE_TOLERANCE_C,
    TENS,
    TIME,
    TOLERANCE,
    UNITS,
    YEAR,
    Unit,
    pattern_matches,
    rule_pattern,
)
from audit.text.words import IS_ALONE, SPACELESS, WORD

Parts = dict[str, str]
"""The named groups of a pattern that matched, without empty ones."""
PIECES = {"half": 1 / 2, "third": 1 / 3, "quarter": 1 / 4, "fourth": 1 / 4, "fifth": 1 / 5, "tenth": 1 / 10}
# A negation in the same clause, at most 40 characters before
NEGATED_BEFORE = re.compile(r"(?:\b(?:not|never|no|nothing|cannot|avoid\w*|without|nor)|n't)\b[^.;:!?\n]{0,40}$")
WORDS_AFTER = re.compile(rf"(?:[\s-]([^\W\d_]+)){{1,3}}|[{SPACELESS}]{{1,3}}")
YEARS = UNITS["years"]
# -- numbers: how the forms of `audit.text.units.DIGITS` are read
RAISED_END = re.compile(rf"(?<=\d)[{RAISED}][{RAISED}°]*$")
GROUPS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+")
ARTICLES = {"a", "an", "of"}
# A space that groups the figures of a number
SPACED = re.compile(r"(?<=\d)[^\S\n](?=\d{3}(?!\d))")
PLAIN_SPACED = re.compile(SPACED.pattern.replace(r"[^\S\n]", " "))
TWO_FORMS = re.compile(r"([^()]+?)[\s-]?\(([^()]+)\)")
DECIMAL_COMMA = re.compile(r"(?<![\d,])(?:\d+,(?:\d{1,2}|\d{4,})(?!\d)|0,\d+)|(?<![\w.])[.·⋅]\d")
# The rules whose numbers have a unit
MEASURED = {"quantity", "between", "every", "often"}
LABEL_BEFORE = re.compile(rf"\b(?:{TIME}|{LABELLED}|dose|cycle)\s$")


@dataclass(frozen=True)
class Quantity:
    """A quantity in a text. `low` and `high` are in the base unit of `dimension` and equal unless the text gives a range.

    start, end   its characters in the text, words for a bound included ("at least 3 months")
    text         those characters with single spaces
    dimension    duration (base unit: hour), interval (hours between two times), share (in [0, 1]), temperature (°C),
                 mass (kg), volume (litre), length (metre), count, ...; a rate joins two with "/" ("volume/duration")
    system       units of one system convert exactly: 48 hours are 2 days; months and days do not
    bound        "at least", "at most", or "" for neither
    vague        "few" if the text gives no figure ("every few months"); low and high then measure one unit
    noun         what a bare count counts: "main types" in "two main types of disease"
    stage        whether a duration is only a stage of a course: "the first 2 weeks of treatment"
    """

    start: int
    end: int
    text: str
    dimension: str
    system: str
    low: float
    high: float
    bound: str = ""
    vague: str = ""
    noun: str = ""
    stage: bool = False

    @property
    def kind(self) -> tuple[str, bool]:
        """Only two quantities of one kind can contradict each other: a stage of a treatment does not contradict all of it."""
        return self.dimension, self.stage

    def comparable(self, other: Quantity) -> bool:
        """Whether both measure the same kind of thing, so their values can agree or differ."""
        if self.dimension != other.dimension:
            return False
        return self.dimension != COUNT or self.noun == other.noun or not set(stems(self.noun)).isdisjoint(stems(other.noun))

    def agrees(self, other: Quantity) -> bool:
        """Whether both state the same quantity: "three months", "3-month" and "90 days" do, "at least 3" and "at most 3" do not.

        A range agrees only with the same range, a vague quantity only with a vague one in the same unit. A quantity without
        a bound agrees with the same quantity with any bound.
        """
        if not self.comparable(other) or self.vague != other.vague:
            return False
        # Only opposite bounds disagree: "3 months" and "at least 3 months" state the same limit
        if self.bound != other.bound and self.bound and other.bound:
            return False
        return self._is_close(self.low, other.low, other.system) and self._is_close(self.high, other.high, other.system)

    def _is_close(self, value: float, other: float, system: str) -> bool:
        if self.system == system:
            return isclose(value, other, rel_tol=1e-6, abs_tol=1e-12)
        if self.dimension == TEMPERATURE:
            return abs(value - other) <= TEMPERATURE_TOLERANCE_C
        return isclose(value, other, rel_tol=TOLERANCE.get(self.dimension.split("/")[0], 1e-6))


@lru_cache(maxsize=4096)
def find_quantities(text: str) -> tuple[Quantity, ...]:
    """Every quantity in `text`, in order, without overlaps.

    "three months", "3-month" and "90 days" agree with each other (`Quantity.agrees`); so do "twice a day" and "every
    12 hours", "1 in 4" and "25 %", "38 °C" and "100.4 °F". Dates, telephone numbers, list and footnote markers, "type 2" and
    the pronoun "one" are not quantities. A bare year such as 1997 is a date, so "2000 people" is missed.

    A number is read in each form that has one meaning ("38,5 °C", "1 500 ml", "two (2) weeks") and not at all where it may have
    two: "1.500 ml", "11/2 tablets", "two (3) weeks". The table is in `audit/pipeline/corpus/README.md`.
    """
    plain = plain_text(text)
    # Where letters have no spaces, a number or unit ends at the next letter, unless that is a numeral too
    apart = plain if plain.isascii() else IS_ALONE.sub(lambda letter: letter[0] if letter[0].isnumeric() else "|", plain)
    parsed = (_parse(text, plain, apart, match) for match in pattern_matches(apart))
    quantities = tuple(quantity for quantity in parsed if quantity is not None)
    spans = [(quantity.start, quantity.end) for quantity in quantities if quantity.dimension == DURATION]
    starts = stages(plain, spans) if spans else set()
    return tuple(replace(one, stage=True) if one.start in starts else one for one in quantities) if starts else quantities


def _parse(text: str, plain: str, apart: str, match: re.Match[str]) -> Quantity | None:
    rule = match.lastgroup or "skip"
    # The pattern that searches for all rules at once has no named parts; that of the rule alone has them
    parsed = rule_pattern(rule).match(apart, match.start())
    if rule == "skip" or parsed is None:
        return None
    parts = {name: value for name, value in parsed.groupdict().items() if value}
    quantity = PARSERS[rule](parts)
    if quantity is None or isnan(quantity.low + quantity.high) or _is_open(rule, apart, match):
        return None
    start, end = match.span()
    return replace(
        quantity,
        start=start,
        end=end,
        text=" ".join(text[start:end].split()),
        bound=_bound(parts, plain[max(0, start - 60) : start]),
        noun=_counted_noun(plain, end) if quantity.dimension == COUNT else "",
    )


def _is_open(rule: str, plain: str, match: re.Match[str]) -> bool:
    """Whether it cannot be known which number is meant.

    A decimal comma or a leading point without a unit may be part of a list or a reference. "1 500 ml" is one number, but not in
    "1 500 ml bottle" or "on day 1 500 ml": there it may be two.
    """
    if rule not in MEASURED and DECIMAL_COMMA.search(match.group()):
        return True
    if not PLAIN_SPACED.search(match.group()):
        return False
    following = WORD.match(plain, match.end() + 1)
    is_counted = following is not None and following.group() not in STOP_WORDS | ADVERBS.keys() | {"twice"}
    return is_counted or rule not in MEASURED or LABEL_BEFORE.search(plain, max(0, match.start() - 20), match.start()) is not None


def _counted_noun(plain: str, end: int) -> str:
    """The words after a count up to the first stop word: "main types" in "two main types of disease"."""
    following = WORDS_AFTER.match(plain, end)
    words = re.split(r"[\s-]+", following.group().strip(" -\n")) if following else []
    return " ".join(takewhile(lambda word: word not in STOP_WORDS, words))


def _bound(parts: Parts, before: str) -> str:
    # "Do not lift more than 10 pounds": the words of a lower bound, negated, set an upper one. It counts as no bound.
    if ("least" in parts or "most" in parts) and NEGATED_BEFORE.search(before):
        return ""
    if {"least", "or_more", "plus"} & parts.keys():
        return "at least"
    return "at most" if {"most", "or_less", "minus"} & parts.keys() else ""


def number_value(number: str) -> float:
    """The value of a number in digits or words: "2,000", "1 1/2", "38,5", "twenty-four", "half a", "2.5 million", "two (2)".

    NaN where it gives two values: "two (3)".
    """
    if again := TWO_FORMS.fullmatch(number):
        value = number_value(again[1])
        return value if value == number_value(again[2]) else nan
    half = number.endswith(" and a half")
    whole, _, rest = RAISED_END.sub("", SPACED.sub("", number.removesuffix(" and a half"))).partition(" and ")
    words = whole.replace("-", " ").split()
    power = POWERS[words.pop()] if words[-1] in POWERS else 1.0
    values = [_word_value(word) for word in words if word not in ARTICLES]
    # "A hundred" has no other number
    value = (sum(values) if values else 1.0) * power + (0.5 * power if half else 0.0)
    return value + (number_value(rest) if rest else 0.0)


def _word_value(word: str) -> float:
    if word in ONES or word in TENS:
        return float(ONES.get(word) or TENS[word])
    if word == "half":
        return 0.5
    if word[-1] in FRACTIONS:
        return FRACTIONS[word[-1]] + (_digits_value(word[:-1]) if word[:-1] else 0.0)
    if "/" in word:
        above, below = word.split("/")
        return float(above) / (float(below) or 1.0)
    return _digits_value(word)


def _digits_value(digits: str) -> float:
    """The value of a number in one of the forms of `audit.text.units.DIGITS`."""
    point, comma = digits.rfind("."), digits.rfind(",")
    if comma > point and not (point < 0 and GROUPS.fullmatch(digits)):  # 38,5 and 1.500,5
        return float(digits.replace(".", "").replace("'", "").replace(",", "."))
    return float(digits.replace(",", "").replace("'", "").replace("·", ".").replace("⋅", "."))


def _unit(spelling: str, value: float) -> Unit:
    """The unit of a spelling; bare "degrees" are Fahrenheit from 60 on."""
    word = " ".join(spelling.split()).replace("mm hg", "mmhg").removeprefix("fluid ").removeprefix("fl. ").removeprefix("fl ")
    # "Degrees C" and "°C" are one unit
    bare = re.sub(r"^(?:degrees?|[°º])\s?(?=[cf])", "", word)
    unit = UNITS[bare]
    if unit.system != "degrees":
        return unit
    # From 60 on, Celsius could not be the temperature of a body.
    return UNITS["f"] if value >= 60 else UNITS["c"]


def _quantity(dimension: str, system: str, low: float, high: float, vague: str = "") -> Quantity:
    return Quantity(0, 0, "", dimension, system, min(low, high), max(low, high), vague=vague)


def _range(parts: Parts) -> tuple[float, float]:
    low = number_value(parts["low"])
    return low, number_value(parts["high"]) if "high" in parts else low


def _measured(parts: Parts) -> Quantity | None:
    low, high = _range(parts)
    if "again_low" in parts and (low, high) != (number_value(parts["again_low"]), number_value(parts["again_high"])):
        return None
    unit = _unit(parts["unit"], high)
    low_unit = _unit(parts["low_unit"], low) if "low_unit" in parts else unit
    if low_unit.dimension != unit.dimension:
        return None
    quantity = _quantity(unit.dimension, unit.system, low * low_unit.scale + low_unit.offset, high * unit.scale + unit.offset)
    for divisor in DIVISOR.finditer(parts.get("per", "")):
        quantity = _divided_by(quantity, divisor)
    return quantity


def _divided_by(quantity: Quantity, divisor: re.Match[str]) -> Quantity:
    adverb = divisor["adverb"]
    unit = Unit(DURATION, "clock", ADVERBS[adverb]) if adverb else _unit(divisor["unit"] or divisor["time"], 0.0)
    dimension, system = f"{quantity.dimension}/{unit.dimension}", f"{quantity.system}/{unit.system}"
    return replace(quantity, dimension=dimension, system=system, low=quantity.low / unit.scale, high=quantity.high / unit.scale)


def _every(parts: Parts) -> Quantity:
    unit = UNITS[parts["unit"]]
    low, high = _range(parts) if "low" in parts else (1.0, 1.0)
    step = 2.0 if "other" in parts else 1.0
    return _quantity(INTERVAL, unit.system, low * step * unit.scale, high * step * unit.scale, _vague(parts))


def _vague(parts: Parts) -> str:
    return "few" if "few" in parts else ""


def _times(parts: Parts) -> tuple[float, float]:
    """The lowest and the highest number of times in the period that follows."""
    if "low_often" in parts:
        low = 1.0 if parts["low_often"] == "once" else number_value(parts["low_often"])
        return low, 2.0 if "high_twice" in parts else number_value(parts["high_times"])
    count = number_value(parts["times"]) if "times" in parts else {"twice": 2.0}.get(parts.get("once", "once"), 1.0)
    return count, count


def _often(parts: Parts) -> Quantity | None:
    rarely, often = _times(parts)
    unit = UNITS[parts["unit"]]
    every = number_value(parts["every"]) if "every" in parts else 1.0
    longest = number_value(parts["every_high"]) if "every_high" in parts else every
    return (
        _quantity(INTERVAL, unit.system, every * unit.scale / often, longest * unit.scale / rarely) if rarely and often else None
    )


def _adverb(parts: Parts) -> Quantity | None:
    rarely, often = _times(parts)
    span = ADVERBS[parts["adverb"]]
    # Weeks convert exactly to days and hours; months and years do not
    return (
        _quantity(INTERVAL, "clock" if span < 28 * DAY else "calendar", span / often, span / rarely) if rarely and often else None
    )


def _odds(parts: Parts) -> Quantity | None:
    (low, high), denominator = _range(parts), number_value(parts["whole"])
    return _quantity(SHARE, "odds", low / denominator, high / denominator) if 0 < denominator >= high else None


def _fraction(parts: Parts) -> Quantity:
    share = ONES.get(parts.get("parts", "one"), 1) * PIECES[parts["piece"]]
    return _quantity(SHARE, "odds", share, share)


def _age(parts: Parts) -> Quantity:
    low, high = _range(parts)
    return _quantity(DURATION, YEARS.system, low * YEAR, high * YEAR)


def _decade(parts: Parts) -> Quantity:
    first = _decade_start(parts["first"])
    last = _decade_start(parts["last"]) if "last" in parts else first
    # A decade ends nine years after it begins: the sixties are 60 to 69
    return _quantity(DURATION, YEARS.system, first * YEAR, (last + 9) * YEAR)


def _decade_start(words: str) -> int:
    word = re.split(r"[-\s]", words)[-1]
    return DECADES.get(word) or int(re.sub(r"\D", "", word) or 10)


def _clock(parts: Parts) -> Quantity:
    # 12 a.m. is midnight, hence the remainder
    hour = int(parts["hour"]) % 12 + (12 if parts["half"] == "p" else 0) + int(parts.get("minute", 0)) / 60
    return _quantity(CLOCK, CLOCK, hour, hour)


def _unit_only(parts: Parts) -> Quantity:
    unit = UNITS[parts["unit"]]
    return _quantity(unit.dimension, unit.system, unit.scale, unit.scale, _vague(parts))


PARSERS: dict[str, Callable[[Parts], Quantity | None]] = {
    "often": _often, "adverb": _adverb, "every": _every, "clock": _clock, "odds": _odds, "fraction": _fraction, "age": _age,
    "decade": _decade, "between": _measured, "quantity": _measured, "vague": _unit_only, "single": _unit_only,
    "pressure": lambda parts: _quantity(PRESSURE, "pair", *_range(parts)),
    "between_count": lambda parts: _quantity(COUNT, COUNT, *_range(parts)),
    "count": lambda parts: _quantity(COUNT, COUNT, *_range(parts)),
}  # fmt: skip


# -- stages of a course --------------------------------------------------------------------------------------
# Durations such as "the first 2 weeks of treatment", or "for 2 weeks, then for a year".

ORDINAL_BEFORE = re.compile(r"\b(?:first|initial|final|last)\s$")
# Only courses that last: "the first 6 weeks of recovery" is how long after an operation, "of life" is an age
COURSE_AFTER = re.compile(
    r"\sof\s(?:[a-z-]+\s){0,3}?(?:treatments?|therapy|\w+therapy|courses?|medications?|medicines?|antibiotics?|drugs?|dialysis)\b"
)
# "Then ask your surgeon" ends no stage: what follows needs a duration of its own
NEXT_STAGE = re.compile(r"\b(?:then|followed\sby|thereafter)\b")
SENTENCE_END = re.compile(r"[.!?](?:\s|$)|\n")


def stages(plain: str, durations: Sequence[tuple[int, int]]) -> set[int]:
    """The starts of those durations of a plain text that are a stage of something longer, of which others may give all.

    durations  start and end of each, in order
    """
    following = [*durations[1:], None]
    return {
        start
        for (start, end), after in zip(durations, following, strict=True)
        if _is_part_of_a_course(plain, start, end) or (after is not None and _is_next_stage(plain[end : after[0]]))
    }


def _is_part_of_a_course(plain: str, start: int, end: int) -> bool:
    return ORDINAL_BEFORE.search(plain, max(0, start - 12), start) is not None and COURSE_AFTER.match(plain, end) is not None


def _is_next_stage(between: str) -> bool:
    return NEXT_STAGE.search(between) is not None and SENTENCE_END.search(between) is None
