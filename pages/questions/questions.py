"""Questions: the list of a run that nothing has compared, with how many handbooks answer. A click on a row opens the question."""

import pandas as pd
import streamlit as st

from audit.metrics.questions import questions
from audit.queries.lookup import filter_values
from audit.store.runs import Run
from audit.tables import Column
from pages._shared.found_states import errors_of, miss_sentence
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.pickers import choose, pick_many, type_words
from pages._shared.widgets import counts, footer, link, linked_rows, title_of

LEAD = "What the {handbooks} were asked, and how many of them answer. Click a row to read what each one says."
COMPARED = "This run has been compared: its questions, the most disputed first, are on *Disagreements*."
ORDERS = {"stated": "most answers", "release": "as asked"}


def picked(run: Run, frame: pd.DataFrame) -> pd.DataFrame:
    """The questions that match words, organs and topics, each kept in the address."""
    values = load(filter_values, run)
    words, organ, topic = st.columns([4, 3, 3], vertical_alignment="bottom")
    with words:
        typed = type_words("Words", "words", placeholder="in the question")
    with organ:
        organs = pick_many(title_of(run, "organ"), values["organ"], "organ") if len(values["organ"]) > 1 else []
    with topic:
        topics = pick_many(title_of(run, "topic"), values["topic"], "topic") if values["topic"] else []
    for word in typed.casefold().split():
        frame = frame[frame["text"].str.casefold().str.contains(word, regex=False)]
    if organs:
        frame = frame[frame["organ"].isin(organs)]
    return frame[frame["topics"].str.split(", ").map(lambda own: bool({*own} & {*topics}))] if topics else frame


def state_columns(run: Run) -> list[Column]:
    """The columns of the list: three states where a search answered, answering or not where a model did."""
    text = questions.table.pick(run, "text")[0]
    unit = run.term("handbook", 2)
    if errors_of(run).searched:
        states = {"stated": "Stated", "perhaps": "Perhaps", "not_found": "Not found"}
    else:
        states = {"stated": "Answer", "not_found": "Do not address it"}
    return [text, *(Column.count(name, heading, unit) for name, heading in states.items())]


with page("{Questions}", LEAD, unlabelled=LEAD) as run:
    if run.has_pairs:
        counts(run, COMPARED)
        link("disagreements", "Disagreements", run, icon=":material/call_split:")
        st.stop()
    frame = load(questions, run)
    frame = frame.assign(stated=frame["answering"] - frame["perhaps"], not_found=frame["asked"] - frame["answering"])
    frame = picked(run, frame)
    if choose("Order by", list(ORDERS), "order", format_func=ORDERS.__getitem__) == "stated":
        frame = frame.sort_values(["stated", "perhaps", "question"], ascending=[False, False, True], ignore_index=True)
    counts(run, "{n} {questions}." if len(frame) != 1 else "1 {question}.", n=f"{len(frame):,}")
    linked_rows(
        run, frame, "question_list", state_columns(run), "question", lambda row: {"question": row["question_id"]}, rows=30
    )
    if errors_of(run).searched:
        st.caption(miss_sentence(run))
    footer(frame[["question_id", "text", "organ", "topics", "asked", "stated", "perhaps", "not_found"]], "questions", run)
