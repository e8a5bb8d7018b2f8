"""Columns and footnotes that several tables share."""

from __future__ import annotations

import pandas as pd

from audit.charts.rates import (
    ANY_DISAGREEMENT_RATE,
    AUDIT_RATES,
    DISAGREEMENT_RATE,
    NOT_ADDRESSED_RATE,
    SAME_ADVICE_RATE,
    Rate,
)
from audit.exports.context import Material
from audit.exports.table_model import Column, Kind
from audit.terms import RATE_MEANINGS, display_name, terms

ALL = "(all)"
SYMBOLS = {
    NOT_ADDRESSED_RATE: "r_abs",
    DISAGREEMENT_RATE: "R_div",
    SAME_ADVICE_RATE: "R_con",
    ANY_DISAGREEMENT_RATE: "pct_any_div",
}
RARE = "Wilson's with {questions} as trials where something, or its opposite, is found on fewer than five."
RESAMPLED = (
    "In brackets: 95 % intervals; {questions} and {handbooks} are resampled together (pigeonhole bootstrap, Owen 2007), "
    f"for shares of {{questions}} Wilson's. {RARE} A dash: not known."
)
BY_QUESTION = f"In brackets: 95 % intervals, {{questions}} resampled; {RARE} A dash: not known."
OWN_FIXED = (
    "In brackets: 95 % intervals; {questions} are resampled, and with them the {handbooks} of others, its own being fixed "
    f"(pigeonhole bootstrap, Owen 2007). {RARE} A dash: not known."
)
WILSON = "In brackets: 95 % intervals (Wilson 1927). A dash: not known."
UNSCORED = "Unscored pairs (no readable verdict) enter no rate: a missing verdict is not agreement."


def counted(name: str, header: str, unit: str = "") -> Column:
    """A column of counts."""
    return Column(name, header, unit, Kind.COUNT)


def share(name: str, header: str, unit: str = "") -> Column:
    """A column of shares or coefficients, with their intervals where the frame has them."""
    return Column(name, header, unit, Kind.DECIMAL)


def rate_columns(*rates: Rate) -> tuple[Column, ...]:
    """The rates of the audit by the name that pages give them, with their symbol."""
    return tuple(share(rate.column, rate.title, SYMBOLS[rate]) for rate in rates or AUDIT_RATES)


def rate_notes(material: Material, *rates: Rate, intervals: str = RESAMPLED) -> tuple[str, ...]:
    """What those rates are, and how their intervals were made."""
    meanings = [f"{rate.title}: {RATE_MEANINGS[rate.column]}" for rate in rates or AUDIT_RATES]
    return tuple(material.say(note) for note in (*meanings, UNSCORED, intervals))


def title_of(material: Material, word: str) -> str:
    """The run's word for `word` as a heading."""
    return terms(material.run)[word.capitalize()]


def named(values: pd.Series, everything: str) -> pd.Series:
    """Names as a person reads them; the row of the whole run is called `everything`."""
    return values.replace(ALL, everything).map(display_name)


def pairs_behind(material: Material) -> str:
    """How many pairs of how many questions the run has."""
    total = material.frame("organs").iloc[-1]
    return material.say(f"{total['pairs']:,} pairs from {total['questions']:,} {{questions}}")
