"""An annotator's own pace in plain words, and when to take a break."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

MIN_TIMED, TIMED = 5, 20
"""Items with a time before a pace is named, and the most recent ones that it is computed from."""
PAUSE_AFTER, PAUSE_SHOWN = 50, 5
"""Items in a row after which a break is suggested, and for how many items the suggestion is shown."""
BREAK_S = 300
"""Seconds between two labels that count as a break."""
HOUR_MIN = 60


def pace_sentence(seconds: Sequence[float], left: int | None) -> str:
    """How long an item takes, and how long the rest will take, rounded; empty with fewer than MIN_TIMED timed items.

    seconds  of the most recent items; their median counts, because one interrupted item would move a mean by minutes
    left     items without a label; None where that is not known, because several annotators share them
    """
    if len(seconds) < MIN_TIMED:
        return ""
    usual = median(seconds)
    rest = f", {_rough_time(usual * left)} left" if left else ""
    return f"About {_rough_seconds(usual)} an item{rest}."


def pause_sentence(in_a_row: int) -> str:
    """A suggestion to take a break after every PAUSE_AFTER items in a row; else empty."""
    if in_a_row < PAUSE_AFTER or in_a_row % PAUSE_AFTER >= PAUSE_SHOWN:
        return ""
    done = in_a_row // PAUSE_AFTER * PAUSE_AFTER
    return f"You have labelled {done} items in a row: a good moment for a short break. Everything is saved."


def _rough_seconds(seconds: float) -> str:
    if seconds >= 55:
        return f"{_halves(seconds / 60)} min"
    return f"{max(round(seconds), 1) if seconds < 10 else round(seconds / 5) * 5} s"


def _rough_time(seconds: float) -> str:
    minutes = seconds / 60
    if minutes < 1:
        return "less than a minute"
    if minutes < 10:
        return f"about {round(minutes)} min"
    if minutes < HOUR_MIN - 2.5:
        return f"about {round(minutes / 5) * 5} min"
    hours = _halves(minutes / HOUR_MIN)
    return f"about {hours} hour{'' if hours == '1' else 's'}"


def _halves(number: float) -> str:
    """To the nearest half, as people write it: 1, 1½, 2."""
    whole, half = divmod(max(round(number * 2), 2), 2)
    return f"{whole}{'½' if half else ''}"
