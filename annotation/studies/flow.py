"""The flow of a study's items: drawn, rated, agreed, adjudicated; with its calibration round, repeats and single ratings."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from annotation.label_store.studies import ItemKind
from annotation.ratings.design import MISSING
from annotation.ratings.gold import gold_standard
from annotation.ratings.table import Ratings
from audit.tables import Column, TableSpec

FLOW_TABLE = TableSpec(
    "Flow of items",
    (Column.text("step", "Step"), Column.count("n", "n", "items"), Column.text("note", "Note")),
)
RATINGS_TABLE = TableSpec(
    "Every rating of the study",
    (
        Column.text("item_id", "Item"), Column.text("kind", "Kind"), Column.text("question_id", "Question"),
        Column.text("handbook_a", "Handbook a"), Column.text("handbook_b", "Handbook b"), Column.text("seat", "Annotator"),
        Column.count("position", "Position"), Column.text("label", "Label"), Column.text("significance", "Significance"),
        Column.text("unsure", "Unsure"), Column.decimal("seconds", "Time", "s"), Column.text("judge", "Judge"),
        Column.text("stratum", "Stratum"), Column.decimal("design_weight", "Weight"), Column.text("gold", "Gold"),
        Column.text("gold_source", "Source of gold"),
    ),
    ("Annotators are called A and B; names, comments and reasons are left out. `audit study export` has them.",),
    printed_rows=30,
)  # fmt: skip
CODEBOOK_TABLE = TableSpec(
    "Codebook of the ratings",
    (Column.text("column", "Column"), Column.text("meaning", "Meaning")),
)


@dataclass(frozen=True)
class StudyFlow:
    """Items of a study by outcome.

    drawn        items of the sample
    rated        rated by at least two annotators
    agreed       with a gold label on which annotators agree
    adjudicated  with a gold label that a third person decided
    disputed     rated by two or more, without a majority and not decided
    rated_once, unrated   items with one rating, and with none
    calibration, repeats  items outside the sample
    """

    drawn: int
    rated: int
    agreed: int
    adjudicated: int
    disputed: int
    rated_once: int
    unrated: int
    calibration: int
    repeats: int

    def sentence(self) -> str:
        """The flow in a sentence."""
        states = ((self.disputed, "undecided"), (self.rated_once, "rated once"), (self.unrated, "not rated"))
        left = ", ".join(f"{n:,} {words}" for n, words in states if n)
        return (
            f"Of {self.drawn:,} items drawn, {self.rated:,} were rated by at least two annotators, who agreed on "
            f"{self.agreed:,}; {self.adjudicated:,} were adjudicated{f'; {left}' if left else ''}."
        )

    def frame(self) -> pd.DataFrame:
        """One row per step, with the columns of FLOW_TABLE."""
        rows = [
            ("drawn", self.drawn, "items of the sample"),
            ("rated by at least two annotators", self.rated, ""),
            ("agreed", self.agreed, "the annotators' label is gold"),
            ("adjudicated", self.adjudicated, "a third person's label is gold"),
            ("in open dispute", self.disputed, "no gold label yet"),
            ("rated by one annotator only", self.rated_once, "no gold label"),
            ("not rated", self.unrated, ""),
            ("calibration items", self.calibration, "outside the sample"),
            ("hidden repeats", self.repeats, "outside the sample"),
        ]
        return pd.DataFrame(rows, columns=[column.name for column in FLOW_TABLE.columns])


def study_flow(ratings: Ratings, table: pd.DataFrame) -> StudyFlow:
    """The flow of a study; `table` as `annotation.studies.study_tables.ratings_table` returns it."""
    gold = gold_standard(ratings)
    once, disputed = int(gold.rated_once.sum()), int(gold.disputed.sum())
    raters = sum((ratings.labels[rater] != MISSING).astype(int) for rater in ratings.annotators)
    kinds = table.drop_duplicates("item_id")["kind"].value_counts()
    return StudyFlow(
        len(ratings.items), int((raters >= 2).sum()), gold.agreed, int(gold.adjudicated.sum()), disputed, once,
        int((raters == 0).sum()), int(kinds.get(ItemKind.CALIBRATION, 0)), int(kinds.get(ItemKind.REPEAT, 0)),
    )  # fmt: skip


def by_annotator_letter(retest: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Figures by annotator, under letters instead of the names of accounts; an annotator with both seats has both letters."""
    seats = table.dropna(subset=["annotator"]).groupby("annotator")["seat"].agg(lambda own: " and ".join(sorted(set(own))))
    return retest.assign(annotator=[f"annotator {seats.get(name, '')}".strip() for name in retest["annotator"]])
