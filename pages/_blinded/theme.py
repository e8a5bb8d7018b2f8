"""The browser's theme, light or dark: how pages learn it, and colours that follow it."""

from __future__ import annotations

import streamlit as st

STYLE = """<style>
.stMainBlockContainer { padding: 2.2rem 2.5rem 4rem; max-width: 1500px; }
[data-testid="stMetricValue"] { font-size: 1.9rem; }
.stApp [data-testid="stCaptionContainer"], .stApp [data-has-shortcut] kbd { color: var(--quiet); opacity: 1; }
.stApp h2 { padding-top: 0.5rem; }
.stApp a:focus-visible { outline: 2px solid light-dark(#0b4f6c, #5cb6dd); outline-offset: 1px; }
.stApp button[kind^="primary"]:enabled, .stApp button[kind^="primary"]:enabled * { color: light-dark(#fff, #12151a); }
.stApp { --letters: light-dark(#31333f, #e6e8ec); --quiet: light-dark(#5b6270, #a3aab5); --line: light-dark(#dfe2e6, #343a43);
  --edge: light-dark(#c9ced4, #4a515c); --sheet: light-dark(#fff, #181c23); }
</style>"""
"""Corrections to Streamlit's own style, and the colours of our HTML in both themes.

The wide layout leaves 5 rem on each side, which a narrow screen cannot spare. Captions and shortcut names have a contrast of
3.7 to 1, and WCAG asks for 4.5; the outline of a focused link has 1.1 to 1. `light-dark` follows Streamlit's color-scheme.
"""

SCRIPT = """
export default function (component) {
  const app = document.querySelector(".stApp"), parent = component.parentElement
  const frame = (parent.host ?? parent).closest('[data-testid="stElementContainer"]')
  if (frame) frame.style.display = "none"
  const check = () => {
    const scheme = getComputedStyle(app).colorScheme
    if (scheme !== component.data.drawn) component.setStateValue("theme", scheme)
  }
  const watcher = new MutationObserver(check)
  watcher.observe(app, { attributes: true, attributeFilter: ["class"] })
  check()
  return () => { watcher.disconnect(); if (frame) frame.style.display = "" }
}
"""
_watcher = st.components.v2.component("theme_watcher", js=SCRIPT)


def is_dark() -> bool:
    """Whether the page is shown in dark mode."""
    return st.context.theme.type == "dark"


def rerun_on_theme_change() -> None:
    """Rerun the page when the theme changes: charts get their colours on the server, and Streamlit would not redraw them."""
    drawn = "dark" if is_dark() else "light"
    with st.sidebar:
        _watcher(key="theme_watcher", data={"drawn": drawn}, on_theme_change=_rerun, height=1)


def _rerun() -> None:
    """Streamlit keeps a component's state only if it has a callback; the rerun happens by itself."""
