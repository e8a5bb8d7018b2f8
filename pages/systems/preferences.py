"""The part of the page Systems about preferences: which answer people and judges prefer, and whether they agree."""

from __future__ import annotations

import streamlit as st

from audit.charts.criteria import preference_bars
from audit.charts.systems import strength_dots
from audit.exports.system_figures import preference_frame
from audit.metrics.corrected_means import corrected_composite, corrected_preference
from audit.metrics.judge_calibration import judge_calibration
from audit.metrics.preference_effects import preference_effects
from audit.metrics.preference_judge import preference_alignment, preference_raters
from audit.metrics.preferences import bradley_terry, preferences
from audit.store.runs import Run
from pages._shared.loaders import load
from pages._shared.systems import QuestionFilter
from pages._shared.widgets import chart, counts, footer, table

NO_PREFERENCES = "The release has no preferences between two systems' answers, so it is unknown which answers people prefer."
STRENGTHS = 3
"""With two systems, the share that prefers one says all that a strength could."""


def preferences_section(run: Run, chosen: QuestionFilter) -> None:
    """Preferences by couple of systems and kind of rater; strengths, alignment with the judge, and effects of side and length."""
    st.header("Which answer is preferred", anchor=False)
    frame = load(preferences, run, **chosen.options)
    if frame.empty:
        counts(run, NO_PREFERENCES)
        return
    alt = "How often the first of two systems was preferred, ties, both bad, and the second."
    chart(preference_bars(preference_frame(frame)), "preferences", alt)
    table(frame, "preferences_table", preferences.table.pick(run))
    counts(run, "{n} comparisons. Each bar is 100 % of those named above it.", n=f"{frame['comparisons'].sum():,}")
    footer(frame, "preferences", run, "preferences")
    strengths(run, chosen)
    alignment(run, chosen)
    effects(run, chosen)


def strengths(run: Run, chosen: QuestionFilter) -> None:
    """Bradley-Terry strengths, where people compared three systems or more."""
    frame = load(bradley_terry, run, **chosen.options)
    if len(frame) < STRENGTHS:
        return
    st.subheader("Strength of each system, from all comparisons", anchor=False)
    if frame["strength"].notna().any():
        known = frame.dropna(subset=["strength"])
        chart(strength_dots(known), "strengths", "The Bradley-Terry strength of each system, with 95 % intervals.")
    else:
        counts(run, "No finite strengths fit: some system was never, or always, preferred to those it was compared with.")
        return
    table(frame, "strengths_table", bradley_terry.table.pick(run))
    counts(run, "Two systems whose strengths differ by 1 are preferred at odds of 2.7 to 1.")
    footer(frame, "strengths", run, "bradley_terry")


def alignment(run: Run, chosen: QuestionFilter) -> None:
    """How often the judge prefers what people prefer, and how far two people agree."""
    st.subheader("Does the judge prefer what people prefer?", anchor=False)
    frame = load(preference_alignment, run, **chosen.options)
    if frame.empty:
        counts(run, "Not measured: no comparison was made by people and by a judge.")
        return
    table(frame, "alignment", preference_alignment.table.pick(run))
    counts(run, "The three rules show how much depends on what a tie of the judge counts as.")
    footer(frame, "preference-alignment", run, "preference_alignment")
    raters = load(preference_raters, run, **chosen.options)
    if not raters.empty:
        table(raters, "raters", preference_raters.table.pick(run))
        footer(raters, "preference-raters", run, "preference_raters")


def effects(run: Run, chosen: QuestionFilter) -> None:
    """Whether the answer shown first, or the longer one, wins for that reason."""
    st.subheader("Does the side or the length of an answer decide?", anchor=False)
    frame = load(preference_effects, run, **chosen.options)
    if frame.empty:
        counts(run, "Not measured: no comparison was decided, or sides and lengths are unknown.")
        return
    table(frame, "effects", preference_effects.table.pick(run), decimals=3)
    counts(
        run, "Where one system was always first, its side and its quality cannot be told apart: the adjusted share is unknown."
    )
    footer(frame, "preference-effects", run, "preference_effects")


def calibration_section(run: Run, chosen: QuestionFilter, incomplete: str) -> None:
    """How far the judge's composite can be trusted: against the reference answers, and corrected by people's scores."""
    calibrated = load(judge_calibration, run, incomplete=incomplete, **chosen.options)
    corrected = load(corrected_composite, run, incomplete=incomplete, **chosen.options)
    shares = load(corrected_preference, run, incomplete=incomplete, **chosen.options)
    if calibrated.empty and corrected.empty and shares.empty:
        return
    st.header("How far the judge's scores can be trusted", anchor=False)
    for metric, frame, lead in (
        (judge_calibration, calibrated, "What the judge gives the reference answers, on the same {questions}:"),
        (corrected_composite, corrected, "The composite, corrected by people who scored some of the answers:"),
        (corrected_preference, shares, "The share that the judge prefers, corrected by people's preferences:"),
    ):
        if not frame.empty:
            counts(run, lead)
            table(frame, f"{metric.name}_table", metric.table.pick(run))
            footer(frame, metric.name.replace("_", "-"), run, metric.name)
