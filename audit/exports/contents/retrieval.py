"""Which way of searching finds the section that holds the answer, where the run has trials of retrieval."""

from __future__ import annotations

import pandas as pd

from audit.charts.rates import rate_dots
from audit.charts.style import handbook_names
from audit.errors import AuditError
from audit.exports.contents.columns import counted, share, title_of
from audit.exports.context import Material
from audit.exports.searched import ANSWERS, MEANINGS, MODES, MOVES, NOBODY, RATES, TITLES
from audit.exports.table_model import Column, Picture, Table
from audit.queries.picker_options import handbook_list
from audit.terms import display_name

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
NO_ANSWER = "No answer of run {key} belongs to a search with a known section, so whether answers rest on it is not measured."
RESTING = (
    "Of the answers whose section is known: whether they cite a passage of it, others only, or nothing; whether they say that "
    "the {handbook} does not address the {question}, although it does; or could not be read."
)
MISSED = (
    "Searches without a section that holds the answer among the first five. At place: where the first of them stands in the "
    "list; a dash: not in it. Found by: the other strategies that have one among their first five; empty where no other was "
    "tried. What the others find stands first, what nobody finds last."
)
ON_PAPER = 30
MEASURED = (
    "In brackets: 95 % intervals, {questions} resampled, each with all its {handbooks}; Wilson's with {questions} as trials "
    "where something, or its opposite, is found on fewer than five. A dash: not known."
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
        (material.say(TRIED), material.say(MEANINGS), material.say(MEASURED)), _behind(material, frame),
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


def retrieval_answers(material: Material) -> Table:
    """What became of the questions whose answer is known to stand in the handbook."""
    _known(material)
    frame = material.frame("retrieval_answers")
    total = int(frame["of"].iloc[0])
    if not total:
        raise AuditError(NO_ANSWER.format(key=material.run.key))
    return Table(
        "retrieval_answers", "Whether answers rest on the section that holds them",
        frame.assign(answer=frame["answer"].map(ANSWERS)),
        (Column("answer", "The answer"), counted("count", "Answers"), counted("of", "Of"), share("value", "Share")),
        (material.say(RESTING), material.say(MEASURED)), material.say(f"{total:,} answers whose section is known"),
    )  # fmt: skip


def retrieval_organs(material: Material) -> Table:
    """The measures of each strategy by organ of the question."""
    return _by(material, "organ", "retrieval_organs", material.say("by {organ} of the {question}"))


def retrieval_handbooks(material: Material) -> Table:
    """The measures of each strategy by handbook."""
    return _by(material, "handbook", "retrieval_handbooks", material.say("by {handbook}"))


def _by(material: Material, group: str, name: str, title: str) -> Table:
    _known(material)
    frame = material.frame("retrieval", by=group)
    names = _handbooks(material) if group == "handbook" else {}
    return Table(
        name, f"How well each strategy of retrieval finds the section that holds the answer, {title}",
        frame.assign(name=[names.get(each, display_name(each)) for each in frame["name"]]),
        (
            Column("name", title_of(material, group)), Column("strategy", "Strategy"),
            counted("trials", "Searches", "section known"), counted("questions", title_of(material, "questions")),
            *(share(rate.column, rate.title, "mean" if rate.index else "of searches") for rate in RATES),
        ),
        (material.say(TRIED), material.say(MEANINGS), material.say(MEASURED), "Few searches make wide intervals."),
        _behind(material, material.frame("retrieval")), ON_PAPER,
    )  # fmt: skip


def retrieval_missed(material: Material) -> Table:
    """The searches without a gold section among the first five, strategy by strategy."""
    known = _known(material)
    strategies = list(known["strategy"][known["trials"] > 0])
    frame = pd.concat([material.frame("retrieval_missed", strategy=name).assign(strategy=name) for name in strategies])
    names = _handbooks(material)
    return Table(
        "retrieval_missed", "What each strategy of retrieval misses",
        frame.assign(
            handbook=frame["handbook_id"].map(names), organ=frame["organ"].map(display_name),
            found_by=frame["found_by"].replace("", NOBODY).where(frame["others"] > 0, ""),
        ),
        (
            Column("strategy", "Strategy"), Column("question_text", title_of(material, "question")),
            Column("organ", title_of(material, "organ")), Column("handbook", title_of(material, "handbook")),
            counted("place", "At place"), Column("found_by", "Found by"),
        ),
        (material.say(MISSED), material.say(TRIED)),
        material.say(f"{len(frame):,} of {known['trials'].sum():,} searches of a strategy with a known section"), ON_PAPER,
    )  # fmt: skip


def _handbooks(material: Material) -> dict[str, str]:
    return handbook_names(handbook_list(material.con))


def strategies(material: Material) -> list[Picture]:
    """The measures of each strategy as dots."""
    frame = _known(material)
    title = "How well each strategy of retrieval finds the section that holds the answer, with 95 % intervals"
    return [Picture("retrieval", title, rate_dots(frame, "strategy", RATES))]


def _known(material: Material) -> pd.DataFrame:
    """The measures, where there are any. Raises AuditError where no trial names the section that holds the answer."""
    frame = _tried(material)
    if not frame["trials"].sum():
        raise AuditError(NO_GOLD.format(key=material.run.key))
    return frame


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
