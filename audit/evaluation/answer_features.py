"""Features of a question known before it is answered: its type and length, and the passages retrieved for it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audit.text.tokens import stems

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
