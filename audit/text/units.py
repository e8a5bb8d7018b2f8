"""Units and number words as data: what each spelling measures, and its value in the base unit.

Units of one `system` convert exactly into each other (48 hours are 2 days, 12 months are a year). Values in units of two
systems are equal within the `TOLERANCE` of their dimension, because nobody who writes "4 weeks" for "1 month", or "38 °C" for
"100.4 °F", means another value.
"""

from __future__ import annotations

from dataclasses import dataclass

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

SPELLINGS: dict[Unit, str] = {
    Unit(DURATION, "clock", HOUR / 3600): "second seconds sec secs",
    Unit(DURATION, "clock", HOUR / 60): "minute minutes min mins",
    Unit(DURATION, "clock", HOUR): "hour hours hr hrs h",
    Unit(DURATION, "clock", DAY): "day days night nights",
    Unit(DURATION, "clock", WEEK): "week weeks wk wks",
    Unit(DURATION, "calendar", MONTH): "month months mo mos",
    Unit(DURATION, "calendar", YEAR): "year years yr yrs",
    Unit(TEMPERATURE, "celsius", 1.0): "°c ºc celsius centigrade c",
    Unit(TEMPERATURE, "fahrenheit", 5 / 9, -160 / 9): "°f ºf fahrenheit f",
    Unit(TEMPERATURE, "degrees", 1.0): "° º degree degrees",
    Unit(MASS, "metric", 1e-9): "mcg µg μg ug microgram micrograms",
    Unit(MASS, "metric", 1e-6): "mg milligram milligrams",
    Unit(MASS, "metric", 1e-3): "g gram grams gm",
    Unit(MASS, "metric", 1.0): "kg kgs kilo kilos kilogram kilograms",
    Unit(MASS, "imperial", 0.45359237): "lb lbs pound pounds",
    Unit(VOLUME, "metric", 1e-3): "ml cc milliliter milliliters millilitre millilitres",
    Unit(VOLUME, "metric", 0.1): "dl deciliter deciliters decilitre decilitres",
    Unit(VOLUME, "metric", 1.0): "l liter liters litre litres",
    Unit(VOLUME, "imperial", 0.0295735): "oz ounce ounces",
    Unit(VOLUME, "imperial", 0.236588): "cup cups",
    Unit(VOLUME, "imperial", 0.473176): "pint pints",
    Unit(VOLUME, "imperial", 0.946353): "quart quarts",
    Unit(VOLUME, "imperial", 3.78541): "gallon gallons",
    Unit(VOLUME, "glasses", 1.0): "glass glasses glassful glassfuls",
    Unit(LENGTH, "metric", 1e-3): "mm millimeter millimeters millimetre millimetres",
    Unit(LENGTH, "metric", 1e-2): "cm centimeter centimeters centimetre centimetres",
    Unit(LENGTH, "metric", 1.0): "meter meters metre metres",
    Unit(LENGTH, "metric", 1e3): "km kilometer kilometers kilometre kilometres",
    Unit(LENGTH, "imperial", 0.0254): "inch inches",
    Unit(LENGTH, "imperial", 0.3048): "foot feet ft",
    Unit(LENGTH, "imperial", 1609.344): "mile miles",
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
FRACTIONS = {"½": 1 / 2, "¼": 1 / 4, "¾": 3 / 4, "⅓": 1 / 3, "⅔": 2 / 3}
ADVERBS = {
    "hourly": HOUR, "daily": DAY, "nightly": DAY, "weekly": WEEK, "biweekly": 2 * WEEK, "monthly": MONTH,
    "quarterly": 3 * MONTH, "yearly": YEAR, "annually": YEAR, "annual": YEAR,
}  # fmt: skip
