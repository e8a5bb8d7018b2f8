"""The figures of an export: the charts of the pages, on the same frames as its tables."""

from __future__ import annotations

import pandas as pd

from audit.charts.coverage import coverage_figure, coverage_rows
from audit.charts.label_shares import share_heatmap, two_step_bar
from audit.charts.rates import ANY_DISAGREEMENT_RATE, AUDIT_RATES, DISAGREEMENT_RATE, NOT_ADDRESSED_RATE, Rate, rate_dots
from audit.charts.style import ACCENT, handbook_names
from audit.exports.contents.columns import named
from audit.exports.contents.judge import KINDS
from audit.exports.context import Material
from audit.exports.table_model import Picture
from audit.terms import display_name
from audit.vocabulary import LABELS, Label

MOST_ROWS = 40
"""A figure with more rows than this is taller than a page: handbooks are then drawn organ by organ."""
MOST_TOPICS = 30
SHARES = {"changed": ("Another label", ACCENT), "crossed": ("Across the line", DISAGREEMENT_RATE.colour)}
WITHOUT_ABSENT = [label for label in LABELS if label is not Label.ABSENT]


def labels(material: Material) -> list[Picture]:
    """All pairs, and the judged ones drawn out."""
    pairs = material.frame("labels").set_index(["how", "label"])["pairs"]
    judged = {label.value: int(pairs["judged", label.value]) for label in LABELS}
    figure = two_step_bar(int(pairs["pre-screened"].sum()), judged, int(pairs["unscored"].sum()))
    return [Picture("labels", "How pairs were labelled: all pairs, and the judged ones drawn out", figure)]


def _organs(material: Material) -> tuple[pd.DataFrame, str]:
    everything, frame = material.say("all {organs}"), material.frame("organs")
    return frame.assign(organ=named(frame["organ"], everything)), everything


def organs(material: Material) -> list[Picture]:
    """The four rates per organ."""
    frame, everything = _organs(material)
    title = material.say("The four rates by {organ} of the {question}, with 95 % intervals; dashed: the whole run")
    return [Picture("organs", title, rate_dots(frame, "organ", AUDIT_RATES, overall=everything))]


def organ_labels(material: Material) -> list[Picture]:
    """Label shares per organ."""
    frame, _ = _organs(material)
    figure = share_heatmap(frame, "organ", WITHOUT_ABSENT, "pairs in which both answer")
    return [Picture("organ_labels", material.say("Labels of the pairs in which both answer, by {organ}"), figure)]


def topics(material: Material) -> list[Picture]:
    """Three rates per topic, the most disagreement first."""
    frame = material.frame("topics", level="topic").sort_values("r_div", ascending=False, ignore_index=True).head(MOST_TOPICS)
    figure = rate_dots(
        frame.assign(topic=frame["topic"].map(display_name)),
        "topic",
        (DISAGREEMENT_RATE, ANY_DISAGREEMENT_RATE, NOT_ADDRESSED_RATE),
    )
    return [Picture("topics", material.say("Three rates by {topic}, with 95 % intervals"), figure)]


def coverage(material: Material) -> list[Picture]:
    """What each handbook leaves out, by organ of the question; one figure per organ where there are many handbooks."""
    books, cells, word = material.frame("handbooks"), material.frame("coverage"), material.run.term("handbook")
    title = material.say("Percentage of {questions} that each {handbook} does not address; pale: silent, hatched: not asked")
    if len(books) <= MOST_ROWS:
        return [Picture("coverage", title, coverage_figure(coverage_rows(books, "organ"), cells, word))]
    return [
        Picture(
            f"coverage_{organ}", f"{title}; {display_name(organ)}", coverage_figure(coverage_rows(own, "absence"), cells, word)
        )
        for organ, own in books.groupby("organ")
    ]


def disagreement(material: Material) -> list[Picture]:
    """Disagreement of each handbook, the most first, as many as a page holds."""
    books = material.frame("handbooks").sort_values("r_div", ascending=False, ignore_index=True).head(MOST_ROWS)
    names = handbook_names(material.frame("handbooks"))
    figure = rate_dots(books.assign(name=books["handbook_id"].map(names)), "name", (DISAGREEMENT_RATE,))
    return [Picture("handbooks", material.say("Disagreement of each {handbook} with others, with 95 % intervals"), figure)]


def judge_checks(material: Material) -> list[Picture]:
    """What changes when the judge is asked again; nothing where no check was made."""
    frame = material.frame("judge_checks")
    measured = frame[(frame["figure"].isin(SHARES)) & (frame["of"] > 0)]
    if measured.empty:
        return []
    wide = pd.concat([_of_figure(measured, name) for name in SHARES], axis=1)
    kinds = [material.say(KINDS[kind]) for kind in wide.index]
    panels = [Rate(name, words, f"{name}_of", "checks", colour) for name, (words, colour) in SHARES.items()]
    figure = rate_dots(wide.assign(kind=kinds).reset_index(drop=True), "kind", panels)
    return [Picture("judge_checks", "What changes when the judge is asked about the same pair again", figure)]


def _of_figure(measured: pd.DataFrame, name: str) -> pd.DataFrame:
    """One figure of the checks by their kind, its columns named after it."""
    own = measured[measured["figure"] == name].set_index("kind")
    ends = {f"{name}{end}": own[f"value{end}"] for end in ("", "_low", "_high")}
    return pd.DataFrame({**ends, f"{name}_of": own["of"]})
