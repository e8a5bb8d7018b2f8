"""Systems: answering systems compared on the same questions, by judges, by reference answers, by people and by their searches."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from audit.charts.criteria import criteria_bars
from audit.charts.style import coefficient, coefficient_interval
from audit.charts.systems import downstream_bubbles
from audit.errors import MissingLibraryError
from audit.evaluation.criteria import CRITERIA, REFERENCE, Incomplete
from audit.exports.sections.systems import (
    ALIGNMENT,
    BY_TYPE,
    CRITERION_SCORES,
    DIFFERENCES,
    DOWNSTREAM,
    EFFECTS,
    MEASURES,
    PEOPLE,
    PREFERENCES,
    QUALITY,
    REPLIES,
    STRENGTHS,
    TRUST,
    WHEN_TO_RETRIEVE,
    titles_of,
)
from audit.metrics._systems import COMPOSITE, MEASURE_TITLES, WORDS
from audit.metrics.systems import downstream_points, systems
from audit.store.runs import Run
from pages._shared import sections
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.pickers import choose, named_by, pick_one
from pages._shared.systems import CSS, QuestionFilter, pick_questions, stop_without_systems
from pages._shared.widgets import chart, counts, footer, link, say, server_commands, table

LEAD = "Which system answers better? Every figure is over the {questions} that match, with the number of answers behind it."
VIEWS = {
    "all": "Scores", "criteria": "By criterion", "differences": "Differences", "preferences": "Preferences",
    "aligned": "Judge and people", "trust": "Trust", "references": "Against references", "types": "By question type",
    "retrieval": "Search and answer", "when": "When to search", "replies": "Replies",
}  # fmt: skip
ONE_TYPE = "The {questions} of this run have one type or none, so there is nothing to compare by type."
ONE_SYSTEM = "This run has one answering system, so there is nothing to compare it with."
NOTHING_SHARED = "No two systems have a measure on the same {question}, so no difference can be counted."
NOTHING_TO_TRUST = (
    "Not measured: the judge scored no reference answer, and nobody scored or compared answers that the judge scored, too."
)
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


def quality(run: Run, chosen: QuestionFilter) -> None:
    """The composite of each system."""
    sections.show(run, QUALITY, incomplete=pick_incomplete(), **chosen.options)


def pick_incomplete() -> str:
    """What becomes of evaluations in which a score could not be read."""
    return choose("Scores that could not be read", tuple(Incomplete), "incomplete", named_by(INCOMPLETE_WORDS))


def criteria(run: Run, chosen: QuestionFilter) -> None:
    """How often each system has each score on each criterion."""
    sections.heading(run, CRITERION_SCORES)
    frame = load(CRITERION_SCORES.metric, run, **chosen.options)
    if frame.empty:
        counts(run, str(QUALITY.empty))
        return
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
        server_commands(SCORE_COMMANDS)
        return
    sections.drawing(run, MEASURES, measured)
    sections.listing(run, MEASURES, frame)


def by_type(run: Run) -> None:
    """One measure by question type."""
    frame = load(BY_TYPE.metric, run, by="question_type")
    sections.heading(run, BY_TYPE)
    if frame["question_type"].nunique() < 2:
        counts(run, ONE_TYPE)
        return
    measures = [*titles_of(frame[frame["measure"] != WORDS]), WORDS]
    measure = pick_one("Measure", measures, "measure", default=measures[0], format_func=named_by(MEASURE_TITLES))
    rows = frame[frame["measure"] == measure].sort_values("question_type", kind="stable")
    sections.listing(run, BY_TYPE, rows, saved=frame)


def differences(run: Run, chosen: QuestionFilter) -> None:
    """Paired differences to the baseline, on the same questions."""
    left, right = st.columns(2)
    with left:
        baseline = pick_baseline(run)
    if baseline is None:
        counts(run, ONE_SYSTEM)
        return
    with right:
        incomplete = pick_incomplete()
    # The first system is the default baseline, and for a large run that result is cached
    named = {} if baseline == load(systems, run)["system_id"].iloc[0] else {"baseline": baseline}
    frame = load(DIFFERENCES.metric, run, incomplete=incomplete, **named, **chosen.options)
    if frame.empty:
        counts(run, NOTHING_SHARED)
        return
    against = frame["against"].iloc[0]
    st.header(say(run, "Each compared with {against}, on the same {questions}", against=against), anchor=False)
    sections.body(run, DIFFERENCES, frame)


MIN_SYSTEMS = 3
"""With two systems, the share that prefers one says all that a strength could."""


def preferences_section(run: Run, chosen: QuestionFilter) -> None:
    """Preferences by couple of systems and kind of rater; strengths."""
    if not sections.show(run, PREFERENCES, **chosen.options).empty:
        strengths(run, chosen)


def strengths(run: Run, chosen: QuestionFilter) -> None:
    """Bradley-Terry strengths, where people compared three systems or more."""
    frame = load(STRENGTHS.metric, run, **chosen.options)
    if len(frame) < MIN_SYSTEMS:
        return
    sections.heading(run, STRENGTHS)
    known = frame.dropna(subset=["strength"])
    if known.empty:
        counts(run, "No finite strengths fit: some system was never, or always, preferred to those it was compared with.")
        return
    sections.drawing(run, STRENGTHS, known)
    sections.listing(run, STRENGTHS, frame)


def alignment(run: Run, chosen: QuestionFilter) -> None:
    """How often the judge prefers what people prefer, how far two people agree, and effects of side and length."""
    if not sections.show(run, ALIGNMENT, **chosen.options).empty:
        sections.show(run, PEOPLE, **chosen.options)
    sections.show(run, EFFECTS, **chosen.options)


def calibration_section(run: Run, chosen: QuestionFilter) -> None:
    """How far the judge's composite can be trusted: against the reference answers, and corrected by people's scores."""
    incomplete = pick_incomplete()
    frames = [(lead, metric, load(metric, run, incomplete=incomplete, **chosen.options)) for lead, metric in TRUST]
    if all(frame.empty for *_, frame in frames):
        counts(run, NOTHING_TO_TRUST)
        return
    st.header("How far the judge's scores can be trusted", anchor=False)
    for lead, metric, frame in frames:
        if not frame.empty:
            counts(run, lead)
            table(frame, f"{metric.name}_table", metric.table.pick(run))
            footer(frame, metric.name.replace("_", "-"), run, metric.name)


def retrieval_section(run: Run, chosen: QuestionFilter) -> None:
    """Composites against measures of retrieval, question by question, with their correlations."""
    sections.heading(run, DOWNSTREAM)
    frame, points = load(DOWNSTREAM.metric, run, **chosen.options), load(downstream_points, run, **chosen.options)
    if frame.empty:
        counts(run, DOWNSTREAM.empty)
        return
    drawn = frame[frame["outcome"] == COMPOSITE]
    if not drawn.empty:
        names = dict(zip(drawn["system_id"], drawn["name"], strict=True))
        left, right = st.columns(2)
        with left:
            system = pick_one("System", list(names), "system", default=next(iter(names)), format_func=named_by(names))
        # A measure that is the same on every question correlates with nothing, so it is not the first to be shown.
        own = drawn[drawn["system_id"] == system].sort_values("spearman", key=lambda rho: rho.isna(), kind="stable")
        with right:
            measure = choose("Measure of retrieval", list(own["measure"]), "found_by", named_by(MEASURE_TITLES))
        row = own[own["measure"] == measure].iloc[0]
        shown = points[(points["system_id"] == system) & (points["measure"] == measure)]
        alt = f"The composite of each question's answer against its {MEASURE_TITLES[measure]}."
        chart(downstream_bubbles(shown, MEASURE_TITLES[measure]), "downstream", alt)
        counts(
            run, "{n} {questions}. Spearman's rho **{rho}** (95 % interval {rho_span}), Pearson's r **{r}** ({r_span}).",
            n=f"{row['questions']:,}", rho=coefficient(row["spearman"]), r=coefficient(row["pearson"]),
            rho_span=coefficient_interval(row["spearman_low"], row["spearman_high"]),
            r_span=coefficient_interval(row["pearson_low"], row["pearson_high"]),
        )  # fmt: skip
    sections.listing(run, DOWNSTREAM, frame)


def when_to_retrieve_section(run: Run, chosen: QuestionFilter) -> None:
    """Whether it can be told beforehand for which questions retrieval helps, with what that gains."""
    sections.heading(run, WHEN_TO_RETRIEVE)
    try:
        frame = load(WHEN_TO_RETRIEVE.metric, run, **chosen.options)
    except MissingLibraryError as error:
        counts(run, "{sentence}", sentence=error)
        return
    if frame.empty:
        counts(run, WHEN_TO_RETRIEVE.empty)
        return
    first = frame.iloc[0]
    counts(run, "{alone} or {retrieving}?", alone=first["alone"], retrieving=first["retrieving"])
    st.markdown(say(run, "**{finding}**", finding=" ".join(filter(None, frame["finding"]))))
    sections.listing(run, WHEN_TO_RETRIEVE, frame)


DRAWN = {
    "all": quality, "criteria": criteria, "differences": differences, "preferences": preferences_section, "aligned": alignment,
    "trust": calibration_section, "references": against_references, "retrieval": retrieval_section,
    "when": when_to_retrieve_section, "replies": replies,
}  # fmt: skip
"""What each view of the chosen questions draws."""

with page("Systems", LEAD, without_pairs=LEAD) as run:
    stop_without_systems(run)
    st.html(CSS)
    view = choose("Show", tuple(VIEWS), "view", named_by(VIEWS), show_label=False)
    chosen, questions = pick_questions(run)
    counts(run, "{Questions} that match: {n}.", n=f"{len(questions):,}")
    if view == "types":
        by_type(run)
    else:
        DRAWN[view](run, chosen)
    link("system_answers", "Read the answers, {question} by {question}", run, icon=":material/compare:")
