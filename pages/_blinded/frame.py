"""The frame of a page: heading, safe text, errors shown as sentences, and colours that follow light or dark mode."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import streamlit as st

from annotation.label_store.studies import Study
from annotation.studies.accounts import Account, Role
from audit.errors import AuditError
from audit.formatting import isolated, printable, unbroken, unlinked
from pages._blinded.access import require_role

PUNCTUATION = re.compile(f"([{re.escape(string.punctuation)}])")
PLAIN_IN_LABELS = re.compile(r"\\([(),;'?%])")
SYNTHETIC = ":orange-badge[Synthetic data] No real {handbook}, {center} or {patient}. Not for use in practice."


def escaped(text: object) -> str:
    """Untrusted text on one line, escaped so that Streamlit shows every character and interprets none as Markdown."""
    # Every mark is escaped, not only those of Markdown: Streamlit adds `:red[x]` and `$x$`, and may add more. Bare addresses
    # become links after the escapes have been read, so that only a character inside them helps.
    return PUNCTUATION.sub(r"\\\1", isolated(unlinked(unbroken(" ".join(printable(str(text)).split())))))


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


def guarded(section: Callable[..., None], *arguments: object) -> None:
    """Draw a section; an error in it is shown there, and the rest of the page stays usable."""
    try:
        section(*arguments)
    except AuditError as error:
        explain(error)


HERE = Path(__file__).parent
STYLE = "".join(f"<style>{(HERE / name).read_text(encoding='utf-8')}</style>" for name in ("print.css", "frame.css"))
_watcher = st.components.v2.component("theme_watcher", js=(HERE / "theme_watcher.js").read_text(encoding="utf-8"))
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
