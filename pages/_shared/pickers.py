"""Pickers whose choice is kept in the address, so that a copied link reopens the same view.

The address is the single source of truth: a widget's state is set from it before the widget is drawn, and a change is written to
it first. The key of a widget is the name of its URL parameter. A value that the current view cannot use is ignored with a
warning and left in the address, because another run may have it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import streamlit as st

from audit.queries.lookup import question_list
from audit.store.runs import Run, newest_full_run
from audit.terms import display_name, fill
from audit.vocabulary import composed, same_name
from pages._blinded.frame import escaped, escaped_label
from pages._blinded.option_labels import distinct_labels
from pages._shared import loaders

LAST_RUN = "last run seen"
IGNORED_VALUE = "which this run does not have. It was ignored."


def current_run() -> Run | None:
    """The run that the page shows: the one in the address, else the one seen last, else the newest real one that is complete.

    None where that run is not loaded, or where none is: another run is never shown in its place.
    """
    runs, key = loaders.loaded_runs(), requested_run()
    if key:
        return next((run for run in runs if run.key == key), None)
    return default_run(runs) if runs else None


def requested_run() -> str | None:
    """The key of the run in the address, else of the one seen last; None for a visitor who has seen none."""
    return composed(st.query_params.get("run") or "") or st.session_state.get(LAST_RUN)


def remember_run(key: str) -> None:
    """Show this run from now on: kept in the session, and in the address, so that a copied link names the run that was seen."""
    st.session_state[LAST_RUN] = key
    if st.query_params.get("run") != key:
        st.query_params["run"] = key


def default_run(runs: Sequence[Run]) -> Run:
    """The run that opens first: the newest real one that judges all pairs, a synthetic one where there is none."""
    return newest_full_run([run for run in runs if not run.synthetic] or runs)


def real_runs_first(runs: Sequence[Run]) -> list[Run]:
    """Real runs before synthetic ones, each newest first."""
    return sorted(runs, key=lambda run: run.synthetic)


def run_label(run: Run) -> str:
    """A run as an option of a picker: its title and its key, because two runs may share a title."""
    return f"{run.title} ({run.key})"


def pick_question(run: Run) -> str:
    """The id of the question in the address, else of the most disputed one."""
    texts = _texts(run)
    most_disputed = next(iter(texts))
    order = "; the most disputed come first" if run.has_pairs else ""
    label = fill(run, f"Another {{question}} (type to search{order})")
    return pick_one(label, list(texts), "question", default=most_disputed, format_func=named_by(texts)) or most_disputed


def asked_question(run: Run) -> str:
    """The text of the question that `pick_question` picks."""
    return _texts(run)[asked_id(run)]


def asked_id(run: Run) -> str:
    """The id of that question, before the picker is drawn."""
    texts = _texts(run)
    return same_name(st.query_params.get("question") or "", texts) or next(iter(texts))


def _texts(run: Run) -> dict[str, str]:
    questions = loaders.load(question_list, run)
    return dict(zip(questions["question_id"], questions["text"], strict=True))


def named_by(names: Mapping[str, str]) -> Callable[[str], str]:
    """A `format_func` that shows each option by its name; an option without a name, left over from another run, by its id."""
    return lambda option: names.get(option, option)


def pick_one(
    label: str,
    options: Sequence[str],
    param: str,
    default: str | None = None,
    format_func: Callable[[str], str] = display_name,
    placeholder: str = "All",
    *,
    show_label: bool = True,
) -> str | None:
    """One of `options`; without a default the picker may stay empty (None)."""
    st.session_state[param] = param_value(param, set(options), default)
    chosen: str | None = st.selectbox(
        escaped_label(label), options, key=param, format_func=distinct_labels(options, format_func), placeholder=placeholder,
        index=None if default is None else 0, on_change=remember_choice, args=(param, default, options),
        label_visibility="visible" if show_label else "collapsed",
    )  # fmt: skip
    return chosen


def pick_many(
    label: str, options: Sequence[str], param: str, format_func: Callable[[str], str] = display_name, placeholder: str = "All"
) -> list[str]:
    """Any number of `options`; none chosen means no filter."""
    st.session_state[param] = param_values(param, set(options))
    chosen: list[str] = st.multiselect(
        escaped_label(label), options, key=param, format_func=distinct_labels(options, format_func), placeholder=placeholder,
        on_change=remember_choice, args=(param, [], options),
    )  # fmt: skip
    return chosen


def choose(
    label: str, options: Sequence[str], param: str, format_func: Callable[[str], str] = display_name, *, show_label: bool = True
) -> str:
    """One of a few `options`, all of them visible; the first is the default."""
    st.session_state[param] = param_value(param, set(options), options[0])
    named = distinct_labels(options, format_func)
    chosen = st.segmented_control(
        escaped_label(label), options, key=param, required=True, wrap=True, format_func=lambda name: escaped(named(name)),
        label_visibility="visible" if show_label else "collapsed", on_change=remember_choice,
        args=(param, options[0], options),
    )  # fmt: skip
    return chosen or options[0]


def type_words(label: str, param: str, placeholder: str = "", *, show_label: bool = True) -> str:
    """The words a person typed, without surrounding spaces."""
    st.session_state[param] = param_value(param, None, "")
    typed: str = st.text_input(
        escaped_label(label), key=param, placeholder=placeholder, max_chars=200, on_change=remember_choice, args=(param, ""),
        label_visibility="visible" if show_label else "collapsed",
    )  # fmt: skip
    return typed.strip()


def param_value(name: str, allowed: Collection[Any] | None, default: str | None, otherwise: str = IGNORED_VALUE) -> str | None:
    """The value of a parameter that takes one of `allowed` (any text when None), or `default`."""
    value = st.query_params.get(name) or None  # `run=` without a value asks for nothing
    if value is None or allowed is None:
        return default if value is None else value
    # An id that was typed or copied may be in the other Unicode form
    if (known := same_name(value, allowed)) is not None:
        return known
    warn_unknown_value(name, value, otherwise)
    return default


def param_values(name: str, allowed: Collection[Any]) -> list[str]:
    """The allowed values of a parameter that may be repeated."""
    values = st.query_params.get_all(name)
    known = {value: same_name(value, allowed) for value in values}
    for value in values:
        if known[value] is None:
            warn_unknown_value(name, value)
    return [one for value in values if (one := known[value]) is not None]


def warn_unknown_value(name: str, value: str, otherwise: str = IGNORED_VALUE) -> None:
    """Warn that the link asks for something that this view does not have, and say what is shown instead."""
    st.warning(f"The link asks for **{escaped(name)} = {escaped(value[:80])}**, {otherwise}")


def remember_choice(name: str, default: Any, options: Collection[Any] | None = None) -> None:
    """Write the state of the widget `name` to the address; a default is left out."""
    value = st.session_state.get(name)
    chosen = value if isinstance(value, list) else [value]
    # A browser reports a choice by its label. Where the label has changed in the meantime (somebody else renamed a theme), the
    # value is not among the options: nobody chose that, so the address stays as it is.
    if options is not None and not all(choice is None or choice in options for choice in chosen):
        return
    if value == default or value is None or value == []:
        st.query_params.pop(name, None)
    else:
        st.query_params[name] = value if isinstance(value, list) else str(value)
