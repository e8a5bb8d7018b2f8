"""How far the judge can be trusted to say the same again, and how its replies were read."""

from __future__ import annotations

from audit.exports.contents.columns import BY_QUESTION, counted, share
from audit.exports.context import Material
from audit.exports.table_model import Column, Table

KINDS = {"swap": "answers in the other order", "blind": "names of {centers} hidden", "repeat": "asked the same again"}
CHECKS = {
    "changed": "another label", "crossed": "across the line", "to disagreement": "into disagreement",
    "to agreement": "out of disagreement", "kappa": "kappa", "unread": "not readable twice",
}  # fmt: skip
WAYS = {
    "strict": "read as the JSON asked for", "lenient": "read as JSON with faults", "label": "only the label found in the text",
    "none": "not readable", "rules": "no model was asked: plain rules", "not said": "the release does not say",
    "(all)": "unscored, all together",
}  # fmt: skip


def judge_checks(material: Material) -> Table:
    """Position swap, masked names, repeats: what changes when the judge is asked again."""
    frame = material.frame("judge_checks")
    kinds = {kind: material.say(words) for kind, words in KINDS.items()}
    return Table(
        "judge_checks", "What the judge says when it is asked about the same pair again",
        frame.assign(kind=frame["kind"].map(kinds), figure=frame["figure"].map(CHECKS)),
        (
            Column("kind", "Check"), Column("figure", "Figure"), counted("count", "Checks"), counted("of", "Of"),
            share("value", "Value"), Column("interval", "Interval made by"),
        ),
        (
            "Across the line: between agreeing (absent, consistent, complementary) and disagreeing (divergent, contradictory).",
            "What changes when the same is asked again is chance: hold the other checks against it.",
            "0 checks: not measured, which is not zero. In brackets: 95 % intervals.",
        ), f"{frame.loc[frame['figure'] == 'unread', 'of'].sum():,} checks",
    )  # fmt: skip


def judge_reading(material: Material) -> Table:
    """Parse success, and unscored pairs by reason."""
    frame = material.frame("judge_reading")
    return Table(
        "judge_reading", "How the judge's replies were read",
        frame.assign(name=frame["name"].map(lambda name: WAYS.get(name, name))),
        (
            Column("part", "Part"), Column("name", "Way, or reason"), counted("count", "Pairs"),
            counted("of", "Of", "pairs asked"), share("value", "Share"), Column("interval", "Interval made by"),
        ),
        ("Pre-screened pairs were not asked, and are in no count. In brackets: 95 % intervals.",),
        f"{frame['of'].max() if len(frame) else 0:,} pairs that the judge was asked about",
    )  # fmt: skip


def judge_length(material: Material) -> Table:
    """Whether disagreement goes with how unlike in length two answers are."""
    frame = material.frame("judge_length")
    names = {"(rho)": "Spearman's rho"}
    return Table(
        "judge_length", "Disagreement by how unlike in length two answers are",
        frame.assign(fifth=frame["fifth"].map(lambda fifth: names.get(fifth, f"fifth {fifth}"))),
        (
            Column("fifth", "Pairs"), share("least", "From", "difference"), share("most", "To", "difference"),
            counted("count", "Disagreeing", "pairs"), counted("of", "Both answer", "pairs"), share("value", "Value"),
        ),
        (
            "Difference: 1 less the shorter answer's length over the longer's. Value: share of disagreeing pairs in that fifth; "
            "last, Spearman's rho of difference and disagreement. Longer answers say more: a slope is a reason to look, "
            "no proof.",
            material.say(BY_QUESTION),
        ), f"{frame['of'].max() if len(frame) else 0:,} pairs in which both answer",
    )  # fmt: skip
