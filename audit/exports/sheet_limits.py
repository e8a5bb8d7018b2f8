"""What a sheet of Excel cannot hold: a table cut to what it can, and the words for what is missing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from audit.formatting import printable

# Excel's own limits; it counts the letters of a cell in UTF-16, so a letter beyond 65,535 counts as two
MAX_TEXT = 32_767
MAX_ROWS, MAX_COLUMNS = 1_048_576, 16_384
CUT = " […] Cut here: {missing:,} of {total:,} letters are missing. Written as CSV, the table has the whole text."
CUT_NOTE = (
    "{n:,} {texts} longer than the {limit:,} letters that a cell can hold, and cut: each ends in words that say how much is "
    "missing. Written as CSV, the table has the whole texts."
)
CONTROLS_NOTE = "{n:,} {texts} control characters, which a workbook cannot hold: a space is written for each."
ROWS_NOTE = "{n:,} more rows do not fit on a sheet. Written as CSV, the table has all {total:,}."
COLUMNS_NOTE = "{n:,} more columns do not fit on a sheet. Written as CSV, the table has all {total:,}."


@dataclass(frozen=True)
class Sheet:
    """A table that fits on a sheet.

    frame  its rows and columns, whose texts fit into cells
    below  what stands in a last row of its own: how many rows are missing; empty: none
    notes  a sentence for everything that is missing
    """

    frame: pd.DataFrame
    below: str = ""
    notes: tuple[str, ...] = ()


def fitted(frame: pd.DataFrame) -> Sheet:
    """The table as a sheet can hold it, the row of headings included."""
    rows, columns = frame.shape
    is_long, is_wide = rows > MAX_ROWS - 1, columns > MAX_COLUMNS
    kept = frame.iloc[: MAX_ROWS - 2 if is_long else rows, : MAX_COLUMNS if is_wide else columns]
    below = ROWS_NOTE.format(n=rows - len(kept), total=rows) if is_long else ""
    wide = COLUMNS_NOTE.format(n=columns - MAX_COLUMNS, total=columns) if is_wide else ""
    texts = [value for name in kept for value in kept[name] if isinstance(value, str)] if len(kept) else []
    fitting = {name: kept[name].map(_fitting).astype(object) if kept[name].dtype == object else kept[name] for name in kept}
    return Sheet(pd.DataFrame(fitting, index=kept.index), below, tuple(filter(None, (below, wide, *_lost(texts)))))


def cell_text(text: str) -> str:
    """A text as a cell can hold it; where it is cut, it says so."""
    plain = printable(text)
    if not _is_long(plain):
        return plain
    total = len(plain)
    # The words are as long as they can become, so that they fit whatever is kept
    kept = _first_units(plain, MAX_TEXT - len(CUT.format(missing=total, total=total)))
    return kept + CUT.format(missing=total - len(kept), total=total)


def _fitting(value: object) -> object:
    return cell_text(value) if isinstance(value, str) else value


def _lost(texts: Iterable[str]) -> Iterable[str]:
    long = controls = 0
    for text in texts:
        long += _is_long(text)
        controls += printable(text) != text
    if long:
        yield CUT_NOTE.format(n=long, texts="text is" if long == 1 else "texts are", limit=MAX_TEXT)
    if controls:
        yield CONTROLS_NOTE.format(n=controls, texts="text has" if controls == 1 else "texts have")


def _is_long(text: str) -> bool:
    return 2 * len(text) > MAX_TEXT and len(text.encode("utf-16-le")) > 2 * MAX_TEXT


def _first_units(text: str, units: int) -> str:
    # A letter of two units is not cut in two
    return text.encode("utf-16-le")[: 2 * units].decode("utf-16-le", "ignore")
