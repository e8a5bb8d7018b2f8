"""Two runs over the same questions: what they share, how far their judges agree, what moved."""

from __future__ import annotations

from audit.charts.transitions import STATE_WORDS
from audit.exports.contents.columns import counted, share
from audit.exports.material import Material
from audit.exports.record import Column, Table

WHAT = {"questions": "{questions}", "handbooks": "{handbooks}", "pairs": "pairs"}


def _whom(material: Material) -> tuple[str, ...]:
    assert material.other is not None
    return (f"First: {material.run.title} ({material.run.key}).", f"Second: {material.other.title} ({material.other.key}).")


def shared(material: Material) -> Table:
    """What both runs have, and what only one of them has."""
    frame = material.frame("shared")
    return Table(
        "shared", "What the two runs have in common",
        frame.assign(what=[material.say(WHAT[what]) for what in frame["what"]]),
        (
            Column("what", "What"), counted("in_both", "In both"), counted("only_first", "Only in the first"),
            counted("only_second", "Only in the second"),
        ), _whom(material),
    )  # fmt: skip


def transitions(material: Material) -> Table:
    """What the second run says of the pairs of each label of the first."""
    frame = material.frame("transitions")
    held = frame[frame["pairs"] > 0]
    return Table(
        "transitions", "What two runs say of the same pairs",
        held.assign(first=held["first"].map(STATE_WORDS), second=held["second"].map(STATE_WORDS)),
        (
            Column("first", "First run"), Column("second", "Second run"), counted("pairs", "Pairs"),
            share("share", "Share", "of the first's"),
        ),
        (*_whom(material), "Combinations without a pair are left out. Pre-screened, unscored and not in the run are no labels."),
        f"{held['pairs'].sum():,} pairs",
    )  # fmt: skip


def run_agreement(material: Material) -> Table:
    """How far the judges of both runs agree."""
    frame = material.frame("run_agreement")
    return Table(
        "run_agreement", "How far the judges of two runs agree", frame,
        (
            Column("figure", "Figure"), counted("count", "Pairs"), counted("of", "Of"), share("value", "Value"),
            Column("interval", "Interval made by"),
        ),
        (
            *_whom(material), "Over pairs that both judges were asked about. DIVERGENT kept: of the pairs that the first calls "
            "divergent, those that the second does too. Disagreement new: of the pairs without disagreement in the first, those "
            "with one in the second. In brackets: 95 % intervals.",
        ),
    )  # fmt: skip
