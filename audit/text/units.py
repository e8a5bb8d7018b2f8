"""Units, number words and the patterns of quantities, as data."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

DURATION, TEMPERATURE, MASS, VOLUME, LENGTH = "duration", "temperature", "mass", "volume", "length"
INTERVAL, SHARE, COUNT, PRESSURE, CLOCK = "interval", "share", "count", "pressure", "time of day"


@dataclass(frozen=True)
class Unit:
    """`scale` x value + `offset` is the value in the dimension's base unit."""

    dimension: str
    system: str
    scale: float
    offset: float = 0.0


HOUR, DAY, WEEK = 1.0, 24.0, 168.0
# The mean year of the Gregorian calendar
YEAR = 365.2425 * DAY
MONTH = YEAR / 12

# Units of one system convert exactly into each other: 48 hours are 2 days, 12 months are a year. Values in units of two systems
# are equal within TOLERANCE, because nobody who writes "4 weeks" for "1 month", or "38 °C" for "100.4 °F", means another value.
SPELLINGS: dict[Unit, str] = {
    Unit(DURATION, "clock", HOUR / 3600): "second seconds sec secs",
    Unit(DURATION, "clock", HOUR / 60): "minute minutes min mins",
    Unit(DURATION, "clock", HOUR): "hour hours hr hrs h",
    Unit(DURATION, "clock", DAY): "day days night nights",
    Unit(DURATION, "clock", WEEK): "week weeks wk wks",
    Unit(DURATION, "calendar", MONTH): "month months mo mos",
    Unit(DURATION, "calendar", YEAR): "year years yr yrs",
    Unit(TEMPERATURE, "celsius", 1.0): "°c ºc ℃ celsius centigrade c",
    Unit(TEMPERATURE, "fahrenheit", 5 / 9, -160 / 9): "°f ºf ℉ fahrenheit f",
    Unit(TEMPERATURE, "degrees", 1.0): "° º degree degrees",
    Unit(MASS, "metric", 1e-9): "mcg µg μg ug ㎍ microgram micrograms",
    Unit(MASS, "metric", 1e-6): "mg ㎎ milligram milligrams",
    Unit(MASS, "metric", 1e-3): "g gram grams gm",
    Unit(MASS, "metric", 1.0): "kg kgs ㎏ kilo kilos kilogram kilograms",
    Unit(MASS, "imperial", 0.45359237): "lb lbs pound pounds",
    Unit(VOLUME, "metric", 1e-3): "ml cc ㎖ milliliter milliliters millilitre millilitres",
    Unit(VOLUME, "metric", 0.1): "dl deciliter deciliters decilitre decilitres",
    Unit(VOLUME, "metric", 1.0): "l liter liters litre litres",
    Unit(VOLUME, "imperial", 0.0295735): "oz ounce ounces",
    Unit(VOLUME, "imperial", 0.236588): "cup cups",
    Unit(VOLUME, "imperial", 0.473176): "pint pints",
    Unit(VOLUME, "imperial", 0.946353): "quart quarts",
    Unit(VOLUME, "imperial", 3.78541): "gallon gallons",
    Unit(VOLUME, "glasses", 1.0): "glass glasses glassful glassfuls",
    Unit(LENGTH, "metric", 1e-3): "mm ㎜ millimeter millimeters millimetre millimetres",
    Unit(LENGTH, "metric", 1e-2): "cm ㎝ centimeter centimeters centimetre centimetres",
    Unit(LENGTH, "metric", 1.0): "meter meters metre metres",
    Unit(LENGTH, "metric", 1e3): "km ㎞ kilometer kilometers kilometre kilometres",
    Unit(LENGTH, "imperial", 0.0254): "inch inches",
    Unit(LENGTH, "imperial", 0.3048): "foot feet ft",
    Unit(LENGTH, "imperial", 1609.344): "mile miles",
    Unit("area", "metric", 1.0): "m² m2",
    Unit(SHARE, "percent", 0.01): "% percent",
    Unit(PRESSURE, "mmhg", 1.0): "mmhg",
    Unit("energy", "kcal", 1.0): "calorie calories kcal",
    Unit("substance", "molar", 1e-3): "mmol",
    Unit("units", "units", 1.0): "unit units iu",
}
UNITS: dict[str, Unit] = {spelling: unit for unit, spellings in SPELLINGS.items() for spelling in spellings.split()}

TOLERANCE = {DURATION: 0.085, INTERVAL: 0.085, MASS: 0.05, VOLUME: 0.06, LENGTH: 0.05, SHARE: 0.02}
"""How far apart equal values in units of two systems may be, as a share of the larger one.

Durations: 4 weeks are a month and 90 days are 3 months, but 6 weeks are not 2 months, nor 5 weeks a month.
"""
TEMPERATURE_TOLERANCE_C = 0.1

_ONES = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
ONES = {word: i for i, word in enumerate(_ONES.split(), start=1)}
TENS = {word: 10 * i for i, word in enumerate(_TENS.split(), start=2)}
DECADES = {word.removesuffix("y") + "ies": value for word, value in TENS.items()}
POWERS = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9}
FRACTIONS = {sign: unicodedata.numeric(sign) for sign in "½¼¾⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"}
ADVERBS = {
    "hourly": HOUR, "daily": DAY, "nightly": DAY, "weekly": WEEK, "biweekly": 2 * WEEK, "monthly": MONTH,
    "quarterly": 3 * MONTH, "yearly": YEAR, "annually": YEAR, "annual": YEAR,
}  # fmt: skip


# -- patterns ----------------------------------------------------------------------------------------------------------


def any_of(words: Iterable[str]) -> str:
    """A pattern for any of these words, the longest first, so "months" is not read as "month"."""
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


ONE = any_of(ONES)
RAISED = "¹²³⁴⁵⁶⁷⁸⁹"
# The forms in which numbers are written. A number is read whole or not at all: nothing that belongs to it may be next to it, or
# "38,5" would be 5, "38°5" 38, and "1.500" (one and a half, or fifteen hundred) would be 500.
NO_PART_BEFORE = rf"(?<![.\[])(?<!\d[,'·⋅°º])(?!10[⁺⁻{RAISED}])"
NO_PART_AFTER = rf"(?![.,'·⋅°º]?\d|\^|\s?[x×*·]\s?10[\^⁺⁻{RAISED}])"
_FORMS = [
    # 1,500 and 1,500.5; 1.500,5; 1'500; 1 500: groups of three figures
    r"[1-9]\d{0,2}(?:,\d{3}){1,5}(?:\.\d{1,6})?",
    r"[1-9]\d{0,2}(?:\.\d{3}){1,5},\d{1,2}",
    r"[1-9]\d{0,2}(?:'\d{3}){1,5}(?:[.,]\d{1,6})?",
    r"(?<!\d[\s,])[1-9]\d{0,2}(?:[^\S\n]\d{3}){1,5}(?!\d)(?:[.,]\d{1,2})?",
    # 1 1/2 and 1-1/2, then 1/2. In "11/2" the space may be lost, so it is not read
    r"[1-9]\d{0,2}[\s-](?:1/[2-9]|2/[3-9]|3/[4-9]|[45]/[6-9]|4/5|6/7|[67]/[89]|8/9)(?!/)",
    r"\d/[1-9](?!/)",
    # 37.5, 0.125 and 38·5; but 1.500 may be a decimal or fifteen hundred
    r"(?![1-9]\d{0,2}\.\d{3}(?!\d))(?:0|[1-9]\d{0,8})[.·⋅]\d{1,6}",
    # 38,5 and 0,125, which only a unit tells from a list
    r"(?:0,\d{1,6}|[1-9]\d{0,8},(?:\d{1,2}|\d{4,6}))",
    r"(?:0|[1-9]\d{0,8})",
    # .5
    r"(?<![\w)])[.·⋅]\d{1,6}",
]
_FRACTION = f"[{''.join(FRACTIONS)}]"
# A raised figure behind a number is that of a note; powers of ten are not read
_BEHIND = rf"(?:(?:\s?{_FRACTION}|[{RAISED}][{RAISED}°]*)(?![.,'·⋅]?\d))?"
DIGITS = rf"{NO_PART_BEFORE}(?:{'|'.join(form + NO_PART_AFTER for form in _FORMS)}){_BEHIND}"
IN_WORDS = rf"(?:(?:{any_of(TENS)})(?:[-\s](?:{ONE}))?|{ONE}|a(?=\s(?:{any_of(POWERS)})\b)|half\s(?:an?|of\san?))(?![a-z])"
POWER = rf"(?:[\s-](?:{any_of(POWERS)})\b)?"
HALF = r"(?:\sand\sa\shalf\b)?"
# The same number may follow in its other form: two (2) weeks, 2 (two) weeks
# Two hundred and fifty
HUNDREDS = rf"{IN_WORDS}(?:[\s-](?:{any_of(POWERS)})\b(?:\sand\s{IN_WORDS}(?!\s(?:{any_of(POWERS)})\b))?)?"
NUMBER = rf"(?:(?:{DIGITS}|{_FRACTION}){POWER}{HALF}(?:[\s-]?\({IN_WORDS}\))?|{HUNDREDS}{HALF}(?:[\s-]?\({DIGITS}\))?)"
TIME = r"(?:second|minute|hour|day|night|week|month|year)s?"
# Text from a PDF loses dashes: "at least 1 to 2 yearsto cure it". 5 cm² is not a length, nor 2h30 two hours
UNIT_END = "(?:(?![a-z°º0-9]|(?<=[mt])[²³])|(?<=days)|(?<=hours)|(?<=weeks)|(?<=years)|(?<=months))"
UNIT = rf"(?:(?:degrees?|°|º)\s?(?:celsius|fahrenheit|[cf])|mm\s?hg|(?:fluid|fl\.?)\s(?:oz|ounces?)|{any_of(UNITS)}){UNIT_END}"
# The mark of a note may stand between a number and its unit: 38 [1,2] °C
GAP = r"(?:\s?\[\d[\d,\s-]{0,12}\])?(?:\s?-?\s?(?:(?:full|whole|consecutive|more|additional|calendar|straight)\s)?)"
DASH = r"\s?-\s?"
TO = rf"(?:{DASH}to{DASH}|-?\s(?:to|through)\s|{DASH})"
OR = rf"(?:{TO}|-?\sor\s)"
LEAST = (
    r"at\sleast|(?:an?\s)?minimum\sof|n(?:o|ot)\s(?:less|fewer|earlier|sooner)\sthan|"
    r"(?:more|greater|longer|older|higher|heavier|later)\sthan|over|above|exceed(?:ing|s)|beyond|[>≥](?=\s*\d)|>="
)
MOST = (
    r"at\smost|up\sto|n(?:o|ot)\s(?:more|longer|later|higher|heavier|greater|older)\sthan|(?:an?\s)?maximum\sof|"
    r"(?:less|fewer|younger|lower|lighter|shorter)\sthan|under|below|within|<=?|≤"
)
ABOUT = r"(?:(?:about|approximately|around|roughly|nearly|almost|an?\sestimated|the|a\stemperature\sof)\s){0,2}"
BOUND = rf"(?:(?:(?P<least>{LEAST})|(?P<most>{MOST}))\s?{ABOUT})?"
MORE = "more|older|longer|higher|greater|over|above|later|up"
LESS = "less|fewer|younger|shorter|lower|under|below|sooner|earlier"
AFTER = rf"(?:(?P<or_more>\+|,?\s(?:or|and)\s(?:{MORE})\b)|(?P<or_less>,?\s(?:or|and)\s(?:{LESS})\b))?"
A_TIME = rf"(?:an?|each|every)\s(?P<time>{TIME})\b"
A_DAY = rf"(?:\sof\s[a-z]+)?\s{A_TIME.replace('?P<time>', '?:')}|\s(?:{any_of(ADVERBS)})\b"
PER = rf"(?P<per>(?:\s?(?:/|\bper\b)\s?(?:{UNIT})|{A_DAY}){{0,2}})"
# One of the units of `per`
DIVISOR = re.compile(rf"(?:/|\bper\b)\s?(?P<unit>{UNIT})|\b{A_TIME}|\b(?P<adverb>{any_of(ADVERBS)})\b")
# Two to three (2-3) weeks
AGAIN = rf"(?:\s?\((?P<again_low>{NUMBER}){OR}(?P<again_high>{NUMBER})\))"
RANGE = rf"(?P<low>{NUMBER})(?:{OR}(?P<high>{NUMBER}){AGAIN}?)?"
BETWEEN = rf"between\s{ABOUT}(?P<low>{NUMBER})(?:{GAP}(?P<low_unit>{UNIT}))?\sand\s(?P<high>{NUMBER})"

MONTH_NAMES = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    "sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
LABELLED = (
    "types?|chromosomes?|stages?|grades?|class|group|phase|chapters?|pages?|sections?|figures?|tables?|steps?|numbers?|"
    r"no\.|factors?|category|trisomy|levels?|version|room|suite|part|box|score"
)
# What looks like a quantity but is not
SKIP = "|".join(
    [
        # A web address
        r"(?:https?://|www\.)\S+",
        # A reference: [12, 15-18]
        r"\[\d[\d,\s-]*\]",
        # A power of ten: 50 x 10⁹/l, 10^9
        rf"(?:\d[\d.,]*\s?[x×*·]\s?)?10(?:\^[-+]?\d+|[⁺⁻]?[{RAISED}][{RAISED}°]*)(?:\s?/\s?[a-zµμ]+)?",
        # Telephone numbers, those of emergency and help lines included: a chain of seven figures or more, then shorter ones
        r"(?![1-9]\d{0,2}(?:[^\S\n]\d{3}){1,5}[^\S\n]000(?!\d))(?=(?:[- ()+.]{0,3}\d){7})\+?\(?\d+\)?(?:[- (]{1,3}\d+\)?){2,}",
        r"(?:\+?1[-.\s])?(?:\(\d{3}\)\s?|\d{3}[-.\s])\d{3}[-.]\d{4}",
        r"\d{3}[- ]\d{4}\b|1-8\d\d-[\w-]+|9-1-1|911\b|988\b",
        # Figures that begin with a zero are no amount: 0800 1111, 03-555
        r"0\d+(?![\d:])(?:[-/ .]\d+)*(?!\s?[ap]\.?m\b)",
        # Dates in figures, versions and numbers of sections, the time of a day
        r"\d+(?:\.\d+){2,}|\d{1,2}:[0-5]\d(?!\d)(?!\s?[ap]\.?m\b)",
        # An article in a journal: 2010;12(3):45-50
        r"\d{4};\d+(?:\(\d+\))?(?::\d+(?:-\d+)?)?",
        # Dates in figures, then with the name of the month on either side
        r"\d{4}[-/]\d{1,2}[-/]\d{1,2}|\d{1,2}/\d{1,2}/\d{2,4}|\d{1,2}-\d{1,2}-\d{2,4}",
        rf"(?:{MONTH_NAMES})\.?\s\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s\d{{4}})?\b(?!\s?-?(?:{UNIT}))",
        rf"\d{{1,2}}(?:st|nd|rd|th)?\s(?:{MONTH_NAMES})(?:\s\d{{4}})?\b",
        # A year or a decade, but not an amount that looks like one: 2000 mg
        rf"(?:18|19|20)\d\ds?(?:-(?:\d{{4}}|\d\d))?\b(?![,.]\d|%|\s?-?(?:{UNIT}))",
        # Type 2, chromosomes 7 and 9, steps 1 to 3
        rf"(?:{LABELLED})\s(?:\d+|{ONE})\b(?:(?:,\s|,?\s(?:and|or|to)\s|-)(?:\d+|{ONE})\b(?!\s(?:{UNIT})))*",
        # The number of an item in a list
        r"(?:^|(?<=\n)|(?<=[.:;]\s))\d{1,2}[.)](?=\s)|[1-9]\.(?=\s)|\d{1,2}\)(?=\s)",
        # "At all times" and not a fraction
        r"24/7",
        r"\d+(?:st|nd|rd|th)\b",
        # An amount of money
        r"[$€£¥]\s?\d[\d,.]*|\d[\d,.]*\s?[€£¥]",
    ]
)
TIMES = rf"(?:(?P<once>once|twice)|(?P<times>{NUMBER})(?:\s?x|\stimes?))"
OFTEN = rf"(?:{TIMES}|(?P<low_often>once|{NUMBER}){OR}(?:(?P<high_twice>twice)|(?P<high_times>{NUMBER})\stimes))"
DECADE = rf"(?:(?:early|mid|late)[-\s])?(?:[1-9]0'?s|{any_of(DECADES)}|teens)\b"

# Tried in this order: the first that matches counts. The text is in lower case with plain hyphens (`plain_text`).
RULES: dict[str, str] = {
    "skip": SKIP,
    # Twice a day; once or twice every 3 months
    "often": (
        rf"{OFTEN}(?:\s?/\s?|\s(?:an?|per|each|every)\s)(?:(?P<every>{NUMBER})(?:{OR}(?P<every_high>{NUMBER}))?{GAP})?(?P<unit>{TIME})\b"
    ),
    # Weekly, three times daily; but not "daily life", which is not an interval
    "adverb": (
        rf"(?:{OFTEN}\s)?(?P<adverb>{any_of(ADVERBS)})\b"
        r"(?!\s(?:life|lives|living|activit|routine|basis|tasks?))"
    ),
    "every": (
        rf"(?:every|each)\s(?:(?P<other>other|second)\s|(?P<few>few|several|couple\sof)\s|{RANGE}{GAP})?(?P<unit>{TIME})\b"
    ),
    # 120/80 mmHg
    "pressure": r"(?P<high>\d{2,3})\s?/\s?(?P<low>\d{2,3})(?:\s?mm\s?hg)?\b(?![.,]\d)",
    # 9 a.m., 10:30 pm
    "clock": r"(?P<hour>\d{1,2})(?:[:.](?P<minute>[0-5]\d))?\s?(?P<half>[ap])\.?m\b\.?",
    # 1 in 4, 3 out of 100
    "odds": (
        rf"{BOUND}{RANGE}(?:\s(?:in|out\sof|of|per|for)\s(?:every\s|each\s)?(?:about\s)?|:)(?P<whole>{NUMBER})(?!{GAP}(?:{UNIT})|\d|[,.:]\d)"
    ),
    # Two thirds of
    "fraction": r"(?:(?:(?P<parts>one|two|three|four|a)[-\s])?(?P<piece>half|third|quarter|fourth|fifth|tenth)s?\sof\b)",
    # Aged 60 or older, ages 5 to 12; but not "aged 6 months", which is a duration
    "age": (
        rf"{BOUND}(?:ages?|aged|(?:the\s)?ages?\sof)\s{ABOUT}(?:between\s)?(?P<low>{NUMBER})(?:(?:{OR}|\sand\s)(?P<high>{NUMBER})|(?!{TO}\d))"
        rf"(?!{GAP}(?:months?|weeks?|days?)\b)(?:[-\s]years?)?{AFTER}"
    ),
    # In their late 60s or seventies
    "decade": rf"(?P<first>{DECADE})(?:(?:{OR}|\sand\s|/)(?P<last>{DECADE}))?",
    # Between 3 and 6 months
    "between": rf"{BETWEEN}{GAP}(?P<unit>{UNIT}){PER}",
    # At least 3 months, 2-3 l a day, 38 °C or higher
    "quantity": (
        rf"{BOUND}(?P<low>{NUMBER})(?:(?:{GAP}(?P<low_unit>{UNIT}){TO}|{OR})(?P<high>{NUMBER}|an?(?=\s)){AGAIN}?)?(?:(?P<plus>\+|\sor\smore)|(?P<minus>\sor\s(?:less|fewer)))?"
        rf"{GAP}(?P<unit>{UNIT}){PER}"
        rf"(?:[-\s](?:olds?|of\sage))?{AFTER}"
    ),
    "vague": rf"(?:a\s)?(?P<few>few|several|couple(?:\sof)?)\s(?P<unit>{TIME})\b",
    # A week; only units that are seldom meant otherwise ("a second opinion")
    "single": r"an?\s(?P<unit>minute|hour|day|night|week|month|year|pint|quart|gallon|cup|lit(?:er|re)|pound|mile)\b",
    "between_count": rf"{BETWEEN}(?![\w/%])",
    # What no other rule takes: two types, 10 or more; but not the pronoun "one"
    "count": rf"{BOUND}(?!(?:one|half)\b(?!{OR}{NUMBER})){RANGE}(?:-?fold)?(?![\w/%]|[.,:]\d|-[a-z]|{TO}\d){AFTER}",
}
# Only where a word, a figure or a sign such as "<" begins: the rules are tried nowhere else
START = re.compile(rf"(?<![\w/^-])(?:[a-z]+|(?<!\d[.,':·⋅°º])(?:[\d<>≥≤$€£¥+(\[{''.join(FRACTIONS)}]|[.·⋅](?=\d)))")
_FIRST_WORDS = """
a an half third quarter once twice every each between at up no not minimum maximum more greater longer older higher
heavier later less fewer younger lower lighter shorter over above exceeding exceeds beyond under below within age ages
aged early mid late teens few several couple http https www type types chromosome chromosomes stage stages grade
grades class group phase chapter chapters page pages section sections figure figures table tables step steps number
numbers factor factors category trisomy level levels version room suite part box score jan january feb february mar
march apr april may jun june jul july aug august sep sept september oct october nov november dec december
"""
# The words with which a rule can begin. Most words of a text begin no rule, and a look-up is cheaper than trying them all.
FIRST_WORDS = {*_FIRST_WORDS.split(), *ONES, *TENS, *DECADES, *ADVERBS}


# Compiled when first used: that takes a tenth of a second, and most processes read no quantities.
@cache
def rule_pattern(rule: str) -> re.Pattern[str]:
    """The pattern of one rule, with its named parts."""
    return re.compile(RULES[rule])


@cache
def _any_rule() -> re.Pattern[str]:
    """One pattern for all rules, whose groups have the names of the rules; the groups inside lose theirs."""
    return re.compile("|".join(f"(?P<{rule}>{re.sub(r'[?]P<[a-z_]+>', '?:', pattern)})" for rule, pattern in RULES.items()))


def pattern_matches(plain: str) -> Iterator[re.Match[str]]:
    """The match of a rule at every place in a plain text where one applies, from left to right, without overlaps."""
    matched_until, any_rule = 0, _any_rule()
    for start in START.finditer(plain):
        if start.start() < matched_until or (start.group()[0].isalpha() and start.group() not in FIRST_WORDS):
            continue
        if match := any_rule.match(plain, start.start()):
            matched_until = match.end()
            yield match
