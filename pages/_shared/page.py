"""The frame of every browsing page: heading, run, notices, and errors explained in a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import streamlit as st

from audit.errors import AuditError
from audit.store.runs import Run
from audit.terms import INTENDED_USE
from pages._blinded.access import current_account, may_browse
from pages._blinded.frame import STYLE, SYNTHETIC, explain, rerun_on_theme_change
from pages._shared import loaders
from pages._shared.navigation import MENU_SEEN, menu
from pages._shared.pickers import pick_run
from pages._shared.previews import preview_banner
from pages._shared.widgets import say

NOTHING_LOADED = "No run is loaded yet. Run one of these two commands in a terminal, then reload this page."
COMMANDS = """\
audit demo          # load a synthetic release to explore
audit load PATH     # load your own release: a folder, .zip or .tar.gz"""
NO_PAIRS = "This run has no pairs of {handbooks} to compare, and this page is about such pairs. *Runs* lists what the run has."
NO_RUN = Run("", "No run yet", "", False, False, "", Path())  # has the default terms


@contextmanager
def page(title: str, lead: str, *, without_pairs: str | None = None) -> Iterator[Run]:
    """Draw a page's frame and pass its run to the body; an AuditError in the body is shown as a message, not as a traceback.

    `title` and `lead` are templates of `say`: `{handbooks}` and the like become the run's own terms. `without_pairs` is the
    lead where the run has no pairs; left out, the page needs pairs, and says in a sentence that the run has none.
    """
    _enter_through_menu()
    st.html(STYLE)
    rerun_on_theme_change()
    heading = st.container()  # filled in later: an unknown run in the address is reported below the title
    run = _run_or_stop(heading, title)
    heading.title(say(run, title), anchor=False)
    heading.markdown(say(run, lead if run.has_pairs or without_pairs is None else without_pairs))
    if run is not NO_RUN:
        heading.caption(say(run, SYNTHETIC if run.synthetic else INTENDED_USE))
    preview_banner(heading, run)
    if not run.has_pairs and without_pairs is None:
        st.info(say(run, NO_PAIRS))
        st.stop()
    try:
        yield run
    except AuditError as error:
        explain(error)


def _enter_through_menu() -> None:
    """Draw the menu and rerun where Streamlit skipped app.py; stop where the page does not exist for this session."""
    # For the first address opened after a start, Streamlit runs the page script directly, because `pages/` is the folder name of
    # its older kind of multi-page app. A copied link would then open with a menu of bare file names.
    if not st.session_state.get(MENU_SEEN):
        st.navigation(menu())
        st.rerun()
    if not may_browse(current_account()):
        st.stop()


def leave_if_signed_out() -> None:
    """For a fragment, which Streamlit runs without its page: draw the whole page where this visitor may no longer browse."""
    if not may_browse(current_account()):
        st.rerun()


def _run_or_stop(heading: st.delta_generator.DeltaGenerator, title: str) -> Run:
    runs = loaders.loaded_runs()
    if not runs:
        _show_nothing_loaded(heading, title)
        st.stop()
    run = pick_run(runs)
    with st.sidebar:
        _copy_link(key="copy_view", width="content")
    return run


def _show_nothing_loaded(heading: st.delta_generator.DeltaGenerator, title: str) -> None:
    heading.title(say(NO_RUN, title), anchor=False)
    for problem in loaders.damaged_stores():
        explain(problem)
    st.info(NOTHING_LOADED)
    st.code(COMMANDS, language="bash")


# The address contains the whole view: filters, page numbers, the open pair. The script also replaces the browser's
# `history.pushState`, and is here because this component is on every page: Streamlit adds a history entry for every parameter
# that a page writes, so a page that writes its run a moment after it opens would take two presses of Back to leave. The
# replacement keeps the first entry after a click or key press and turns all further ones into `replaceState`.
COPY_HTML = '<button type="button"><span>Copy link</span></button>'
COPY_CSS = """
button { font: inherit; font-size: 0.875rem; color: inherit; background: var(--st-background-color);
  cursor: pointer; padding: 0 0.75rem; width: 100%;
  min-height: 2.5rem; border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius); white-space: nowrap; }
button:hover, button:focus-visible { color: var(--st-primary-color); border-color: var(--st-primary-color); }
"""
# navigator.clipboard exists only on https and localhost, and a dashboard on an intranet is often neither.
COPY_SCRIPT = """
const oneHistoryEntryPerAction = () => {
  const history = window.history, push = history.pushState.bind(history)
  if (history.oneHistoryEntryPerAction) return
  history.oneHistoryEntryPerAction = true
  let userActed = false
  for (const type of ["pointerdown", "click", "keydown"]) window.addEventListener(type, () => { userActed = true }, true)
  history.pushState = (...entry) => {
    userActed ? push(...entry) : history.replaceState(...entry)
    userActed = false
  }
}
export default function (component) {
  oneHistoryEntryPerAction()
  const button = component.parentElement.querySelector("button"), label = button.querySelector("span")
  const copyBySelection = (text) => {
    const area = document.createElement("textarea")
    area.value = text; area.style.position = "fixed"; area.style.opacity = "0"
    document.body.append(area); area.select()
    const done = document.execCommand("copy")
    area.remove()
    return done
  }
  button.onclick = async () => {
    const link = window.location.href
    let done
    try { await navigator.clipboard.writeText(link); done = true } catch { done = copyBySelection(link) }
    label.textContent = done ? "Link copied" : "Copy it from the address bar"
    setTimeout(() => { label.textContent = "Copy link" }, 2500)
  }
}
"""

_copy_link = st.components.v2.component("copy_link", html=COPY_HTML, css=COPY_CSS, js=COPY_SCRIPT)
