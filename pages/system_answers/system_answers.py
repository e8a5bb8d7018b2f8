"""System answers: one question, the reference answer and every system's answer next to each other, with criteria and evidence."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from audit.evaluation.criteria import CRITERIA, REFERENCE
from audit.exports.text_writers import file_name
from audit.metrics._systems import MEASURE_TITLES
from audit.own_process import TooMuchError
from audit.queries.system_answers import ANSWERED, SystemQuestionView, system_question
from audit.store.runs import Run
from audit.terms import display_name, fill
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.pickers import choose, named_by, pick_one
from pages._shared.side_by_side import CSS as PAIR_CSS
from pages._shared.side_by_side import LONG, MARK_WORDS, MARKS, legend_html, pair_html
from pages._shared.system_answers import REFERENCE_NAME, answer_texts, answers_html, composite_of, marked_texts
from pages._shared.systems import CSS, pick_questions, stop_without_systems
from pages._shared.widgets import counts, csv_button, link, say, table

LEAD = "One question: the reference answer, what each system answered, how a judge scored it, and what it was based on."
MARK_CHOICES = ("numbers", "all", "none")
VIEWS = {"answers": "Answers", "scores": "Scores side by side", "preferred": "Which was preferred"}
NO_MATCH = "No question matches these filters. Remove a filter."
PREFERRED = {"A": "{first}", "B": "{second}", "tie": "tie", "both_bad": "both bad"}
PREFERENCE_COLUMNS = {
    "systems": "Compared", "preferred": "Preferred", "rater": "Rater", "kind": "Rated by", "first": "Shown first",
    "comment": "Comment",
}  # fmt: skip


def pick_system_question(run: Run, questions: pd.DataFrame) -> str:
    """The question in the address, else the one whose systems were scored most differently."""
    texts = dict(zip(questions["question_id"], questions["text"], strict=True))
    first = next(iter(texts))
    label = fill(run, "{Question} (type to search; those that were scored most differently come first)")
    return pick_one(label, list(texts), "question", default=first, format_func=named_by(texts)) or first


def pick_marks(texts: dict[str, str], names: dict[str, str]) -> tuple[str | None, str]:
    """Pickers for the baseline answer and for what is marked."""
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    with left:
        first = next(iter(texts), None)
        baseline = pick_one("Compare each answer with", list(texts), "baseline", default=first, format_func=named_by(names))
    with right:
        marks = choose("Mark what differs", MARK_CHOICES, "mark", named_by(MARK_WORDS), show_label=False)
    return baseline, marks


def answers(run: Run, question: SystemQuestionView) -> None:
    """The reference and all answers next to each other."""
    names = {REFERENCE: REFERENCE_NAME, **{answer.system_id: answer.name for answer in question.answers}}
    texts = answer_texts(question)
    baseline, marks = pick_marks(texts, names)
    try:
        marked = marked_texts(texts, baseline, MARKS[marks])
    except TooMuchError:
        marks, marked = LONG, marked_texts(texts, None, ())
    if marks != "none" and len(texts) > 1:
        st.html(pair_html(legend_html(marks)))
    st.html(answers_html(run, question, marked, MEASURE_TITLES))


def scores_of(question: SystemQuestionView) -> pd.DataFrame:
    """One row per answer and judge: name, judge, composite (NaN: a score is missing), the scores (Int64, NA: unreadable)."""
    judged = [(REFERENCE_NAME, evaluation) for evaluation in question.reference_evaluations]
    judged += [(answer.name, evaluation) for answer in question.answers for evaluation in answer.evaluations]
    frame = pd.DataFrame(
        [{"name": name, "judge": own.judge or "not named", "composite": composite_of(own), **own.scores} for name, own in judged],
        columns=["name", "judge", "composite", *CRITERIA],
    )
    return frame.astype({**dict.fromkeys(CRITERIA, "Int64"), "composite": float})


def scores(run: Run, question: SystemQuestionView) -> None:
    """The scores of all answers as a table, with the counts of what was judged."""
    frame = scores_of(question)
    if frame.empty:
        counts(run, "No judge has scored the answers to this {question}.")
        return
    headings = {name.value: scale.heading for name, scale in CRITERIA.items()}
    table(frame, "scores", {"name": "Answer", "judge": "Scored by", "composite": "Composite", **headings})
    counts(run, "In every criterion the highest score is the best. A dash: the score could not be read.")
    csv_button(frame, "system-scores", file_name(run, "system-scores"))


def preferences(question: SystemQuestionView) -> None:
    """The preferences of people or judges on this question."""
    rows = [
        {
            "systems": f"{comparison.first} : {comparison.second}",
            "preferred": PREFERRED.get(comparison.preference, comparison.preference).format(
                first=comparison.first, second=comparison.second
            ),
            "rater": comparison.rater,
            "kind": comparison.rater_kind,
            "comment": comparison.comment,
            "first": {"A": comparison.first, "B": comparison.second}.get(comparison.shown_first or "", "not stated"),
        }
        for comparison in question.preferences
    ]
    table(pd.DataFrame(rows), "preferences", PREFERENCE_COLUMNS)


with page("System answers", LEAD, without_pairs=LEAD) as run:
    stop_without_systems(run)
    _, questions = pick_questions(run)
    if questions.empty:
        st.info(say(run, NO_MATCH))
        st.stop()
    question = load(system_question, run, question_id=pick_system_question(run, questions))
    st.html(PAIR_CSS)
    st.html(CSS)
    kind = " Question type: {kind}." if question.question_type else ""
    answered = sum(answer.state == ANSWERED for answer in question.answers)
    counts(
        run, "{Questions} that match: {n}. {answered} of {systems} systems answered this one." + kind,
        n=f"{len(questions):,}", answered=answered, systems=len(question.answers), kind=display_name(question.question_type),
    )  # fmt: skip
    shown = {"answers": lambda: answers(run, question), "scores": lambda: scores(run, question)}
    if question.preferences:
        shown["preferred"] = lambda: preferences(question)
    shown[choose("Show", tuple(shown), "view", named_by(VIEWS), show_label=False)]()
    link("systems", "Compare the systems over all {questions}", run, icon=":material/leaderboard:")
