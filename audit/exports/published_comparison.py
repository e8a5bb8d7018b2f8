"""The figures of a run compared with the published ones: what agrees, what differs, and what cannot be computed."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files

import pandas as pd

from audit.charts.style import NO_VALUE
from audit.errors import AuditError
from audit.exports.context import ExportContext
from audit.exports.table_model import Table, count, estimate
from audit.formatting import typed
from audit.queries.lookup import handbook_list
from audit.queries.pair_counts import ALL_HANDBOOKS
from audit.store.connection import rows
from audit.tables import Column
from audit.terms import ALL
from audit.vocabulary import GENERAL, LABELS, PHASES, Label

TOPICS = "select count(divergence_topic), count(distinct divergence_topic) from pairs"
LEVELS = "select (select count(distinct topic) from topics), (select count(distinct subtopic) from subtopics)"
# A lowest and a highest organ need at least two
MIN_ORGANS = 2
AGREES, DIFFERS, UNKNOWN = "agrees", "differs", "cannot be computed"
VERDICT_COUNTS = {AGREES: "agree", DIFFERS: "differ", UNKNOWN: UNKNOWN}
NO_STUDY = "No study of human labels was named (audit export --study ID)."
NOT_AVAILABLE = "The release has no such figure."
NOTES = (
    "Agrees: rounded to the digits that are printed, the figures are the same (counts: equal); or the published figure lies "
    "within the 95 % interval of this release, where it has one. A wide interval agrees with many values.",
    "Lowest and highest {organ}: over {organs} by name, without general questions.",
)


# -- figures of a run --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RunFigure:
    """A figure, and its 95 % interval where it has one; `population`: what it is over, where that differs from row to row."""

    value: float
    low: float = float("nan")
    high: float = float("nan")
    population: str = ""


RunFigures = dict[str, RunFigure | str]


def run_figures(context: ExportContext) -> RunFigures:
    """Every figure of a run that is also published."""
    makers: tuple[Callable[[ExportContext], RunFigures], ...] = (_handbooks, _questions, _labels, _absence, _organs, _strings)
    figures: RunFigures = {}
    for maker in makers:
        figures |= maker(context)
    return figures


def _handbooks(context: ExportContext) -> RunFigures:
    handbooks = handbook_list(context.con)
    by_organ = {f"handbooks.{organ}": RunFigure(float(n)) for organ, n in handbooks["organ"].value_counts().items()}
    by_phase = {f"handbooks.{phase.value}": RunFigure(float((handbooks["phase"] == phase.value).sum())) for phase in PHASES}
    totals = {"handbooks": RunFigure(float(len(handbooks))), "centers": RunFigure(float(handbooks["center"].nunique()))}
    return {**by_organ, **by_phase, **totals}


def _questions(context: ExportContext) -> RunFigures:
    frame = context.frame("organs", scope=ALL_HANDBOOKS).set_index("organ")
    ((topics, subtopics),) = rows(context.con, LEVELS)
    general = frame["questions"].get(GENERAL, 0)
    counts = {
        "questions": frame["questions"][ALL],
        "questions.general": general,
        "pairs": frame["pairs"][ALL],
        "topics": topics,
        "subtopics": subtopics,
    }
    return {name: RunFigure(float(count)) for name, count in counts.items()}


def _labels(context: ExportContext) -> RunFigures:
    frame = context.frame("labels").set_index(["how", "label"])
    judged = {f"judged.{label.value}": _first_row(frame.loc[[("judged", label.value)]], "share_of_judged") for label in LABELS}
    return {"prescreened": _first_row(frame.loc[[("pre-screened", Label.ABSENT.value)]], "share"), **judged}


def _absence(context: ExportContext) -> RunFigures:
    try:
        handbooks = context.frame("handbooks").dropna(subset=["absence"]).sort_values("absence")
    except AuditError as reason:
        return dict.fromkeys(("absence.least", "absence.mean", "absence.most"), str(reason))
    mean = RunFigure(float(handbooks["absence"].mean()))
    return {
        "absence.least": _first_row(handbooks, "absence"),
        "absence.mean": mean,
        "absence.most": _first_row(handbooks.iloc[::-1], "absence"),
    }


def _organs(context: ExportContext) -> RunFigures:
    frame = context.frame("organs")
    organs = frame[~frame["organ"].isin([ALL, GENERAL])]
    figures: RunFigures = {}
    for rate in ("r_div", "pct_any_div"):
        with_rate = organs.dropna(subset=[rate]).sort_values(rate)
        if len(with_rate) < MIN_ORGANS:
            why = context.fill("Fewer than two {organs} have one.")
            figures |= dict.fromkeys((f"{rate}.least", f"{rate}.most"), why)
        else:
            figures |= {f"{rate}.least": _first_row(with_rate, rate), f"{rate}.most": _first_row(with_rate.iloc[::-1], rate)}
    return figures


def _strings(context: ExportContext) -> RunFigures:
    ((strings, unique),) = rows(context.con, TOPICS)
    figures: RunFigures = {"topic_strings": RunFigure(float(strings)), "topic_strings.unique": RunFigure(float(unique))}
    try:
        return figures | {"themes": RunFigure(float(len(context.themes.leaves)))}
    except AuditError as reason:
        return figures | {"themes": str(reason)}


def _first_row(table: pd.DataFrame, name: str) -> RunFigure:
    """The figure in the first row."""
    value, low, high = (float(table[name + end].iloc[0]) for end in ("", "_low", "_high"))
    return RunFigure(value, low, high)


# -- comparison --------------------------------------------------------------------------------------------------------


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


def published_figures(file: str = "published.toml") -> tuple[str, list[PublishedFigure]]:
    """Where the figures of a file of this package come from, and the figures."""
    content = tomllib.loads(files("audit.exports").joinpath(file).read_text("utf-8"))
    return str(content["source"]), [PublishedFigure(**figure) for figure in content["figure"]]


def verdict(published: PublishedFigure, own: RunFigure) -> tuple[str, str]:
    """Whether a figure agrees with the published one, and by what tolerance."""
    target, has_interval = float(published.value), not math.isnan(own.low)
    if published.below:
        return (AGREES if own.value < target or (has_interval and own.low < target) else DIFFERS), f"under {published.value}"
    if not published.digits:
        return (AGREES if own.value == target else DIFFERS), "equal counts"
    # The published figure is rounded, so ours is rounded alike before they are compared
    if float(typed(own.value, published.digits)) == target:
        return AGREES, f"{published.digits} printed digits"
    if has_interval:
        return (AGREES if own.low <= target <= own.high else DIFFERS), "95 % interval"
    return DIFFERS, f"{published.digits} printed digits"


def published_comparison(
    figures_of_run: Mapping[str, RunFigure | str],
    published: tuple[str, list[PublishedFigure]] | None = None,
    name: str = "published",
    notes: tuple[str, ...] = NOTES,
) -> Table:
    """Every published figure next to that of this release; `published`: the source and its figures, by default those of pairs."""
    source, figures = published or published_figures()
    frame = pd.DataFrame([_comparison_row(figure, figures_of_run) for figure in figures])
    counts = frame["verdict"].value_counts()
    n = "; ".join(f"{counts.get(kind, 0)} {words}" for kind, words in VERDICT_COUNTS.items())
    headings = {
        "title": "Figure", "published": "Published", "own": "This release", "verdict": "Verdict", "how": "Criterion, or why not",
        "where": "Printed in",
    }  # fmt: skip
    columns = tuple(Column.text(name, head) for name, head in headings.items())
    return Table(name, f"This release compared with the figures of {source}", frame, columns, notes, n)


def _comparison_row(published: PublishedFigure, figures_of_run: Mapping[str, RunFigure | str]) -> dict[str, str]:
    row = {"title": published.title, "published": published.text, "where": published.where}
    own = figures_of_run.get(published.name, NO_STUDY if published.name.startswith("study.") else NOT_AVAILABLE)
    if isinstance(own, str) or math.isnan(own.value):
        return row | {"own": NO_VALUE, "verdict": UNKNOWN, "how": own if isinstance(own, str) else NOT_AVAILABLE}
    agreement, how = verdict(published, own)
    value = estimate(own.value, own.low, own.high) if published.digits else count(own.value)
    return row | {"own": f"{value}, {own.population}" if own.population else value, "verdict": agreement, "how": how}
