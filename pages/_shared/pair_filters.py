"""Which pairs are meant: the filters of *Disagreements*, kept in the address, and the links that take them to *Re-judge*."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from audit.charts.style import LABEL_WORDS
from audit.metrics.disagreements import UNSCORED, Filters
from audit.metrics.theme import theme_topics
from audit.queries.lookup import filter_values
from audit.queries.weak_evidence import WEAKNESSES
from audit.store.runs import Run
from audit.terms import display_name, fill
from audit.vocabulary import DISAGREEING, LABELS, SIGNIFICANCES, same_name
from pages._blinded.access import current_account, may_rejudge
from pages._blinded.frame import escaped_label
from pages._shared.loaders import load
from pages._shared.pickers import named_by, pick_many, pick_one, type_words
from pages._shared.themes import current_taxonomy_or_none, theme_names
from pages._shared.widgets import link, title_of

LABEL_CHOICES = (*(label.value for label in reversed(LABELS)), UNSCORED)
MAX_WORDS = 8
GROUNDS_FILTERS = {
    "difference": ("differences", "Why the advice differs"), "follow": ("follow_both", "Can one person follow both?"),
    "quotes": ("quotes", "What the judge quotes"), "second": ("second", "What a second judge says"),
}  # fmt: skip
"""Parameter of the address -> field of `Filters`, and the title of its picker."""
SAYS = {
    "unsupported": "quotes words that are not in the answers", "confirmed": "second judge: the same label",
    "another label": "second judge: another label", "unscored": "second judge: no label",
    "yes": "one person can follow both", "no": "nobody can follow both", "unclear": "unclear whether one can follow both",
}  # fmt: skip


def pick_filters(run: Run, names: dict[str, str]) -> Filters:
    """Draw the filters, each behind a button, and below them what was chosen, in full; return what was chosen."""
    values, taxonomy = load(filter_values, run), current_taxonomy_or_none(run)
    titles = theme_names(taxonomy) if taxonomy else {}
    with st.container(horizontal=True, key="filter_row"):
        typed = type_words("Words", "words", placeholder="Words in question, answers or reasoning", show_label=False)
        with st.popover("Labels"):
            label = pick_many("Labels", LABEL_CHOICES, "label", _label_word, placeholder="Disagreeing")
        with st.popover(title_of(run, "organ")):
            organ = pick_many(title_of(run, "organ"), values["organ"], "organ")
        with st.popover(title_of(run, "topic")):
            topic = pick_many(title_of(run, "topic"), values["topic"], "topic")
        with st.popover("More", icon=":material/tune:"):
            theme_id = (
                pick_one("Theme", list(titles), "theme", format_func=lambda name: display_name(titles.get(name, name)))
                if titles
                else None
            )
            further = _more_filters(run, values, names)
    says = dict.fromkeys(GROUNDS_FILTERS, named_by(SAYS))
    _chosen(
        {"label": _label_word, "handbook": named_by(names), "theme": named_by(titles), "evidence": named_by(WEAKNESSES)} | says
    )
    in_theme = load(theme_topics, run, taxonomy=taxonomy, theme_id=theme_id)["topic"] if theme_id else None
    return Filters(
        organs=tuple(organ), topics=tuple(topic), labels=tuple(label) or tuple(label.value for label in DISAGREEING),
        words=tuple(typed.split()[:MAX_WORDS]), divergence_topics=None if in_theme is None else tuple(in_theme), **further,
    )  # fmt: skip


def _more_filters(run: Run, values: dict[str, list[str]], names: dict[str, str]) -> dict[str, Any]:
    return {
        "subtopics": tuple(pick_many(title_of(run, "subtopic"), values["subtopic"], "subtopic")),
        "significances": tuple(pick_many(title_of(run, "significance"), tuple(SIGNIFICANCES)[::-1], "significance")),
        "handbooks": tuple(pick_many(fill(run, "{Handbooks}"), list(names), "handbook", named_by(names))),
        "centers": tuple(pick_many(fill(run, "{Centers}"), values["center"], "center")),
        "phases": tuple(pick_many(fill(run, "{Phases}"), values["phase"], "phase")),
        "evidence": tuple(pick_many("An answer was ...", tuple(WEAKNESSES), "evidence", named_by(WEAKNESSES))),
        **_grounds_filters(values),
    }


def _grounds_filters(values: dict[str, list[str]]) -> dict[str, Any]:
    """Filters by what the judge and a second judge say of a pair, each where the run has it."""
    return {
        field: tuple(pick_many(title, values[param], param, named_by(SAYS)))
        for param, (field, title) in GROUNDS_FILTERS.items()
        if values[param]
    }


def _chosen(named: Mapping[str, Callable[[str], str]]) -> None:
    """What was chosen, by its full name; a click takes it back."""
    chosen = [(param, value) for param in FILTERS[1:] for value in _values_of(st.session_state.get(param))]
    if not chosen:
        return
    with st.container(horizontal=True, gap="xsmall", key="chosen_filters"):
        for param, value in chosen:
            name = display_name(named.get(param, str)(value))
            st.button(
                escaped_label(name), key=f"without {param} {value}", icon=":material/close:", icon_position="right",
                help=escaped_label(f"Take the filter {name} away"), on_click=_take_back, args=(param, value),
            )  # fmt: skip


def _values_of(state: object) -> list[str]:
    return list(state) if isinstance(state, list) else [str(state)] if state else []


def _take_back(param: str, value: str) -> None:
    left = [other for other in st.query_params.get_all(param) if not same_name(other, [value])]
    if left:
        st.query_params[param] = left
    else:
        st.query_params.pop(param, None)


def _label_word(label: str) -> str:
    return display_name(LABEL_WORDS.get(label, label.lower()))


# -- links to the page Re-judge ------------------------------------------------------------------------------------------

FILTERS = (
    "words", "label", "organ", "topic", "subtopic", "theme", "significance", "center", "handbook", "phase", "evidence",
    *GROUNDS_FILTERS,
)  # fmt: skip
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
