"""The exit question on the page Annotate: whose does a rater think an answer is? One answer at a time, when all are rated."""

from __future__ import annotations

import streamlit as st

from annotation.label_store.exit_questions import answer_exit_question, exit_questions
from annotation.label_store.studies import Study
from pages._blinded.access import label_store, now
from pages._blinded.frame import escaped

UNKNOWN = "I do not know"
WHY = (
    "A last question, to find out whether the masking worked. It changes none of your labels, and nobody is marked by it: if you "
    "do not know, say so."
)


def exit_question(study: Study, annotator: str) -> None:
    """The next answer to guess about, or thanks; nothing in a study that does not ask, or before the last item."""
    asked = exit_questions(label_store(), study.study_id, annotator)
    if not asked.institutions or not (asked.open or asked.answered):
        return
    if not asked.open:
        st.caption("You have answered the questions about whose answers you read. Thank you.")
        return
    current, total = asked.open[0], asked.answered + len(asked.open)
    with st.form(f"exit {current.assignment_id}", border=True):
        st.markdown(f"**Which institution do you think wrote A?** ({asked.answered + 1} of {total})")
        st.caption(WHY)
        st.text(current.question)
        with st.container(border=True):
            st.caption("Answer A")
            st.text(current.answer)
        choice = st.selectbox(
            "Institution",
            [*asked.institutions, UNKNOWN],
            index=None,
            key=f"guess {current.assignment_id}",
            placeholder="Choose one",
        )
        sent = st.form_submit_button("Save and go on", type="primary")
    if sent and choice is None:
        st.warning(escaped(f"Choose an institution, or \u201c{UNKNOWN}\u201d."))
    elif sent:
        named = None if choice == UNKNOWN else choice
        answer_exit_question(label_store(), study.study_id, annotator, current.assignment_id, named, now())
        st.rerun(scope="fragment")
