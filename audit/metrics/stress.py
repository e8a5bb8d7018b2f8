"""How systems do in stress tests, by test, size of the context and share of signal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from audit.errors import NotInRunError
from audit.evaluation.stress_measures import StressMeasure, exact_match, token_f1
from audit.metrics import metric
from audit.metrics._shared import MANY_INTERVALS
from audit.metrics._systems import SYSTEM, identity, system_number
from audit.metrics.systems import DIRECTIONS
from audit.stats.clustered import clustered_ratio_interval, share_by_question
from audit.stats.means import mean_change
from audit.store.connection import Connection, frame
from audit.tables import Column, IntervalNote, Population, TableSpec
from audit.vocabulary import STRESS_TESTS, nearest

# -- Shared by the metrics of stress tests: one value per reply and measure, columns and footnotes -----------


CHOSEN = """
chosen as (
    select instance, test, size, signal_share, question, gold, options is null as is_open from stress_instances
    where ($test is null or test = $test) and ($size is null or size = $size) and ($dataset is null or dataset = $dataset)
)"""
"""The instances that are counted."""
# One row per reply: what it chose, and how many of its documents it called at all and called rightly.
REPLIES = f"""
with {CHOSEN.strip()},
calls as (
    select instance, system, count(*) as called,
           count(*) filter (is_true)                          as rightly,
           count(*) filter (is_sound)                         as sound,
           count(*) filter (is_sound and is_true)             as kept,
           count(*) filter (not is_sound and is_true)         as found
    from (
        select instance, system,
               case when call in ('relevant', 'noise') then is_signal else is_factual end as is_sound,
               is_sound = (call in ('relevant', 'factual')) as is_true
        from stress_calls join stress_documents using (instance, place)
    )
    group by all
)
select r.instance, r.system::integer as system, question, test, size, signal_share, is_open, gold, choice,
       r.score as choice_score,
       insufficient is not null as readable, coalesce(insufficient, false) as says_insufficient,
       coalesce(called, 0) as called, coalesce(rightly, 0) as rightly, coalesce(sound, 0) as sound, coalesce(kept, 0) as kept,
       coalesce(found, 0) as found, (select count(*) from stress_documents d where d.instance = r.instance) as documents,
       (select count(sub_question) from stress_documents d where d.instance = r.instance) as sub_questions
from stress_replies r join chosen using (instance) left join calls using (instance, system)
order by r.system, r.instance
"""
SUB_ANSWERS = f"""
with {CHOSEN.strip()}
select instance, system::integer as system, sub_answer as expected, answer, score, read_from is not null as names_document,
       read_from = document_id as is_read_from
from stress_sub_answers join stress_documents using (instance, place) join chosen using (instance)
where sub_answer is not null
"""
SYSTEMS = """
select system::integer as system, system_id, coalesce(name, system_id) as name from systems
where system in (select system from stress_replies) order by system
"""
CELL = ["test", "size", "signal_share"]
MEASURE_TITLES = {
    StressMeasure.ACCURACY: "Accuracy", StressMeasure.INSUFFICIENT: "Insufficient",
    StressMeasure.NOISE_DETECTION: "Noise detection",
    StressMeasure.NOISE_FOUND: "Noise found", StressMeasure.SIGNAL_KEPT: "Signal kept",
    StressMeasure.ERROR_DETECTION: "Error detection", StressMeasure.ERRORS_FOUND: "Errors found",
    StressMeasure.FACTS_KEPT: "Facts kept", StressMeasure.SUB_EXACT: "Sub-answers, exact",
    StressMeasure.SUB_SCORE: "Sub-answers, graded", StressMeasure.SUB_F1: "Sub-answers, shared words",
    StressMeasure.SUB_DOCUMENT: "Sub-answers, right document", StressMeasure.OPEN_SCORE: "Open answers, graded",
    StressMeasure.OPEN_F1: "Open answers, shared words", StressMeasure.UNREAD: "Unreadable",
}  # fmt: skip
MEASURE_COLUMN = Column.text("measure", "Measure", words={str(name): title for name, title in MEASURE_TITLES.items()})
TEST_COLUMNS = (
    Column.text("test", "Test"),
    Column.count("size", "Size", "documents asked for"),
    Column.count("signal_share", "Signal", "%"),
)
PARTS = {
    StressMeasure.NOISE_DETECTION: ("sufficiency", "rightly", "called"),
    StressMeasure.NOISE_FOUND: ("sufficiency", "found", "unsound"),
    StressMeasure.SIGNAL_KEPT: ("sufficiency", "kept", "sound"),
    StressMeasure.ERROR_DETECTION: ("robustness", "rightly", "called"),
    StressMeasure.ERRORS_FOUND: ("robustness", "found", "unsound"),
    StressMeasure.FACTS_KEPT: ("robustness", "kept", "sound"),
}
"""Measure of calls -> its test, and the columns with its numerator and its denominator."""
OF_CALLS = (StressMeasure.NOISE_DETECTION, StressMeasure.ERROR_DETECTION)
OF_SUB_ANSWERS = (StressMeasure.SUB_EXACT, StressMeasure.SUB_F1)
TRIAL_COLUMNS = ["instance", "system", "question", *CELL, "measure", "numerator", "denominator", "unread"]
INSUFFICIENT_NOTE = (
    "Accuracy: the share of readable replies with the right option; 'insufficient' is not right. It counts questions with "
    "options only. Insufficient: the share of readable replies that say the documents do not suffice."
)
CALLS_NOTE = (
    "Noise and error detection: the share of the documents called in a reply that are what they are called, as a mean over "
    "replies; a reader who calls everything relevant has the share of signal. Found: the same share of what is noise (or wrong). "
    "Kept: of what is signal (or right)."
)
SUB_NOTE = (
    "Sub-answers: exact are those that equal the right short answer but for case, articles and punctuation; shared words is the "
    "F1 (SQuAD); graded is the mean score 1, 0.5 or 0 of a grader, of those that were graded; right document: of those that "
    "name a document as their source, the share that name the right one. Open answers: the same for {questions} without "
    "options, where an answer that declines has 0."
)
UNREAD_NOTE = (
    "Unread: replies, documents or sub-questions that were asked about but have no readable answer. They are never right "
    "and never wrong: they are in no denominator. At least and at most: accuracy if every unread reply were wrong, or right."
)
INTERVAL_NOTE = IntervalNote(Population.QUESTIONS, "{questions} are clusters")


def selection_parameters(test: str | None, size: int | None, dataset: str | None = None) -> dict[str, object]:
    """The parameters of `CHOSEN`. Raises NotInRunError for an unknown test."""
    if test is not None and test not in STRESS_TESTS:
        raise NotInRunError(
            f"Test '{test}' does not exist.{nearest(test, tuple(STRESS_TESTS))} Nothing was computed. "
            f"Allowed: {', '.join(STRESS_TESTS)}."
        )
    return {"test": test, "size": size, "dataset": dataset}


def systems_of(con: Connection) -> pd.DataFrame:
    """The systems that replied to stress tests, in release order: system (number), system_id, name."""
    return frame(con, SYSTEMS)


def replies_of(con: Connection, chosen: dict[str, object]) -> pd.DataFrame:
    """One row per reply, in the columns of `REPLIES`; share not stated becomes -1, as a group of its own."""
    table = frame(con, REPLIES, chosen)
    return table.assign(signal_share=table["signal_share"].fillna(-1).astype(int), unsound=table["called"] - table["sound"])


def trials(con: Connection, chosen: dict[str, object]) -> pd.DataFrame:
    """The contribution of every reply to every measure.

    One row per reply and measure: instance, system, question (numbers), test, size, signal_share, measure; numerator and
    denominator (their ratio is the reply's value), unread (what was asked and could not be read).
    """
    replies = replies_of(con, chosen)
    tables = [*_choices(replies), *_calls(replies), *_sub_answers(con, replies, chosen)]
    return pd.concat([table[TRIAL_COLUMNS] for table in tables if len(table)] or [pd.DataFrame(columns=TRIAL_COLUMNS)])


def _trial(replies: pd.DataFrame, measure: str, numerator: Any, denominator: Any, unread: Any) -> pd.DataFrame:
    return replies.assign(measure=measure, numerator=numerator, denominator=denominator, unread=unread)


def _choices(replies: pd.DataFrame) -> Iterator[pd.DataFrame]:
    readable, closed = replies["readable"], replies[~replies["is_open"]]
    right = (closed["choice"] == closed["gold"]).astype(int)
    yield _trial(closed, StressMeasure.ACCURACY, right, closed["readable"].astype(int), (~closed["readable"]).astype(int))
    says = replies["says_insufficient"].astype(int)
    yield _trial(replies, StressMeasure.INSUFFICIENT, says, readable.astype(int), (~readable).astype(int))
    yield _trial(replies, StressMeasure.UNREAD, (~readable).astype(int), 1, (~readable).astype(int))
    answered = replies[replies["is_open"] & readable]
    # An answer that declines shares no word with the gold answer and is not right
    overlaps = [
        token_f1(choice if isinstance(choice, str) else "", gold) for choice, gold in answered[["choice", "gold"]].to_numpy()
    ]
    yield _trial(answered, StressMeasure.OPEN_F1, np.array(overlaps), 1, 0)
    # Without grades, only the replies that decline would have a score
    scored = answered[answered["system"].isin(answered.loc[answered["choice_score"].notna(), "system"])]
    score = scored["choice_score"].where(~scored["says_insufficient"], 0.0)
    yield _trial(scored, StressMeasure.OPEN_SCORE, score.fillna(0.0), score.notna().astype(int), 0)


def _calls(replies: pd.DataFrame) -> Iterator[pd.DataFrame]:
    for measure, (test, numerator, denominator) in PARTS.items():
        own = replies[replies["test"] == test]
        unread = own["documents"] - own["called"] if measure in OF_CALLS else 0
        yield _trial(own, measure, own[numerator], own[denominator], unread)


def _sub_answers(con: Connection, replies: pd.DataFrame, parameters: dict[str, object]) -> Iterator[pd.DataFrame]:
    answers = frame(con, SUB_ANSWERS, parameters)
    pairs = list(zip(answers["answer"], answers["expected"], strict=True))
    answers = answers.assign(
        exact=[float(exact_match(*pair)) for pair in pairs],
        f1=[token_f1(*pair) for pair in pairs],
        graded=answers["score"].notna().astype(int),
        score=answers["score"].fillna(0.0),
        named=answers["names_document"].astype(int),
        read=answers["is_read_from"].fillna(False).astype(int),
        answers=1,
    )
    counted = ["exact", "f1", "graded", "score", "named", "read", "answers"]
    sums = answers.groupby(["instance", "system"])[counted].sum().reset_index()
    asked = replies[replies["sub_questions"] > 0].merge(sums, on=["instance", "system"], how="left").fillna({"answers": 0})
    missing = (asked["sub_questions"] - asked["answers"]).astype(int)
    for measure, column in zip(OF_SUB_ANSWERS, ("exact", "f1"), strict=True):
        yield _trial(asked, measure, asked[column].fillna(0.0), asked["answers"].astype(int), missing)
    yield _trial(asked, StressMeasure.SUB_SCORE, asked["score"].fillna(0.0), asked["graded"].fillna(0).astype(int), 0)
    # A system that never names a document was not asked to
    named = asked[asked["system"].isin(asked.loc[asked["named"] > 0, "system"])].fillna({"named": 0, "read": 0})
    count = named["named"].astype(int)
    yield _trial(named, StressMeasure.SUB_DOCUMENT, named["read"], count, (named["sub_questions"] - count).astype(int))


COUNTS = (StressMeasure.ACCURACY, StressMeasure.INSUFFICIENT, StressMeasure.UNREAD)
COLUMNS = (
    *CELL, "system_id", "name", "measure", "value", "value_low", "value_high", "count", "of", "items", "questions", "unread",
    "at_least", "at_most",
)  # fmt: skip
CURVES = TableSpec(
    "Stress tests: each system by test, size of the context and share of signal",
    (
        *TEST_COLUMNS, SYSTEM, MEASURE_COLUMN, Column.share("value", "Value"),
        Column.count("of", "Of", "replies"),
        Column.count("items", "Over", "replies, documents or sub-answers"),
        Column.count("questions", "{Questions}"), Column.count("unread", "Unread"),
        Column.share("at_least", "At least", "all unread wrong"), Column.share("at_most", "At most", "all unread right"),
    ),
    (INSUFFICIENT_NOTE, CALLS_NOTE, SUB_NOTE, UNREAD_NOTE, INTERVAL_NOTE),
)  # fmt: skip
GLOSSARY = {
    "stress test": "A question with a known share of noise or wrong documents, to see how a system copes.",
    "noise detection": "Of the documents that a system called relevant or noise, the share that it called correctly.",
    "error detection": "Of the documents that a system called factual or wrong, the share that it called correctly.",
    "sub-question": "A question that one document answers in a few words; it shows which documents a system has used.",
}


@metric(sql=REPLIES, table=CURVES, glossary=GLOSSARY)
def stress_curves(con: Connection, test: str | None = None, size: int | None = None, dataset: str | None = None) -> pd.DataFrame:
    """Accuracy, insufficient replies, calls on documents and sub-answers of each system in each cell of the stress tests.

    test, size, dataset  count only this test, contexts of this size as asked for, questions of this set; None: all
    Each reply counts once: where signal is scarce, larger contexts have less of it, and only the mean has the requested share.
    A cell is a test, a size and a share of signal (in robustness: of factually correct documents), all as asked for.

    One row per cell, system and measure that a reply has a value of:
        test, size, signal_share                 str, int, int in percent (-1: not stated)
        system_id, name                          str
        measure                                  str, audit.evaluation.stress_measures.StressMeasure
        value, value_low, value_high             float in [0, 1], the mean over replies; 95 % interval, questions resampled
        count                                    float, successes of accuracy, insufficient and unread; NaN for the others, where
                                                 a reply has a share or a score
        of                                       int, the denominator: replies that have a value. accuracy, insufficient, open_f1:
                                                 those that could be read; open_score: those graded, or that decline (0);
                                                 unread: all; the others: those with an item
        items                                    int, what the replies' shares are over. detection: documents called; found: noise
                                                 or wrong documents called; kept: signal or right documents called; sub_exact,
                                                 sub_f1: sub-answers; sub_score: sub-answers that were graded; sub_document: those
                                                 that name a document; else: as `of`
        questions                                int, questions in `of`
        unread                                   int, replies, documents or sub-questions asked about without anything readable
        at_least, at_most                        float in [0, 1], accuracy if every unread reply were wrong, or right; NaN for the
                                                 other measures

    A measure without a value in any of a system's replies in a cell has no row. Source: arXiv:2411.09213; formulas:
    audit.evaluation.stress_measures.
    """
    counted = trials(con, selection_parameters(test, size, dataset))
    value = counted["numerator"] / counted["denominator"].where(counted["denominator"] > 0)
    counted = counted.assign(value=value, of=value.notna().astype(int), items=counted["denominator"])
    group = [*CELL, "system", "measure"]
    totals = counted.groupby(group)[["value", "of", "items", "unread"]].sum()
    by_question = counted[counted["of"] > 0].groupby([*group, "question"])[["value", "of"]].sum()
    curves = _with_intervals(totals[totals["of"] > 0], by_question).reset_index().merge(systems_of(con), on="system")
    successes = curves["value"].where(curves["measure"].isin(COUNTS))
    # A system whose hard replies cannot be read would seem accurate
    accuracy = successes.where(curves["measure"] == StressMeasure.ACCURACY)
    asked, unread = curves["of"] + curves["unread"], curves["unread"]
    curves = curves.assign(at_least=accuracy / asked, at_most=(accuracy + unread) / asked)
    curves = curves.assign(count=successes, value=curves["value"] / curves["of"])
    order = curves["measure"].map({str(name): rank for rank, name in enumerate(StressMeasure)})
    ordered = curves.assign(order=order).sort_values([*CELL, "system", "order"], kind="stable", ignore_index=True)
    return ordered[list(COLUMNS)]


def _with_intervals(totals: pd.DataFrame, by_question: pd.DataFrame) -> pd.DataFrame:
    """The totals with questions, value_low and value_high; `by_question` has value and of for each question with any."""
    # Groups over the same questions are counted together: a run may have a thousand groups
    together: dict[bytes, list[tuple[Any, Any]]] = {}
    for key, table in by_question.groupby(level=list(range(len(CELL) + 2))):
        together.setdefault(table.index.get_level_values("question").to_numpy().tobytes(), []).append((key, table.to_numpy()))
    ends: dict[Any, tuple[int, float, float]] = {}
    for groups in together.values():
        tables = np.stack([table for _, table in groups]).astype(np.float32)
        low, high = clustered_ratio_interval(tables[:, :, 0], tables[:, :, 1], events=False)
        ends.update((key, (tables.shape[1], *between)) for (key, _), *between in zip(groups, low, high, strict=True))
    rows = [ends[key] for key in totals.index]
    return totals.assign(
        **{name: [row[index] for row in rows] for index, name in enumerate(("questions", "value_low", "value_high"))}
    )


CONTEXTS_SQL = f"""
with {CHOSEN.strip()},
contexts as (
    select instance, count(place) as documents,
           avg(case when test = 'robustness' then is_factual else is_signal end::integer) as sound
    from chosen left join stress_documents using (instance) group by instance, test
)
select test, size, coalesce(signal_share, -1)::integer as signal_share, count(*) as instances,
       -- In an order, because a mean of fractions added up in another one differs in its last digits.
       count(distinct question) as questions, avg(documents) as documents, avg(sound order by sound) as share,
       count(*) filter (documents < size) as smaller
from chosen join contexts using (instance)
group by all order by test, size, signal_share
"""
CONTEXTS = TableSpec(
    "Stress tests: actual and requested contexts",
    (
        *TEST_COLUMNS,
        Column.count("instances", "Instances"),
        Column.count("questions", "{Questions}"),
        Column.decimal("documents", "Documents", "mean"),
        Column.share("share", "Real share of signal", "mean"),
        Column.count("smaller", "Smaller than asked for"),
    ),
    (
        "A {question} with few signal documents has a smaller context; the share of signal is then right on average. In "
        "robustness it is the share of documents that are factually correct.",
    ),
)


@metric(
    sql=CONTEXTS_SQL,
    table=CONTEXTS,
    glossary={"signal and noise": "Signal documents belong to the {question}; noise documents belong to other {questions}."},
)
def stress_contexts(
    con: Connection, test: str | None = None, size: int | None = None, dataset: str | None = None
) -> pd.DataFrame:
    """The actual size and share of signal of the stress tests' contexts, compared with the requested values.

    test, size, dataset  count only this test, contexts of this size as asked for, questions of this set; None: all

    One row per test, size and share of signal as asked for:
        test, size, signal_share  str, int, int in percent (-1: not stated)
        instances, questions      int
        documents                 float, mean number of documents
        share                     float in [0, 1], mean share of signal (robustness: of correct documents); NaN without documents
        smaller                   int, instances with fewer documents than asked for
    """
    return frame(con, CONTEXTS_SQL, selection_parameters(test, size, dataset))


# -- Stress tests --------------------------------------------------------------------------------------------


SELECTIVE_COLUMNS = (
    *CELL, "system_id", "name", "readable", "answered", "right", "coverage", "coverage_low", "coverage_high", "accuracy",
    "accuracy_low", "accuracy_high",
)  # fmt: skip
SELECTIVE = TableSpec(
    "Stress tests: accuracy among the {questions} that a system answers",
    (
        *TEST_COLUMNS, SYSTEM, Column.count("readable", "Replies", "that could be read"), Column.count("answered", "Answered"),
        Column.share("coverage", "Coverage"), Column.share("accuracy", "Accuracy", "of those answered"),
    ),
    (
        "Coverage: replies that choose an option, of the replies that could be read; the others say that the documents do not "
        "suffice. Accuracy: right ones of those that choose. A system that knows when to decline keeps its accuracy while its "
        "coverage falls with the signal.",
        INTERVAL_NOTE,
    ),
)  # fmt: skip


@metric(
    sql=REPLIES, table=SELECTIVE, glossary={"coverage": "The share of {questions} that a system answers and does not decline."}
)
def stress_selective(
    con: Connection, test: str | None = None, size: int | None = None, dataset: str | None = None
) -> pd.DataFrame:
    """Selective answering: coverage and accuracy among what was answered, of each system in each cell of the stress tests.

    test, size, dataset  count only this test, contexts of this size as asked for, questions of this set; None: all
    Questions with options only; replies that could not be read are left out.

    One row per test, size, share of signal and system:
        test, size, signal_share                    str, int, int in percent (-1: not stated)
        system_id, name                             str
        readable, answered, right                   int, replies
        coverage, coverage_low, coverage_high       float in [0, 1], answered / readable; 95 % interval, questions resampled
        accuracy, accuracy_low, accuracy_high       float in [0, 1], right / answered; NaN where nothing was answered

    Source: El-Yaniv and Wiener (2010), J. Mach. Learn. Res. 11 (coverage and selective risk).
    """
    systems = {row["system"]: row for row in systems_of(con).to_dict("records")}
    replies = replies_of(con, selection_parameters(test, size, dataset))
    counted = replies[replies["readable"] & ~replies["is_open"]]
    rows = [
        {**dict(zip(CELL, key[:3], strict=True)), **identity(systems[key[3]]), **_selective(table)}
        for key, table in counted.groupby([*CELL, "system"])
    ]
    return pd.DataFrame(rows, columns=list(SELECTIVE_COLUMNS))


def _selective(replies: pd.DataFrame) -> dict[str, object]:
    right = (replies["choice"] == replies["gold"]).to_numpy()
    answered = (~replies["says_insufficient"]).to_numpy()
    question = replies["question"].to_numpy()
    return {
        "readable": len(replies),
        "answered": int(answered.sum()),
        "right": int(right.sum()),
        **_share("coverage", question, answered),
        **_share("accuracy", question[answered], right[answered]),
    }


def _share(name: str, question: Any, event: Any) -> dict[str, float]:
    return dict(zip((name, f"{name}_low", f"{name}_high"), share_by_question(question, event), strict=True))


PAIRED_COLUMNS = (
    *CELL, "system_id", "name", "against", "measure", "of", "value", "first", "change", "change_low", "change_high", "moves",
    "questions",
)  # fmt: skip
PAIRED = TableSpec(
    "Stress tests: each system compared with a baseline on the same instances",
    (
        *TEST_COLUMNS, SYSTEM, Column.text("against", "Baseline"),
        MEASURE_COLUMN, Column.count("of", "Instances", "that both have"), Column.decimal("value", "System's mean"),
        Column.decimal("first", "Baseline's mean"), Column.decimal("change", "Difference"),
        Column.text("moves", "Direction", words=DIRECTIONS), Column.count("questions", "{Questions}", "that differ"),
    ),
    (
        "Difference: the system's value minus the baseline's on the same instance, on average. Only instances on which both have "
        "something that could be read count. Each instance counts once, however many documents it has.",
        MANY_INTERVALS, INTERVAL_NOTE,
    ),
)  # fmt: skip


@metric(
    sql=REPLIES,
    table=PAIRED,
    glossary={"instance": "One {question} with one context of a stress test: its documents, and the truth about each."},
)
def stress_paired(
    con: Connection, baseline: str | None = None, test: str | None = None, size: int | None = None, dataset: str | None = None
) -> pd.DataFrame:
    """The difference of every measure of the stress tests between each system and a baseline, on the instances that both have.

    baseline    the id of a system; None: the first that replied to stress tests
    test, size, dataset  count only this test, contexts of this size as asked for, questions of this set; None: all

    One row per test, size, share of signal, other system and measure:
        test, size, signal_share            str, int, int in percent (-1: not stated)
        system_id, name, against            str, the system, and the name of the baseline
        measure                             str, audit.evaluation.stress_measures.StressMeasure
        of                                  int, instances on which both have a value
        value, first                        float, the means of the system and of the baseline over these
        change, change_low, change_high     float, value - first; 95 % interval, questions resampled (NaN: fewer than five differ)
        moves                               str, rises, falls, not clear, the same, or too few questions
        questions                           int, questions on which the two differ

    No row with fewer than two systems. Raises NotInRunError for an unknown baseline. Source of the interval: audit.stats.means.
    """
    systems = systems_of(con)
    if len(systems) < 2 and baseline is None:
        return pd.DataFrame(columns=list(PAIRED_COLUMNS))
    first = system_number(systems, systems["system_id"].iloc[0] if baseline is None else baseline)
    values = trials(con, selection_parameters(test, size, dataset))
    values = values[values["denominator"] > 0]
    values = values.assign(value=values["numerator"] / values["denominator"])
    return pd.DataFrame(list(_differences(values, systems, first)), columns=list(PAIRED_COLUMNS))


def _differences(values: pd.DataFrame, systems: pd.DataFrame, first: int) -> Iterator[dict[str, object]]:
    names = dict(zip(systems["system"], systems["name"], strict=True))
    rank = {str(name): number for number, name in enumerate(StressMeasure)}
    tables: dict[tuple[object, ...], pd.DataFrame] = {tuple(key): table for key, table in values.groupby([*CELL, "measure"])}
    for key in sorted(tables, key=lambda key: (*key[:3], rank[str(key[3])])):
        cell = dict(zip((*CELL, "measure"), (*key[:3], str(key[3])), strict=True))
        wide = tables[key].pivot(index=["question", "instance"], columns="system", values="value")
        for system in systems.to_dict("records"):
            if system["system"] == first or not {system["system"], first} <= set(wide):
                continue
            both = wide[[system["system"], first]].dropna().astype(float)
            if len(both):
                yield {**cell, **identity(system), "against": names[first], **_compared(both)}


def _compared(both: pd.DataFrame) -> dict[str, Any]:
    """The difference of two columns, a system's and the baseline's; the first level of the index is the question."""
    own, first = (both[column].to_numpy() for column in both)
    change = mean_change(own - first, both.index.get_level_values(0).to_numpy())
    return {"of": len(both), "value": own.mean(), "first": first.mean(), **change}
