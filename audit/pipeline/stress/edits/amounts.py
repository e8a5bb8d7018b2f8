"""Rules that change an amount or its unit: a plausible value that the document does not contain."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from audit.pipeline.stress.edits.replacements import AMOUNT, UNIT, Replacement, replacement
from audit.text.quantity import Quantity, find_quantities, number_value
from audit.text.tokens import plain_text
from audit.text.units import COUNT, DURATION, FRACTIONS, INTERVAL, NUMBER, ONES, SHARE, TEMPERATURE, TENS, YEAR

NUMBER_TEXT = re.compile(NUMBER)
TRAILING_BOUND = re.compile(r"(?:\+|,?\s(?:or|and)\s[a-z]+)$", re.I)
# Statistics and parts of names: changing them falsifies nothing that a reader would ask about
STATISTICS = re.compile(
    r"(?:\bp\s?(?:-?values?)?\s?(?:[<>=≤≥]|of|was|were)|\b(?:n|r|t|f|z|hr|or|rr|ci|sd|se|sem|df|iqr|beta|kappa|chi|score|ratio|index|"
    r"auc|odds|coefficient|alpha)\b\s?(?:\(?\w*\)?)\s?[=:,(<>]?|[±χ=²])\s?(?:of\s|was\s)?$",
    re.I,
)
PART_OF_NUMBER = re.compile(r"\s\w+\sout\sof\b|[\s-]?(?:hundred|thousand|million|billion)", re.I)
# If nobody lives past the age of 3, nobody lives past 6 either, so the edited statement would be true
NOT_PAST = re.compile(
    r"(?:\bnot\b|n['’]t\b|never\b)[^.;]{0,45}\b(?:past|beyond|after)\s(?:the\s|they(?:['’]re| are)\s)?(?:age\s(?:of\s)?)?$", re.I
)
CONFIDENCE = re.compile(r"\s?-?(?:%|percent)?\s?-?(?:ci\b|confidence|credib|limits of)", re.I)
DECIMAL = re.compile(r"\d\.\d")
NAME_BEFORE = re.compile(r"(?:[A-Z][\w-]{0,60}|\d)\s$")
SENTENCE_START = re.compile(r"(?:^|[.!?:;]\s+|\n[^\S\n]*|[•-]\s)[A-Z][\w-]*\s$")
AGE = re.compile(r"\b(?:ages?|aged|older|younger|birthday|old)\b|\byears? of age\b", re.I)
UNIT_SWAPS = {
    "second": "minute", "minute": "hour", "hour": "day", "day": "week", "week": "month", "month": "week", "mg": "mcg",
    "milligram": "microgram", "pound": "ounce", "year": "month",
}  # fmt: skip
UNIT_WORD = re.compile(rf"(?<=[\s\d-])({'|'.join(UNIT_SWAPS)})(s?)\b", re.I)
# Three times as many years would be longer than a life
MAX_YEARS = 30
# With a larger number, another unit would be absurd: 90 weeks
MAX_FOR_UNIT = 31
NOUNS = {DURATION: "length of time", SHARE: "percentage", TEMPERATURE: "temperature", COUNT: "number", INTERVAL: "frequency"}


@dataclass(frozen=True)
class AmountSpan:
    """A quantity without the words for a bound, at characters `start` to `end` of the document."""

    quantity: Quantity
    start: int
    end: int
    text: str


def amount_replacements(text: str, start: int, end: int) -> Iterator[Replacement]:
    """The amounts of a statement (characters `start` to `end` of the document) that can be changed, with another value or unit.

    An amount that the document gives twice is not changed, because the document would contradict itself.
    """
    quantities = find_quantities(text)
    for quantity in quantities:
        if not start <= quantity.start or quantity.end > end or _is_repeated(quantity, quantities):
            continue
        span = _core(text, quantity)
        if span is None or not _is_an_amount(text, span):
            continue
        noun = "age" if _is_age(text, span) else NOUNS.get(quantity.dimension.split("/")[0], "amount")
        if (changed := _changed_value(text, span)) and changed != span.text:
            yield replacement(AMOUNT, text, span.start, span.end, changed, noun)
        if (changed := _changed_unit(text, span)) and changed != span.text:
            yield replacement(UNIT, text, span.start, span.end, changed, noun)


def _is_repeated(quantity: Quantity, others: tuple[Quantity, ...]) -> bool:
    same = [other for other in others if other.comparable(quantity) and other.low == quantity.low and other.high == quantity.high]
    # Two spellings of one value, such as 38 °C (100.4 °F), also count as given twice
    return len(same) > 1 or any(other is not quantity and quantity.agrees(other) for other in others)


def _core(text: str, quantity: Quantity) -> AmountSpan | None:
    """The quantity from its first number on, without "or older" after it."""
    number = NUMBER_TEXT.search(plain_text(text), quantity.start, quantity.end)
    if number is None or quantity.vague or quantity.dimension == INTERVAL:
        return None
    end = quantity.end
    if trailing := TRAILING_BOUND.search(text[number.start() : end]):
        end = number.start() + trailing.start()
    return AmountSpan(quantity, number.start(), end, text[number.start() : end]) if end > number.start() else None


def _is_an_amount(text: str, span: AmountSpan) -> bool:
    """Whether the span is an amount that a reader could ask about, not a statistic, name, code or part of a reference."""
    if NOT_PAST.search(text[max(0, span.start - 80) : span.start]):
        return False
    before, after = text[max(0, span.start - 30) : span.start], text[span.end : span.end + 24]
    if (
        STATISTICS.search(before)
        or CONFIDENCE.match(after)
        or re.match(r"\s?[±/:=]|\s?\(\d", after)
        or before.endswith(("[", "·", "."))
    ):
        return False
    if span.quantity.dimension != COUNT:
        return True
    # "All 4 limbs" cannot become 12, nor "7 cases out of 8" become 21
    if re.search(r"\ball\s(?:the\s|of the\s)?$", before, re.I) or PART_OF_NUMBER.match(after):
        return False
    # A bare number needs a noun after it and no name before it ("Vitamin B 12", "Gleason 7")
    is_name = NAME_BEFORE.search(before) is not None and SENTENCE_START.search(before) is None
    return bool(span.quantity.noun) and not is_name and not DECIMAL.search(span.text) and "/" not in span.text


# -- another value -----------------------------------------------------------------------------------------------------


def _changed_value(text: str, span: AmountSpan) -> str | None:
    """The span with another value of the same form; None where no sensible one exists."""
    change = _change_of(text, span)
    changed, plain = span.text, plain_text(span.text)
    if change is None or (span.quantity.dimension == SHARE and span.quantity.system == "odds"):
        return None
    numbers = list(NUMBER_TEXT.finditer(plain))[: 2 if span.quantity.low != span.quantity.high else 1]
    for number in reversed(numbers):
        value = number_value(number.group())
        new = _in_form(change(value), span.text[number.start() : number.end()])
        # One becomes many, so the unit would need its plural
        if new is None or value < 2 or number_value(new.lower()) < 2:
            return None
        changed = changed[: number.start()] + new + changed[number.end() :]
    return changed


def _change_of(text: str, span: AmountSpan) -> Callable[[float], float] | None:
    quantity = span.quantity
    if quantity.dimension == SHARE:
        return _other_percentage
    if quantity.dimension == TEMPERATURE:
        return _other_temperature
    if quantity.dimension.startswith(f"{DURATION}/"):
        return lambda value: value // 2 if value >= 4 else 0
    if _is_age(text, span):
        largest = quantity.high / YEAR
        return lambda value: _other_age(value, largest)
    if quantity.dimension in ("pressure", "time of day"):
        return None
    if quantity.dimension == DURATION and quantity.high > MAX_YEARS * YEAR:
        return lambda value: value / 2
    # A range keeps its order, even where a limit lies between its ends
    return _other_value if quantity.low == quantity.high else lambda value: value * 3


def _is_age(text: str, span: AmountSpan) -> bool:
    is_years = span.quantity.dimension == DURATION and span.quantity.system == "calendar"
    return is_years and AGE.search(text[max(0, span.start - 45) : span.end + 14]) is not None


def _other_value(value: float) -> float:
    """Three times a small value, twice a larger one."""
    return value * (3 if value <= 20 else 2)


def _other_percentage(value: float) -> float:
    """Three times a share of up to 30 %, else half: both stay from 0 to 100."""
    return value * 3 if value <= 30 else value / 2


def _other_temperature(value: float) -> float:
    """Two degrees Celsius, or three Fahrenheit, so a body temperature stays one."""
    if value <= 45:
        return value + 2 if value <= 39 else value - 2
    return value + 3 if value <= 101.5 else value - 3


def _other_age(value: float, largest: float) -> float:
    """An age in the same stage of life: children stay children, and no age exceeds 95."""
    if largest < 15:
        return value + 3
    return value + 15 if largest <= 60 else max(value - 20, 2)


def _in_form(value: float, spelling: str) -> str | None:
    """A value in the format of another: in words, with separators, with as many decimals; None if that is impossible."""
    if spelling[:1].isalpha():
        words = _in_words(round(value))
        return words and (words.capitalize() if spelling[0].isupper() else words)
    if not re.fullmatch(r"(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?", spelling) or any(sign in spelling for sign in FRACTIONS):
        return None
    decimals = len(spelling.partition(".")[2])
    rounded = round(value, decimals) if decimals else round(value)
    return f"{rounded:,.{decimals}f}" if "," in spelling or (rounded >= 10_000) else f"{rounded:.{decimals}f}"


def _in_words(value: int) -> str | None:
    by_value = {number: word for word, number in (ONES | TENS).items()}
    if value in by_value:
        return by_value[value]
    tens, ones = value // 10 * 10, value % 10
    return f"{by_value[tens]}-{by_value[ones]}" if 20 < value < 100 else None


# -- another unit ------------------------------------------------------------------------------------------------------


def _changed_unit(text: str, span: AmountSpan) -> str | None:
    """The span in another unit: "3 months" becomes "3 weeks"; None where the result would be absurd."""
    unit = UNIT_WORD.search(span.text)
    if unit is None or span.quantity.dimension not in (DURATION, "mass") or _is_age(text, span):
        return None
    numbers = [number_value(number.group()) for number in NUMBER_TEXT.finditer(plain_text(span.text[: unit.start()]))]
    if len(numbers) > 2 or (span.quantity.dimension == DURATION and max(numbers, default=0) > MAX_FOR_UNIT):
        return None
    if len(UNIT_WORD.findall(span.text)) > 1:
        return None
    return span.text[: unit.start()] + UNIT_SWAPS[unit[1].lower()] + unit[2] + span.text[unit.end() :]
