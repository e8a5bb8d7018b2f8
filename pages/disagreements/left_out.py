"""Tab *Left out by mine*: the questions that most peers of the reader's own handbook answer and it does not."""

from __future__ import annotations

import streamlit as st

from audit.metrics.coverage import gaps
from audit.store.runs import Run
from audit.tables import Column
from pages._shared.found_states import errors_of, miss_sentence
from pages._shared.loaders import load
from pages._shared.my_handbook import pick_my_handbook
from pages._shared.widgets import counts, footer, linked_rows, say

CHOOSE = "Choose {a_handbook} to see which {questions} most comparable {handbooks} answer and it does not."
NO_ANSWERS = "This run has no answers, so what {a_handbook} leaves out is unknown."
NONE = "No {question} that most comparable {handbooks} answer was left out by {name}."
FOUND = (
    "{number} that most comparable {handbooks} answer and **{name}** does not, the clearest first. Only {questions} of its "
    "{organ} and general ones count; comparable are {handbooks} of its {organ}, and all where fewer than three of "
    "these were asked. Click a row to see what all {handbooks} say on it."
)


def left_out(run: Run, names: dict[str, str]) -> None:
    """A picker of one's own handbook, kept in the address as `mine`, and what it leaves out; a click opens the question."""
    mine = pick_my_handbook(run, names)
    if not run.has_answers:
        st.info(say(run, NO_ANSWERS))
        return
    if mine is None:
        st.info(say(run, CHOOSE))
        return
    frame = load(gaps, run, handbook_id=mine)
    if frame.empty:
        st.info(say(run, NONE, name=names[mine]))
        return
    number = say(run, "**1** {question}" if len(frame) == 1 else "**{n}** {questions}", n=f"{len(frame):,}")
    counts(run, FOUND.replace("{number}", number), name=names[mine])
    if errors_of(run).searched:
        st.caption(miss_sentence(run))
    counted = [f"{row.peers_answering:,} of {row.peers_asked:,}" for row in frame.itertuples()]
    columns = [*gaps.table.pick(run, "text", "topics"), Column.text("answering", say(run, "Comparable that answer"))]
    linked_rows(
        run, frame.assign(answering=counted), "left_out_table", columns, "question",
        lambda row: {"question": row["question_id"]},
    )  # fmt: skip
    footer(frame, "left-out", run, "gaps")
