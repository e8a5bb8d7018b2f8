"""Versions of a judge's prompt beside each other on labels that none of them has learnt from.

Items of one question are alike, and the same items are judged by every version. So questions are resampled, each with all its
items and with the same draw for both versions (`audit.stats.paired`); the questions are those that the sample happened to have.
Items count with their weights, as in the run. In simulated studies the intervals of differences contain the truth in 93 to 97 %
(`python -m benchmarks.alignment`; tests/annotation/agreement/test_versions.py has a small form).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from annotation.agreement.tables import ITEMS, LABEL, MEASURE_NAMES, NOTE
from annotation.ratings.design import MISSING, Codes, Floats
from audit.stats.bootstrap import MIN_QUESTIONS, draws
from audit.stats.clustered import clustered_ratio_interval
from audit.stats.paired import PairedShare, change_columns, change_interval, clustered_kappa_interval, cohen_kappa, direction
from audit.tables import Column, IntervalNote, Population, TableSpec
from audit.vocabulary import LABELS

SIZE = len(LABELS)
ACCURACY, KAPPA, PRECISION, RECALL = "accuracy", "kappa", "precision", "recall"
FEW = f"fewer than {MIN_QUESTIONS} questions on which the two versions differ"
MOVES = {"rises": "better", "falls": "worse", "not clear": "not clear", "the same": "the same", "too few questions": "not known"}
VERSIONS_TABLE = TableSpec(
    "Versions of the judge's prompt, on the part to prove on",
    (
        Column.text("version", "Version"), Column.text("figure", "Figure", words=MEASURE_NAMES), LABEL, ITEMS,
        Column.decimal("value", "Value"), Column.decimal("change", "Difference", "from the first version"),
        Column.text("moves", "Direction", words=MOVES), NOTE,
    ),
    (
        "Only items of questions that no version has learnt from, with a gold label. Each counts for the pairs of the run that it "
        "represents. An item that a version left without a label is not right, and found for no label; kappa leaves it out.",
        "n: items in the denominator: for precision those with this label by the version, for recall by raters.",
        "The same part proves every version: the more versions are tried on it, the more flattering the best of them looks.",
        IntervalNote(Population.QUESTIONS, "the questions resampled, each with all its items, the same for both versions"),
    ),
)  # fmt: skip


@dataclass(frozen=True)
class ProofItems:
    """Items to prove on; every array has one value per item.

    gold      label codes, none MISSING
    question  the question of each item, any integers
    weight    pairs of the run that the item represents; 1 where that is not known
    """

    gold: Codes
    question: Codes
    weight: Floats

    def tables(self, labels: Codes, kept: np.ndarray | None = None) -> Floats:
        """One table a question, gold by version: (questions, K, K + 1), the last column without a label, weights of mean 1."""
        names, place = np.unique(self.question, return_inverse=True)
        found = np.zeros((len(names), SIZE, SIZE + 1))
        own = slice(None) if kept is None else kept
        columns = np.where(labels == MISSING, SIZE, labels)
        np.add.at(found, (place[own], self.gold[own], columns[own]), (self.weight / self.weight.mean())[own])
        return found


def version_figures(items: ProofItems, versions: Mapping[str, Codes]) -> pd.DataFrame:
    """How well each version labels, and how it differs from the first one.

    versions  name -> its label codes, MISSING where it gave none

    One row per version and figure: kappa, accuracy, then precision and recall of each label that occurs:
        version, figure, label             str; label "" where of all
        n                                  int, items in the denominator
        value, value_low, value_high       float, 95 % interval; NaN where not known
        change, change_low, change_high    float, minus the first version's, paired; NaN for the first version
        moves                              str, `audit.stats.paired.direction`; "" for the first version
        note                               str, why an end is not known
    """
    first = next(iter(versions.values()))
    rows = [
        {"version": name, **row}
        for name, labels in versions.items()
        for row in (_kappa(items, first, labels), *_shares(items, first, labels))
    ]
    # Intervals of the first version's difference from itself would say nothing
    frame = pd.DataFrame(rows)
    is_first = frame["version"] == next(iter(versions))
    frame.loc[is_first, ["change", "change_low", "change_high"]] = np.nan
    frame.loc[is_first, ["moves", "note"]] = ""
    return frame


def _kappa(items: ProofItems, first: Codes, labels: Codes) -> dict[str, Any]:
    own = items.tables(labels)[..., :SIZE]
    low, high = clustered_kappa_interval(own)
    # Only items that both versions labelled: else one could gain by leaving the difficult ones out
    both = (first != MISSING) & (labels != MISSING)
    pair = [items.tables(codes, both)[..., :SIZE] for codes in (first, labels)]
    weights = draws(len(own), stream=0)
    replicates = [cohen_kappa(np.moveaxis(np.moveaxis(one, 0, -1) @ weights, -1, 0)) for one in pair]
    differing = int((np.abs(pair[1] - pair[0]).sum(axis=(1, 2)) > 0).sum())
    ends = change_interval((replicates[1] - replicates[0])[None, :], np.array([differing]))
    totals = [float(cohen_kappa(one.sum(axis=0))) for one in pair]
    value, n = float(cohen_kappa(own.sum(axis=0))), int((labels != MISSING).sum())
    change = {"change": totals[1] - totals[0], "change_low": float(ends[0][0]), "change_high": float(ends[1][0])}
    moves = direction(change["change_low"], change["change_high"], differing == 0)
    return _row(KAPPA, "", n, (value, low, high), change, moves, differing)


def _shares(items: ProofItems, first: Codes, labels: Codes) -> Iterator[dict[str, Any]]:
    """Accuracy, and precision and recall by label; a label that nobody gave has no row."""
    one, other = (_paired(items.tables(codes)) for codes in (first, labels))
    changes = change_columns("change", one, other, draws(one.numerator.shape[1], stream=0))
    low, high = clustered_ratio_interval(other.numerator, other.denominator)
    for place, (figure, code) in enumerate(_figures()):
        counted = labels if figure == PRECISION else items.gold
        n = len(labels) if figure == ACCURACY else int((counted == code).sum())
        if not n and not one.denominator[place].sum():
            continue
        change = {name: float(changes[name][place]) for name in ("change", "change_low", "change_high")}
        value = (float(other.value[place]), float(low[place]), float(high[place]))
        label = "" if figure == ACCURACY else LABELS[code].value
        yield _row(figure, label, n, value, change, changes["moves"][place], int(changes["questions"][place]))


def _figures() -> list[tuple[str, int]]:
    return [(ACCURACY, MISSING), *((name, code) for code in range(SIZE) for name in (PRECISION, RECALL))]


def _paired(tables: Floats) -> PairedShare:
    """Numerators and denominators of `_figures` by question, from the tables of a version."""
    right = np.stack([tables[:, code, code] for code in range(SIZE)])
    given, true = tables.sum(axis=1).T, tables.sum(axis=2).T
    numerators, denominators = [right.sum(axis=0)], [tables.sum(axis=(1, 2))]
    for code in range(SIZE):
        numerators += [right[code], right[code]]
        denominators += [given[code], true[code]]
    return PairedShare(np.stack(numerators), np.stack(denominators))


def _row(
    figure: str, label: str, n: int, value: tuple[float, float, float], change: Mapping[str, float], moves: str, differing: int
) -> dict[str, Any]:
    named = dict(zip(("value", "value_low", "value_high"), value, strict=True))
    note = FEW if np.isnan(change["change_low"]) and differing else ""
    return {"figure": figure, "label": label, "n": n, **named, **change, "moves": moves, "note": note}
