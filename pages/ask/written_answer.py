"""An answer from the passages found that a model writes, where an endpoint is configured; its quotes are checked."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from annotation.studies.app_settings import host_of
from audit.commands import WRITE_ASKED, load_object
from audit.jobs.asking import Asked
from audit.release.sourced_answers import SourcedAnswer
from audit.store.runs import Run
from pages._blinded.access import current_account, current_settings, may_rejudge
from pages._shared.loaders import recent_answers, remember_answer
from pages._shared.rejudge_request import only_for_the_owner
from pages._shared.widgets import counts, say
from pages.ask.answers import written_html

OFFER = "A model can write one answer from these passages. The {question} and the passages go to {host}."
CHECKED = (
    "Written by {writer}. Each statement links to the sentences that it rests on: they are in the passages word for word, and "
    "have its figures. A model may still have misread them."
)


def written_answer(run: Run, asked: Asked, names: Mapping[str, str]) -> None:
    """The model's answer, or the offer to have one written; nothing where no endpoint is configured."""
    settings = current_settings()
    if not settings.judge_urls:
        return
    key = ("written", run.digest, run.loaded_at, asked.question, asked.scope)
    answer: SourcedAnswer | None = recent_answers().get(key)
    if answer is None and not may_rejudge(current_account()):
        return
    st.header("An answer by a model", anchor=False)
    if answer is None:
        counts(run, OFFER, host=host_of(settings.judge_urls[0]))
        if not st.button("Write an answer", icon=":material/edit_note:"):
            return
        only_for_the_owner()  # this session may have ended since the page was drawn
        with st.spinner("The model is writing ..."):
            answer = load_object(WRITE_ASKED)(settings, run, asked)
        remember_answer(key, answer)
    st.html(written_html(answer, names, run))
    for note in answer.notes:
        counts(run, "{note}", note=note)
    st.caption(say(run, CHECKED, writer=answer.writer))
