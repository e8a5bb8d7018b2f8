"""The figures of a run that are also published, by name; where one cannot be computed, a sentence with the reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from audit.errors import AuditError
from audit.exports.context import ExportContext
from audit.queries.lookup import handbook_list
from audit.store.connection import rows
from audit.terms import ALL
from audit.vocabulary import GENERAL, LABELS, PHASES, Label

TOPICS = "select count(divergence_topic), count(distinct divergence_topic) from pairs"
LEVELS = "select (select count(distinct topic) from topics), (select count(distinct subtopic) from subtopics)"
MIN_ORGANS = 2
"""A lowest and a highest organ need at least two."""


@dataclass(frozen=True)
class RunFigure:
    """A figure, and its 95 % interval where it has one."""

    value: float
    low: float = float("nan")
    high: float = float("nan")


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
    frame = context.frame("organs").set_index("organ")
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
    return RunFigure(*(float(table[name + end].iloc[0]) for end in ("", "_low", "_high")))
