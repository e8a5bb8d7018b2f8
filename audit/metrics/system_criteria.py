"""Judges' scores on the eight criteria: each system's composite, and how often it has each score."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from audit.evaluation.criteria import CRITERIA, Incomplete
from audit.metrics import metric
from audit.metrics._systems import (
    BY_SYSTEM_QUESTION,
    EVALUATIONS,
    REFERENCE_ROW,
    SYSTEM,
    evaluations,
    identity,
    systems_of,
)
from audit.stats.intervals import wilson, with_interval
from audit.stats.means import mean_interval
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
