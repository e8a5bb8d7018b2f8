"""Where two runs differ most, and what they do not share."""

from __future__ import annotations

import pandas as pd

from audit.exports.contents.columns import counted, share, title_of
from audit.exports.contents.two_runs import compared_pairs, whom
from audit.exports.context import Material
from audit.exports.table_model import Column, Table
from audit.metrics.most_moved import ABSENCE, DISAGREEMENT, LABEL
from audit.terms import display_name

ON_PAPER = 30
KINDS = {
    DISAGREEMENT: ("most in disagreement", "disagrees (divergent or contradictory) in one of the runs only"),
    ABSENCE: ("most in silence", "is absent in one of the runs only"),
    LABEL: ("most in any label", "has another label in the second run"),
}
"""What counts as moved: how a title calls it, and when a pair has."""
SURETY = "In the order of the lower end of the interval, so that a few pairs do not lead by chance."
PARTS = (
    "Of these, disagreeing pairs: came to light, absent in the first run; fell silent, absent in the second; judged to disagree, "
    "to agree, present in both. Change: disagreeing pairs more in the second run."
)
ALONE = "What only one run has is compared with nothing; it is the same where its id is."
WHERE = {"first": "the first", "second": "the second"}


def questions_moved(material: Material) -> Table:
    """The questions on which disagreement moved most."""
    return _questions(material, DISAGREEMENT, "questions_moved")


def questions_silent(material: Material) -> Table:
    """The questions on which silence moved most."""
    return _questions(material, ABSENCE, "questions_moved_silence")


def questions_relabelled(material: Material) -> Table:
    """The questions on which labels moved most."""
    return _questions(material, LABEL, "questions_moved_label")


def handbooks_moved(material: Material) -> Table:
    """The handbooks in whose pairs disagreement moved most."""
    return _handbooks(material, DISAGREEMENT, "handbooks_moved")


def handbooks_silent(material: Material) -> Table:
    """The handbooks in whose pairs silence moved most."""
    return _handbooks(material, ABSENCE, "handbooks_moved_silence")


def handbooks_relabelled(material: Material) -> Table:
    """The handbooks in whose pairs labels moved most."""
    return _handbooks(material, LABEL, "handbooks_moved_label")


def _questions(material: Material, kind: str, name: str) -> Table:
    frame, (title, meaning) = material.frame("questions_moved", kind=kind), KINDS[kind]
    n = f"{frame['moved'].sum():,} of {compared_pairs(material)} moved, on {len(frame):,} {{questions}}"
    return Table(
        name, material.say("{Questions} that moved ") + title, frame.assign(organ=frame["organ"].map(display_name)),
        (Column("text", title_of(material, "question")), Column("organ", title_of(material, "organ")), *_counts()),
        (
            *whom(material), f"Moved: a pair that {meaning}. {SURETY}", PARTS,
            "In brackets: 95 % intervals (Wilson 1927), with as many trials as there are couples of {handbooks} that share none: "
            "one {handbook} heard anew moves all its pairs.".format(
                handbooks=material.run.term("handbook", 2), handbook=material.run.term("handbook")
            ),
        ), material.say(n), ON_PAPER,
    )  # fmt: skip


def _handbooks(material: Material, kind: str, name: str) -> Table:
    frame, (title, meaning) = material.frame("handbooks_moved", kind=kind), KINDS[kind]
    words = {column: frame[column].map(display_name) for column in ("organ", "center", "phase")}
    return Table(
        name, material.say("{Handbooks} that moved ") + title, frame.assign(**words),
        (*(Column(column, title_of(material, column)) for column in words), *_counts()),
        (
            *whom(material), f"Moved: a pair that {meaning}. {SURETY}", PARTS,
            material.say("A pair counts for both its {handbooks}, so that what moved adds up to twice the pairs that moved."),
            material.say("In brackets: 95 % intervals, {questions} resampled (Wilson's where pairs move on fewer than five). ")
            + "A dash: not known.",
        ), material.say(f"{len(frame):,} {{handbooks}}, {compared_pairs(material)}"), ON_PAPER,
    )  # fmt: skip


def _counts() -> tuple[Column, ...]:
    return (
        counted("moved", "Moved", "pairs"), counted("compared", "Of", "pairs"), share("share", "Share", "moved"),
        counted("revealed", "Came to light"), counted("lost", "Fell silent"), counted("judged_new", "Judged to disagree"),
        counted("judged_gone", "Judged to agree"), counted("change", "Change", "pairs"),
    )  # fmt: skip


def left_out(material: Material) -> Table:
    """The handbooks and questions that only one of the runs has."""
    frame = material.frame("left_out")
    kinds = {what: title_of(material, what) for what in ("handbook", "question")}
    words = {"what": frame["what"].map(kinds), "run": frame["run"].map(WHERE), "organ": frame["organ"].map(display_name)}
    return Table(
        "left_out", "What only one of the two runs has", frame.assign(**words),
        (
            Column("what", "Kind"), Column("run", "Only in"), Column("id", "Id"), Column("name", "Text or name"),
            Column("organ", title_of(material, "organ")),
        ), (*whom(material), ALONE), _alone(material, frame), ON_PAPER,
    )  # fmt: skip


def _alone(material: Material, frame: pd.DataFrame) -> str:
    if frame.empty:
        return material.say("nothing: both have the same {questions} and {handbooks}")
    held = frame["what"].value_counts()
    words = [f"{held[what]:,} {material.run.term(what, int(held[what]))}" for what in ("handbook", "question") if what in held]
    return " and ".join(words)
