"""The frame of every browsing page: its run, heading and notices, and errors explained in a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import streamlit as st
from markupsafe import Markup

from audit.errors import AuditError
from audit.store.runs import Run
from audit.terms import INTENDED_USE
from pages._blinded.access import current_account, may_browse
from pages._blinded.frame import STYLE, SYNTHETIC, escaped, explain, heading, rerun_on_theme_change
from pages._shared import loaders
from pages._shared.pickers import current_run, real_runs_first, remember_run, requested_run, run_label
from pages._shared.previews import preview_banner
from pages._shared.widgets import say

NOTHING_LOADED = "No run is loaded yet. Run one of these two commands in a terminal, then reload this page."
RUN_IS_GONE = (
    "The run **{key}** is not loaded here: it was removed, or loaded again with other data. Which run do you want to see? "
    "The rest of the address stays as it is."
)
COMMANDS = """\
audit demo          # load a synthetic release to explore
audit load PATH     # load your own release: a folder, .zip or .tar.gz"""
NO_PAIRS = "This run has no pairs of {handbooks} to compare, and this page is about such pairs. *Runs* lists what the run has."
NOT_COMPARED = (
    "Nothing has compared the {handbooks} of this run yet, and this page is about such comparisons. What each {handbook} says is "
    "on *Questions* and *Coverage*."
)
OF_SYSTEMS = "For comparing answering systems. Not for decisions about {a_patient}."
PRINTED = "{title} ({key}), from the handbook audit."
NO_RUN = Run("", "No run yet", "", False, False, "", Path())  # has the default terms


@contextmanager
def page(
    title: str, lead: str, *, without_pairs: str | None = None, unlabelled: str | None = None, without_run: bool = False,
    headed: Callable[[Run], str] | None = None,
) -> Iterator[Run]:  # fmt: skip
    """Draw a page's frame and pass its run to the body; an AuditError in the body is shown as a message, not as a traceback.

    `title` and `lead` are templates of `say`: `{handbooks}` and the like become the run's own terms. `without_pairs` is the
    lead where the run has no pairs, `unlabelled` where it has handbooks that nothing has compared; where both are left out, the
    page needs pairs, and says in a sentence that the run has none. `without_run`: the page also works where no run is loaded; it
    gets one that has the default terms and nothing else. `headed`: the heading that a run gives the page, in place of the title,
    as plain text.
    """
    if not may_browse(current_account()):
        st.stop()
    st.html(STYLE)
    rerun_on_theme_change()
    run = _run_or_stop(title, without_run)
    other_lead = unlabelled if unlabelled is not None and run.has_handbooks else without_pairs
    if run is not NO_RUN:
        heading(
            say(run, title) if headed is None else escaped(headed(run)),
            say(run, lead if run.has_pairs or other_lead is None else other_lead),
        )
        st.html(Markup('<p class="printed">{}</p>').format(PRINTED.format(title=run.title, key=run.key)))
        notices = st.container(key="notices")
        use = INTENDED_USE if run.has_handbooks else OF_SYSTEMS
        notices.caption(say(run, SYNTHETIC if run.synthetic else use))
    preview_banner(st.container(), run)
    if not run.has_pairs and other_lead is None:
        st.info(say(run, NOT_COMPARED if run.has_handbooks else NO_PAIRS))
        st.stop()
    try:
        yield run
    except AuditError as error:
        explain(error)


def leave_if_signed_out() -> None:
    """For a fragment, which Streamlit runs without its page: draw the whole page where this visitor may no longer browse."""
    if not may_browse(current_account()):
        st.rerun()


def _run_or_stop(title: str, without_run: bool) -> Run:
    runs = loaders.loaded_runs()
    if not runs:
        _show_nothing_loaded(title)
        if without_run:
            return NO_RUN
        st.stop()
    run = current_run()
    if run is None:
        _ask_which_run(title, runs)
        st.stop()
    remember_run(run.key)
    return run


def _show_nothing_loaded(title: str) -> None:
    heading(say(NO_RUN, title))
    for problem in loaders.damaged_stores():
        explain(problem)
    st.info(NOTHING_LOADED)
    st.code(COMMANDS, language="bash", wrap_lines=True)


def _ask_which_run(title: str, runs: list[Run]) -> None:
    """The run that is asked for is not loaded: another one is only shown when somebody chooses it."""
    heading(say(NO_RUN, title))
    st.warning(say(NO_RUN, RUN_IS_GONE, key=(requested_run() or "")[:80]))
    for run in real_runs_first(runs):
        st.button(
            escaped(run_label(run)), key=f"choose_{run.key}", on_click=remember_run, args=(run.key,), icon=":material/dataset:"
        )
