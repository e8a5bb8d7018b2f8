"""How well configurations of retrieval find what is known to answer: P, recall, nDCG and MRR at the number of passages taken.

The measures are those of the study of consumer health questions (Fensore et al., equations 10 and 11).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from audit.evaluation.gold import ndcg_at, reciprocal_rank
from audit.stats.means import mean_change, mean_interval

MEASURES = ("precision", "recall", "ndcg", "mrr")
COMPARISONS = {
    "strategies": "Strategies",
    "components": "Each layer left out",
    "reranked": "Chunks that are reranked",
    "passages": "Passages taken",
    "models": "Sentence model and reranker",
}
"""Comparison -> its title. The first configuration of each is the one that the others are compared with."""
KEY = ["comparison", "configuration"]
Trial = Mapping[Any, Any]


def measured_trials(trials: Iterable[Trial]) -> pd.DataFrame:
    """Each search with a known answer: its keys, passages, seconds and MEASURES.

    precision  passages that are relevant, of those asked for: every passage counts, also where several are of one document
    recall     of what is relevant, the part among them
    ndcg, mrr  what is relevant counts once, at its first rank
    """
    columns = [*KEY, "question_id", "collection", "passages", "seconds"]
    rows = [
        {**{name: trial[name] for name in columns}, **_measures(trial["ranked"], trial["gold"], int(trial["passages"]))}
        for trial in trials
        if len(trial["gold"])
    ]
    return pd.DataFrame(rows, columns=[*columns, *MEASURES])


def _measures(ranked: Sequence[str], gold: Sequence[str], k: int) -> dict[str, float]:
    known, taken = set(gold), list(ranked)[:k]
    once = list(dict.fromkeys(taken))
    return {
        "precision": sum(name in known for name in taken) / k,
        "recall": len(known.intersection(once)) / len(known),
        "ndcg": ndcg_at(once, known, k) or 0.0,
        "mrr": reciprocal_rank(once, known) or 0.0,
    }


def configuration_means(measured: pd.DataFrame) -> pd.DataFrame:
    """The means of each configuration, in the order of the trials, with 95 % intervals (questions resampled with all searches).

    Columns: comparison, configuration, passages, searches, questions, each measure with _low and _high, seconds.
    """
    rows = []
    for (comparison, name), own in measured.groupby(KEY, sort=False):
        question = pd.factorize(own["question_id"])[0]
        row = {"comparison": comparison, "configuration": name, "passages": int(own["passages"].iloc[0])}
        row |= {"searches": len(own), "questions": int(question.max()) + 1, "seconds": own["seconds"].mean()}
        for measure in MEASURES:
            mean = mean_interval(own[measure].to_numpy(dtype=float), question)
            row |= {measure: mean.value, f"{measure}_low": mean.low, f"{measure}_high": mean.high}
        rows.append(row)
    ends = [column for measure in MEASURES for column in (measure, f"{measure}_low", f"{measure}_high")]
    return pd.DataFrame(rows, columns=[*KEY, "passages", "searches", "questions", *ends, "seconds"])


def configuration_changes(measured: pd.DataFrame) -> pd.DataFrame:
    """The paired change of each configuration to the first of its comparison, over the searches that both made.

    Columns: comparison, configuration, against, measure, searches, change, change_low, change_high, questions, moves.
    """
    rows = []
    for comparison, own in measured.groupby("comparison", sort=False):
        first, *others = own["configuration"].unique()
        sides = {name: side.set_index(["question_id", "collection"]) for name, side in own.groupby("configuration")}
        for name in others:
            second = sides[first][list(MEASURES)]
            both = sides[name].merge(second, left_index=True, right_index=True, suffixes=("", "_first"))
            question = pd.factorize(both.index.get_level_values("question_id"))[0]
            for measure in MEASURES:
                change = (both[measure] - both[f"{measure}_first"]).to_numpy(dtype=float)
                row = {"comparison": comparison, "configuration": name, "against": first, "measure": measure}
                rows.append(row | {"searches": len(both), **mean_change(change, np.asarray(question))})
    columns = ["change", "change_low", "change_high", "questions", "moves"]
    return pd.DataFrame(rows, columns=[*KEY, "against", "measure", "searches", *columns])
