"""How an answer of all sources was found: the sources asked, the passages kept, and the whole trace as a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import streamlit as st

from audit.charts.routing import route_picture, source_colours
from audit.exports.text_writers import file_name
from audit.jobs.asking import QUESTION_ID, SYSTEM_ID, Asked
from audit.queries.citations import section_titles
from audit.queries.routes import RoutedPassage, RoutedQuestionView, RoutedView, StoredRoute
from audit.queries.routing_trace import linking_terms
from audit.store.runs import Run
from pages._blinded.file_widgets import download_button
from pages._shared.loaders import load
from pages._shared.routed_question import CSS, drawn_sources, evidence_html, passages_frame, routes_frame, terms_frame
from pages._shared.systems import wide_chart
from pages._shared.widgets import counts

READ_DRAWING = (
    "From left to right: the sources, best first; how many of the passages that were looked at are taken from each; the passages "
    "that are kept, numbered from the best; and the terms that link them, those of the {question} in bold."
)
NOTHING_FOUND = "No passage has enough of the words that are asked for, so there is nothing to draw."


def routed_view(run: Run, asked: Asked) -> RoutedView:
    """The routing of a question as that of a stored one."""
    record = asked.sourced.evidence.record()
    routes = tuple(StoredRoute(**{name: route[name] for name in StoredRoute.__dataclass_fields__}) for route in record["routes"])
    evidence = tuple(RoutedPassage(**passage, heading=_heading(run, passage)) for passage in record["evidence"])
    return RoutedView(SYSTEM_ID, SYSTEM_ID, routes, evidence, record["trace"])


def _heading(run: Run, passage: Mapping[str, Any]) -> str | None:
    titles: Mapping[str, str] = load(section_titles, run, handbook_id=passage["handbook_id"])
    return titles.get(passage["section_id"])


def way_to_the_answer(run: Run, asked: Asked, names: Mapping[str, str]) -> None:
    """The drawing, the passages, and the trace to download."""
    view = routed_view(run, asked)
    routes, passages = routes_frame(view, RoutedQuestionView(None, (), (view,))), passages_frame(view, names)
    if passages.empty:
        counts(run, NOTHING_FOUND)
    else:
        st.html(CSS)
        terms, shown = linking_terms(view), drawn_sources(routes, view)
        colours = source_colours([route.source_id for route in view.routes])
        alt = f"{len(shown)} sources, the {len(passages)} passages kept from them, and the terms that link the passages."
        wide_chart(route_picture(shown, passages, terms_frame(terms), colours), "route", alt)
        counts(run, READ_DRAWING)
        st.html(evidence_html(run, None, view, terms, names, colours))
    download_button(
        "Download trace", data=lambda: trace_json(run, asked), file_name=file_name(run, "asked").replace(".csv", ".json"),
        mime="application/json", key="trace", icon=":material/download:",
    )  # fmt: skip


def trace_json(run: Run, asked: Asked) -> bytes:
    """Everything that led to the result: question, scope, each handbook's answer, labels, routing, evidence and statements."""
    trace = {
        "run": run.key, "question": asked.question, "organ": asked.scope.organ, "sources": list(asked.scope.sources),
        "notes": list(asked.notes), "answers": list(asked.answers), "pairs": list(asked.verdicts),
        "answer_of_all_sources": asked.sourced.record(QUESTION_ID, SYSTEM_ID),
        "route": asked.sourced.route_record(QUESTION_ID, SYSTEM_ID),
    }  # fmt: skip
    return json.dumps(trace, ensure_ascii=False, indent=1).encode()
