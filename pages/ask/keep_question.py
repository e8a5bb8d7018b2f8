"""Saving an asked question: nothing is stored unless a user adds it as a run of its own."""

from __future__ import annotations

import streamlit as st

from audit.commands import ADD_ASKED, load_object
from audit.jobs.asking import Asked
from audit.settings import Settings
from audit.store.runs import Run
from pages._blinded.access import current_account, may_rejudge
from pages._shared.loaders import loaded_runs
from pages._shared.rejudge_request import only_for_the_owner
from pages._shared.widgets import counts, link, say

NOT_STORED = "No {question} is stored. It is in the address of this page, so that *Copy link* gives a link that asks it again."
ADDING = (
    "*Add to a run* writes a release with this {question} and the passages of every {handbook}, and loads it as a new run, in "
    "which nothing is compared yet. This run does not change."
)


def keep_question(run: Run, asked: Asked) -> None:
    """Say that nothing is stored, and offer to add the question as a run to those who may have pairs judged."""
    st.header("Keep it", anchor=False)
    counts(run, NOT_STORED)
    if not may_rejudge(current_account()):
        return
    counts(run, ADDING)
    state_key = f"kept {run.key} {asked.scope} {asked.question}"
    if st.button("Add to a run", icon=":material/save:"):
        only_for_the_owner()  # this session may have ended since the page was drawn
        with st.spinner("Writing and loading the release ..."):
            st.session_state[state_key] = load_object(ADD_ASKED)(Settings(), run, asked).key
    new = next((loaded for loaded in loaded_runs() if loaded.key == st.session_state.get(state_key)), None)
    if new is not None:
        _saved(new)


def _saved(new: Run) -> None:
    st.success(say(new, "Added as the run **{title}** ({key}).", title=new.title, key=new.key))
    with st.container(horizontal=True):
        link("question", "Open the {question}", new, icon=":material/open_in_new:", question=new.run_id)
