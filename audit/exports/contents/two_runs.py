"""Two runs over the same questions: what they share, how far their judges agree, what moved."""

from __future__ import annotations

from audit.charts.rates import AUDIT_RATES
from audit.charts.transitions import STATE_WORDS
from audit.exports.changed import VERDICTS
from audit.exports.contents.columns import ALL, counted, named, rate_notes, share, title_of
from audit.exports.context import Material
from audit.exports.table_model import Column, Table
from audit.metrics.runs_change import verdict

PARTS = (
    Column("part", "Part"), counted("pairs", "Pairs"), counted("relabelled", "Relabelled", "pairs"),
    counted("disagreeing_first", "Disagreeing", "first"), counted("disagreeing_second", "Disagreeing", "second"),
    counted("change", "Change", "disagreeing"), share("r_div_first", "R_div", "first"), share("r_div_second", "R_div", "second"),
    share("effect", "Effect", "on R_div"), Column("moves", "It"),
)  # fmt: skip
PARTS_NOTES = (
    "Revealed: absent in the first run, present in the second; lost: the other way round. The effects add up to the change of "
    "R_div; that of the pairs present in both is judgement alone: about 0 where retrieval reveals disagreement and does not make "
    "it (Melitz and Polanec 2015).",
    "In brackets: 95 % intervals, {questions} resampled, one draw for both runs; of a change that fewer than five bear, none. "
    "R_div of a part: Wilson's with {questions} as trials where rare. A dash: not known.",
)
WHAT = {"questions": "{questions}", "handbooks": "{handbooks}", "pairs": "pairs"}


def whom(material: Material) -> tuple[str, ...]:
    """Which run is the first, and which the second."""
    assert material.other is not None
    return (f"First: {material.run.title} ({material.run.key}).", f"Second: {material.other.title} ({material.other.key}).")


def compared_pairs(material: Material) -> str:
    """How many pairs are compared: those that both runs have and gave a verdict to."""
    return f"{material.frame('runs_change').iloc[-1]['pairs']:,} pairs with a verdict in both runs"


def shared(material: Material) -> Table:
    """What both runs have, and what only one of them has."""
    frame = material.frame("shared")
    return Table(
        "shared", "What the two runs have in common",
        frame.assign(what=[material.say(WHAT[what]) for what in frame["what"]]),
        (
            Column("what", "What"), counted("in_both", "In both"), counted("only_first", "Only in the first"),
            counted("only_second", "Only in the second"),
        ), whom(material), f"{frame.set_index('what')['in_both']['pairs']:,} pairs in both",
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
        (*whom(material), "Combinations without a pair are left out. Pre-screened, unscored and not in the run are no labels."),
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
            *whom(material), "Over pairs that both judges were asked about. DIVERGENT kept: of the pairs that the first calls "
            "divergent, those that the second does too. Disagreement new: of the pairs without disagreement in the first, those "
            "with one in the second. In brackets: 95 % intervals.",
        ), f"{frame.set_index('figure')['of']['read in both']:,} pairs that both judges were asked about",
    )  # fmt: skip


def rates_of_two(material: Material) -> Table:
    """The four rates of both runs on what they share, and the change."""
    frame = material.frame("runs")
    titles = {rate.column: rate.title for rate in AUDIT_RATES}
    return Table(
        "run_rates", material.say("The four rates in two runs, by {organ}, on the pairs that both have"),
        frame.assign(organ=named(frame["organ"], material.say("all {organs}")), rate=frame["rate"].map(titles)),
        (
            Column("organ", title_of(material, "organ")), Column("rate", "Rate"), counted("of_first", "Of", "first"),
            share("first", "First run"), counted("of_second", "Of", "second"), share("second", "Second run"),
            share("change", "Change"), Column("moves", "It"),
        ),
        (
            *whom(material), *rate_notes(material)[:-2],
            material.say(
                "Change: the second run less the first; in brackets its 95 % interval, {questions} resampled, one draw for both "
                "runs (for shares of {questions} Newcombe's, for trials made twice). Only pairs to which both gave a verdict."
            ),
        ), compared_pairs(material),
    )  # fmt: skip


def absence_or_judgement(material: Material) -> Table:
    """What changed because more was found, and what because it was judged otherwise."""
    frame = material.frame("runs_change")
    said = VERDICTS[verdict(frame)].format(second="The second run")
    return Table(
        "run_change", "Whether a second run reveals disagreement or makes it", frame[frame["organ"] == ALL], PARTS,
        (*whom(material), said, *map(material.say, PARTS_NOTES)), compared_pairs(material),
    )  # fmt: skip


def absence_or_judgement_by_organ(material: Material) -> Table:
    """The same for each organ of the question."""
    frame = material.frame("runs_change")
    return Table(
        "run_change_organs", material.say("Whether a second run reveals disagreement or makes it, by {organ} of the {question}"),
        frame.assign(organ=named(frame["organ"], material.say("all {organs}"))),
        (Column("organ", title_of(material, "organ")), *PARTS), (*whom(material), *map(material.say, PARTS_NOTES)),
        compared_pairs(material),
    )  # fmt: skip
