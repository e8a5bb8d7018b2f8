"""The rates of the audit by organ, topic and center, and what changes when disagreements are weighed."""

from __future__ import annotations

from audit.charts.rates import ANY_DISAGREEMENT_RATE, DISAGREEMENT_RATE, NOT_ADDRESSED_RATE
from audit.exports.contents.columns import OWN_FIXED, counted, named, pairs_behind, rate_columns, rate_notes, share, title_of
from audit.exports.context import Material
from audit.exports.numbers import estimate
from audit.exports.table_model import Column, Table
from audit.terms import display_name


def organs(material: Material) -> Table:
    """Heterogeneity between organs: the four rates of each."""
    frame = material.frame("organs")
    return Table(
        "organs", material.say("Silence, disagreement and agreement by {organ} of the {question}"),
        frame.assign(organ=named(frame["organ"], material.say("all {organs}"))),
        (
            Column("organ", title_of(material, "organ")), counted("questions", title_of(material, "questions")),
            counted("scored", "Pairs", "scored"), counted("present", "Both answer", "pairs"), *rate_columns(),
        ),
        rate_notes(material), pairs_behind(material),
    )  # fmt: skip


def topics(material: Material) -> Table:
    """The rates of each topic."""
    frame = material.frame("topics", level="topic")
    return Table(
        "topics", material.say("Silence and disagreement by {topic}"), frame.assign(topic=frame["topic"].map(display_name)),
        (
            Column("topic", title_of(material, "topic")), counted("questions", title_of(material, "questions")),
            counted("present", "Both answer", "pairs"), *rate_columns(NOT_ADDRESSED_RATE, DISAGREEMENT_RATE, ANY_DISAGREEMENT_RATE),
        ),
        (material.say("{A_question} on two {topics} counts in both."), *rate_notes(material, NOT_ADDRESSED_RATE, DISAGREEMENT_RATE, ANY_DISAGREEMENT_RATE)),
        pairs_behind(material),
    )  # fmt: skip


def centers(material: Material) -> Table:
    """Disagreement within a center and between centers."""
    frame = material.frame("centers")
    return Table(
        "centers", material.say("What {centers} leave out, and whom they disagree with"),
        frame.assign(center=frame["center"].map(display_name)),
        (
            Column("center", title_of(material, "center")), counted("handbooks", title_of(material, "handbooks")),
            share("absence", "Absence", "of answers"), counted("present", "Both answer", "pairs"),
            share("r_div_within", "Disagreement", "within"), share("r_div_between", "Disagreement", "with others"),
        ),
        (
            material.say("Absence: of the answers asked of the {center}'s {handbooks}, those that leave the {question} out."),
            material.say("Within: pairs of two {handbooks} of the {center}; with others: pairs with another {center}'s."),
            *rate_notes(material, DISAGREEMENT_RATE, intervals=OWN_FIXED), material.say("Absence: {questions} resampled alone."),
        ), pairs_behind(material),
    )  # fmt: skip


def severity(material: Material) -> Table:
    """Whether weighing disagreements by significance changes which topics look worst."""
    frame = material.frame("severity", level="topic")
    rho = material.frame("severity_rho").set_index("level")
    grades = {"high": "High", "medium": "Medium", "low": "Low", "unstated": "Not stated"}
    return Table(
        "severity", material.say("Disagreement weighed by clinical significance, by {topic}"),
        frame.assign(unit=frame["unit"].map(display_name)),
        (
            Column("unit", title_of(material, "topic")), counted("present", "Both answer", "pairs"),
            *(counted(name, head, "pairs") for name, head in grades.items()), share("r_div", "Disagreement", "R_div"),
            share("severity", "Severity", "score"), counted("rank_r_div", "Rank", "R_div"),
            counted("rank_severity", "Rank", "severity"),
        ),
        (
            "Severity score: a disagreement counts 1, 2 or 3 by its clinical significance (low, medium, high), 1 where it was "
            "not stated, per pair in which both answer; it runs from 0 to 3.",
            material.say("Spearman's rho of the two rankings over {topics}: ")
            + estimate(*(rho[name].astype(float)["topic"] for name in ("rho", "rho_low", "rho_high"))) + ".",
        ), pairs_behind(material),
    )  # fmt: skip
