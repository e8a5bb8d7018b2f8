"""What a figure of rates shows, in a sentence for its title: which rows are clearly above the whole, or that none is."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import NormalDist

import pandas as pd

from audit.charts.style import ELLIPSIS, cut, interval, percent
from audit.formatting import isolated
from audit.store.runs import Run
from audit.tables import HIGH, LOW
from audit.terms import display_name, fill
from pages._shared.widgets import listed

MOST_DISAGREEMENT = "The judge finds most disagreement on"
NONE_STANDS_OUT = "How often the judge finds that advice differs"
NAMED, LONGEST = 3, 70
"""Rows that are named besides the first, and letters of a name."""
ABOVE = "{most} {first}: {share} (95 % interval {span}), against {whole} in all{also}."
ALSO = "; also clearly above it: {others} ({n} compared at once)"
NONE = "{none}: none{of} is clearly above the {whole} of all."
ONLY = "{none}: {whole} in the only one."


def clearly_above(frame: pd.DataFrame, rate: str, whole: float) -> pd.DataFrame:
    """The rows whose rate is above `whole` by more than chance allows, the highest first.

    The 95 % interval of each row is widened for as many rows as are compared (Bonferroni), on the scale of the rate: in a run in
    which no row differs, one is named one time in forty at most, as far as the intervals hold.
    """
    known = frame.dropna(subset=[rate, rate + LOW])
    wider = NormalDist().inv_cdf(1 - 0.025 / max(len(known), 1)) / NormalDist().inv_cdf(0.975)
    low = known[rate] - wider * (known[rate] - known[rate + LOW])
    return known[low > whole].sort_values(rate, ascending=False)


def rate_finding(run: Run, frame: pd.DataFrame, names: Iterable[str], rate: str, whole: float, most: str, none: str) -> str:
    """The sentence, as plain text.

    names       of the rows, as a reader calls them;  whole  the rate of all
    most, none  how the sentence begins where a row is clearly above, and where none is: templates of `fill`
    """
    if len(frame) == 1:
        return fill(run, ONLY, none=fill(run, none), whole=percent(whole))
    known = frame[[rate, rate + LOW]].notna().all(axis=1).sum()
    compared = f"{known:,}"
    above = clearly_above(frame.assign(called=list(names)), rate, whole)
    if above.empty:
        of = "" if known < 2 else f" of {compared}" if known == len(frame) else f" of {compared} with an interval"
        return fill(run, NONE, none=fill(run, none), of=of, whole=percent(whole))
    first, *others = [isolated(cut(display_name(name), LONGEST)) for name in above["called"]]
    named = [*others[:NAMED], *([f"{len(others) - NAMED:,} more"] if len(others) > NAMED else [])]
    top = above.iloc[0]
    said = fill(
        run, ABOVE, most=fill(run, most), first=first, share=percent(top[rate]), whole=percent(whole),
        span=interval(top[rate + LOW], top[rate + HIGH]),
        also=fill(run, ALSO, n=compared, others=listed(named)) if others else "",
    )  # fmt: skip
    return said.removesuffix(".") if said.removesuffix(".").endswith(ELLIPSIS) else said
