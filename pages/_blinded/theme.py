"""Light or dark, as whoever looks at the page, or the machine, has chosen."""

from __future__ import annotations

import streamlit as st

SCRIPT = """
export default function (component) {
  const app = document.querySelector(".stApp"), parent = component.parentElement
  const frame = (parent.host ?? parent).closest('[data-testid="stElementContainer"]')
  if (frame) frame.style.display = "none"
  const look = () => {
    const now = getComputedStyle(app).colorScheme
    if (now !== component.data.drawn) component.setStateValue("ground", now)
  }
  const watcher = new MutationObserver(look)
  watcher.observe(app, { attributes: true, attributeFilter: ["class"] })
  look()
  return () => { watcher.disconnect(); if (frame) frame.style.display = "" }
}
"""
_watch = st.components.v2.component("ground", js=SCRIPT)


def is_dark() -> bool:
    """Whether letters are light on a dark ground."""
    return st.context.theme.type == "dark"


def rerun_on_theme_change() -> None:
    """Run the page again when light turns to dark or back: charts are drawn here, and Streamlit lets them stand as they were."""
    with st.sidebar:
        _watch(key="ground", data={"drawn": "dark" if is_dark() else "light"}, on_ground_change=_nothing, height=1)


def _nothing() -> None:
    """A state has to have a callback; that the page runs is all that is wanted."""
