"""The reader's own handbook on Start: what it leaves out, where it stands alone, where it contradicts itself."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from audit.charts.style import handbook_names
from audit.metrics.coverage import gaps
from audit.metrics.stands_alone import stands_alone
from audit.metrics.within_handbook import was_read, within_handbook_counts
from audit.queries.lookup import handbook_list
from audit.store.runs import Run
from pages._blinded.frame import escaped
from pages._blinded.scripts import script_path
from pages._shared.found_states import errors_of
from pages._shared.loaders import load
from pages._shared.my_handbook import pick_my_handbook
from pages._shared.self_disagreements import NOT_CHECKED
from pages._shared.widgets import counts, how_counted, link, say

SHOWN = 2
CHOOSE = "Choose yours: what it leaves out, where it stands alone, where it contradicts itself."
CHOOSE_UNLABELLED = "Choose yours: what it leaves out, where it contradicts itself."
GAPS = "**{n}** {things} that most comparable {handbooks} answer {are} not addressed in it."
GAPS_FOUND = "**{n}** {things} that most comparable {handbooks} answer {were} not found in it."
NO_GAP = "It leaves out no {question} that most comparable {handbooks} answer."
ALONE = "On **{n}** {things} it disagrees with most of the others that answer."
NOT_ALONE = "On no {question} does it disagree with most of the others that answer."
ITSELF = "Its passages contradict each other on **{n}** {subjects}, of {pairs} pairs of passages compared."
NOT_ITSELF = "None of {pairs} pairs of its passages on one thing was found to differ."


def my_handbook(run: Run) -> None:
    """The picker, and what is known of the chosen handbook, each figure a link to what is behind it."""
    names = handbook_names(load(handbook_list, run))
    mine = pick_my_handbook(run, names)
    if mine is None:
        counts(run, CHOOSE if run.has_pairs else CHOOSE_UNLABELLED)
        return
    if run.has_answers:
        _left_out(run, mine)
    if run.has_pairs:
        _alone(run, mine)
    _itself(run, mine)
    link("handbook", "Everything about it", run, icon=":material/menu_book:", handbook=mine)


def _left_out(run: Run, mine: str) -> None:
    frame = load(gaps, run, handbook_id=mine)
    if frame.empty:
        st.markdown(say(run, NO_GAP))
        return
    one = len(frame) == 1
    words = GAPS_FOUND if errors_of(run).searched else GAPS
    are = {"are": "is" if one else "are", "were": "was" if one else "were"}
    st.markdown(say(run, words, n=f"{len(frame):,}", things=run.term("question", len(frame)), **are))
    _questions(run, frame.head(SHOWN))
    link("disagreements", "What it leaves out", run, icon=":material/checklist:", tab="left-out", mine=mine)


def _alone(run: Run, mine: str) -> None:
    frame = load(stands_alone, run, handbook_id=mine)
    if frame.empty:
        st.markdown(say(run, NOT_ALONE))
        return
    st.markdown(say(run, ALONE, n=f"{len(frame):,}", things=run.term("question", len(frame))))
    _questions(run, frame.head(SHOWN))
    if len(frame) > SHOWN:
        with st.expander(f"{len(frame) - SHOWN:,} more"):
            _questions(run, frame.tail(-SHOWN))
    how_counted("stands_alone")


def _itself(run: Run, mine: str) -> None:
    every = load(within_handbook_counts, run)
    own = every[every["handbook_id"] == mine]
    if not was_read(own).all() or own.empty:
        st.markdown(say(run, NOT_CHECKED))
        return
    row, pairs = own.iloc[0], f"{own['compared'].iloc[0]:,}"
    found = int(row["findings"])
    subjects = "subject" if found == 1 else "subjects"
    st.markdown(say(run, ITSELF if found else NOT_ITSELF, n=f"{found:,}", subjects=subjects, pairs=pairs))


def _questions(run: Run, frame: pd.DataFrame) -> None:
    for row in frame.to_dict("records"):
        asked = {"run": run.key, "question": str(row["question_id"])}
        st.page_link(script_path("question"), label=escaped(row["text"]), query_params=asked)
