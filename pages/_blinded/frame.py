"""The frame of a page: heading, safe text, errors shown as sentences, and colours that follow light or dark mode."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import streamlit as st

from annotation.label_store.studies import Study
from annotation.studies.accounts import Account, Role
from audit.errors import AuditError
from audit.formatting import printable, unlinked
from pages._blinded.access import require_role

PUNCTUATION = re.compile(f"([{re.escape(string.punctuation)}])")
PLAIN_IN_LABELS = re.compile(r"\\([(),;'?%])")
SYNTHETIC = ":orange-badge[Synthetic data] No real {handbook}, {center} or {patient}. Not for clinical use."


def escaped(text: object) -> str:
    """Untrusted text on one line, escaped so that Streamlit shows every character and interprets none as Markdown."""
    # Every mark is escaped, not only those of Markdown: Streamlit adds `:red[x]` and `$x$`, and may add more. Bare addresses
    # become links after the escapes have been read, so that only a character inside them helps.
    return PUNCTUATION.sub(r"\\\1", unlinked(" ".join(printable(str(text)).split())))


def escaped_label(text: object) -> str:
    """The same for the label of a widget, without the escapes that only a sentence's own punctuation would need."""
    # Streamlit hands a label to screen readers as it was written, so they would read every backslash aloud.
    return PLAIN_IN_LABELS.sub(r"\1", escaped(text))


def synthetic_notice(study: Study) -> None:
    """Say that a study's texts are synthetic, where they are."""
    # This breaks no blinding: it applies to every item, so it reveals nothing about any one.
    if study.synthetic:
        words = {word: escaped(study.terms.get(word, word)) for word in ("handbook", "center", "patient")}
        st.caption(SYNTHETIC.format(**words))


def explain(error: AuditError) -> None:
    """Show an error as a sentence."""
    st.error(escaped(error))


# Corrections to Streamlit's own style, and the colours of our HTML in both themes. The wide layout leaves 5 rem on each side,
# which a narrow screen cannot spare. Captions and shortcut names have a contrast of 3.7 to 1, and WCAG asks for 4.5; the outline
# of a focused link has 1.1 to 1. `light-dark` follows Streamlit's color-scheme.
PRINT_CSS = Path(__file__).with_name("print.css").read_text(encoding="utf-8")
STYLE = (
    f"<style>{PRINT_CSS}</style>"
    """<style>
.stMainBlockContainer { padding: 0.45rem 2.5rem 3rem; max-width: 1500px; }
.stMainBlockContainer > [data-testid="stVerticalBlock"] { gap: 0.75rem; }
.st-key-heading { column-gap: 0.9rem; row-gap: 0; align-items: baseline; }
.st-key-heading h1 { padding: 0; font-size: 1.4rem; }
.st-key-heading [data-testid="stCaptionContainer"] { font-size: 0.875rem; }
[data-testid="stLayoutWrapper"]:has(> .st-key-tabs) { margin: 0 0 -0.1rem; }
.stApp code { font-size: 0.875rem; }
/* A figure begins with the title and source of a saved image (audit/charts/captions.py); a page has its own heading. */
[data-testid="stElementContainer"]:has(.stPlotlyChart) { margin-top: -76px; clip-path: inset(76px 0 0); }
.stPlotlyChart .modebar { top: 78px !important; }
@media screen and (max-width: 640px) { /* a phone scrolls a figure sideways: squeezed, its names lie over each other */
  [class*="st-key-drawn_"] { overflow-x: auto; }
  [class*="st-key-drawn_"]:not([class*="drawn_matrix"]) :is([data-testid="stElementContainer"], .stPlotlyChart) {
    min-width: 38rem; }
  /* Streamlit leaves out the left edge of a button after the chosen one, which on a phone may begin a line. */
  [data-testid="stButtonGroup"] button[aria-checked="false"] { border-left-color: light-dark(#31333f33, #e6e8ec33); } }
/* What a run is for stands at the end of the page, and is read first. */
[data-testid="stLayoutWrapper"]:has(> .st-key-notices) { order: 99; }
[data-testid="stMetricValue"] { font-size: 1.9rem; }
.stApp [data-testid="stCaptionContainer"], .stApp [data-has-shortcut] kbd { color: var(--quiet); opacity: 1; }
.stApp h2 { padding-top: 0.5rem; }
.stApp a:focus-visible { outline: 2px solid light-dark(#0b4f6c, #5cb6dd); outline-offset: 1px; }
.stApp button[kind^="primary"]:enabled, .stApp button[kind^="primary"]:enabled * { color: light-dark(#fff, #12151a); }
.stApp { --letters: light-dark(#31333f, #e6e8ec); --quiet: light-dark(#5b6270, #a3aab5); --line: light-dark(#dfe2e6, #343a43);
  --edge: light-dark(#c9ced4, #4a515c); --sheet: light-dark(#fff, #181c23); }
</style>"""
)

SCRIPT = """
export default function (component) {
  const app = document.querySelector(".stApp"), parent = component.parentElement
  const frame = (parent.host ?? parent).closest('[data-testid="stElementContainer"]')
  if (frame) frame.style.display = "none"
  const phone = matchMedia("(max-width: 640px)")
  const check = () => {
    const scheme = getComputedStyle(app).colorScheme
    if (scheme !== component.data.drawn) component.setStateValue("theme", scheme)
    if (phone.matches !== component.data.phone) component.setStateValue("phone", phone.matches)
  }
  const watcher = new MutationObserver(check)
  watcher.observe(app, { attributes: true, attributeFilter: ["class"] })
  phone.addEventListener("change", check)
  check()
  return () => {
    watcher.disconnect()
    phone.removeEventListener("change", check)
    if (frame) frame.style.display = ""
  }
}
"""
_watcher = st.components.v2.component("theme_watcher", js=SCRIPT)
WATCHER = "theme_watcher"


def is_dark() -> bool:
    """Whether the page is shown in dark mode."""
    return st.context.theme.type == "dark"


def is_phone() -> bool:
    """Whether the window is as narrow as a phone's; known from the second run of a session on."""
    return bool(getattr(st.session_state.get(WATCHER), "phone", False))


def rerun_on_theme_change() -> None:
    """Rerun the page when the theme changes, or when the window becomes as narrow as a phone's or wider."""
    # Charts get their colours and their layout on the server, and Streamlit would not redraw them.
    data = {"drawn": "dark" if is_dark() else "light", "phone": is_phone()}
    with st.sidebar:
        # Streamlit keeps a component's state only if it has a callback; the rerun happens by itself.
        _watcher(key=WATCHER, data=data, on_theme_change=lambda: None, on_phone_change=lambda: None, height=1)


def heading(title: str, lead: str = "") -> None:
    """The one line above a page: its title, and what it answers. Both are Markdown."""
    with st.container(horizontal=True, key="heading", gap="small"):
        st.title(title, anchor=False, width="content")
        if lead:
            st.caption(lead, width="content")


@contextmanager
def study_page(title: str, lead: str, *roles: Role) -> Iterator[Account]:
    """Draw the frame and pass the session's account to the body; an AuditError in the body is shown as a sentence."""
    st.html(STYLE)
    rerun_on_theme_change()
    heading(title, lead)
    try:
        yield require_role(*roles)
    except AuditError as error:
        explain(error)
