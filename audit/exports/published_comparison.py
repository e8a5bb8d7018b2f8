"""A release beside the published figures: what agrees, what differs, and what cannot be computed."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

import pandas as pd

from audit.charts.style import NO_VALUE
from audit.exports.numbers import count, estimate
from audit.exports.run_figures import Measured
from audit.exports.table_model import Column, Table
from audit.number_format import typed

AGREES, DIFFERS, UNKNOWN = "agrees", "differs", "cannot be computed"
SAID = {AGREES: "agree", DIFFERS: "differ", UNKNOWN: UNKNOWN}
NO_STUDY = "No study of human labels was named (audit export --study ID)."
NOT_THERE = "The release holds nothing of the kind."
NOTES = (
    "Agrees: rounded to the digits that are printed, the figures are the same (counts: equal); or, where this release has a "
    "95 % interval, the published figure lies within it. The last column says which. A wide interval agrees with much.",
    "Lowest and highest {organ}: over {organs} by name, without general questions.",
)


@dataclass(frozen=True)
class Printed:
    """One published figure: `value` as it is printed; `below`: as "under" that value."""

    name: str
    title: str
    value: str
    where: str
    below: bool = False

    @property
    def digits(self) -> int:
        """Decimals that are printed; 0 for a count."""
        return len(self.value.partition(".")[2])

    @property
    def shown(self) -> str:
        """The figure to read."""
        return ("< " if self.below else "") + (self.value if self.digits else count(float(self.value)))


def published() -> tuple[str, list[Printed]]:
    """Where the figures come from, and the figures."""
    told = tomllib.loads(files("audit.exports").joinpath("published.toml").read_text("utf-8"))
    return str(told["source"]), [Printed(**figure) for figure in told["figure"]]


def verdict(printed: Printed, found: Measured) -> tuple[str, str]:
    """Whether a figure agrees with the published one, and by what tolerance."""
    aim, spans = float(printed.value), not math.isnan(found.low)
    if printed.below:
        return (AGREES if found.value < aim or (spans and found.low < aim) else DIFFERS), f"under {printed.value}"
    if not printed.digits:
        return (AGREES if found.value == aim else DIFFERS), "equal counts"
    if float(typed(found.value, printed.digits)) == aim:
        return AGREES, f"{printed.digits} printed digits"
    if spans:
        return (AGREES if found.low <= aim <= found.high else DIFFERS), "95 % interval"
    return DIFFERS, f"{printed.digits} printed digits"


def compared(found: Mapping[str, Measured | str]) -> Table:
    """Every published figure beside that of this release."""
    source, figures = published()
    frame = pd.DataFrame([_row(figure, found) for figure in figures])
    counts = frame["verdict"].value_counts()
    n = "; ".join(f"{counts.get(kind, 0)} {words}" for kind, words in SAID.items())
    heads = {
        "title": "Figure", "published": "Published", "own": "This release", "verdict": "Verdict", "how": "By what, or why not",
        "where": "Printed in",
    }  # fmt: skip
    columns = tuple(Column(name, head) for name, head in heads.items())
    return Table("published", f"This release beside the figures of {source}", frame, columns, NOTES, n)


def _row(printed: Printed, found: Mapping[str, Measured | str]) -> dict[str, str]:
    told = {"title": printed.title, "published": printed.shown, "where": printed.where}
    own = found.get(printed.name, NO_STUDY if printed.name.startswith("study.") else NOT_THERE)
    if isinstance(own, str) or math.isnan(own.value):
        return told | {"own": NO_VALUE, "verdict": UNKNOWN, "how": own if isinstance(own, str) else NOT_THERE}
    said, how = verdict(printed, own)
    shown = estimate(own.value, own.low, own.high) if printed.digits else count(own.value)
    return told | {"own": shown, "verdict": said, "how": how}
