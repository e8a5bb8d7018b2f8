"""Ask: what the handbooks say to a question of one's own, in their own words."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from audit.charts.style import handbook_names
from audit.jobs.asking import BY_WORDS, Asked, prepare
from audit.queries.lookup import handbook_list
from audit.queries.questions_like import QuestionLike, questions_like
from audit.queries.run_texts import has_texts
from audit.settings import Settings
from audit.store.runs import Run
from audit.terms import counted, is_about_patients
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.pickers import type_words
from pages._shared.widgets import counts, link, say
from pages.ask.alike import alike_html
from pages.ask.answers import CSS, handbooks_html, nothing_found
from pages.ask.form import TEXT, ask_form, asked_of
from pages.ask.keep_question import keep_question
from pages.ask.written_answer import written_answer

LEAD = "What do the {handbooks} say to a {question} of your own?"
NO_TEXTS = (
    "This run does not have the texts of its {handbooks}, so their passages cannot be searched: only its own {questions} can. "
    "Whoever prepares a run can add the texts (sections.jsonl)."
)
NO_ADVICE = (
    "**This is not {advice}.** The page quotes {handbooks}. A passage may be missing, or be about something else: read it, and "
    "ask a professional about your own {case}."
)
NOTHING_NEAR = (
    "Nothing near this {question} was found in {n}. The nearest passages are offered below; they are probably about something "
    "else. Try other words."
)
NOTHING_BY_WORDS = (
    "Nothing near this {question} was found in {n}: no passage has enough of its words. The nearest passages are offered below; "
    "an answer in other words may be among them."
)
HOW = {
    True: "No model has read the passages: their words were compared with those of the {question}.",
    False: "No model has read the passages for an answer: {name} compared their meaning with that of the {question}. What only "
    "this or only a comparison of words calls *stated* or *not found* is *perhaps*.",
}
MARKED = "Marked in each passage is the sentence that is nearest to the {question}."
MEASURED = (
    "How often it errs: on {source}, it called {missed} of {answered} questions that a document answers *not found*, and "
    "offered passages for {found} of {unanswered} that it does not answer."
)
ENCODING = (
    "A sentence model is reading the {handbooks} of this run: {done} of {total} so far. Until it has read all, words are "
    "compared, which finds less."
)


def run_questions(run: Run, alike: Sequence[QuestionLike]) -> None:
    """The questions of the run that are nearest to the one asked."""
    st.header(say(run, "Nearest {questions} in the run"), anchor=False)
    if alike:
        st.html(alike_html(run, alike))
    else:
        counts(run, "The run has no {question} with words like these.")


def passages(run: Run, asked: Asked, names: dict[str, str], alike: Sequence[QuestionLike]) -> None:
    """What each handbook says, in its own words."""
    st.header(say(run, "What each {handbook} says"), anchor=False)
    searched = counted(run, "handbook", len(asked.handbooks))
    if nothing_found(asked):
        st.info(say(run, NOTHING_BY_WORDS if asked.compared == BY_WORDS else NOTHING_NEAR, n=searched))
    if asked.encoded:
        st.info(say(run, ENCODING, done=asked.encoded[0], total=asked.encoded[1]))
    counts(run, f"{{n}} searched. {HOW[asked.compared == BY_WORDS]} {MARKED}", n=searched, name=asked.compared)
    if asked.errors:
        counts(run, MEASURED, **{name: asked.errors[name] for name in ("missed", "answered", "found", "unanswered", "source")})
    st.html(handbooks_html(run, asked, names, alike))


with page("Ask", LEAD, without_pairs=LEAD) as run:
    if not load(has_texts, run):
        st.info(say(run, NO_TEXTS))
        st.html(CSS)
        if typed := type_words(say(run, "Your {question}"), TEXT):
            run_questions(run, load(questions_like, run, text=typed))
        list_page, label = ("disagreements", "All disputed {questions}") if run.has_pairs else ("questions", "All {questions}")
        link(list_page, label, run, icon=":material/list:")
        st.stop()
    advice, case = ("medical advice", "care") if is_about_patients(run) else ("advice", "case")
    st.warning(say(run, NO_ADVICE, advice=advice, case=case), icon=":material/info:")
    st.html(CSS)
    question, scope = ask_form(run)
    if not question:
        prepare(run, Settings().data_dir)
        st.stop()
    alike = load(questions_like, run, text=question)
    nearest = st.empty()
    with nearest.container():
        run_questions(run, alike)
    names = handbook_names(load(handbook_list, run))
    asked = asked_of(run, question, scope)
    if (by_meaning := load(questions_like, run, text=question, meant=asked.near)) != alike:
        alike = by_meaning
        with nearest.container():
            run_questions(run, alike)
    passages(run, asked, names, alike)
    written_answer(run, asked, names)
    keep_question(run, asked)
