"""Systems: answering systems compared on the same questions, by judges, by reference answers, by people and by their searches."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from audit.charts.criteria import criteria_bars
from audit.evaluation.criteria import CRITERIA, REFERENCE, Incomplete
from audit.exports.sections.systems import (
    BY_TYPE,
    CRITERION_SCORES,
    DIFFERENCES,
    MEASURES,
    QUALITY,
    REPLIES,
    titles_of,
)
from audit.metrics._systems import MEASURE_TITLES, WORDS
from audit.metrics.systems import systems
from audit.store.runs import Run
from pages._shared import sections
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.pickers import choose, named_by, pick_one
from pages._shared.systems import CSS, QuestionFilter, pick_questions, stop_without_systems
from pages._shared.widgets import chart, counts, link, say
from pages.systems.preferences import calibration_section, preferences_section
from pages.systems.retrieval import retrieval_section, when_to_retrieve_section

LEAD = "Which system answers better? Every figure is over the {questions} that match, with the number of answers behind it."
INCOMPLETE_WORDS: dict[str, str] = {Incomplete.EXCLUDE: "Leave out", Incomplete.ZERO: "0 points each"}
SCORE_COMMANDS = """\
audit systems score RELEASE
audit load RELEASE"""
HALVES = (tuple(CRITERIA)[:4], tuple(CRITERIA)[4:])
"""The criteria in the two columns of the page."""


def pick_baseline(run: Run) -> str | None:
    """The system that the others are compared with, kept in the address; None where there is only one."""
    frame = load(systems, run)
    names = dict(zip(frame["system_id"], frame["name"], strict=True))
    own = [system_id for system_id in names if system_id != REFERENCE]
    return pick_one("Compare with", own, "baseline", default=own[0], format_func=named_by(names)) if len(own) > 1 else None


def replies(run: Run, chosen: QuestionFilter) -> None:
    """What each system did with the questions: answered, refused, unreadable, and how long its answers are."""
    sections.heading(run, REPLIES)
    frame = load(REPLIES.metric, run, **chosen.options)
    used = (name for name in REPLIES.columns if frame[name].notna().any())
    sections.listing(run, REPLIES, frame, REPLIES.metric.table.pick(run, *used))


def quality(run: Run, chosen: QuestionFilter, incomplete: str) -> None:
    """The composite of each system, and its scores criterion by criterion."""
    frame = sections.show(run, QUALITY, incomplete=incomplete, **chosen.options)
    if not frame.empty:
        criteria(run, chosen)


def criteria(run: Run, chosen: QuestionFilter) -> None:
    """How often each system has each score on each criterion."""
    sections.heading(run, CRITERION_SCORES)
    frame = load(CRITERION_SCORES.metric, run, **chosen.options)
    columns = st.container(key="criteria").columns(2, gap="medium")
    for half, (column, names) in enumerate(zip(columns, HALVES, strict=True)):
        with column:
            alt = f"Share of answers with each score on {', '.join(CRITERIA[name].heading for name in names)}."
            chart(criteria_bars(frame, names), f"criteria_{half}", alt)
    counts(run, "Of {n} evaluations; each bar is 100 % of those whose score could be read.", n=f"{_evaluations(frame):,}")
    with st.expander("Every score, with its meaning, count and interval"):
        sections.listing(run, CRITERION_SCORES, frame)


def _evaluations(frame: pd.DataFrame) -> int:
    return int((frame["of"] + frame["unread"]).groupby(frame["system_id"]).first().sum())


def against_references(run: Run, chosen: QuestionFilter) -> None:
    """Measures against the reference answers and of retrieval: means with intervals."""
    sections.heading(run, MEASURES)
    frame = load(MEASURES.metric, run, **chosen.options)
    measured = frame[frame["measure"] != WORDS]
    if measured.empty:
        counts(run, MEASURES.empty)
        st.code(SCORE_COMMANDS, language="bash", wrap_lines=True)
        return
    sections.drawing(run, MEASURES, measured)
    sections.listing(run, MEASURES, frame)
    by_type(run, [*titles_of(measured), WORDS])


def by_type(run: Run, measures: list[str]) -> None:
    """One measure by question type."""
    frame = load(BY_TYPE.metric, run, by="question_type")
    if frame["question_type"].nunique() < 2:
        return
    sections.heading(run, BY_TYPE)
    measure = pick_one("Measure", measures, "measure", default=measures[0], format_func=named_by(MEASURE_TITLES))
    rows = frame[frame["measure"] == measure].sort_values("question_type", kind="stable")
    sections.listing(run, BY_TYPE, rows, saved=frame)


def differences(run: Run, chosen: QuestionFilter, baseline: str | None, incomplete: str) -> None:
    """Paired differences to the baseline, on the same questions."""
    if baseline is None:
        return
    # The first system is the default baseline, and for a large run that result is cached
    named = {} if baseline == load(systems, run)["system_id"].iloc[0] else {"baseline": baseline}
    frame = load(DIFFERENCES.metric, run, incomplete=incomplete, **named, **chosen.options)
    if frame.empty:
        return
    against = frame["against"].iloc[0]
    st.header(say(run, "Each compared with {against}, on the same {questions}", against=against), anchor=False)
    sections.body(run, DIFFERENCES, frame)


with page("Systems", LEAD, without_pairs=LEAD) as run:
    stop_without_systems(run)
    st.html(CSS)
    chosen, questions = pick_questions(run)
    left, right = st.columns(2)
    with left:
        baseline = pick_baseline(run)
    with right:
        incomplete = choose("Scores that could not be read", tuple(Incomplete), "incomplete", named_by(INCOMPLETE_WORDS))
    counts(run, "{Questions} that match: {n}.", n=f"{len(questions):,}")
    quality(run, chosen, incomplete)
    differences(run, chosen, baseline, incomplete)
    preferences_section(run, chosen)
    calibration_section(run, chosen, incomplete)
    replies(run, chosen)
    against_references(run, chosen)
    retrieval_section(run, chosen)
    when_to_retrieve_section(run, chosen)
    link("system_answers", "Read the answers, {question} by {question}", run, icon=":material/compare:")
