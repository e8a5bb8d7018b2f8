"""Rows of a labels file as a frame that remembers where each was, and how many of the file's ratings were used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import pandas as pd

from audit.formatting import some_of
from audit.people_tables import PeopleTable
from audit.vocabulary import LABEL_SPELLINGS, plain

ROW = " row"
"""The column that says where a row is in its file, in words; no column of a file has a name with a blank."""
GOLD_COLUMNS = ("gold", "gold_label", "gold_standard", "ground_truth", "curation_user")
"""What tools and people call the decided label of an item, as a column, or as the annotator of a row."""
FIRST_ROW = 2
"""The row of the first item in a spreadsheet: under the column names."""


@dataclass(frozen=True)
class RatingCounts:
    """How many ratings a labels file has: in_file = used + the sum of left_out.

    left_out        why ratings enter no figure -> how many
    unused_columns  columns that were not read
    """

    in_file: int
    used: int
    left_out: Mapping[str, int] = field(default_factory=dict)
    unused_columns: tuple[str, ...] = ()

    def sentences(self) -> Iterable[str]:
        """The counts in words."""
        parts = [f"{self.in_file:,} in the file", f"{self.used:,} used"]
        parts += [f"{count:,} left out: {reason}" for reason, count in self.left_out.items()]
        yield f"Ratings: {'; '.join(parts)}."
        if self.unused_columns:
            yield f"Columns that were not used: {some_of(self.unused_columns, 12)}."

    def as_record(self) -> dict[str, object]:
        """The counts as JSON."""
        left_out = dict(self.left_out)
        return {"in_file": self.in_file, "used": self.used, "left_out": left_out, "unused_columns": list(self.unused_columns)}


def frame_of(table: PeopleTable) -> pd.DataFrame:
    """A table as a frame of texts with the column ROW; what a row lacks is empty."""
    columns = [ROW, *table.columns]
    return pd.DataFrame([{ROW: row.place, **row.cells} for row in table.rows], columns=columns, dtype=object).fillna("")


def row_name(frame: pd.DataFrame, index: int) -> str:
    """Where a row of a frame is in its file, in words."""
    return str(frame[ROW].iloc[index]) if ROW in frame else f"row {index + FIRST_ROW}"


def labels_elsewhere(frame: pd.DataFrame, unused: Iterable[str]) -> Counter[str]:
    """Reason -> labels in columns that were not read: a rater's column under another name would be lost otherwise."""
    lost: Counter[str] = Counter()
    for name in unused:
        words = [plain(str(cell)) for cell in frame[name] if str(cell).strip()]
        # Numbers may be anything; labels are also spelled as numbers
        if words and set(words) <= set(LABEL_SPELLINGS) and not all(map(str.isdigit, words)):
            lost[f"labels in column {name}, which is not a rater's by its name"] = len(words)
    return lost
