"""Which way of searching finds the section that holds the answer, where the run has trials of retrieval."""

from __future__ import annotations

import pandas as pd

from audit.charts.rates import rate_dots
from audit.errors import AuditError
from audit.exports.contents.columns import counted, share, title_of
from audit.exports.material import Material
from audit.exports.record import Column, Picture, Table
from audit.exports.searched import MEANINGS, MODES, MOVES, RATES, TITLES

NO_TRIALS = (
    "Run {key} has no trials of retrieval: how well its answers were searched for is not measured, and not zero. A release "
    "brings them in trials.jsonl; `audit run` and `audit retrieve` make them."
)
NO_GOLD = "No trial of run {key} names the section that holds the answer, so nothing is measured but what was given."
ONE = "Only one strategy was tried on the searches of run {key}: there is nothing to hold it against."
TRIED = (
    "A search is one {question} looked for in one {handbook}. Those whose section is not known are in no measure: nobody knows "
    "whether they missed."
)
GIVEN = (
    "Of all searches, whether their section is known or not. Passages: the best were given. Whole: all of the {handbook} was "
    "given. CPU: on average over the searches of which the release tells it. A dash: not known."
)
RESAMPLED = "In brackets: 95 % intervals, {questions} resampled, each with all its {handbooks}. A dash: not known."


def retrieval(material: Material) -> Table:
    """The measures of each strategy with intervals."""
    frame = _tried(material)
    return Table(
        "retrieval", "How well each strategy of retrieval finds the section that holds the answer",
        frame,
        (
            Column("strategy", "Strategy"), counted("trials", "Searches", "section known"),
            counted("questions", title_of(material, "questions")), counted("no_gold", "Searches", "not known"),
            *(share(rate.column, rate.title, "mean" if rate.index else "of searches") for rate in RATES),
        ),
        (material.say(TRIED), material.say(MEANINGS), material.say(RESAMPLED)), _behind(material, frame),
    )  # fmt: skip


def retrieval_cost(material: Material) -> Table:
    """What each strategy gave to the generator, and its CPU time."""
    frame = _tried(material)
    used = {mode: title for mode, title in MODES.items() if frame[mode].sum()}
    total = frame[list(MODES)].sum(axis=1).astype(int)
    return Table(
        "retrieval_cost", "What each strategy of retrieval gave to the generator, and at what cost", frame.assign(total=total),
        (
            Column("strategy", "Strategy"), counted("total", "Searches"),
            *(counted(mode, title, "searches") for mode, title in used.items()), share("seconds", "CPU", "s a search"),
        ),
        (material.say(GIVEN),), f"{total.max():,} searches of a strategy at most",
    )  # fmt: skip


def retrieval_paired(material: Material) -> Table:
    """Each strategy against the first, on the searches that both made."""
    _tried(material)
    frame = material.frame("retrieval_paired")
    if frame.empty:
        raise AuditError(ONE.format(key=material.run.key))
    first = str(frame["against"].iloc[0])
    return Table(
        "retrieval_paired", f"Each strategy of retrieval against {first}, search by search",
        frame.assign(measure=frame["measure"].map(TITLES), moves=frame["moves"].map(MOVES)),
        (
            Column("strategy", "Strategy"), Column("measure", "Measure"), share("value", "Its own"),
            share("first", "The first's"), share("change", "Difference"), Column("moves", "It is"),
            counted("questions", title_of(material, "questions"), "differ"), counted("trials", "Searches", "of both"),
        ),
        (
            f"The first: {first}, which the release has first. Difference: a strategy's measure less the first's, over the "
            "searches that both made: what makes one search harder than another drops out.",
            "Better, worse: the interval of the difference leaves out 0. Too few questions: the two differ on fewer than five.",
            material.say(MEANINGS), material.say(RESAMPLED),
        ), _behind(material, material.frame("retrieval")),
    )  # fmt: skip


def strategies(material: Material) -> list[Picture]:
    """The measures of each strategy as dots."""
    frame = _tried(material)
    if not frame["trials"].sum():
        raise AuditError(NO_GOLD.format(key=material.run.key))
    title = "How well each strategy of retrieval finds the section that holds the answer, with 95 % intervals"
    return [Picture("retrieval", title, rate_dots(frame, "strategy", RATES))]


def _tried(material: Material) -> pd.DataFrame:
    frame = material.frame("retrieval")
    if frame.empty:
        raise AuditError(NO_TRIALS.format(key=material.run.key))
    return frame


def _behind(material: Material, frame: pd.DataFrame) -> str:
    most, unknown = int(frame["trials"].max()), int(frame["no_gold"].max())
    on = f"{most:,} searches with a known section on {frame['questions'].max():,} {{questions}}"
    more = f"; {unknown:,} more without one" if unknown else ""
    return material.say(("" if frame["trials"].nunique() == 1 else "up to ") + on + more)
