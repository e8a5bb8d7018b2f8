"""How pairs were labelled, and how much the disagreements matter."""

from __future__ import annotations

import pandas as pd

from audit.charts.style import LABEL_WORDS
from audit.exports.contents.columns import RESAMPLED, counted, pairs_behind, share
from audit.exports.context import Material
from audit.exports.table_model import Column, Table

OUTCOMES = {"pre-screened": "absent, pre-screened", "unscored": "unscored"}
GRADES = {"high": "high", "medium": "medium", "low": "low", "unstated": "not stated"}


def labels(material: Material) -> Table:
    """The distribution of labels, with pre-screened, judged and unscored apart."""
    frame = material.frame("labels")
    judged = frame["label"].map(lambda label: LABEL_WORDS.get(label, label))
    return Table(
        "labels", "How pairs were labelled", frame.assign(outcome=frame["how"].map(OUTCOMES).fillna(judged)),
        (
            Column("outcome", "Label"), counted("pairs", "Pairs"), share("share", "Share", "of all pairs"),
            share("share_of_judged", "Share", "of judged pairs"),
        ),
        (
            material.say("Pre-screened: one of the two answers is absent, so that the judge was not asked."),
            "Unscored: the judge was asked and gave no readable verdict; it is no label.", material.say(RESAMPLED),
        ), pairs_behind(material),
    )  # fmt: skip


def significance(material: Material) -> Table:
    """Disagreeing pairs by the clinical significance that the judge gave them."""
    grades = material.frame("severity", level="question")[list(GRADES)].sum()
    total = int(grades.sum())
    rows = [
        {"grade": word, "pairs": grades[name], "share": grades[name] / total if total else None} for name, word in GRADES.items()
    ]
    return Table(
        "significance", "Disagreements by clinical significance", pd.DataFrame(rows),
        (Column("grade", "Clinical significance"), counted("pairs", "Pairs"), share("share", "Share", "of disagreeing pairs")),
        ("Given by the judge to divergent and contradictory pairs. Not stated is counted on its own.",),
        f"{total:,} disagreeing pairs",
    )  # fmt: skip
