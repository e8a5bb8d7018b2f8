"""Labels written as a small table: who gave which label to which item."""

from __future__ import annotations

import pandas as pd

from annotation.ratings.table import Ratings, ratings_from


def ratings(text: str) -> Ratings:
    """The ratings of a table with column names in its first line and `-` for an empty cell; items are numbered if unnamed.

    A column `times` says how often a line stands for an item of its own.
    """
    lines = [line.split() for line in text.strip().splitlines()]
    frame = pd.DataFrame(lines[1:], columns=lines[0]).replace("-", "")
    if "times" in frame:
        frame = frame.loc[frame.index.repeat(frame.pop("times").astype(int))].reset_index(drop=True)
    if "item_id" not in frame:
        frame["item_id"] = [f"item-{number}" for number in range(1, len(frame) + 1)]
    return ratings_from(frame, "labels.csv")
