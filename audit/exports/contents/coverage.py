"""What handbooks leave out."""

from __future__ import annotations

import pandas as pd

from audit.exports.contents.columns import ALL, OWN_FIXED, WILSON, counted, named, share, title_of
from audit.exports.context import Material
from audit.exports.table_model import Column, Table
from audit.terms import display_name

ABSENCE = "Absence: of the {questions} that {a_handbook} was asked, the share it does not address. Not asked counts in neither."


def coverage(material: Material) -> Table:
    """How unlike the handbooks of an organ are in what they leave out: the least silent, the mean, the most silent."""
    books = material.frame("handbooks")
    rows = [_spread(organ, group) for organ, group in (*books.groupby("organ"), (ALL, books))]
    frame = pd.DataFrame(rows)
    everything = material.say("all {organs}")
    return Table(
        "coverage", material.say("What {handbooks} leave out, by their {organ}"),
        frame.assign(organ=named(frame["organ"], everything)),
        (
            Column("organ", title_of(material, "organ")), counted("handbooks", title_of(material, "handbooks")),
            share("least", "Least silent", "absence"), share("mean", "Mean", "absence"), share("median", "Median", "absence"),
            share("most", "Most silent", "absence"),
        ),
        (material.say(ABSENCE), material.say("Mean and median are over {handbooks}, each counting once.")),
        material.say(f"{books['asked'].sum():,} answers of {len(books):,} {{handbooks}}"),
    )  # fmt: skip


def _spread(organ: str, books: pd.DataFrame) -> dict[str, object]:
    absence = books["absence"]
    return {
        "organ": organ, "handbooks": len(books), "least": absence.min(), "mean": absence.mean(), "median": absence.median(),
        "most": absence.max(),
    }  # fmt: skip


def handbooks(material: Material) -> Table:
    """Every handbook: what it leaves out, and how often it disagrees."""
    frame = material.frame("handbooks")
    return Table(
        "handbooks", material.say("Coverage and disagreement of each {handbook}"),
        frame.assign(center=frame["center"].map(display_name), organ=frame["organ"].map(display_name)),
        (
            Column("organ", title_of(material, "organ")), Column("center", title_of(material, "center")),
            Column("phase", title_of(material, "phase")), counted("asked", "Asked", material.say("{questions}")),
            share("absence", "Absence"), counted("present", "Both answer", "pairs"), share("r_div", "Disagreement", "R_div"),
        ),
        (
            material.say(ABSENCE),
            material.say("R_div: of its pairs with other {handbooks} in which both answer, those divergent or contradictory."),
            f"Absence: {WILSON[0].lower()}{WILSON[1:]}", "R_div: " + material.say(OWN_FIXED[0].lower() + OWN_FIXED[1:]),
        ), material.say(f"{len(frame):,} {{handbooks}}"),
    )  # fmt: skip
