"""The part of the page Systems about retrieval: whether a better search gives better answers, and when to retrieve at all."""

from __future__ import annotations

import streamlit as st

from audit.charts.style import coefficient, coefficient_interval
from audit.charts.systems import downstream_bubbles
from audit.errors import MissingLibraryError
from audit.exports.sections.systems import DOWNSTREAM, WHEN_TO_RETRIEVE
from audit.metrics._systems import COMPOSITE, MEASURE_TITLES
from audit.metrics.downstream import downstream_points
from audit.store.runs import Run
from pages._shared import sections
from pages._shared.loaders import load
from pages._shared.pickers import choose, named_by, pick_one
from pages._shared.systems import QuestionFilter
from pages._shared.widgets import chart, counts, say


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
            run,
            "{n} {questions}. Spearman's rho **{rho}** (95 % interval {rho_span}), Pearson's r **{r}** ({r_span}).",
            n=f"{row['questions']:,}",
            rho=coefficient(row["spearman"]),
            r=coefficient(row["pearson"]),
            rho_span=coefficient_interval(row["spearman_low"], row["spearman_high"]),
            r_span=coefficient_interval(row["pearson_low"], row["pearson_high"]),
        )
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
