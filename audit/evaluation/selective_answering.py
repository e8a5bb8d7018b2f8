"""When to retrieve: a rule learned from questions that two systems answered, one of them with retrieval, and its gain.

The rule is a logistic regression of which answer was better on features known before answering; a question is weighted by how
much the two answers differ, so the rule aims at the mean quality of the answers chosen. Its performance is measured on questions
that it was not trained on: the questions are cut into folds by a fixed seed, and the choices for one fold come from the others,
the strength of the penalty included (nested cross-validation). That is repeated with other folds, because the gain of a single
cut depends on it: on 713 published questions it is .09 to .13 of a composite with ten single cuts, .10 to .13 with ten times
three. The choice cannot be better than the information in the features, so a gain of zero is a finding and not a failure.

Source: Stone (1974), J. R. Stat. Soc. B 36; nested: Varma and Simon (2006), BMC Bioinformatics 7.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from audit.optional_imports import optional
from audit.stats.intervals import Floats, Ints
from audit.text.tokens import stems

FOLDS, REPEATS = 5, 3
SEED = 2007
# Inverse strengths of the penalty; the first, the strongest, wins a tie
PENALTIES = (0.003, 0.03, 0.3, 3.0)
# With fewer questions on which the answers differ, a fold has too few for training
MIN_DIFFERING = 30

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class RetrievalRule:
    """The rule's choices for each question that it was not trained on.

    retrieves  float in [0, 1], questions: in which share of the repeats it takes the answer with retrieval
    weights    float, repeats and folds x features: of features in standard deviations; above 0, more of it speaks for retrieval
    """

    retrieves: Floats
    weights: Floats


def learn_when_to_retrieve(features: Floats, difference: Floats, seed: int = SEED) -> RetrievalRule | None:
    """The rule's choices, out of fold; None where the answers differ on fewer than MIN_DIFFERING questions.

    features    questions x features, NaN where not known
    difference  quality of the answer with retrieval minus that of the other, per question

    Raises MissingLibraryError without scikit-learn.
    """
    if np.count_nonzero(difference) < MIN_DIFFERING or not features.shape[1]:
        return None
    retrieves, weights = np.zeros(len(difference)), []
    for repeat in range(REPEATS):
        fold = _folds(len(difference), seed + repeat * (FOLDS + 1))
        for number in range(FOLDS):
            rest, own = fold != number, fold == number
            penalty = _best_penalty(features[rest], difference[rest], seed + repeat * (FOLDS + 1) + 1 + number)
            model = _Logistic(features[rest], difference[rest], penalty)
            retrieves[own] += model.retrieves(features[own]) / REPEATS
            weights.append(model.weights)
    # Three thirds are not quite one
    return RetrievalRule(np.round(retrieves, 9), np.array(weights))


def _folds(questions: int, seed: int) -> Ints:
    return np.random.default_rng(seed).permutation(questions) % FOLDS


def _best_penalty(features: Floats, difference: Floats, seed: int) -> float:
    """The penalty whose out-of-fold choices have the highest mean quality."""
    fold = _folds(len(difference), seed)
    gains = []
    for penalty in PENALTIES:
        chosen = np.zeros(len(difference), dtype=bool)
        for number in range(FOLDS):
            rest = fold != number
            chosen[~rest] = _Logistic(features[rest], difference[rest], penalty).retrieves(features[~rest])
        gains.append(difference[chosen].sum())
    return PENALTIES[int(np.argmax(gains))]


class _Logistic:
    """A fitted rule. Unknown values count as the mean; where one system is never better, the other is always taken."""

    def __init__(self, features: Floats, difference: Floats, penalty: float) -> None:
        known = ~np.isnan(features)
        counts = np.maximum(known.sum(axis=0), 1)
        self.mean = np.where(known, features, 0).sum(axis=0) / counts
        spread = np.sqrt((np.where(known, features - self.mean, 0) ** 2).sum(axis=0) / counts)
        self.scale = np.where(spread > 0, spread, 1.0)
        self.always, self.model = difference.sum() > 0, None
        differs = difference != 0
        if len(set(difference[differs] > 0)) == 2:
            self.model = self._fitted(features[differs], difference[differs], penalty)

    def _fitted(self, features: Floats, difference: Floats, penalty: float) -> Any:
        library = optional("sklearn.linear_model", "The rule for when to retrieve", "models")
        # On a common scale, so a penalty means the same for composites and for preferences
        size = np.abs(difference) / np.abs(difference).mean()
        # Hundreds of small fits: Newton's method needs a tenth of the default solver's time
        model = library.LogisticRegression(C=penalty, solver="newton-cholesky")
        return model.fit(self._scaled(features), difference > 0, size)

    def _scaled(self, features: Floats) -> Floats:
        scaled: Floats = np.nan_to_num((features - self.mean) / self.scale, nan=0.0)
        return scaled

    def retrieves(self, features: Floats) -> Bools:
        """Whether the answer with retrieval is expected to be better, per question."""
        if self.model is None:
            return np.full(len(features), self.always)
        return np.asarray(self.model.predict(self._scaled(features)), dtype=bool)

    @property
    def weights(self) -> Floats:
        """Per feature; 0 where nothing was fitted."""
        return np.zeros(len(self.mean)) if self.model is None else np.asarray(self.model.coef_[0])


# -- Features of a question known before it is answered ------------------------------------------------------


# A type with fewer questions would be overfitted
MIN_OF_TYPE = 10
FEATURES = {
    "top_score": "best retrieval score",
    "mean_score": "mean retrieval score",
    "score_drop": "best minus last retrieval score",
    "passages": "number of passages",
    "sufficiency": "share of the question's words in the passages",
    "question_words": "length of the question",
}
"""Feature -> what it is called; a question type is a feature of its own, `type: NAME`."""
TYPE_PREFIX = "type: "


def answer_features(questions: pd.DataFrame, passages: pd.DataFrame) -> pd.DataFrame:
    """One row per question, indexed by it, one float column per feature that varies; NaN where it is not known.

    questions  question, text, question_type (None: not stated)
    passages   question, score, text (None: not stated), best first: what retrieval found, one row per passage
    """
    asked = questions.set_index("question")
    by_question = passages.assign(score=passages["score"].astype(float)).groupby("question")
    table = pd.DataFrame(index=asked.index)
    table["top_score"], table["mean_score"] = by_question["score"].max(), by_question["score"].mean()
    table["score_drop"] = table["top_score"] - by_question["score"].min()
    table["passages"] = by_question.size()
    table["sufficiency"] = _sufficiency(asked["text"], by_question["text"].agg(list))
    table["question_words"] = asked["text"].str.count(r"\S+")
    types = pd.get_dummies(asked["question_type"], prefix=TYPE_PREFIX, prefix_sep="", dtype=float)
    table = table.join(types.loc[:, types.sum() >= MIN_OF_TYPE]).astype(float)
    # A constant feature does not discriminate
    return table.loc[:, table.nunique(dropna=False) > 1]


def _sufficiency(texts: pd.Series, by_question: pd.Series) -> pd.Series:
    """The share of a question's content words that are in its passages; NaN without passages that have a text."""
    shares = {}
    for question, passages in by_question.items():
        wanted, known = set(stems(texts.get(question, ""))), [text for text in passages if isinstance(text, str)]
        there = {stem for text in known for stem in stems(text)}
        shares[question] = len(wanted & there) / len(wanted) if wanted and known else np.nan
    return pd.Series(shares, dtype=float)
