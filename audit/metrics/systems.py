"""Replies of each answering system: answered, refused, unreadable, and the length of its answers."""

from __future__ import annotations

import pandas as pd

from audit.metrics import metric
from audit.metrics._systems import ANSWERING, CHOSEN, REFERENCE_ROW, SYSTEM, selection_parameters
from audit.stats.intervals import with_wilson
from audit.stats.means import mean_interval
from audit.store.connection import Connection, frame
from audit.tables import Column, IntervalNote, Population, TableSpec

SQL = f"""
with {CHOSEN.strip()}
select s.system, system_id, coalesce(s.name, system_id) as name, model, mode, retriever,
       (select count(*) from chosen)                       as questions,
       count(a.question)                                   as asked,
       count(*) filter (a.refused = false)                 as answered,
       count(*) filter (a.refused)                         as refused,
       count(*) filter (a.question is not null and a.refused is null) as unread
from systems s left join (select * from system_answers join chosen using (question)) a using (system)
where {ANSWERING.strip()}
group by all
order by s.system
"""
LENGTHS = f"""
with {CHOSEN.strip()},
texts as (
    select question, system, answer from system_answers where refused = false
    union all
    select question, null, answer from reference_answers where place = 0
)
select system, len(regexp_extract_all(answer, '\\S+'))::double as words
from texts join chosen using (question)
order by system nulls last, question
"""
MODE_WORDS = {
    "closed_book": "model alone",
    "retrieval": "with retrieval",
    "multi_source": "several sources",
    "human": "person",
    "other": "other",
}
TABLE = TableSpec(
    "Replies of each answering system",
    (
        SYSTEM, Column.text("model", "Model"), Column.text("mode", "Mode", words=MODE_WORDS),
        Column.text("retriever", "Retriever"), Column.count("asked", "Asked", "{questions}"),
        Column.count("not_asked", "Not asked", "{questions}"), Column.count("answered", "Answered", "{questions}"),
        Column.count("refused", "Refused", "{questions}"), Column.count("unread", "Unreadable", "{questions}"),
        Column.share("refusal", "Refusals", "of readable replies"), Column.decimal("words", "Length", "mean, words"),
        Column.decimal("words_sd", "Length", "standard deviation"), Column.decimal("words_min", "Length", "shortest"),
        Column.decimal("words_max", "Length", "longest"),
    ),
    (
        "Asked: answered, refused and unreadable together. Refused: the system declined to answer. Unreadable: no answer could "
        "be read in its reply. Lengths are those of answers, and of the first reference answer to each {question}.",
        IntervalNote(Population.QUESTIONS, "Wilson's for refusals; of lengths, {questions} are resampled"),
    ),
)  # fmt: skip
LENGTH_COLUMNS = ("words", "words_low", "words_high", "words_sd", "words_min", "words_max")
GLOSSARY = {
    "system": "A way of answering, such as a language model alone or with retrieval; several answer the same {questions}.",
    "refusal": "A reply in which a system declines to answer; it is neither an answer nor unreadable.",
    "reference answer": "The answer to {a_question} that experts gave, with which those of systems are compared.",
}


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY)
def systems(con: Connection, question_type: str | None = None, organ: str | None = None) -> pd.DataFrame:
    """How many questions each answering system answered, refused or left unreadable, and how long its answers are.

    Refused: the system declined. Unread: no answer could be read in its reply. Length is in words, which are separated by white
    space, over answers only; the row 'reference' has the lengths of the first reference answers.

    question_type, organ  count only these questions; None: all
    One row per system in release order, then 'reference' where the run has reference answers:
        system_id, name                        str
        model, mode, retriever                 str or None
        asked, not_asked                       int, questions; asked = answered + refused + unread; <NA> for the reference
        answered                               int, questions; for the reference those that have one
        refused, unread                        int, questions; <NA> for the reference
        refusal, refusal_low, refusal_high     float in [0, 1], refused / (answered + refused), Wilson; NaN without either
        words, words_low, words_high           float, mean, 95 % interval with questions resampled (audit.stats.means)
        words_sd, words_min, words_max         float; the standard deviation is that of a sample (n - 1)
    """
    lengths = frame(con, LENGTHS, selection_parameters(question_type, organ))
    reference = lengths["words"][lengths["system"].isna()]
    table = _counts(frame(con, SQL, selection_parameters(question_type, organ)), len(reference))
    own = [reference if pd.isna(number) else lengths["words"][lengths["system"] == number] for number in table["system"]]
    words = pd.DataFrame([_length(texts) for texts in own], columns=list(LENGTH_COLUMNS))
    return table.drop(columns=["system", "replies"]).join(words)


def _counts(table: pd.DataFrame, references: int) -> pd.DataFrame:
    """The counts of each system, with a row for the reference answers where there are any, and the share of refusals."""
    table.insert(list(table.columns).index("asked") + 1, "not_asked", table.pop("questions") - table["asked"])
    if references:
        table = pd.concat([table, pd.DataFrame([REFERENCE_ROW | {"answered": references}])], ignore_index=True)
    counts = ["asked", "not_asked", "answered", "refused", "unread"]
    replies = (table["answered"] + table["refused"]).astype(float)
    table = table.assign(replies=replies, refusal=table["refused"].astype(float) / replies.where(replies > 0))
    # <NA>, not 0: the reference answers were not asked for
    return with_wilson(table, "refusal", "refused", "replies").astype(dict.fromkeys(counts, "Int64"))


def _length(words: pd.Series) -> dict[str, object]:
    mean, low, high = mean_interval(words.to_numpy(dtype=float))
    return dict(zip(LENGTH_COLUMNS, (mean, low, high, words.std(), words.min(), words.max()), strict=True))
