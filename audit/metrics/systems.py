"""Replies of each answering system: answered, refused, unreadable, and the length of its answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from audit.evaluation.retrieval_measures import RETRIEVAL_MEASURES
from audit.metrics import metric
from audit.metrics._shared import MANY_INTERVALS
from audit.metrics._systems import (
    ANSWERING,
    BY_SYSTEM_QUESTION,
    CHOSEN,
    COMPOSITE,
    COMPOSITE_NOTE,
    EXCLUDE,
    MEASURE,
    MEASURE_TITLES,
    READ,
    REFERENCE_ROW,
    REFUSAL,
    SYSTEM,
    TEXT_MEASURES,
    TYPE,
    VALUES,
    WORDS,
    answer_values,
    composite_values,
    identity,
    in_order,
    selection_parameters,
    system_number,
    systems_of,
)
from audit.queries.lookup import require_one_of
from audit.stats.intervals import with_wilson
from audit.stats.means import mean_change, mean_interval
from audit.stats.paired import correlation_interval, pearson, spearman
from audit.store.connection import Connection, frame
from audit.tables import Column, IntervalNote, Population, TableSpec
from audit.terms import ALL

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


# -- How close each system's answers come to the reference answers -------------------------------------------


BY = ("all", "question_type")
EVIDENCE_MEANINGS = (
    "Faithfulness: the share of an answer's statements that its passages support. Context precision: how early the passages "
    "that help come; context recall: the share of the reference answer that they contain. Answer relevance: how far the "
    "answer addresses the {question}. Citation correctness: the share of citations whose passage supports the statement. All "
    "five are a model's judgement. Verbatim quotes: the share of quotes that are in the cited section word for word."
)
SYSTEM_MEASURES_TABLE = TableSpec(
    "Reference measures, measures of retrieval and lengths of each answering system",
    (
        SYSTEM, TYPE, MEASURE, Column.count("answers", "Measured", "answers"), Column.decimal("mean", "Mean"),
        Column.decimal("sd", "Standard deviation"), Column.decimal("least", "Lowest"), Column.decimal("most", "Highest"),
    ),
    (
        TEXT_MEASURES,
        "P@5: the share of the first five passages that contain the answer. Recall@5: the share of the passages that contain it "
        "which are among the first five. nDCG: how close the order is to the best one. MRR: the mean of 1 / rank of the first.",
        EVIDENCE_MEANINGS,
        READ,
        BY_SYSTEM_QUESTION,
    ),
)  # fmt: skip
SYSTEM_MEASURES_GLOSSARY = {
    "BLEU": "The share of an answer's words (BLEU-1), or of runs of up to four words (BLEU-4), that the reference answer has.",
    "ROUGE": "How many words (ROUGE-1), or how long a common sequence of words (ROUGE-L), answer and reference answer share.",
    "BERTScore": "How similar the words of answer and reference answer are in meaning, by a language model's vectors.",
    "faithfulness": "The share of an answer's statements that the passages it was written from support, by a judge.",
    "context precision": "How early the passages that help to arrive at the reference answer come, from 0 to 1, by a judge.",
    "context recall": "The share of the reference answer's statements that the passages contain, by a judge.",
    "answer relevance": "How far an answer addresses its {question}: a judge's grade of 0, 1 or 2, as a share of 2.",
    "citation correctness": "The share of an answer's citations whose passage supports the whole statement, by a judge.",
    "P@5": "The share of the first five passages found that contain the answer.",
}
COLUMNS = (
    "system_id", "name", "question_type", "measure", "answers", "mean", "mean_low", "mean_high", "sd", "least", "most",
)  # fmt: skip


@metric(sql=VALUES, table=SYSTEM_MEASURES_TABLE, glossary=SYSTEM_MEASURES_GLOSSARY)
def system_measures(
    con: Connection, by: str = "all", question_type: str | None = None, organ: str | None = None, refusals: str = EXCLUDE
) -> pd.DataFrame:
    """The mean of every measure of each system over its answers, with its spread.

    Reference measures (BLEU-1, BLEU-4, sacreBLEU, ROUGE-1, ROUGE-L, BERTScore) compare an answer with the first reference answer;
    `audit systems score` computes them. Measures of retrieval (P@5, recall@5, nDCG, MRR) are those of the search behind
    an answer. Faithfulness, context precision, context recall, answer relevance and citation correctness are a judge's
    (`audit systems judge --protocol evidence`). Length in words is that of answers. Refusals and unread answers have no text to
    measure and are never a 0; the search behind them is measured all the same.

    by                    'all', or 'question_type': one row per type; questions without a stated type are in no type's row
    question_type, organ  count only these questions; None: all
    refusals              'exclude', or 'count': a refusal has the reference measures of its text, and a reply without a text has
                          0, as in the means of Fensore et al. over all questions
    One row per system, type and measure for which there is a value:
        system_id, name, measure                   str
        question_type                              str, '(all)' by 'all'
        answers                                    int, answers that have the measure
        mean, mean_low, mean_high                  float, 95 % interval with questions resampled (audit.stats.means)
        sd, least, most                            float, standard deviation of a sample (n - 1), NaN of one value; extremes

    Raises AuditError for another `by` or `refusals`. Source: audit.evaluation.reference_metrics,
    audit.evaluation.retrieval_measures (RAGAS, arXiv:2309.15217; ALCE, arXiv:2305.14627).
    """
    require_one_of(by, BY, "Group")
    values = answer_values(con, question_type, organ, refusals)
    if by == "all":
        values = values.assign(question_type=ALL)
    systems = systems_of(con).to_dict("records")
    return pd.DataFrame(list(_rows(systems, values)), columns=list(COLUMNS))


def _rows(systems: list[Any], values: pd.DataFrame) -> Iterator[dict[str, Any]]:
    groups = dict(tuple(values.groupby(["system", "question_type", "measure"])["value"]))
    types, measures = sorted(values["question_type"].dropna().unique()), in_order(values["measure"])
    for system in systems:
        for question_type in types:
            for measure in measures:
                if (own := groups.get((system["system"], question_type, measure))) is not None:
                    yield {**identity(system), "question_type": question_type, "measure": measure, **_summary(own)}


def _summary(values: pd.Series) -> dict[str, Any]:
    mean, low, high = mean_interval(values.to_numpy(dtype=float))
    return {
        "answers": len(values), "mean": mean, "mean_low": low, "mean_high": high, "sd": values.std(), "least": values.min(),
        "most": values.max(),
    }  # fmt: skip


# -- How much better or worse each answering system does than a baseline, on the same questions --------------


REFUSED = f"""
select question, system, refused::integer as value, '{REFUSAL}' as measure
from system_answers join questions using (question) left join question_types using (question)
where refused is not null
  and ($question_type is null or question_type = $question_type) and ($organ is null or organ = $organ)
order by system, question
"""
DIRECTIONS = {"rises": "higher", "falls": "lower"}
SYSTEM_DIFFERENCES_TABLE = TableSpec(
    "Each answering system compared with a baseline, on the {questions} that both have",
    (
        SYSTEM, Column.text("against", "Baseline"), MEASURE, Column.count("of", "{Questions}", "that both have"),
        Column.decimal("value", "System's mean"), Column.decimal("first", "Baseline's mean"),
        Column.decimal("change", "Difference"), Column.text("moves", "Direction", words=DIRECTIONS),
        Column.count("questions", "{Questions}", "that differ"),
    ),
    (
        "Difference: the system's value minus the baseline's on the same {question}, on average, so what makes one {question} "
        "harder than another drops out. Only {questions} for which both have a value count.",
        "Higher, lower: the interval of the difference excludes 0. Too few {questions}: the two differ on fewer than five.",
        MANY_INTERVALS,
        TEXT_MEASURES, COMPOSITE_NOTE, READ,
        IntervalNote(Population.QUESTIONS, "{questions} are resampled"),
    ),
)  # fmt: skip
SYSTEM_DIFFERENCES_GLOSSARY = {
    "paired difference": "The mean of differences on the same {questions}: what makes {a_question} hard drops out."
}
SYSTEM_DIFFERENCES_COLUMNS = (
    "system_id", "name", "against", "measure", "of", "value", "first", "change", "change_low", "change_high", "moves",
    "questions",
)  # fmt: skip


@metric(sql=VALUES, table=SYSTEM_DIFFERENCES_TABLE, glossary=SYSTEM_DIFFERENCES_GLOSSARY)
def system_differences(
    con: Connection, baseline: str | None = None, question_type: str | None = None, organ: str | None = None,
    incomplete: str = "exclude", weights: str = "",
) -> pd.DataFrame:  # fmt: skip
    """The difference of every measure between each system and a baseline, over the questions for which both have a value.

    baseline              the id of a system; None: the first of the release
    question_type, organ  count only these questions; None: all
    incomplete, weights   how the composite counts, as in the metric `composite`
    Refusals are a measure of 0 or 1 over the replies of both that could be read.

    One row per other system, in release order, and measure:
        system_id, name, against               str, the system, and the name of the baseline
        measure                                str, those of `system_measures`, composite, refusal
        of                                     int, questions for which both have a value
        value, first                           float, the means of the system and of the baseline over these
        change, change_low, change_high        float, value - first; 95 % interval with questions resampled, NaN where fewer
                                               than five questions differ
        moves                                  str, rises, falls, not clear, the same, or too few questions
        questions                              int, questions on which the two differ

    No row where the run has fewer than two systems. Raises NotInRunError for an unknown baseline, AuditError for wrong weights.
    Source of the interval: audit.stats.means.
    """
    systems = systems_of(con)
    if baseline is None and systems.empty:
        return pd.DataFrame(columns=list(SYSTEM_DIFFERENCES_COLUMNS))
    first = system_number(systems, systems["system_id"].iloc[0] if baseline is None else baseline)
    values = pd.concat(
        [
            answer_values(con, question_type, organ),
            composite_values(con, question_type, organ, incomplete, weights),
            frame(con, REFUSED, selection_parameters(question_type, organ)),
        ]
    )
    return pd.DataFrame(
        list(_system_differences_rows(systems.to_dict("records"), first, values)), columns=list(SYSTEM_DIFFERENCES_COLUMNS)
    )


def _system_differences_rows(systems: list[Any], first: int, values: pd.DataFrame) -> Iterator[dict[str, Any]]:
    by_system = {
        system: table.pivot(index="question", columns="measure", values="value") for system, table in values.groupby("system")
    }
    names = {system["system"]: system["name"] for system in systems}
    for system in systems:
        own, baseline = by_system.get(system["system"]), by_system.get(first)
        if system["system"] == first or own is None or baseline is None:
            continue
        for measure in in_order(values["measure"]):
            yield from _compared({**identity(system), "against": names[first], "measure": measure}, own, baseline)


def _compared(row: dict[str, Any], own: pd.DataFrame, baseline: pd.DataFrame) -> Iterator[dict[str, Any]]:
    if not (row["measure"] in own and row["measure"] in baseline):
        return
    both = pd.concat([own[row["measure"]], baseline[row["measure"]]], axis=1, join="inner", keys=["own", "first"]).dropna()
    if len(both):
        value, first = both["own"].to_numpy(dtype=float), both["first"].to_numpy(dtype=float)
        yield row | {"of": len(both), "value": value.mean(), "first": first.mean(), **mean_change(value - first)}


# -- Whether answers are better where retrieval found more: composites and reference measures against measures of retrieval


RETRIEVAL = tuple(name for name in MEASURE_TITLES if name in RETRIEVAL_MEASURES)
DOWNSTREAM_TABLE = TableSpec(
    "Whether answers are better where retrieval found more of what answers the {question}",
    (
        SYSTEM,
        Column.text("outcome", "Quality of the answer", words=MEASURE_TITLES),
        Column.text("measure", "Measure of retrieval", words=MEASURE_TITLES),
        Column.count("questions", "{Questions}"),
        Column.decimal("spearman", "Spearman's rho"),
        Column.decimal("pearson", "Pearson's r"),
    ),
    (
        "Over the {questions} for which both are known. 0: no relation; 1: the better the retrieval, the better the answer. "
        "An association does not prove a cause: {questions} that are easy to search for may be easy to answer.",
        READ,
        IntervalNote(Population.QUESTIONS, "{questions} are resampled; none where a measure is the same everywhere"),
    ),
)
DOWNSTREAM_GLOSSARY = {
    "downstream effect": "Whether a system's answers are better on {questions} for which its retrieval found more."
}
DOWNSTREAM_COLUMNS = (
    "system_id", "name", "outcome", "measure", "questions", "spearman", "spearman_low", "spearman_high", "pearson", "pearson_low",
    "pearson_high",
)  # fmt: skip
POINT_COLUMNS = ("system_id", "name", "question_id", "text", "measure", "value", "composite")
TEXTS = "select question, question_id, text from questions"


@metric(sql=VALUES, table=DOWNSTREAM_TABLE, glossary=DOWNSTREAM_GLOSSARY)
def downstream(con: Connection, question_type: str | None = None, organ: str | None = None) -> pd.DataFrame:
    """Correlation between the quality of a system's answers and how well its retrieval found the gold sections, by question.

    question_type, organ  count only these questions; None: all
    One row per system, outcome (composite, then the reference measures) and measure of retrieval (P@5, recall@5, nDCG, MRR) for
    which at least one question has both:
        system_id, name, outcome, measure              str
        questions                                      int, with both values
        spearman, spearman_low, spearman_high,
        pearson, pearson_low, pearson_high             float in [-1, 1]; 95 % intervals with questions resampled; NaN where one of
                                                       the two is the same everywhere, ends with fewer than four questions

    Evaluations with an unreadable criterion are left out. Source: Fensore, Carrillo-Larco, Shah and Ho, appendix E.
    """
    tables = _by_system(con, question_type, organ)
    rows = [row for system, table in tables for row in _correlations(system, table)]
    return pd.DataFrame(rows, columns=list(DOWNSTREAM_COLUMNS))


def _by_system(con: Connection, question_type: str | None, organ: str | None) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Each system that was measured, with a table of questions x measures."""
    values = pd.concat([answer_values(con, question_type, organ), composite_values(con, question_type, organ)])
    for system in systems_of(con).to_dict("records"):
        own = values[values["system"] == system["system"]]
        if len(own):
            yield identity(system), own.pivot(index="question", columns="measure", values="value")


def _correlations(system: dict[str, Any], table: pd.DataFrame) -> Iterator[dict[str, object]]:
    outcomes = [name for name in in_order(table.columns.to_series()) if name not in (*RETRIEVAL, WORDS, COMPOSITE)]
    for outcome in [COMPOSITE, *outcomes]:
        for measure in RETRIEVAL:
            if outcome in table and measure in table and len(both := table[[measure, outcome]].dropna()):
                retrieved, quality = both[measure].to_numpy(dtype=float), both[outcome].to_numpy(dtype=float)
                coefficients = (
                    *correlation_interval(spearman, retrieved, quality),
                    *correlation_interval(pearson, retrieved, quality),
                )
                numbers = dict(zip(DOWNSTREAM_COLUMNS[5:], coefficients, strict=True))
                yield {**system, "outcome": outcome, "measure": measure, "questions": len(both), **numbers}


def downstream_points(con: Connection, question_type: str | None = None, organ: str | None = None) -> pd.DataFrame:
    """The questions behind `downstream`: system_id, name, question_id, text, measure (of retrieval), value, composite."""
    texts = frame(con, TEXTS).set_index("question")
    tables = [
        table[[measure, COMPOSITE]].dropna().rename(columns={measure: "value"}).join(texts).assign(**system, measure=measure)
        for system, table in _by_system(con, question_type, organ)
        for measure in RETRIEVAL
        if measure in table and COMPOSITE in table
    ]
    points = pd.concat(tables) if tables else pd.DataFrame(columns=list(POINT_COLUMNS))
    return points[list(POINT_COLUMNS)].astype({"value": np.float64, "composite": np.float64}).reset_index(drop=True)
