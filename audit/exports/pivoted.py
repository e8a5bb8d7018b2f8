"""Long frames as wide tables: one row per system and measure, one column per share of signal or per measure."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from audit.tables import HIGH, LOW

ENDS = ("", LOW, HIGH)


def pivoted(frame: pd.DataFrame, rows: Sequence[str], by: str, value: str) -> pd.DataFrame:
    """One row per combination of `rows`, in the order of the frame; of each value x of `by` the columns `x`, `x_low`, `x_high`.

    `value` (with `value_low`, `value_high`) is NaN where the frame has no row: not measured, which is different from zero.
    """
    order = frame[list(rows)].drop_duplicates()
    wide = frame.pivot(index=list(rows), columns=by, values=[value + end for end in ENDS])
    columns = {f"{name}{end}": wide[value + end][name] for name in dict.fromkeys(frame[by]) for end in ENDS}
    return order.merge(pd.DataFrame(columns).reset_index(), how="left", on=list(rows))
