"""The judge's errors, kind by kind, with the items behind each."""

from __future__ import annotations

import pandas as pd

from annotation.agreement.comparisons import yardsticks
from annotation.ratings import JUDGE, MISSING, Codes, Ratings
from audit.vocabulary import LABELS

COLUMNS = ("by", "right", "judged", "n", "items")


def judge_errors(ratings: Ratings) -> pd.DataFrame:
    """What the judge called something else than people do.

    One row per kind, most frequent first within each yardstick:
        by             str, whose label is right: majority, gold or an annotator
        right, judged  str, the label by people and by the judge
        n              int, items
        items          list of str, in the order of the table

    Items without a label by the yardstick, or without a readable verdict, are no errors.
    """
    rows = [(name, *row) for name, codes, _ in yardsticks(ratings) for row in _kinds(ratings, codes)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _kinds(ratings: Ratings, codes: Codes) -> list[tuple[str, str, int, list[str]]]:
    judge = ratings.labels[JUDGE]
    wrong = (codes != MISSING) & (judge != MISSING) & (codes != judge)
    kinds: dict[tuple[int, int], list[str]] = {}
    for right, judged, item in zip(codes[wrong].tolist(), judge[wrong].tolist(), ratings.items[wrong], strict=True):
        kinds.setdefault((right, judged), []).append(item)
    ordered = sorted(kinds.items(), key=lambda kind: (-len(kind[1]), kind[0]))
    return [(LABELS[right].value, LABELS[judged].value, len(items), items) for (right, judged), items in ordered]
