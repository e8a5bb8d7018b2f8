"""Confusion matrices of a study, one table each."""

from __future__ import annotations

from collections.abc import Iterator

from annotation.agreement.comparisons import POPULATION, SAMPLE
from annotation.ratings import GOLD, JUDGE
from annotation.validation.data import ValidationData, label_word, rater_name
from audit.exports.contents.columns import counted
from audit.exports.table_model import Column, Table

UNITS = {SAMPLE: "items", POPULATION: "estimated pairs of the run"}
WEIGHTED = {SAMPLE: "", POPULATION: ": each item counts its weight N_h / n_h"}
NAMES = {SAMPLE: "", POPULATION: "_run"}


def matrices(evidence: ValidationData) -> Iterator[Table]:
    """Annotators with each other, the judge by the majority and by gold; for the sample, and weighted to the run."""
    cells = evidence.report.confusion
    labels = cells[cells["about"] == "label"]
    for (first, second, scope), own in labels.groupby(["first", "second", "scope"], sort=False):
        if second != JUDGE or first in ("majority", GOLD):
            wide = own.pivot(index="first_label", columns="second_label", values="count")
            order = list(dict.fromkeys(own["first_label"]))
            frame = wide.loc[order, order].rename_axis(columns=None).reset_index()
            unit = UNITS[str(scope)]
            yield Table(
                f"study_confusion_{first}_{second}{NAMES[str(scope)]}".replace("annotator_", ""),
                f"Labels by {rater_name(str(first))} (rows) and by {rater_name(str(second))} (columns), {unit}",
                frame.assign(first_label=frame["first_label"].map(label_word)),
                (Column("first_label", rater_name(str(first))), *(counted(label, label_word(label)) for label in order)),
                (f"Counts are {unit}{WEIGHTED[str(scope)]}. An item to which one of the two gave no label is not among them.",),
                evidence.n,
            )
