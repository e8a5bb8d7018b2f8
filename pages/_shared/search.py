"""The search over questions, handbooks and topics: the browser has the list, so results come as one types."""

from __future__ import annotations

from typing import Any

import streamlit as st

from audit.charts.style import handbook_names
from audit.queries.lookup import handbook_list
from audit.queries.search_index import search_index
from audit.store.runs import Run
from audit.terms import display_name, fill, terms
from pages._blinded.scripts import script_path
from pages._blinded.templates import component
from pages._shared.loaders import load

_search = component("_shared/search")
Entry = tuple[str, str, str]
"""What it is, by a number of `kinds`; its name; the value of the parameter that opens it."""


def search(run: Run, key: str, *, large: bool = False) -> None:
    """Draw the search; a chosen result opens its page."""
    event = _search(key=key, data={**entries(run), "run": run.key, "large": large}, on_open_change=lambda: None)
    if opened := getattr(event, "open", None):
        kind, value = kinds(run)[int(opened["kind"])], str(opened["value"])
        st.switch_page(script_path(kind["page"]), query_params={"run": run.key, kind["param"]: value})


def kinds(run: Run) -> list[dict[str, str]]:
    """What can be found, in the order in which results are listed: heading, page, and the parameter that a result fills."""
    words = terms(run)
    if not run.has_pairs:
        return [{"heading": words["Questions"], "page": "system_answers", "param": "question"}]
    return [
        {"heading": words["Topics"], "page": "disagreements", "param": "topic"},
        {"heading": words["Subtopics"], "page": "disagreements", "param": "subtopic"},
        {"heading": words["Handbooks"], "page": "handbook", "param": "handbook"},
        {"heading": words["Questions"], "page": "question", "param": "question"},
        {"heading": "Disagreements", "page": "disagreements", "param": "words"},
    ]


def entries(run: Run) -> dict[str, Any]:
    """What the browser searches: kinds, the entries of each kind as (value, name), and the words of the box."""
    index = load(search_index, run)
    names = handbook_names(load(handbook_list, run)) if run.has_pairs else {}
    by_param = {
        "topic": [(topic, display_name(topic)) for (topic,) in index["topics"]],
        "subtopic": [(subtopic, display_name(subtopic)) for (subtopic,) in index["subtopics"]],
        "handbook": list(names.items()),
        "question": index["questions"],
    }
    searched = kinds(run)
    placeholder = "Search {questions}" + (", {handbooks} and {topics}" if run.has_pairs else "")
    return {
        "kinds": searched,
        "entries": [by_param.get(kind["param"], []) for kind in searched],
        "placeholder": fill(run, placeholder),
        "in_answers": fill(run, "Disagreements with these words in the {question} or an answer"),
    }
