"""A small table with everything that a writer must get right; one chapter of an export."""

from __future__ import annotations

import pandas as pd

from audit.exports import catalogue
from audit.exports.catalogue import Chapter
from audit.exports.context import ExportContext
from audit.exports.table_model import Table
from audit.tables import Column

FORMULA = "=1+1"
AWKWARD = r'50 % of R&D_$x {a} #1 ~ ^ \ "q" <b> [c] – κ ≥ | `t`'


def table(name: str = "tiny") -> Table:
    frame = pd.DataFrame(
        {
            "organ": ["heart", FORMULA, AWKWARD],
            "pairs": [1234, 0, None],
            "share": [0.1634, 0.00044, float("nan")],
            "share_low": [0.1512, 0.00021, float("nan")],
            "share_high": [0.1761, 0.00078, float("nan")],
        }
    )
    columns = (
        Column.text("organ", "Organ"), Column.count("pairs", "Pairs", "scored"), Column.share("share", "Share", "R_div"),
    )  # fmt: skip
    return Table(name, "A tiny table", frame, columns, ("First note.", "Of 100 % & more."), "1,234 pairs")


def chapter_named(context: ExportContext, title: str) -> Chapter:
    """The one chapter of this title, which must apply; making all of them takes some two seconds."""
    (plan,) = [plan for plan in catalogue.CHAPTERS if plan.title == title]
    assert plan.applies_to(context)
    return catalogue._chapter(plan, context)
