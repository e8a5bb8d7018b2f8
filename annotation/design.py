"""How a sample was drawn: its strata, how many pairs each holds in the run, and so what one item stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from audit.errors import AuditError, describe_error
from audit.vocabulary import LABELS

Floats = npt.NDArray[np.float64]
UNSCORED = "unscored"
"""Names the stratum of pairs without a readable verdict."""
STRATA_FILE = (
    "Needed: a comma-separated file with columns stratum and pairs, one line per stratum of the run, each with its whole "
    "number of pairs. Nothing was computed. Correct the file and run again."
)
FIRST_ROW = 2
"""Where a spreadsheet shows the first item: under the column names."""


@dataclass(frozen=True)
class Design:
    """A stratified sample.

    names    the strata
    pairs    float, one per stratum: pairs that the run holds in it
    stratum  int, one per item: its place in `names`
    """

    names: tuple[str, ...]
    pairs: Floats
    stratum: npt.NDArray[np.intp]

    def counted(self, which: npt.NDArray[np.bool_]) -> Floats:
        """How many of the items marked in `which` each stratum holds."""
        return np.bincount(self.stratum[which], minlength=len(self.names)).astype(float)


def read_strata(path: Path) -> dict[str, float]:
    """Pairs of each stratum in the run, from a CSV file with columns stratum and pairs.

    Raises AuditError when it cannot be read, lacks a column, names a stratum twice or holds no positive whole number.
    """
    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig", skipinitialspace=True)
        pairs = pd.to_numeric(frame["pairs"]).to_numpy(dtype=float)
        names = frame["stratum"].str.strip()
    except (OSError, EOFError, ValueError, KeyError) as error:
        told = f"there is no column {error}" if isinstance(error, KeyError) else describe_error(error)
        raise AuditError(f"{path}: {told}. {STRATA_FILE}") from None
    if names.duplicated().any() or not len(names) or not (np.isfinite(pairs) & (pairs >= 1) & (pairs % 1 == 0)).all():
        raise AuditError(f"{path}: a stratum stands twice, or has no whole number of pairs. {STRATA_FILE}")
    return dict(zip(names, pairs.tolist(), strict=True))


def design_from(
    frame: pd.DataFrame, judge: npt.NDArray[np.intp], where: str, pairs: Mapping[str, float] | None = None
) -> Design | None:
    """The design that columns design_weight and stratum tell; None without design_weight and without `pairs`.

    A stratum holds as many pairs as `pairs` says, where given, else as many as the weights of its items add up to.
    Raises AuditError for a weight that is no number of at least 1, or that differs inside a stratum, and for items
    of a stratum that `pairs` does not name, or that it says is smaller than its sample.
    """
    names = _names(frame, judge)
    if pairs is not None:
        return _counted(names, pairs, where)
    if "design_weight" not in frame:
        return None
    weights = pd.to_numeric(frame["design_weight"], errors="coerce").to_numpy(dtype=float)
    _check_weights(frame, weights, where)
    strata, stratum = np.unique(names, return_inverse=True)
    _check_strata(strata, stratum, weights, where)
    return Design(tuple(map(str, strata)), _whole(np.bincount(stratum, weights=weights)), stratum)


def _counted(names: npt.NDArray[np.str_], pairs: Mapping[str, float], where: str) -> Design:
    place = {name: number for number, name in enumerate(pairs)}
    stratum = pd.Series(names).map(place)
    if stratum.isna().any():
        raise AuditError(
            f"{where}: stratum '{names[stratum.isna()][0]}' is not among the strata with known pairs "
            f"({', '.join(pairs)}). Nothing was computed. Add it to the strata, or correct the column stratum."
        )
    design = Design(tuple(pairs), np.array(list(pairs.values()), dtype=float), np.asarray(stratum, dtype=np.intp))
    sampled = np.bincount(design.stratum, minlength=len(pairs))
    over = np.flatnonzero(sampled > design.pairs)
    if len(over):
        raise AuditError(
            f"{where}: {sampled[over[0]]} items come from stratum '{design.names[over[0]]}', which is said to hold "
            f"{design.pairs[over[0]]:g} pairs. Nothing was computed. Correct the number of pairs."
        )
    return design


def _names(frame: pd.DataFrame, judge: npt.NDArray[np.intp]) -> npt.NDArray[np.str_]:
    if "stratum" in frame:
        return frame["stratum"].astype(str).str.strip().to_numpy(dtype=str)
    return np.array([*LABELS, UNSCORED])[judge]  # a missing verdict is -1, the last


def _whole(pairs: npt.NDArray[Any]) -> Floats:
    """Pairs as whole numbers where a written weight was cut after a few digits."""
    rounded = np.rint(pairs)
    return np.asarray(np.where(np.abs(pairs - rounded) <= np.maximum(1e-3 * rounded, 1e-6), rounded, pairs))


def _check_weights(frame: pd.DataFrame, weights: Floats, where: str) -> None:
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 1 - 1e-6)))
    if len(bad):
        raise AuditError(
            f"{where}, row {bad[0] + FIRST_ROW}, design_weight: '{frame['design_weight'].iloc[bad[0]]}' is no weight. "
            "Allowed: numbers of at least 1, the pairs in the item's stratum over the items sampled from it. "
            "Nothing was computed. Correct the cell, or take the column out to get the figures of the sample alone."
        )


def _check_strata(names: npt.NDArray[np.str_], stratum: npt.NDArray[np.intp], weights: Floats, where: str) -> None:
    by_stratum = pd.Series(weights).groupby(stratum).agg(["min", "max"])
    uneven = np.flatnonzero(by_stratum["max"] > by_stratum["min"] * (1 + 1e-3))
    if len(uneven):
        low, high = by_stratum.iloc[uneven[0]]
        raise AuditError(
            f"{where}: items of stratum '{names[uneven[0]]}' carry design weights from {low:g} to {high:g}. "
            "Allowed: one weight per stratum. Nothing was computed. Add a column `stratum` that tells the cells apart "
            "from which items were drawn (without one, the judge's label is taken)."
        )
