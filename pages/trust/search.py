"""How often the search misses an answer: of a run whose answers are the closest passages, which no model has read."""

from __future__ import annotations

from collections.abc import Iterator

import streamlit as st

from audit.charts.search import search_curves_figure
from audit.charts.style import interval, percent
from audit.evaluation.search_curves import search_curves
from audit.stats.intervals import wilson
from audit.stats.misclassification import ErrorCounts
from audit.store.runs import Run
from pages._shared.found_states import errors_of
from pages._shared.widgets import chart, say

WAYS = {"minilm": "With the sentence model MiniLM", "words": "Without a sentence model"}
NOT_MEASURED = "The answers of this run are the passages closest to each question. How often such a search errs was not measured."
MISSED = (
    "The answers of this run are the passages closest to each question; no model has read them. Of {answered} questions that a "
    "document answers, such a search called {missed} “not found” ({share}; 95 % interval {span})."
)
FOUND = "Of {unanswered} questions that the document does not answer, it showed passages for {found} ({share}; {span})."
EXPLAINED = (
    "Each point of a line is a score: the lower the score that is accepted, the more answers are quoted, and the more other "
    "passages. Down to the first mark an answer is *stated*, down to the second it is *perhaps* there, below that *not found*. "
    "{questions} questions, {answered} of them answered in their document, to ten documents of US health institutes that the "
    "thresholds were not chosen on. A language model wrote and graded the questions, not a clinician "
    "(benchmarks/closest.md)."
)


def search_section(run: Run) -> None:
    """The measured errors of the search behind the answers, and the curve that its thresholds were chosen from."""
    st.header("How often does the search miss an answer?", anchor=False)
    sentences = list(error_sentences(run, errors_of(run).rates))
    for sentence in sentences:
        st.markdown(sentence)
    if not sentences:
        st.markdown(say(run, NOT_MEASURED))
    curves = search_curves()
    alt = "Share of questions with the answer quoted against that with other passages quoted, for each score."
    chart(search_curves_figure(curves, WAYS), "search_curves", alt)
    questions, answered = (f"{curves[name].iloc[0]:,}" for name in ("questions", "answered"))
    st.caption(say(run, EXPLAINED, questions=questions, answered=answered))


def error_sentences(run: Run, rates: ErrorCounts | None) -> Iterator[str]:
    """What is known of the errors of the search; nothing where it was not measured."""
    if rates is None:
        return
    for template, part, whole in ((MISSED, "missed", "answered"), (FOUND, "found", "unanswered")):
        count, total = getattr(rates, part), getattr(rates, whole)
        low, high = wilson(count, total)
        values = {part: f"{count:,}", whole: f"{total:,}"}
        yield say(run, template, share=percent(count / total), span=interval(float(low), float(high)), **values)
