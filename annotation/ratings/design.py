"""The design of a stratified sample: its strata, the number of pairs of the run in each, and so the weight of an item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from annotation.ratings.file_rows import row_name
from audit.errors import AuditError
from audit.people_tables import TableSource, decimal_number, read_csv, visible
from audit.stats.intervals import ShareEstimate, sequence_width, stratified_share
from audit.vocabulary import LABEL_SPELLINGS, LABELS, plain

Codes = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float64]
MISSING = -1
"""The code of an item that a rater did not label."""
PRESCREENED = "pre-screened"
"""The second criterion of the stratum of pairs that were called absent without asking the judge."""
UNSCORED = "unscored"
"""The stratum of pairs without a readable verdict."""
STRATA_COLUMNS = ("stratum", "pairs")
STRATA_FILE = (
    "Allowed: a comma-separated file with columns stratum and pairs, one line per stratum of the run, each with its number of "
    "pairs as an integer. Nothing was computed. Correct the file and run again."
)
WEIGHT_TOLERANCE = 1e-3
"""Weights are written with a few digits, so sums of them are off by a little."""


@dataclass(frozen=True)
class SampleDesign:
    """A stratified sample.

    strata   their names
    pairs    float, (strata,): pairs in the run
    stratum  int, one per item: the index of its stratum in `strata`
    verdict  int, (strata,): strata with the same number have the same label by the judge and differ in a second criterion,
             such as the organ; None where there is no second criterion
    live     as in `annotation.ratings.table.Ratings`
    """

    strata: tuple[str, ...]
    pairs: Floats
    stratum: Codes
    verdict: Codes | None = None
    live: bool = False

    def share(self, events: Floats, rated: Floats) -> ShareEstimate:
        """The share of the run, from events and rated items by stratum; both as in `by_verdict`.

        A stratum of pre-screened pairs is a check: it adds no uncertainty where all of its rated items are, or none is, an event.
        """
        share, width = self.by_verdict(events, rated), float(width_of(rated.sum(), live=self.live))
        if not any(name.endswith(f"/{PRESCREENED}") for name in self.verdicts):
            return stratified_share(*share, width=width)
        own, items, pairs = share
        checked = np.array([name.endswith(f"/{PRESCREENED}") for name in self.verdicts]) & (items > 0)
        alike = checked & ((own == 0) | (own == items)).reshape(-1, len(items)).all(axis=0)
        # As if rated in full: the ratings show nothing but what is taken as known
        in_full = np.where(alike, pairs / np.maximum(items, 1), 1.0)
        return stratified_share(own * in_full, items * in_full, pairs, width=width)

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The names of what `by_verdict` puts together: a label that a second criterion divides, else a stratum."""
        if self.verdict is None:
            return self.strata
        firsts = [self.strata[int(np.argmax(self.verdict == number))] for number in range(self.verdict.max() + 1)]
        counts = np.bincount(self.verdict)
        return tuple(name.split("/")[0] if n > 1 else name for name, n in zip(firsts, counts, strict=True))

    def by_verdict(self, events: Floats, rated: Floats) -> tuple[Floats, Floats, Floats]:
        """Events, rated items and pairs of the strata, put together by the judge's label; each (..., labels).

        events, rated  (..., strata) and (strata,): rated items with some label, and all rated items

        A second criterion leaves cells of a few items, of which each may hide a label that none of its items has. Added up, such
        intervals are twice as wide as they need to be, for a sample that is spread in proportion to the pairs anyway. An item
        counts for the pairs that it represents, and the items of a label are as many as equal weights would need (Kish 1965).
        """
        if self.verdict is None:
            return events, rated, self.pairs
        member = (self.verdict == np.arange(self.verdict.max() + 1)[:, None]).astype(float)
        known = np.where(rated > 0, self.pairs, 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            items = np.nan_to_num((member @ known) ** 2 / (member @ np.where(rated > 0, self.pairs**2 / rated, 0.0)))
            share = np.nan_to_num((np.nan_to_num(events / rated) * known) @ member.T / (member @ known))
        return share * items, items, member @ self.pairs

    def count(self, marked: npt.NDArray[np.bool_]) -> Floats:
        """Marked items in each stratum."""
        return np.bincount(self.stratum[marked], minlength=len(self.strata)).astype(float)

    def judge_shares(self, judge: Codes) -> Floats:
        """The judge's own share of each label in the run, (labels,).

        Exact where each stratum has a single verdict, as it does when items were drawn by label.
        """
        shares = [_verdict_shares(name, judge[self.stratum == index]) for index, name in enumerate(self.strata)]
        return np.asarray(self.pairs @ np.array(shares) / self.pairs.sum())


def _verdict_shares(stratum: str, judge: Codes) -> Floats:
    """The judge's labels in a stratum, as shares; a stratum without items is identified by its name."""
    if len(judge):
        return np.asarray((judge[:, None] == np.arange(len(LABELS))).mean(axis=0))
    code = _code_of_name(stratum)
    if code == MISSING and stratum != UNSCORED:
        return np.full(len(LABELS), np.nan)
    return np.asarray((np.arange(len(LABELS)) == code).astype(float))


def width_of(items: npt.ArrayLike, *, live: bool) -> Floats:
    """How many times as wide an interval of so many items is: 1, unless it is looked at while the ratings come in."""
    return np.asarray(sequence_width(items) if live else np.ones_like(items), dtype=float)


def read_strata(path: Path) -> dict[str, float]:
    """Pairs of each stratum in the run, from a CSV file with columns stratum and pairs.

    Raises AuditError when the file cannot be read, lacks a column, names a stratum twice, or has a number of pairs that is not
    a positive integer.
    """
    source = TableSource(str(path), STRATA_FILE)
    table = read_csv(path, source, STRATA_COLUMNS.__contains__)
    missing = [name for name in STRATA_COLUMNS if name not in table.columns]
    if missing or not table.rows:
        raise source.refusal("", f"column '{missing[0]}' is missing" if missing else "no stratum is listed", "")
    pairs: dict[str, float] = {}
    for row in table.rows:
        name, number = visible(row.cells["stratum"]), decimal_number(visible(row.cells["pairs"]))
        if name in pairs or not (np.isfinite(number) and number >= 1 and number % 1 == 0):
            raise source.refusal(row.place, "a stratum appears twice, or its pairs are not an integer of at least 1", "")
        pairs[name] = number
    return pairs


def design_from(frame: pd.DataFrame, judge: Codes, where: str, pairs: Mapping[str, float] | None = None) -> SampleDesign | None:
    """The design in columns design_weight and stratum; None without design_weight and without `pairs`.

    A stratum has as many pairs as `pairs` gives, else as many as the weights of its items add up to.
    Raises AuditError for a weight that is not a number of at least 1, or that differs within a stratum, and for items of a
    stratum that `pairs` does not name, or that is smaller there than its sample.
    """
    names = _stratum_names(frame, judge)
    if pairs is not None:
        return _design_with_known_sizes(names, judge, pairs, where)
    if "design_weight" not in frame:
        return None
    weights = np.array([decimal_number(str(cell)) for cell in frame["design_weight"]], dtype=float)
    _check_weights(frame, weights, where)
    strata, stratum = np.unique(names, return_inverse=True)
    _check_equal_weights(strata, stratum, weights, where)
    sizes = _rounded_sizes(np.bincount(stratum, weights=weights))
    return SampleDesign(tuple(map(str, strata)), sizes, stratum, _shared_verdicts(strata.tolist(), sizes, stratum, judge))


def _design_with_known_sizes(names: npt.NDArray[np.str_], judge: Codes, pairs: Mapping[str, float], where: str) -> SampleDesign:
    stratum = pd.Series(names).map({name: index for index, name in enumerate(pairs)})
    if stratum.isna().any():
        raise AuditError(
            f"{where}: stratum '{names[stratum.isna()][0]}' is not among the strata with a known number of pairs "
            f"({', '.join(pairs)}). Nothing was computed. Add it to the strata, or correct the column stratum."
        )
    codes = np.asarray(stratum, dtype=np.intp)
    sizes = np.array(list(pairs.values()), dtype=float)
    design = SampleDesign(tuple(pairs), sizes, codes, _shared_verdicts(list(pairs), sizes, codes, judge))
    sampled = np.bincount(design.stratum, minlength=len(pairs))
    oversampled = np.flatnonzero(sampled > design.pairs)
    if len(oversampled):
        index = oversampled[0]
        raise AuditError(
            f"{where}: {sampled[index]} items come from stratum '{design.strata[index]}', which has only "
            f"{design.pairs[index]:g} pairs. Nothing was computed. Correct the number of pairs."
        )
    return design


def _shared_verdicts(strata: Sequence[str], pairs: Floats, stratum: Codes, judge: Codes) -> Codes | None:
    """The number of each stratum's label by the judge, see `SampleDesign.verdict`; None where no two strata have the same."""
    labels = []
    for index, name in enumerate(strata):
        codes = set(judge[stratum == index].tolist()) or {_code_of_name(name)}
        # What is in the sample in full adds no uncertainty to the others
        codes |= {MISSING} if name.endswith(f"/{PRESCREENED}") or (stratum == index).sum() == pairs[index] else set()
        # A stratum with several verdicts, or with none that is known, has no other that is like it.
        labels.append(str(codes.pop()) if len(codes) == 1 and MISSING not in codes else f"only {name}")
    numbers = np.unique(labels, return_inverse=True)[1]
    return None if len(set(labels)) == len(labels) else np.asarray(numbers, dtype=np.intp)


def _code_of_name(stratum: str) -> int:
    label = LABEL_SPELLINGS.get(plain(stratum.split("/")[0]))
    return MISSING if label is None else label.code


def _stratum_names(frame: pd.DataFrame, judge: Codes) -> npt.NDArray[np.str_]:
    if "stratum" in frame:
        return frame["stratum"].astype(str).str.strip().to_numpy(dtype=str)
    return np.array([*LABELS, UNSCORED])[judge]  # a missing verdict is -1, the last


def _rounded_sizes(pairs: npt.NDArray[Any]) -> Floats:
    """Sums of weights as integers where the written weights were cut after a few digits."""
    rounded = np.rint(pairs)
    close = np.abs(pairs - rounded) <= np.maximum(WEIGHT_TOLERANCE * rounded, 1e-6)
    return np.asarray(np.where(close, rounded, pairs))


def _check_weights(frame: pd.DataFrame, weights: Floats, where: str) -> None:
    # An item represents itself at least; the tolerance is for weights that were written with few digits.
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 1 - 1e-6)))
    if len(wrong):
        raise AuditError(
            f"{where}, {row_name(frame, int(wrong[0]))}: design_weight must be a number of at least 1, not "
            f"'{frame['design_weight'].iloc[wrong[0]]}': the pairs in the item's stratum divided by the items sampled from it. "
            "Nothing was computed. Correct the cell, or delete the column to get the figures of the sample alone."
        )


def _check_equal_weights(names: npt.NDArray[np.str_], stratum: Codes, weights: Floats, where: str) -> None:
    by_stratum = pd.Series(weights).groupby(stratum).agg(["min", "max"])
    uneven = np.flatnonzero(by_stratum["max"] > by_stratum["min"] * (1 + WEIGHT_TOLERANCE))
    if len(uneven):
        low, high = by_stratum.iloc[uneven[0]]
        raise AuditError(
            f"{where}: items of stratum '{names[uneven[0]]}' have design weights from {low:g} to {high:g}. "
            "Allowed: one weight per stratum. Nothing was computed. Add a column `stratum` that names the stratum from which "
            "each item was drawn (without one, the judge's label is the stratum)."
        )
