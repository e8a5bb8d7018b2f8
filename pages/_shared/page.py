"""The frame of every browsing page: heading, run, notices, and errors explained in a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import streamlit as st

from audit.errors import AuditError
from audit.store.runs import Run
from pages._blinded.access import current_account, may_browse
from pages._blinded.frame import SYNTHETIC, explain
from pages._blinded.theme import STYLE, rerun_on_theme_change
from pages._shared import loaders
from pages._shared.copy_link import copy_link
from pages._shared.navigation import MENU_SEEN, menu
from pages._shared.pickers import pick_run
from pages._shared.terms import say

NOTHING_LOADED = "No run is loaded yet. Run one of these two commands in a terminal, then reload this page."
COMMANDS = """\
audit demo          # load a synthetic release to explore
audit load PATH     # load your own release: a folder, .zip or .tar.gz"""
NO_RUN = Run("", "No run yet", "", False, False, "", Path())
"""Provides the default terms for a page before anything is loaded."""


@contextmanager
def page(title: str, lead: str) -> Iterator[Run]:
    """Draw a page's frame and pass its run to the body; an AuditError in the body is shown as a message, not as a traceback.

    `title` and `lead` are templates of `say`: `{handbooks}` and the like become the run's own terms.
    """
    _enter_through_menu()
    st.html(STYLE)
    rerun_on_theme_change()
    heading = st.container()
    run = _run_or_stop(heading, title)
    heading.title(say(run, title), anchor=False)
    heading.markdown(say(run, lead))
    if run.synthetic:
        heading.caption(say(run, SYNTHETIC))
    try:
        yield run
    except AuditError as error:
        explain(error)


def _enter_through_menu() -> None:
    """Draw the menu and rerun where Streamlit skipped app.py; stop where the page does not exist for this session.

    For the first address opened after a start, Streamlit runs the page script directly, because `pages/` is the folder name of
    its older kind of multi-page app. A copied link would then open with a menu of bare file names.
    """
    if not st.session_state.get(MENU_SEEN):
        st.navigation(menu())
        st.rerun()
    if not may_browse(current_account()):
        st.stop()


def _run_or_stop(heading: st.delta_generator.DeltaGenerator, title: str) -> Run:
    runs = loaders.loaded_runs()
    if not runs:
        _show_nothing_loaded(heading, title)
        st.stop()
    run = pick_run(runs)
    with st.sidebar:
        copy_link("copy_view")
    return run


def _show_nothing_loaded(heading: st.delta_generator.DeltaGenerator, title: str) -> None:
    heading.title(say(NO_RUN, title), anchor=False)
    for problem in loaders.damaged_stores():
        explain(problem)
    st.info(NOTHING_LOADED)
    st.code(COMMANDS, language="bash")
