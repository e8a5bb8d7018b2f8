"""The calibration round: the annotators' agreement, whether it suffices to start, and the items to discuss.

For PIs, without the judge: annotators sit next to the PI when the differing items are read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, groupby

import pandas as pd

from annotation.agreement.report import ALL_ANNOTATORS, report_without_judge
from annotation.agreement.tables import FIGURE, rater_name
from annotation.label_store.engine import LabelStore
from annotation.label_store.results import AssignmentRow, assignment_rows
from annotation.label_store.studies import ItemKind, find_study
from annotation.ratings.table import ratings_from
from annotation.schemes import Scheme
from audit.formatting import fixed
from audit.tables import Column, IntervalNote, Population, TableSpec

MIN_SHARE, MIN_KAPPA = 0.7, 0.6
"""Below either, the protocol repeats the round (annotation/PROTOCOL.md, section 6)."""


CALIBRATION_TABLE = TableSpec(
    "Agreement in the calibration round",
    (
        Column.text("who", "Between"),
        Column.count("n", "n", "items"),
        Column.share("value", "Same label"),
        Column.decimal("kappa", "Kappa"),
        Column.text("note", "Note"),
    ),
    (
        "Calibration items are rated before the study and enter no other figure.",
        "Kappa: with quadratic weights, because labels are ordered (of all annotators: Conger's).",
        IntervalNote(Population.ITEMS),
    ),
)


@dataclass(frozen=True)
class CalibrationRating:
    """The choice of one annotator; `label` is None if the item is not rated yet."""

    annotator: str
    label: str | None
    significance: str | None
    comment: str


@dataclass(frozen=True)
class CalibrationItem:
    """An item of the round as annotators read it, answers a and b in the item's order, with everybody's rating."""

    item_id: str
    question: str
    answer_a: str
    answer_b: str
    ratings: tuple[CalibrationRating, ...]

    @property
    def differs(self) -> bool:
        """Whether two annotators chose different labels."""
        return len({rating.label for rating in self.ratings if rating.label}) > 1


@dataclass(frozen=True)
class CalibrationFigure:
    """An estimate with its 95 % interval (NaN if it has none), and why it is undefined ("" where it is not)."""

    value: float
    low: float
    high: float
    n: int
    note: str


TwoFigures = tuple[CalibrationFigure, CalibrationFigure]
"""Share of equal labels, and kappa."""


@dataclass(frozen=True)
class Calibration:
    """The agreement on calibration items.

    share   items with equal labels, of those that all annotators rated (pairs of ratings, with more than two annotators)
    kappa   the coefficient that is read first: weighted where labels are ordered
    missing ratings that are not in yet
    pairs   the same two figures of each two annotators, by letter, where there are more than two
    """

    scheme: Scheme
    items: Sequence[CalibrationItem]
    share: CalibrationFigure
    kappa: CalibrationFigure
    missing: int
    pairs: Mapping[str, TwoFigures] = field(default_factory=dict)

    @property
    def met(self) -> bool | None:
        """Whether the agreement reaches the protocol's threshold; None while no item is rated by two annotators.

        Where every label is the same, kappa is undefined and the share decides.
        """
        if math.isnan(self.share.value):
            return None
        return self.share.value >= MIN_SHARE and (math.isnan(self.kappa.value) or self.kappa.value >= MIN_KAPPA)

    @property
    def differing(self) -> list[CalibrationItem]:
        """The items on which labels differ."""
        return [item for item in self.items if item.differs]

    def frame(self) -> pd.DataFrame:
        """Both figures with intervals: of all annotators, and of each two where there are more; columns of CALIBRATION_TABLE."""
        rows = [(ALL_ANNOTATORS if self.pairs else "annotator A and annotator B", self.share, self.kappa)]
        rows += [(who, *figures) for who, figures in self.pairs.items()]
        return pd.DataFrame(
            [
                {"who": who, "n": share.n, "value": share.value, "value_low": share.low, "value_high": share.high,
                 "kappa": kappa.value, "kappa_low": kappa.low, "kappa_high": kappa.high, "note": kappa.note or share.note}
                for who, share, kappa in rows
            ]
        )  # fmt: skip

    def sentence(self) -> str:
        """The agreement with intervals and count, and the threshold, in words."""
        if self.met is None:
            return "No calibration item is rated by two annotators yet."
        share = f"Same label: {_percent(self.share.value)} of {self.share.n} calibration items{_interval(self.share, share=True)}"
        name = FIGURE.display(self.scheme.headline)
        known = not math.isnan(self.kappa.value)
        kappa = f"{name} {fixed(self.kappa.value, 2)}{_interval(self.kappa)}" if known else f"{name} undefined: {self.kappa.note}"
        threshold = f"The protocol asks for {_percent(MIN_SHARE)} and a kappa of {MIN_KAPPA}: {'met' if self.met else 'not met'}."
        ratings = "rating is" if self.missing == 1 else "ratings are"
        missing = f" {self.missing:,} {ratings} missing, so this is provisional." if self.missing else ""
        return f"{share}; {kappa}. {threshold}{missing}"


def _percent(share: float) -> str:
    return f"{fixed(100 * share, 0)} %"


def _interval(figure: CalibrationFigure, *, share: bool = False) -> str:
    if math.isnan(figure.low):
        return ""
    write = _percent if share else lambda value: fixed(value, 2)
    return f" (95 % interval {write(figure.low)} to {write(figure.high)})"


def calibration_of(store: LabelStore, study_id: str) -> Calibration | None:
    """The calibration round of a study; None where the study has none. Raises StudyError when there is no such study."""
    scheme = find_study(store, study_id).scheme
    rows = [row for row in assignment_rows(store, study_id) if row["kind"] == ItemKind.CALIBRATION]
    if not rows:
        return None
    items = [_item(list(group)) for _, group in groupby(rows, lambda row: row["item_id"])]
    (share, kappa), pairs = _figures(rows, scheme)
    return Calibration(scheme, items, share, kappa, sum(row["label"] is None for row in rows), pairs)


def _item(rows: list[AssignmentRow]) -> CalibrationItem:
    ratings = tuple(
        CalibrationRating(row["annotator"] or "", row["label"], row["significance"], row["comment"] or "") for row in rows
    )
    first = rows[0]
    return CalibrationItem(first["item_id"], first["question"], first["answer_a"], first["answer_b"], ratings)


def _figures(rows: list[AssignmentRow], scheme: Scheme) -> tuple[TwoFigures, dict[str, TwoFigures]]:
    """Raw agreement and the headline coefficient of all annotators together, and of each two where there are more."""
    table = pd.DataFrame([{"item_id": row["item_id"], "seat": row["seat"], "label": row["label"]} for row in rows])
    wide = table.pivot(index="item_id", columns="seat", values="label").rename(columns=lambda seat: f"annotator_{seat.lower()}")
    figures = report_without_judge(
        ratings_from(wide.reset_index().assign(judge=None), "The calibration round", scheme=scheme)
    ).figures
    own = figures[(figures["about"] == "label") & (figures["label"] == "")]
    raters = [str(rater) for rater in wide.columns]

    def of(first: str, second: str) -> TwoFigures:
        chosen = own[(own["first"] == first) & (own["second"] == second)].set_index("name")
        return _figure(chosen, "agreement"), _figure(chosen, scheme.headline)

    if len(raters) == 2:
        return of(*raters), {}
    return of(ALL_ANNOTATORS, ""), {f"{rater_name(a)} and {rater_name(b)}": of(a, b) for a, b in combinations(raters, 2)}


def _figure(figures: pd.DataFrame, name: str) -> CalibrationFigure:
    if name not in figures.index:  # more than two annotators of whom fewer than three have begun
        return CalibrationFigure(math.nan, math.nan, math.nan, 0, "too few annotators have rated")
    (row,) = figures.loc[[name]].to_dict("records")
    return CalibrationFigure(float(row["value"]), float(row["low"]), float(row["high"]), int(row["n"]), str(row["note"]))
