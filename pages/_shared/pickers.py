"""Pickers whose choice is kept in the address: the key of the widget is the name of the parameter."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import streamlit as st

from audit.store.runs import Run, newest_full_run
from audit.terms import display_name
from pages._shared import loaders
from pages._shared.terms import escaped

LAST_RUN = "last run seen"
NOT_LOADED = "which is not loaded here. **The figures below are those of the run named at the left.**"


def pick_run(runs: list[Run]) -> Run:
    """The run of this page: the one in the address, else the one seen last, else the newest whole one. Drawn in the sidebar."""
    by_key = {run.key: run for run in runs}
    last = st.session_state.get(LAST_RUN)
    key = param_value("run", by_key, last if last in by_key else newest_full_run(runs).key, NOT_LOADED)
    st.session_state["run"] = key
    st.sidebar.selectbox(
        "Run", list(by_key), key="run", format_func=lambda key: _described(by_key[key]),
        on_change=remember_choice, args=("run", None, list(by_key)),
    )  # fmt: skip
    st.sidebar.caption(f"{escaped(key)}  \nloaded {escaped(by_key[str(key)].loaded_at[:10])}")
    st.session_state[LAST_RUN] = key
    if "run" not in st.query_params:
        st.query_params["run"] = str(key)
    return by_key[str(key)]


def current_run() -> Run | None:
    """The run that the page will show, without drawing anything: for the menu's words."""
    by_key = {run.key: run for run in loaders.loaded_runs()}
    asked = (st.query_params.get("run"), st.session_state.get(LAST_RUN))
    return next((by_key[key] for key in asked if key in by_key), newest_full_run(list(by_key.values())) if by_key else None)


def pick_one(
    label: str,
    options: Sequence[str],
    param: str,
    default: str | None = None,
    format_func: Callable[[str], str] = display_name,
    placeholder: str = "All",
) -> str | None:
    """One of `options`; with no default it may be left open (None)."""
    st.session_state[param] = param_value(param, set(options), default)
    chosen: str | None = st.selectbox(
        escaped(label), options, key=param, format_func=format_func, placeholder=placeholder,
        index=None if default is None else 0, on_change=remember_choice, args=(param, default, options),
    )  # fmt: skip
    return chosen


def pick_many(
    label: str, options: Sequence[str], param: str, format_func: Callable[[str], str] = display_name, placeholder: str = "All"
) -> list[str]:
    """Any number of `options`; none chosen means no filter."""
    st.session_state[param] = param_values(param, set(options), [])
    chosen: list[str] = st.multiselect(
        escaped(label), options, key=param, format_func=format_func, placeholder=placeholder,
        on_change=remember_choice, args=(param, [], options),
    )  # fmt: skip
    return chosen


def choose(
    label: str, options: Sequence[str], param: str, format_func: Callable[[str], str] = display_name, *, show_label: bool = True
) -> str:
    """One of a few `options`, all of them in sight; the first is the default."""
    st.session_state[param] = param_value(param, set(options), options[0])
    chosen = st.segmented_control(
        escaped(label), options, key=param, required=True, wrap=True, format_func=lambda name: escaped(format_func(name)),
        label_visibility="visible" if show_label else "collapsed", on_change=remember_choice,
        args=(param, options[0], options),
    )  # fmt: skip
    return chosen or options[0]


def type_words(label: str, param: str, placeholder: str = "") -> str:
    """Words a person types, as typed, without the spaces around them."""
    st.session_state[param] = param_value(param, None, "")
    typed: str = st.text_input(
        escaped(label), key=param, placeholder=placeholder, max_chars=200, on_change=remember_choice, args=(param, "")
    )
    return typed.strip()


def _described(run: Run) -> str:
    return f"{run.title} ({run.key})"


IGNORED_VALUE = "which this run does not have. It was passed over."


def param_value(name: str, allowed: Collection[Any] | None, default: str | None, otherwise: str = IGNORED_VALUE) -> str | None:
    """The value of a parameter that takes one of `allowed` (any text when None), or `default`."""
    found = st.query_params.get(name) or None  # `run=` with nothing behind it asks for nothing
    if found is None or allowed is None or found in allowed:
        return default if found is None else found
    warn_unknown_value(name, found, otherwise)
    return default


def param_values(name: str, allowed: Collection[Any], default: list[str]) -> list[str]:
    """The values of a parameter that may be repeated, those not in `allowed` left out, or `default`."""
    found = st.query_params.get_all(name)
    for value in found:
        if value not in allowed:
            warn_unknown_value(name, value)
    return [value for value in found if value in allowed] if found else default


def warn_unknown_value(name: str, value: str, otherwise: str = IGNORED_VALUE) -> None:
    """Say that the address asks for something that this view does not have, and what is shown instead."""
    st.warning(f"The link asks for **{escaped(name)} = {escaped(value[:80])}**, {otherwise}")


def remember_choice(name: str, default: Any, options: Collection[Any] | None = None) -> None:
    """Write the state of the widget `name` into the address; the default needs no mention there.

    A browser names a choice by the words that it showed. Where these changed meanwhile (a theme was renamed by somebody else)
    they come back as no option at all: nobody chose that, and the address keeps what it has.
    """
    value = st.session_state.get(name)
    chosen = value if isinstance(value, list) else [value]
    if options is not None and not all(each is None or each in options for each in chosen):
        return
    if value == default or value is None or value == []:
        st.query_params.pop(name, None)
    else:
        st.query_params[name] = value if isinstance(value, list) else str(value)
