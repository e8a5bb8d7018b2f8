"""The view lives in the address, so a copied link reopens it.

The address is the one source of truth: before a widget is drawn its state is set from the address, and a change
writes the address first. A value that the address may not have is passed over with a note and left standing there.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import streamlit as st

from pages._shared.words import escaped

PASSED_OVER = "which this run does not have. It was passed over."


def one(name: str, allowed: Collection[Any] | None, default: str | None, otherwise: str = PASSED_OVER) -> str | None:
    """The value of a parameter that takes one of `allowed` (any text when None), or `default`."""
    found = st.query_params.get(name) or None  # `run=` with nothing behind it asks for nothing
    if found is None or allowed is None or found in allowed:
        return default if found is None else found
    note(name, found, otherwise)
    return default


def many(name: str, allowed: Collection[Any], default: list[str]) -> list[str]:
    """The values of a parameter that may be repeated, those not in `allowed` left out, or `default`."""
    found = st.query_params.get_all(name)
    for value in found:
        if value not in allowed:
            note(name, value)
    return [value for value in found if value in allowed] if found else default


def note(name: str, value: str, otherwise: str = PASSED_OVER) -> None:
    """Say that the address asks for something that this view does not have, and what is shown instead."""
    st.warning(f"The link asks for **{escaped(name)} = {escaped(value[:80])}**, {otherwise}")


def remember(name: str, default: Any, options: Collection[Any] | None = None) -> None:
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
