"""What is asked and of whom, kept in the address, and what was found: in memory, or by the process that searches the texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from audit.jobs.asking import PREPARING, WAITING, Asked, AskScope, ask_run, clean_question
from audit.queries.run_texts import handbooks_with_texts
from audit.settings import Settings
from audit.store.runs import Run
from audit.terms import counted, display_name, fill, is_about_patients
from audit.vocabulary import GENERAL
from pages._blinded.frame import escaped
from pages._blinded.option_labels import distinct_labels
from pages._shared.loaders import load, recent_answers, remember_answer
from pages._shared.pickers import param_value, param_values, remember_choice
from pages._shared.widgets import counts, say

TEXT, ORGAN, SOURCES = "ask", "organ", "source"
"""The parameters of the address."""
EXAMPLE = "Can I drink alcohol?"
WHO_IS_ASKED = "{n} can be asked, because the run has the texts."
DOING = {
    WAITING: "Waiting until another {question} is answered",
    PREPARING: "Preparing the {handbooks} of this run: {done} of {total}",
}


def ask_form(run: Run) -> tuple[str, AskScope]:
    """Draw the form, and return what the address asks. Raises AuditError where Ask is pressed without a question."""
    books = load(handbooks_with_texts, run)
    organs, sources = sorted(set(books["organ"]) - {GENERAL}), sorted(set(books["center"]))
    kept = st.session_state.get(TEXT) == (param_value(TEXT, None, "") or "")
    text, scope = _in_address(organs, sources)
    with st.form("ask_form"):
        # A value that is set reaches the browser once, and a page that is drawn again at once would lose it: so also as a default
        default = text if kept else ""
        example = f", such as: {EXAMPLE}" if is_about_patients(run) else ""
        st.text_input(say(run, "Your {question}"), default, key=TEXT, placeholder=f"In full words{example}")
        left, right, last = st.columns([3, 6, 2], vertical_alignment="bottom")
        with left:
            st.selectbox(
                escaped(fill(run, "{Organ}")), organs, key=ORGAN, format_func=distinct_labels(organs, display_name),
                placeholder="All",
            )  # fmt: skip
        with right:
            from_centers, named = escaped(fill(run, "{Center}")), distinct_labels(sources, display_name)
            st.multiselect(from_centers, sources, key=SOURCES, format_func=named, placeholder="All")
        options: Mapping[str, Sequence[str] | None] = {TEXT: None, ORGAN: organs, SOURCES: sources}
        with last:
            pressed = st.form_submit_button("Ask", type="primary", width="stretch", on_click=_to_address, args=(options,))
    counts(run, WHO_IS_ASKED, n=counted(run, "handbook", len(books)))
    return clean_question(text) if pressed or text else "", scope


def _in_address(organs: Sequence[str], sources: Sequence[str]) -> tuple[str, AskScope]:
    """What the address asks; the fields show it."""
    text, organ = param_value(TEXT, None, "") or "", param_value(ORGAN, organs, None)
    chosen = param_values(SOURCES, sources)
    for name, value in ((TEXT, text), (ORGAN, organ), (SOURCES, chosen)):
        # Only changed fields: setting a field discards text that is being typed into it
        if name not in st.session_state or st.session_state[name] != value:
            st.session_state[name] = value
    return text, AskScope(organ, tuple(chosen))


def _to_address(options: Mapping[str, Sequence[str] | None]) -> None:
    for name, allowed in options.items():
        remember_choice(name, "" if name == TEXT else None, allowed)


def asked_of(run: Run, question: str, scope: AskScope) -> Asked:
    """The closest passages, with the progress on the page. Raises AuditError as `ask_run` does."""
    key = (run.digest, run.loaded_at, question, scope)
    known: Asked | None = recent_answers().get(key)
    if known is not None:
        return known
    bar = st.progress(0.0, say(run, "Searching the {handbooks}"))

    def step(doing: str, done: int, total: int) -> None:
        bar.progress(done / total if total else 0.0, say(run, DOING[doing], done=done, total=total))

    asked = ask_run(run, question, scope, Settings().data_dir, step)
    bar.empty()
    remember_answer(key, asked)
    return asked
