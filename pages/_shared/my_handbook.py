"""The reader's own handbook: chosen once, kept in the address and, from page to page, for the visit."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from audit.store.runs import Run
from pages._shared.pickers import named_by, pick_one
from pages._shared.widgets import say

PARAM = "mine"


def my_handbook(run: Run, names: Mapping[str, str]) -> str | None:
    """The handbook that the reader has chosen, on this page or on another one during the visit."""
    mine = st.query_params.get(PARAM) or st.session_state.get(_kept(run))
    return mine if mine in names else None


def pick_my_handbook(run: Run, names: Mapping[str, str]) -> str | None:
    """A picker of one's own handbook; None where nobody has chosen one. `names`: handbook id -> its name."""
    if PARAM not in st.query_params and (mine := my_handbook(run, names)):
        st.query_params[PARAM] = mine
    ordered = sorted(names, key=lambda handbook_id: names[handbook_id].casefold())
    mine = pick_one(say(run, "My {handbook}"), ordered, PARAM, format_func=named_by(names), placeholder="Choose one")
    st.session_state[_kept(run)] = mine
    return mine


def _kept(run: Run) -> str:
    return f"my handbook of {run.key}"
