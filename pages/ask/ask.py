"""Ask: the handbooks' answers to a question that is not in the run."""

from __future__ import annotations

import streamlit as st

from audit.charts.style import handbook_names
from audit.jobs.asking import Asked, prepare
from audit.queries.lookup import handbook_list
from audit.queries.run_texts import has_texts
from audit.settings import Settings
from audit.store.runs import Run
from audit.terms import display_name
from audit.vocabulary import PASSAGES_GENERATOR, RULES_JUDGE
from pages._shared.label_matrix import label_matrix
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.pair_list import close_when_changed, opened_on
from pages._shared.position_cards import group_cards, without_answer
from pages._shared.previews import banner_of_rules
from pages._shared.side_by_side import CSS as PAIR_CSS
from pages._shared.widgets import counts, footer, say
from pages.ask.answers import CSS, Citations, groups_html, sourced_html, two_answers_html
from pages.ask.form import ask_form, asked_of
from pages.ask.keep_question import keep_question
from pages.ask.way import way_to_the_answer

LEAD = "How do the {handbooks} answer a {question} of your own?"
NO_TEXTS = (
    "This run does not have the texts of its {handbooks}, so they cannot be asked. A run that `audit run` makes has them; a "
    "release brings them in sections.jsonl."
)
NO_ADVICE = (
    "**This is not medical advice.** The page quotes what {handbooks} say. A sentence may be missing, or be about something "
    "else: read the passages, and ask a professional about your own care."
)
SUMMARY = (
    "**{asked}** {asked_words} asked. Rules find an answer in **{answering}** and none in **{silent}**; **{unread}** could not "
    "be read."
)
ABOUT_SILENCE = (
    "Where no answer is found, the {handbook} may still have one: the rules need most words of the {question} in one "
    "place. Try other words too, and check the {handbook} itself where it matters."
)
ABOUT_MARKS = (
    "The marks are set by rules, which compare words and amounts and do not understand meaning. *Said by 2 sources*: the rules "
    "find the same advice in both. *Says otherwise*: they find another amount or the opposite advice. A source that is not "
    "named may still say the same in other words."
)
NOTHING_SAID = "No source has a sentence that covers enough of the question. Try other words."
SAID_ELSEWHERE = (
    "The few passages that were selected from all sources have no sentence that covers enough of the question. In the full "
    "text of {n}, an answer was found: see below."
)
ABOUT_GROUPS = "Position groups follow from the labels, and the labels from rules. A group is named after what its answers state."
TOO_FEW = "An answer was found in fewer than two {handbooks}, so there is nothing to compare."
WITHOUT_ANSWER = {"not addressed": "No answer found ({n}): {who}.", "unread": "Could not be read ({n}): {who}."}


def summary(run: Run, asked: Asked) -> None:
    """How many were asked, answer, do not answer, and could not be read; if none answers, possible reasons."""
    states = asked.handbooks["state"].value_counts().reindex(["answers", "not addressed", "unread"], fill_value=0)
    answering, silent, unread = states
    total = int(states.sum())
    asked_words = f"{run.term('handbook', total)} {'was' if total == 1 else 'were'}"
    values = {
        "asked": total,
        "answering": answering,
        "silent": silent,
        "unread": unread,
        "asked_words": display_name(asked_words),
    }
    st.markdown(say(run, SUMMARY, **values))
    if not answering or unread:
        notes(run, asked)


def notes(run: Run, asked: Asked) -> None:
    """Notes for the reader on how the answer was found."""
    for note in asked.notes:
        counts(run, "{note}", note=note)


def one_answer(run: Run, asked: Asked, names: dict[str, str], citations: Citations) -> None:
    """The answer from all sources."""
    st.header("One answer from all sources", anchor=False)
    if asked.sourced.refused:
        answering = int((asked.handbooks["state"] == "answers").sum())
        n = f"{answering} {run.term('handbook', answering)}"
        st.info(say(run, SAID_ELSEWHERE, n=display_name(n)) if answering else say(run, NOTHING_SAID))
        return
    st.html(sourced_html(asked, names, citations))
    counts(run, ABOUT_MARKS)


def every_answer(run: Run, asked: Asked, names: dict[str, str], citations: Citations) -> None:
    """Each handbook's answer, by position group, followed by those without an answer."""
    st.header(say(run, "What each {handbook} says"), anchor=False)
    table = asked.handbooks
    st.html(groups_html(run, table[table["state"] == "answers"], names, citations))
    without_answer(run, table, names, WITHOUT_ANSWER)
    if "not addressed" in set(table["state"]):
        counts(run, ABOUT_SILENCE)
    footer(table, "asked", run)


def who_agrees(run: Run, asked: Asked, names: dict[str, str]) -> None:
    """The matrix of labels with the position groups, and the opened pair."""
    st.header("Who agrees with whom", anchor=False)
    answering = asked.handbooks[asked.handbooks["state"] == "answers"]
    if len(answering) < 2:
        counts(run, TOO_FEW)
        return
    opened = opened_on(asked.question, asked.labels, answering["handbook_id"])
    left, right = st.container(key="reading").columns([6, 5], gap="medium")
    with left:
        label_matrix(run, asked.question, asked.labels, asked.handbooks, names, opened)
    with right:
        group_cards(run, answering, names)
        counts(run, ABOUT_GROUPS)
    counts(run, "Click a cell of the matrix, or reach it with Tab and the arrow keys and press Enter, to read another pair.")
    st.html(two_answers_html(asked, opened, names))


def results(run: Run, asked: Asked) -> None:
    """The complete reply."""
    names = handbook_names(load(handbook_list, run))
    st.html(CSS)
    st.html(PAIR_CSS)
    citations = Citations(run, asked)
    banner_of_rules(PASSAGES_GENERATOR, RULES_JUDGE)
    summary(run, asked)
    one_answer(run, asked, names, citations)
    every_answer(run, asked, names, citations)
    who_agrees(run, asked, names)
    with st.expander("How it was found", on_change="rerun", key="way") as way:
        if way.open:  # only now, as the drawing takes as long as the rest of the page
            notes(run, asked)
            way_to_the_answer(run, asked, names)
    keep_question(run, asked)


with page("Ask", LEAD, without_pairs=LEAD) as run:
    if not load(has_texts, run):
        st.info(say(run, NO_TEXTS))
        st.stop()
    st.warning(say(run, NO_ADVICE), icon=":material/medical_information:")
    question, scope = ask_form(run)
    close_when_changed("asked", (question, scope), ("a", "b"))
    if not question:
        prepare(run, Settings().data_dir)
    else:
        results(run, asked_of(run, question, scope))
