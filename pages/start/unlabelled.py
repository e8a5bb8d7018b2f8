"""Start of a run whose handbooks nothing has compared yet: what they were asked, what was found, and what judging would cost."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from audit.metrics.questions import questions
from audit.store.runs import Run
from audit.terms import counted
from pages._blinded.frame import escaped
from pages._blinded.scripts import script_path
from pages._shared.found_states import counted_sentence, errors_of, of_run, states_by
from pages._shared.judging_cost import cost_of_judging
from pages._shared.loaders import load
from pages._shared.widgets import counts, go_to, link, say
from pages.start.disputes import CSS
from pages.start.mine import my_handbook

TITLE = "What {handbooks} say"
LEAD = "Each {handbook} was asked {patient} questions. No model has compared their answers yet."
LISTED = 5
MOST = "Most often answered"
ROW = "{stated} of {asked} {state} something{more}."
COST = "Which {handbooks} agree and which disagree is not known: nothing has compared them. A judge would take {cost}."


def unlabelled_start(run: Run) -> None:
    """The first page of a run that has handbooks and no pairs, below the search."""
    left, right = st.container(key="answers").columns([5, 3], gap="large")
    with left:
        st.header(say(run, MOST), anchor=False)
        with st.container(key="disputes", gap="small"):
            _most_answered(run)
    with right:
        my_handbook(run)
        st.header("How much was found" if errors_of(run).searched else "How much is answered", anchor=False)
        _how_much(run)
        st.header("Not compared yet", anchor=False)
        cost_of_judging(run, COST)
    if errors_of(run).searched:
        st.header(say(run, "By {topic}"), anchor=False)
        if topic := states_by(run, "topic", ordered="stated"):
            go_to("questions", run, topic=topic)


def _most_answered(run: Run) -> None:
    """The questions on which most handbooks state something, each a link to what they say."""
    frame = load(questions, run).dropna(subset=["asked"])
    frame = frame.assign(stated=frame["answering"] - frame["perhaps"]).sort_values(
        ["stated", "perhaps", "question"], ascending=[False, False, True]
    )
    st.html(CSS)
    for row in frame.head(LISTED).to_dict("records"):
        with st.container(gap="xxsmall"):
            asked = {"run": run.key, "question": str(row["question_id"])}
            st.page_link(script_path("question"), label=escaped(row["text"]), query_params=asked)
            more = f", {row['perhaps']} more perhaps" if row["perhaps"] else ""
            state = "states" if row["stated"] == 1 else "state"
            counts(run, ROW, stated=row["stated"], asked=counted(run, "handbook", int(row["asked"])), state=state, more=more)
    link("questions", f"See all {len(frame):,} {{questions}}", run, icon=":material/list:")


def _how_much(run: Run) -> None:
    """The states of all answers that should be there; where a model answered, how many handbooks do not address a question."""
    if errors_of(run).searched:
        st.markdown(counted_sentence(run, of_run(run)))
    else:
        frame: pd.DataFrame = load(questions, run)
        asked, answering = (f"{int(frame[name].fillna(0).sum()):,}" for name in ("asked", "answering"))
        st.markdown(say(run, "**{answering}** of {asked} answers address the {question}.", answering=answering, asked=asked))
    link("coverage", "What each {handbook} answers", run, icon=":material/menu_book:")


def not_found_figure(run: Run) -> bool:
    """Draw the third figure of *Start* where a search answered: what was not found. Whether it was drawn."""
    if not errors_of(run).searched:
        return False
    st.markdown(counted_sentence(run, of_run(run)))
    return True
