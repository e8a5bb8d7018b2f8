"""Which pairs are meant: the filters of *Disagreements*, kept in the address, and the links that take them to *Re-judge*."""

from __future__ import annotations

from typing import Any

import streamlit as st

from audit.charts.style import LABEL_WORDS
from audit.metrics.disagreements import UNSCORED, Filters
from audit.metrics.theme import theme_topics
from audit.queries.lookup import filter_values
from audit.queries.weak_evidence import WEAKNESSES
from audit.store.runs import Run
from audit.terms import display_name, fill
from audit.vocabulary import DISAGREEING, LABELS, SIGNIFICANCES
from pages._blinded.access import current_account, may_rejudge
from pages._shared.loaders import load
from pages._shared.pickers import named_by, pick_many, pick_one, type_words
from pages._shared.themes import current_taxonomy_or_none, theme_names
from pages._shared.widgets import link, title_of

LABEL_CHOICES = (*(label.value for label in reversed(LABELS)), UNSCORED)
MAX_WORDS = 8


def pick_filters(run: Run, names: dict[str, str]) -> Filters:
    """Draw the filters (the most used in one row, the others behind a button) and return what was chosen."""
    values = load(filter_values, run)
    words, labels, organs, topics, more = st.columns([4, 4, 3, 3, 3], vertical_alignment="bottom")
    with words:
        typed = type_words("Words", "words", placeholder="in question, answers or reasoning")
    with labels:
        label = pick_many("Labels", LABEL_CHOICES, "label", _label_word, placeholder="Disagreeing")
    with organs:
        organ = pick_many(title_of(run, "organ"), values["organ"], "organ")
    with topics:
        topic = pick_many(title_of(run, "topic"), values["topic"], "topic")
    with more:
        further = _more_filters(run, values, names)
    return Filters(
        organs=tuple(organ),
        topics=tuple(topic),
        labels=tuple(label) or tuple(label.value for label in DISAGREEING),
        words=tuple(typed.split()[:MAX_WORDS]),
        **further,
    )


def _more_filters(run: Run, values: dict[str, list[str]], names: dict[str, str]) -> dict[str, Any]:
    params = {"theme", "subtopic", "significance", "center", "handbook", "phase", "evidence"}
    used = len(params & set(st.query_params))
    with st.popover(f"More ({used})" if used else "More", icon=":material/tune:", width="stretch"):
        return {
            "divergence_topics": _topics_of_theme(run),
            "subtopics": tuple(pick_many(title_of(run, "subtopic"), values["subtopic"], "subtopic")),
            "significances": tuple(pick_many("Clinical significance", tuple(SIGNIFICANCES)[::-1], "significance")),
            "handbooks": tuple(pick_many(fill(run, "{Handbooks}"), list(names), "handbook", named_by(names))),
            "centers": tuple(pick_many(fill(run, "{Centers}"), values["center"], "center")),
            "phases": tuple(pick_many(fill(run, "{Phases}"), values["phase"], "phase")),
            "evidence": tuple(
                pick_many("An answer was ...", tuple(WEAKNESSES), "evidence", lambda kind: WEAKNESSES.get(kind, kind))
            ),
        }


def _topics_of_theme(run: Run) -> tuple[str, ...] | None:
    """The divergence topics of the chosen theme; None where none is chosen or the run has no themes."""
    taxonomy = current_taxonomy_or_none(run)
    if taxonomy is None:
        return None
    titles = theme_names(taxonomy)
    theme_id = pick_one("Theme", list(titles), "theme", format_func=lambda name: display_name(titles.get(name, name)))
    return None if theme_id is None else tuple(load(theme_topics, run, taxonomy=taxonomy, theme_id=theme_id)["topic"])


def _label_word(label: str) -> str:
    return display_name(LABEL_WORDS.get(label, label.lower()))


# -- links to the page Re-judge ------------------------------------------------------------------------------------------

FILTERS = ("words", "label", "organ", "topic", "subtopic", "theme", "significance", "center", "handbook", "phase", "evidence")
"""The parameters in which the list of disagreements keeps its filters."""


def link_for_a_pair(run: Run, question_id: str, a: str, b: str) -> None:
    """The link from an opened pair, for those who may use it."""
    if may_rejudge(current_account()):
        link("rejudge", "Re-judge this pair", run, icon=":material/gavel:", question=question_id, a=a, b=b)


def link_for_all(run: Run) -> None:
    """The link from the list of disagreements, with its filters, for those who may use it."""
    if may_rejudge(current_account()):
        filters = {name: st.query_params.get_all(name) for name in FILTERS if name in st.query_params}
        link("rejudge", "Re-judge all of them", run, icon=":material/gavel:", **filters)
