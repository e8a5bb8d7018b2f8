"""Columns, footnotes and glossary words that the tables of several metrics share."""

from __future__ import annotations

from audit.tables import Column
from audit.terms import RATE_MEANINGS, RATE_SYMBOLS, RATE_TITLES

RARE = "Wilson's with {questions} as trials where an outcome, or its opposite, occurs on fewer than five."
TWO_WAY = (
    "In brackets: 95 % intervals; {questions} and {handbooks} are resampled together (two-way cluster bootstrap, Owen 2007), "
    f"for shares of {{questions}} Wilson's. {RARE} A dash: not known."
)
BY_QUESTION = f"In brackets: 95 % intervals, {{questions}} resampled; {RARE} A dash: not known."
OWN_FIXED = (
    "In brackets: 95 % intervals; {questions} are resampled, and so are the {handbooks} of others, while its own are fixed "
    f"(two-way cluster bootstrap, Owen 2007). {RARE} A dash: not known."
)
WILSON = "In brackets: 95 % intervals (Wilson 1927). A dash: not known."
UNSCORED = "Unscored pairs (no readable verdict) enter no rate: a missing verdict is not agreement."
ABSENCE = (
    "Absence: of the {questions} that {a_handbook} was asked, the share it does not address. A {question} that was not asked "
    "counts in neither."
)
TWO_RUNS = "Only pairs that both runs have and to which both gave a verdict are compared."
THEME = (
    "A theme groups divergence topics: the judge's few words on what two answers differ about. Disagreements whose topic "
    "belongs to no theme, or was not stated, have rows of their own."
)

PAIRS = Column.count("pairs", "Pairs")
PRESENT = Column.count("present", "Both answer", "pairs")
DISAGREEING = Column.count("disagreeing", "Disagreeing", "pairs")
QUESTIONS = Column.count("questions", "{Questions}")
HANDBOOKS = Column.count("handbooks", "{Handbooks}")
ORGAN = Column.named("organ", "{Organ}", "all {organs}")
DIRECTION = Column.text("moves", "Direction")
INTERVAL_METHOD = Column.text("interval", "Interval made by")
SIGNIFICANCES = (
    Column.count("high", "High", "pairs"),
    Column.count("medium", "Medium", "pairs"),
    Column.count("low", "Low", "pairs"),
    Column.count("unstated", "Not stated", "pairs"),
)
"""Disagreeing pairs by the clinical significance that the judge gave them."""


def rate_columns(*names: str) -> tuple[Column, ...]:
    """Some of the four rates of the audit, all where none is named."""
    return tuple(Column.share(name, RATE_TITLES[name], RATE_SYMBOLS[name]) for name in names or RATE_TITLES)


def rate_notes(*names: str, intervals: str = TWO_WAY) -> tuple[str, ...]:
    """What those rates mean, and how their intervals were made."""
    return (*(f"{RATE_TITLES[name]}: {RATE_MEANINGS[name]}" for name in names or RATE_TITLES), UNSCORED, intervals)
