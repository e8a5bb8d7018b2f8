"""Judges' scores on the eight criteria: each system's composite, and how often it has each score."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from audit.evaluation.criteria import CRITERIA, REFERENCE, Incomplete
from audit.metrics import metric
from audit.metrics._systems import (
    BY_SYSTEM_QUESTION,
    COMPOSITE,
    COMPOSITE_NOTE,
    DECIMALS,
    EVALUATIONS,
    REFERENCE_ROW,
    SYSTEM,
    evaluations,
    identity,
    systems_of,
)
from audit.stats.intervals import Floats, wilson, with_interval
from audit.stats.means import mean_change, mean_interval
from audit.store.connection import Connection
from audit.tables import Column, IntervalNote, Population, TableSpec

UNREAD_CRITERIA = (
    "Incomplete: at least one of the eight criteria could not be read in the judge's reply. Unscored: none could. Both are left "
    "out of the mean, or count 0 points for unreadable criteria (option incomplete=zero). 0 points are not the worst score: an "
    "unscored answer then has a composite of 7.1 with equal weights."
)
COMPOSITE_TABLE = TableSpec(
    "The composite of the eight criteria, from 0 to 10, of each answering system",
    (
        SYSTEM, Column.count("evaluations", "Evaluations"), Column.count("complete", "Complete", "evaluations"),
        Column.count("incomplete", "Incomplete", "evaluations"), Column.count("unscored", "Unscored", "evaluations"),
        Column.count("answers", "In the mean", "answers"), Column.decimal("mean", "Composite", "mean"),
        Column.decimal("sd", "Standard deviation"),
    ),
    (
        "Composite: the sum of the eight scores, stretched so that the worst possible answer has 0 and the best possible one 10. "
        "If several judges scored an answer, their mean is used.",
        UNREAD_CRITERIA,
        "The reference answer is judged like the others: its composite shows how the judge scores an expert's answer.",
        BY_SYSTEM_QUESTION,
    ),
)  # fmt: skip
COMPOSITE_GLOSSARY = {
    "composite": "A judge's scores of an answer on eight criteria as one number: 0 is the worst possible answer, 10 the best.",
    "incomplete evaluation": "A judge's reply in which some of the eight scores could not be read; it is not a score of 0.",
}
COMPOSITE_COLUMNS = (
    "system_id", "name", "evaluations", "complete", "incomplete", "unscored", "answers", "mean", "mean_low", "mean_high", "sd",
)  # fmt: skip


@metric(sql=EVALUATIONS, table=COMPOSITE_TABLE, glossary=COMPOSITE_GLOSSARY)
def composite(
    con: Connection, incomplete: str = "exclude", judge: str | None = None, question_type: str | None = None,
    organ: str | None = None, weights: str = "", shared: bool = False,
) -> pd.DataFrame:  # fmt: skip
    """The mean composite of the eight criteria of each system's answers, from 0 to 10.

    incomplete            'exclude' leaves out evaluations in which a criterion could not be read; 'zero' counts 0 points for it,
                          as in the source's headline table
    judge                 only this judge's evaluations; None: those of all models (of people where no model judged; people
                          have no parse status), the mean over the judges of an answer
    question_type, organ  count only these questions; None: all
    weights               such as 'missing_content=2,empathy=0.5'; a criterion that is not named has weight 1
    shared                only questions for which every judged system has a composite: a smaller sample, the same for all

    One row per judged system in release order, then 'reference' where reference answers were judged:
        system_id, name                            str
        evaluations, complete, incomplete,
        unscored                                   int; evaluations = complete + incomplete + unscored
        answers                                    int, answers whose evaluations are in the mean
        mean, mean_low, mean_high                  float in [0, 10], 95 % interval with questions resampled; NaN if not known
        sd                                         float, standard deviation over these answers (n - 1)

    Raises AuditError for another `incomplete` or wrong weights, NotInRunError for an unknown judge.
    Source: audit.evaluation.criteria.
    """
    table = evaluations(con, judge, question_type, organ, incomplete, weights)
    if shared:
        own = table.dropna(subset=["system", "composite"])
        systems_with_it = own.groupby("question")["system"].nunique()
        table = table[table["question"].isin(systems_with_it.index[systems_with_it == own["system"].nunique()])]
    rows = [{**row, **_summary(own)} for row, own in by_system(con, table)]
    return pd.DataFrame(rows, columns=list(COMPOSITE_COLUMNS))


def by_system(con: Connection, table: pd.DataFrame) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """The names of each judged system, the reference answer last, and its evaluations."""
    for system in systems_of(con).to_dict("records"):
        if len(own := table[table["system"] == system["system"]]):
            yield identity(system), own
    if len(own := table[table["system"].isna()]):
        yield dict(REFERENCE_ROW), own


def _summary(own: pd.DataFrame) -> dict[str, Any]:
    complete, unscored = (own["read"] == len(CRITERIA)).sum(), (own["read"] == 0).sum()
    by_answer = own.dropna(subset=["composite"]).groupby("question")["composite"].mean()
    mean, low, high = mean_interval(by_answer.to_numpy(dtype=float))
    return {
        "evaluations": len(own), "complete": complete, "incomplete": len(own) - complete - unscored, "unscored": unscored,
        "answers": len(by_answer), "mean": mean, "mean_low": low, "mean_high": high, "sd": by_answer.std(),
    }  # fmt: skip


HEADINGS = {name.value: scale.heading for name, scale in CRITERIA.items()}
SCORES_TABLE = TableSpec(
    "How often each answering system has each score on the eight criteria",
    (
        SYSTEM, Column.text("criterion", "Criterion", words=HEADINGS), Column.text("score", "Score"),
        Column.text("meaning", "Meaning"), Column.count("answers", "With this score", "evaluations"),
        Column.count("of", "Readable", "evaluations"), Column.share("share", "Share", "of readable ones"),
        Column.count("unread", "Unreadable", "evaluations"),
    ),
    (
        "Every score that a criterion can have, the best first. Flagged: any score but the best. Evaluations in which the "
        "criterion could not be read are in no share.",
        IntervalNote(Population.QUESTIONS, "Wilson 1927; where several judges scored an answer, it counts as one"),
    ),
)  # fmt: skip
SCORES_GLOSSARY = {
    "criterion": "One of eight questions that a judge answers about an answer, such as whether anything is missing."
}
SCORES_COLUMNS = ("system_id", "name", "criterion", "score", "meaning", "flagged", "answers", "of", "unread", "trials")


@metric(sql=EVALUATIONS, table=SCORES_TABLE, glossary=SCORES_GLOSSARY)
def criteria_scores(
    con: Connection, judge: str | None = None, question_type: str | None = None, organ: str | None = None
) -> pd.DataFrame:
    """How often each system has each score on each of the eight criteria.

    judge                 only this judge's evaluations; None: those of all models (of people where no model judged)
    question_type, organ  count only these questions; None: all

    One row per judged system (then 'reference'), criterion, and score from the best to the worst, also where nobody has it:
        system_id, name, criterion, meaning    str
        score                                  int, in the range of the criterion
        flagged                                bool, not the best score
        answers, of, unread                    int, evaluations with this score, with a readable one, and without
        share, share_low, share_high           float in [0, 1], answers / of; NaN where of is 0. Wilson, with questions as trials:
                                               several judges of one answer are not independent

    Raises NotInRunError for an unknown judge.
    """
    table = evaluations(con, judge, question_type, organ, Incomplete.EXCLUDE, "")
    rows = [row | score for row, own in by_system(con, table) for score in _scores(own)]
    scores = pd.DataFrame(rows, columns=list(SCORES_COLUMNS))
    share = scores["answers"].astype(float) / scores["of"].where(scores["of"] > 0).astype(float)
    trials = scores["trials"].astype(float)
    low, high = wilson(share * trials, trials)
    return with_interval(scores.drop(columns="trials").assign(share=share), "share", low, high)


def _scores(own: pd.DataFrame) -> Iterator[dict[str, object]]:
    for name, scale in CRITERIA.items():
        scores = own[name].dropna()
        questions = own.loc[scores.index, "question"].nunique()
        for score, meaning in scale.meanings.items():
            yield {
                "criterion": name.value, "score": score, "meaning": meaning, "flagged": score != scale.best,
                "answers": int(np.count_nonzero(scores == score)), "of": len(scores), "unread": len(own) - len(scores),
                "trials": questions,
            }  # fmt: skip


# -- The mean score of each answering system on each of the eight criteria -----------------------------------


TABLE = TableSpec(
    "The mean score of each answering system on each of the eight criteria",
    (
        Column.text("criterion", "Criterion", words=HEADINGS), SYSTEM, Column.count("answers", "Answers", "score readable"),
        Column.count("unread", "Unreadable", "evaluations"), Column.decimal("mean", "Mean score"),
        Column.decimal("sd", "Standard deviation"), Column.text("range", "Range", "worst to best"),
    ),
    (
        "In every criterion the highest score is the best. If several judges scored an answer, their mean is used. Scores that "
        "could not be read are in no mean.",
        BY_SYSTEM_QUESTION,
    ),
)  # fmt: skip
GLOSSARY = {"mean score": "The mean of a system's scores on one criterion; each criterion has a range of its own."}
COLUMNS = ("criterion", "system_id", "name", "answers", "unread", "mean", "mean_low", "mean_high", "sd", "range")


@metric(sql=EVALUATIONS, table=TABLE, glossary=GLOSSARY)
def criteria_means(
    con: Connection, judge: str | None = None, question_type: str | None = None, organ: str | None = None
) -> pd.DataFrame:
    """The mean score of each system on each criterion, over the answers on which it could be read.

    judge                 only this judge's evaluations; None: those of all models, as in the metric `composite`
    question_type, organ  count only these questions; None: all

    One row per criterion and judged system, then 'reference' where reference answers were judged:
        criterion, system_id, name         str
        answers                            int, answers with a readable score
        unread                             int, evaluations without one
        mean, mean_low, mean_high          float, in the range of the criterion; 95 % interval with questions resampled
        sd                                 float, standard deviation over these answers (n - 1)
        range                              str, the worst and the best score

    Raises NotInRunError for an unknown judge. Source: audit.evaluation.criteria.
    """
    table = evaluations(con, judge, question_type, organ, Incomplete.EXCLUDE, "")
    systems = list(by_system(con, table))
    rows = [
        {"criterion": name.value, **row, **_mean_scores(own, name.value), "range": f"{scale.worst} to {scale.best}"}
        for name, scale in CRITERIA.items()
        for row, own in systems
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _mean_scores(own: pd.DataFrame, criterion: str) -> dict[str, Any]:
    by_answer = own.dropna(subset=[criterion]).groupby("question")[criterion].mean()
    mean, low, high = mean_interval(by_answer.to_numpy(dtype=float))
    unread = int(own[criterion].isna().sum())
    return {
        "answers": len(by_answer), "unread": unread, "mean": mean, "mean_low": low, "mean_high": high, "sd": by_answer.std(),
    }  # fmt: skip


# -- The judge's scores of reference answers, which are right by definition ----------------------------------


JUDGE_CALIBRATION_TABLE = TableSpec(
    "Each answering system against the reference answers, by the same judge",
    (
        SYSTEM, Column.count("questions", "{Questions}", "that have both"),
        Column.decimal("reference", "Reference answers", "composite"), Column.decimal("mean", "System", "composite"),
        Column.decimal("change", "Difference"), Column.count("above", "System higher", "{questions}"),
        Column.count("equal", "Equal", "{questions}"), Column.count("below", "System lower", "{questions}"),
    ),
    (
        "Reference answers come from a trusted source and are judged like any other answer. What it deducts from them is its "
        "own severity; where it scores a system above them, it rewards something other than being right.",
        COMPOSITE_NOTE, BY_SYSTEM_QUESTION,
    ),
)  # fmt: skip
JUDGE_CALIBRATION_GLOSSARY = {
    "calibration": "Judging reference answers, which are right by definition, shows how severe the judge is and what it rewards."
}
JUDGE_CALIBRATION_COLUMNS = (
    "system_id", "name", "questions", "reference", "mean", "change", "change_low", "change_high", "above", "equal", "below",
)  # fmt: skip


@metric(sql=EVALUATIONS, table=JUDGE_CALIBRATION_TABLE, glossary=JUDGE_CALIBRATION_GLOSSARY)
def judge_calibration(
    con: Connection, incomplete: str = Incomplete.EXCLUDE, judge: str | None = None, question_type: str | None = None,
    organ: str | None = None, weights: str = "",
) -> pd.DataFrame:  # fmt: skip
    """The composite of each system's answers next to that of the reference answers to the same questions.

    incomplete, weights, judge, question_type, organ    as in the metric `composite`

    One row per judged system in release order; none where no reference answer was judged:
        system_id, name                    str
        questions                          int, on which both the system's and the reference answer's composite are known
        reference, mean                    float in [0, 10], the means over these; NaN without any
        change, change_low, change_high    float, mean - reference, 95 % interval with questions resampled
        above, equal, below                int, questions on which the system's composite is higher, the same, lower

    Raises AuditError for another `incomplete` or wrong weights, NotInRunError for an unknown judge.
    """
    table = evaluations(con, judge, question_type, organ, incomplete, weights).dropna(subset=[COMPOSITE])
    by_answer = table.assign(system=table["system"].fillna(-1)).groupby(["question", "system"])[COMPOSITE]
    mean = by_answer.mean().round(DECIMALS).unstack()
    if -1 not in mean.columns:
        return pd.DataFrame(columns=list(JUDGE_CALIBRATION_COLUMNS))
    rows = [
        identity(system) | _against(both.to_numpy())
        for system in systems_of(con).to_dict("records")
        if system["system"] in mean.columns
        for both in [mean[[-1, system["system"]]].dropna()]
    ]
    return pd.DataFrame(rows, columns=list(JUDGE_CALIBRATION_COLUMNS))


def _against(both: Floats) -> dict[str, object]:
    """`both` has the composites of the reference answer and of the system, one row per question."""
    difference = both[:, 1] - both[:, 0]
    change = mean_change(difference)
    reference, mean = both.mean(axis=0) if len(both) else (float("nan"), float("nan"))
    return {
        "questions": len(both), REFERENCE: reference, "mean": mean,
        **{name: change[name] for name in ("change", "change_low", "change_high")},
        "above": int((difference > 0).sum()), "equal": int((difference == 0).sum()), "below": int((difference < 0).sum()),
    }  # fmt: skip
