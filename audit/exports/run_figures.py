"""The figures of a run that are also published, by name; what a run cannot say is a sentence that tells why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from audit.errors import AuditError
from audit.exports.contents.columns import ALL
from audit.exports.context import Material
from audit.queries.picker_options import handbook_list
from audit.store.connection import rows
from audit.vocabulary import GENERAL, LABELS, PHASES, Label

TOPICS = "select count(divergence_topic), count(distinct divergence_topic) from pairs"
LEVELS = "select (select count(distinct topic) from topics), (select count(distinct subtopic) from subtopics)"
FEW = 2
"""Of one organ there is neither a lowest nor a highest."""


@dataclass(frozen=True)
class Measured:
    """A figure, and its 95 % interval where it has one."""

    value: float
    low: float = float("nan")
    high: float = float("nan")


Found = dict[str, Measured | str]


def measured(material: Material) -> Found:
    """Every figure of a run that is also published."""
    parts: tuple[Callable[[Material], Found], ...] = (_handbooks, _questions, _labels, _absence, _organs, _strings)
    found: Found = {}
    for part in parts:
        found |= part(material)
    return found


def _handbooks(material: Material) -> Found:
    books = handbook_list(material.con)
    by_organ = {f"handbooks.{organ}": Measured(float(n)) for organ, n in books["organ"].value_counts().items()}
    by_phase = {f"handbooks.{phase.value}": Measured(float((books["phase"] == phase.value).sum())) for phase in PHASES}
    whole = {"handbooks": Measured(float(len(books))), "centers": Measured(float(books["center"].nunique()))}
    return {**by_organ, **by_phase, **whole}


def _questions(material: Material) -> Found:
    frame = material.frame("organs").set_index("organ")
    ((topics, subtopics),) = rows(material.con, LEVELS)
    general = frame["questions"].get(GENERAL, 0)
    counts = {
        "questions": frame["questions"][ALL], "questions.general": general, "pairs": frame["pairs"][ALL], "topics": topics,
        "subtopics": subtopics,
    }  # fmt: skip
    return {name: Measured(float(count)) for name, count in counts.items()}


def _labels(material: Material) -> Found:
    frame = material.frame("labels").set_index(["how", "label"])
    judged = {f"judged.{label.value}": _of(frame.loc[[("judged", label.value)]], "share_of_judged") for label in LABELS}
    return {"prescreened": _of(frame.loc[[("pre-screened", Label.ABSENT.value)]], "share"), **judged}


def _absence(material: Material) -> Found:
    try:
        books = material.frame("handbooks").dropna(subset=["absence"]).sort_values("absence")
    except AuditError as reason:
        return dict.fromkeys(("absence.least", "absence.mean", "absence.most"), str(reason))
    mean = Measured(float(books["absence"].mean()))
    return {"absence.least": _of(books, "absence"), "absence.mean": mean, "absence.most": _of(books.iloc[::-1], "absence")}


def _organs(material: Material) -> Found:
    frame = material.frame("organs")
    named = frame[~frame["organ"].isin([ALL, GENERAL])]
    found: Found = {}
    for rate in ("r_div", "pct_any_div"):
        own = named.dropna(subset=[rate]).sort_values(rate)
        if len(own) < FEW:
            why = material.say("Fewer than two {organs} have one.")
            found |= dict.fromkeys((f"{rate}.least", f"{rate}.most"), why)
        else:
            found |= {f"{rate}.least": _of(own, rate), f"{rate}.most": _of(own.iloc[::-1], rate)}
    return found


def _strings(material: Material) -> Found:
    ((strings, unique),) = rows(material.con, TOPICS)
    found: Found = {"topic_strings": Measured(float(strings)), "topic_strings.unique": Measured(float(unique))}
    try:
        return found | {"themes": Measured(float(len(material.themes.leaves)))}
    except AuditError as reason:
        return found | {"themes": str(reason)}


def _of(table: pd.DataFrame, name: str) -> Measured:
    """What stands in the first row."""
    return Measured(*(float(table[name + end].iloc[0]) for end in ("", "_low", "_high")))
