"""The part of the page Systems about preferences: which answer people and judges prefer, and whether they agree."""

from __future__ import annotations

import streamlit as st

from audit.exports.sections.systems import ALIGNMENT, EFFECTS, PEOPLE, PREFERENCES, STRENGTHS, TRUST
from audit.store.runs import Run
from pages._shared import sections
from pages._shared.loaders import load
from pages._shared.systems import QuestionFilter
from pages._shared.widgets import counts, footer, table

MIN_SYSTEMS = 3
"""With two systems, the share that prefers one says all that a strength could."""


def preferences_section(run: Run, chosen: QuestionFilter) -> None:
    """Preferences by couple of systems and kind of rater; strengths, alignment with the judge, and effects of side and length."""
    if not sections.show(run, PREFERENCES, **chosen.options).empty:
        strengths(run, chosen)
        alignment(run, chosen)
        sections.show(run, EFFECTS, **chosen.options)


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
    """How often the judge prefers what people prefer, and how far two people agree."""
    if not sections.show(run, ALIGNMENT, **chosen.options).empty:
        sections.show(run, PEOPLE, **chosen.options)


def calibration_section(run: Run, chosen: QuestionFilter, incomplete: str) -> None:
    """How far the judge's composite can be trusted: against the reference answers, and corrected by people's scores."""
    frames = [(lead, metric, load(metric, run, incomplete=incomplete, **chosen.options)) for lead, metric in TRUST]
    if all(frame.empty for *_, frame in frames):
        return
    st.header("How far the judge's scores can be trusted", anchor=False)
    for lead, metric, frame in frames:
        if not frame.empty:
            counts(run, lead)
            table(frame, f"{metric.name}_table", metric.table.pick(run))
            footer(frame, metric.name.replace("_", "-"), run, metric.name)
