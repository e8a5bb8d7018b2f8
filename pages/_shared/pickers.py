"""Pickers whose choice is kept in the address: the key of the widget is the name of the parameter."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from audit.store.runs import Run, newest_whole
from audit.terms import display_name
from pages._shared import loaders, url
from pages._shared.words import escaped

LAST_RUN = "last run seen"
NOT_LOADED = "which is not loaded here. **The figures below are those of the run named at the left.**"


def pick_run(runs: list[Run]) -> Run:
    """The run of this page: the one in the address, else the one seen last, else the newest whole one. Drawn in the sidebar."""
    by_key = {run.key: run for run in runs}
    last = st.session_state.get(LAST_RUN)
    key = url.one("run", by_key, last if last in by_key else newest_whole(runs).key, NOT_LOADED)
    st.session_state["run"] = key
    st.sidebar.selectbox(
        "Run", list(by_key), key="run", format_func=lambda key: _described(by_key[key]),
        on_change=url.remember, args=("run", None, list(by_key)),
    )  # fmt: skip
    st.sidebar.caption(f"{escaped(key)}  \nloaded {escaped(by_key[str(key)].loaded_at[:10])}")
    st.session_state[LAST_RUN] = key
    if "run" not in st.query_params:
        st.query_params["run"] = str(key)
    return by_key[str(key)]


def current_run() -> Run | None:
    """The run that the page will show, without drawing anything: for the menu's words."""
    by_key = {run.key: run for run in loaders.runs()}
    asked = (st.query_params.get("run"), st.session_state.get(LAST_RUN))
    return next((by_key[key] for key in asked if key in by_key), newest_whole(list(by_key.values())) if by_key else None)


def pick_one(
    label: str,
    options: Sequence[str],
    param: str,
    default: str | None = None,
    format_func: Callable[[str], str] = display_name,
    placeholder: str = "All",
) -> str | None:
    """One of `options`; with no default it may be left open (None)."""
    st.session_state[param] = url.one(param, set(options), default)
    chosen: str | None = st.selectbox(
        escaped(label), options, key=param, format_func=format_func, placeholder=placeholder,
        index=None if default is None else 0, on_change=url.remember, args=(param, default, options),
    )  # fmt: skip
    return chosen


def pick_many(
    label: str, options: Sequence[str], param: str, format_func: Callable[[str], str] = display_name, placeholder: str = "All"
) -> list[str]:
    """Any number of `options`; none chosen means no filter."""
    st.session_state[param] = url.many(param, set(options), [])
    chosen: list[str] = st.multiselect(
        escaped(label), options, key=param, format_func=format_func, placeholder=placeholder,
        on_change=url.remember, args=(param, [], options),
    )  # fmt: skip
    return chosen


def choose(
    label: str, options: Sequence[str], param: str, format_func: Callable[[str], str] = display_name, *, label_in_sight: bool = True
) -> str:
    """One of a few `options`, all of them in sight; the first is the default."""
    st.session_state[param] = url.one(param, set(options), options[0])
    chosen = st.segmented_control(
        escaped(label), options, key=param, required=True, wrap=True, format_func=lambda name: escaped(format_func(name)),
        label_visibility="visible" if label_in_sight else "collapsed", on_change=url.remember, args=(param, options[0], options),
    )  # fmt: skip
    return chosen or options[0]


def type_words(label: str, param: str, placeholder: str = "") -> str:
    """Words a person types, as typed, without the spaces around them."""
    st.session_state[param] = url.one(param, None, "")
    typed: str = st.text_input(
        escaped(label), key=param, placeholder=placeholder, max_chars=200, on_change=url.remember, args=(param, "")
    )
    return typed.strip()


def _described(run: Run) -> str:
    return f"{run.title} ({run.key})"
