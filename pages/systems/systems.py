"""Systems: answering systems compared on the same questions, by judges, by reference answers, by people and by their searches."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from audit.charts.criteria import criteria_bars
from audit.charts.systems import difference_dots, mean_dots
from audit.evaluation.criteria import CRITERIA, REFERENCE, Incomplete
from audit.evaluation.reference_metrics import REFERENCE_MEASURES
from audit.exports.system_figures import titles_of
from audit.metrics._systems import COMPOSITE, MEASURE_TITLES, WORDS
from audit.metrics.system_criteria import composite, criteria_scores
from audit.metrics.system_differences import system_differences
from audit.metrics.system_measures import system_measures
from audit.metrics.systems import systems
from audit.store.runs import Run
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.pickers import choose, named_by, pick_one
from pages._shared.systems import CSS, QuestionFilter, pick_questions, stop_without_systems, wide_chart
from pages._shared.widgets import chart, counts, footer, link, say, table
from pages.systems.preferences import calibration_section, preferences_section
from pages.systems.retrieval import retrieval_section, when_to_retrieve_section

LEAD = "Which system answers better? Every figure is over the {questions} that match, with the number of answers behind it."
INCOMPLETE_WORDS: dict[str, str] = {Incomplete.EXCLUDE: "Leave out", Incomplete.ZERO: "0 points each"}
NO_CRITERIA = (
    "No judge has scored these answers on the eight criteria: their quality is not measured, which is not a composite of 0."
)
NO_MEASURES = "These answers were not compared with reference answers. These commands do it, in the folder of the release:"
SCORE_COMMANDS = """\
audit systems score RELEASE
audit load RELEASE"""
HALVES = (tuple(CRITERIA)[:4], tuple(CRITERIA)[4:])
"""The criteria in the two columns of the page."""
REPLY_COLUMNS = ("name", "mode", "asked", "answered", "refused", "unread", "refusal", "words", "words_sd", "model", "retriever")
COMPOSITE_COLUMNS = ("name", "mean", "sd", "answers", "evaluations", "complete", "incomplete", "unscored")
SCORE_COLUMNS = ("criterion", "name", "score", "meaning", "answers", "of", "share", "unread")
MEASURE_COLUMNS = ("measure", "name", "answers", "mean", "sd", "least", "most")
DIFFERENCE_COLUMNS = ("measure", "name", "change", "moves", "of", "value", "first")


def pick_baseline(run: Run) -> str | None:
    """The system that the others are compared with, kept in the address; None where there is only one."""
    frame = load(systems, run)
    names = dict(zip(frame["system_id"], frame["name"], strict=True))
    own = [system_id for system_id in names if system_id != REFERENCE]
    return pick_one("Compare with", own, "baseline", default=own[0], format_func=named_by(names)) if len(own) > 1 else None


def replies(run: Run, chosen: QuestionFilter) -> None:
    """What each system did with the questions: answered, refused, unreadable, and how long its answers are."""
    st.header("What each system did", anchor=False)
    frame = load(systems, run, **chosen.options)
    used = [name for name in REPLY_COLUMNS if frame[name].notna().any()]
    table(frame, "replies", systems.table.pick(run, *used))
    counts(run, "Refusals and unreadable replies are counted separately: they have no length, and no measure counts them as 0.")
    footer(frame, "systems", run, "systems")


def quality(run: Run, chosen: QuestionFilter, incomplete: str) -> None:
    """The composite of each system, and its scores criterion by criterion."""
    st.header("How a judge scored the answers", anchor=False)
    frame = load(composite, run, incomplete=incomplete, **chosen.options)
    if frame.empty:
        counts(run, NO_CRITERIA)
        return
    alt = "The mean composite of each system, from 0 to 10, with 95 % intervals."
    chart(mean_dots(frame.assign(measure=COMPOSITE), "name", {COMPOSITE: "Composite, from 0 to 10"}), "composite", alt)
    table(frame, "composite_table", composite.table.pick(run, *COMPOSITE_COLUMNS))
    judged = " The reference answer was judged like the others." if REFERENCE in set(frame["system_id"]) else ""
    counts(
        run, "{evaluations} evaluations; {complete} have all eight scores." + judged,
        evaluations=f"{frame['evaluations'].sum():,}", complete=f"{frame['complete'].sum():,}",
    )  # fmt: skip
    footer(frame, "composite", run, "composite")
    criteria(run, chosen)


def criteria(run: Run, chosen: QuestionFilter) -> None:
    """How often each system has each score on each criterion."""
    st.header("Criterion by criterion", anchor=False)
    frame = load(criteria_scores, run, **chosen.options)
    columns = st.container(key="criteria").columns(2, gap="medium")
    for half, (column, names) in enumerate(zip(columns, HALVES, strict=True)):
        with column:
            alt = f"Share of answers with each score on {', '.join(CRITERIA[name].heading for name in names)}."
            chart(criteria_bars(frame, names), f"criteria_{half}", alt)
    counts(run, "Of {n} evaluations; each bar is 100 % of those whose score could be read.", n=f"{_evaluations(frame):,}")
    with st.expander("Every score, with its meaning, count and interval"):
        table(frame, "scores", criteria_scores.table.pick(run, *SCORE_COLUMNS))
        footer(frame, "criteria-scores", run, "criteria_scores")


def _evaluations(frame: pd.DataFrame) -> int:
    return int((frame["of"] + frame["unread"]).groupby(frame["system_id"]).first().sum())


def against_references(run: Run, chosen: QuestionFilter) -> None:
    """Measures against the reference answers and of retrieval: means with intervals."""
    st.header("Measured against reference answers and known sections", anchor=False)
    frame = load(system_measures, run, **chosen.options)
    measured = frame[frame["measure"] != WORDS]
    if measured.empty:
        counts(run, NO_MEASURES)
        st.code(SCORE_COMMANDS, language="bash", wrap_lines=True)
        return
    titles = titles_of(measured)
    wide_chart(mean_dots(measured, "name", titles), "measures", "The mean of each measure per system, with 95 % intervals.")
    ordered = _by_measure(frame)
    table(ordered, "measures_table", system_measures.table.pick(run, *MEASURE_COLUMNS), decimals=3)
    if measured["measure"].isin(REFERENCE_MEASURES).any():
        counts(run, "These measures compare words, not correctness: a good answer in other words scores low.")
    footer(ordered, "system-measures", run, "system_measures")
    by_type(run, [*titles, WORDS])


def _by_measure(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows grouped by measure, so that systems can be compared line by line."""
    order = {name: rank for rank, name in enumerate(titles_of(frame))}
    return frame.sort_values("measure", key=lambda names: names.map(order), kind="stable", ignore_index=True)


def by_type(run: Run, measures: list[str]) -> None:
    """One measure by question type."""
    frame = load(system_measures, run, by="question_type")
    if frame["question_type"].nunique() < 2:
        return
    st.header("By question type", anchor=False)
    measure = pick_one("Measure", measures, "measure", default=measures[0], format_func=named_by(MEASURE_TITLES))
    rows = frame[frame["measure"] == measure].sort_values("question_type", kind="stable")
    table(rows, "types", system_measures.table.pick(run, "question_type", "name", "answers", "mean", "sd"), decimals=3)
    counts(run, "Types with few questions have wide intervals: read each mean together with its interval.")
    footer(frame, "system-types", run, "system_measures")


def differences(run: Run, chosen: QuestionFilter, baseline: str | None, incomplete: str) -> None:
    """Paired differences to the baseline, on the same questions."""
    if baseline is None:
        return
    # The first system is the default baseline, and for a large run that result is cached
    named = {} if baseline == load(systems, run)["system_id"].iloc[0] else {"baseline": baseline}
    frame = load(system_differences, run, incomplete=incomplete, **named, **chosen.options)
    if frame.empty:
        return
    against = frame["against"].iloc[0]
    st.header(say(run, "Each compared with {against}, on the same {questions}", against=against), anchor=False)
    titles = titles_of(frame)
    alt = "Difference of each measure to the baseline, with 95 % intervals; filled dots differ from 0."
    wide_chart(difference_dots(frame, "name", titles), "differences", alt)
    ordered = _by_measure(frame)
    table(ordered, "differences_table", system_differences.table.pick(run, *DIFFERENCE_COLUMNS), decimals=3)
    counts(run, "Filled dots: the interval excludes 0. Only {questions} that both have count, so their difficulty cancels out. ")
    footer(ordered, "system-differences", run, "system_differences")


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
