"""A release compared with the published figures: what agrees, what differs, and what cannot be computed."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

import pandas as pd

from audit.charts.style import NO_VALUE
from audit.exports.numbers import count, estimate
from audit.exports.run_figures import RunFigure
from audit.exports.table_model import Table
from audit.formatting import typed
from audit.tables import Column

AGREES, DIFFERS, UNKNOWN = "agrees", "differs", "cannot be computed"
VERDICT_COUNTS = {AGREES: "agree", DIFFERS: "differ", UNKNOWN: UNKNOWN}
NO_STUDY = "No study of human labels was named (audit export --study ID)."
NOT_AVAILABLE = "The release has no such figure."
NOTES = (
    "Agrees: rounded to the digits that are printed, the figures are the same (counts: equal); or the published figure lies "
    "within the 95 % interval of this release, where it has one. A wide interval agrees with much.",
    "Lowest and highest {organ}: over {organs} by name, without general questions.",
)


@dataclass(frozen=True)
class PublishedFigure:
    """One published figure: `value` as it is printed; `below`: printed as "under" that value."""

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
    def text(self) -> str:
        """The figure to read."""
        return ("< " if self.below else "") + (self.value if self.digits else count(float(self.value)))


def published_figures() -> tuple[str, list[PublishedFigure]]:
    """Where the figures come from, and the figures."""
    content = tomllib.loads(files("audit.exports").joinpath("published.toml").read_text("utf-8"))
    return str(content["source"]), [PublishedFigure(**figure) for figure in content["figure"]]


def verdict(published: PublishedFigure, own: RunFigure) -> tuple[str, str]:
    """Whether a figure agrees with the published one, and by what tolerance."""
    target, has_interval = float(published.value), not math.isnan(own.low)
    if published.below:
        return (AGREES if own.value < target or (has_interval and own.low < target) else DIFFERS), f"under {published.value}"
    if not published.digits:
        return (AGREES if own.value == target else DIFFERS), "equal counts"
    if float(typed(own.value, published.digits)) == target:
        return AGREES, f"{published.digits} printed digits"
    if has_interval:
        return (AGREES if own.low <= target <= own.high else DIFFERS), "95 % interval"
    return DIFFERS, f"{published.digits} printed digits"


def published_comparison(figures_of_run: Mapping[str, RunFigure | str]) -> Table:
    """Every published figure next to that of this release."""
    source, figures = published_figures()
    frame = pd.DataFrame([_comparison_row(figure, figures_of_run) for figure in figures])
    counts = frame["verdict"].value_counts()
    n = "; ".join(f"{counts.get(kind, 0)} {words}" for kind, words in VERDICT_COUNTS.items())
    headings = {
        "title": "Figure", "published": "Published", "own": "This release", "verdict": "Verdict", "how": "Criterion, or why not",
        "where": "Printed in",
    }  # fmt: skip
    columns = tuple(Column.text(name, head) for name, head in headings.items())
    return Table("published", f"This release compared with the figures of {source}", frame, columns, NOTES, n)


def _comparison_row(published: PublishedFigure, figures_of_run: Mapping[str, RunFigure | str]) -> dict[str, str]:
    row = {"title": published.title, "published": published.text, "where": published.where}
    own = figures_of_run.get(published.name, NO_STUDY if published.name.startswith("study.") else NOT_AVAILABLE)
    if isinstance(own, str) or math.isnan(own.value):
        return row | {"own": NO_VALUE, "verdict": UNKNOWN, "how": own if isinstance(own, str) else NOT_AVAILABLE}
    agreement, how = verdict(published, own)
    value = estimate(own.value, own.low, own.high) if published.digits else count(own.value)
    return row | {"own": value, "verdict": agreement, "how": how}
