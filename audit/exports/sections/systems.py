"""Answering systems: what Fensore, Carrillo-Larco, Shah and Ho report, for a run that can fill it, and further tables.

Of the numbered tables of "Does Domain-Specific RAG Help LLMs Answer Consumer Health Questions?", Table 1 is known to be retrieval
by configuration (`system_retrieval`). The others are named here by their content: measures against the reference answers, the
composite (with 0 points for unreadable scores; of complete evaluations; on the questions that all systems share; of the reference
answers), scores by criterion, lengths, preferences and their alignment with the judge, quality against retrieval.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from audit.charts.criteria import criteria_bars, preference_bars
from audit.charts.style import Figure
from audit.charts.systems import difference_dots, downstream_bubbles, mean_dots, strength_dots
from audit.errors import AuditError
from audit.evaluation.criteria import REFERENCE
from audit.evaluation.reference_metrics import REFERENCE_MEASURES
from audit.evaluation.retrieval_measures import EVIDENCE_MEASURES, RETRIEVAL_MEASURES
from audit.exports.context import ExportContext
from audit.exports.sections.model import Drawing, SectionSpec, TableMaker, if_empty, listed_as, own_table, picture_of
from audit.exports.table_model import Picture, Table, table_of
from audit.metrics import Metric
from audit.metrics._shared import MANY_INTERVALS
from audit.metrics._systems import (
    BY_SYSTEM_QUESTION,
    COMPOSITE,
    MEASURE_TITLES,
    READ,
    REFUSAL,
    SYSTEM,
    TEXT_MEASURES,
    WORDS,
    in_order,
)
from audit.metrics.corrected_means import corrected_composite, corrected_preference
from audit.metrics.preferences import bradley_terry, preference_alignment, preference_effects, preference_raters, preferences
from audit.metrics.system_criteria import composite, criteria_scores, judge_calibration
from audit.metrics.systems import EVIDENCE_MEANINGS, downstream, downstream_points, system_differences, system_measures, systems
from audit.metrics.when_to_retrieve import when_to_retrieve
from audit.tables import Column, TableSpec

NONE_MEASURED = "Run {key} has no {what}: not measured, which is different from zero."
NO_FIGURE = "Run {key} has no data for the figure of '{what}': not measured, not zero."
RATERS = {"human": "compared by people", "judge": "compared by a judge"}


def titles_of(frame: pd.DataFrame) -> dict[str, str]:
    """Measure -> title of every measure of a frame, the composite, refusals and lengths first."""
    present = in_order(frame["measure"])
    first = [name for name in (COMPOSITE, REFUSAL, WORDS) if name in present]
    return {name: MEASURE_TITLES.get(name, name) for name in [*first, *(name for name in present if name not in first)]}


def by_measure(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows grouped by measure, so that systems can be compared line by line."""
    order = {name: rank for rank, name in enumerate(titles_of(frame))}
    return frame.sort_values("measure", key=lambda names: names.map(order), kind="stable", ignore_index=True)


# -- what each system did, and how good it is --------------------------------------------------------------------------

REPLIES = SectionSpec(
    systems,
    key="replies",
    heading="What each system did",
    columns=("name", "mode", "asked", "answered", "refused", "unread", "refusal", "words", "words_sd", "model", "retriever"),
    sentence="Refusals and unreadable replies are counted separately: they have no length, and no measure counts them as 0.",
)


def _composite_dots(frame: pd.DataFrame, title: str = MEASURE_TITLES[COMPOSITE]) -> Figure:
    return mean_dots(frame.assign(measure=COMPOSITE), "system_id", {COMPOSITE: title}, called="name")


def _evaluations(frame: pd.DataFrame) -> str:
    judged = " The reference answer was judged like the others." if REFERENCE in set(frame["system_id"]) else ""
    return f"{frame['evaluations'].sum():,} evaluations; {frame['complete'].sum():,} have all eight scores." + judged


QUALITY = SectionSpec(
    composite,
    key="composite_table",
    heading="How a judge scored the answers",
    empty=(
        "No judge has scored these answers on the eight criteria: their quality is not measured, which is not a composite of 0."
    ),
    drawing=Drawing(
        "composite",
        "The composite of the eight criteria of each system, from 0 to 10, with 95 % intervals",
        _composite_dots,
        "The mean composite of each system, from 0 to 10, with 95 % intervals.",
        on_page=partial(_composite_dots, title="Composite, from 0 to 10"),
    ),
    columns=("name", "mean", "sd", "answers", "evaluations", "complete", "incomplete", "unscored"),
    sentence=_evaluations,
)
CRITERION_SCORES = SectionSpec(
    criteria_scores,
    key="scores",
    heading="Criterion by criterion",
    drawing=Drawing(
        "criteria",
        "How often each system has each score on the eight criteria, the lowest score left, the best right",
        criteria_bars,
    ),
    columns=("criterion", "name", "score", "meaning", "answers", "of", "share", "unread"),
)
DIFFERENCES = SectionSpec(
    system_differences,
    key="differences_table",
    drawing=Drawing(
        "system_differences",
        lambda frame: (
            f"Difference of each system to {frame['against'].iloc[0]} on the same questions; filled: the interval excludes 0"
        ),
        lambda frame: difference_dots(frame, "system_id", titles_of(frame), called="name"),
        "Difference of each measure to the baseline, with 95 % intervals; filled dots differ from 0.",
        key="differences",
    ),
    columns=("measure", "name", "change", "moves", "of", "value", "first"),
    ordered=by_measure,
    sentence=(
        "Filled dots: the interval excludes 0. Only {questions} that both have count, so their difficulty cancels out. "
        + MANY_INTERVALS
    ),
    decimals=3,
)


def _compares_words(frame: pd.DataFrame) -> str:
    against_references = frame["measure"].isin(REFERENCE_MEASURES).any()
    warning = "These measures compare words, not correctness: a good answer in other words scores low."
    return warning if against_references else ""


MEASURES = SectionSpec(
    system_measures,
    key="measures_table",
    heading="Measured against reference answers and known sections",
    empty="These answers were not compared with reference answers. These commands do it, in the folder of the release:",
    drawing=Drawing(
        "system_measures",
        "Measures of each system against reference answers and of its retrieval, with 95 % intervals",
        lambda frame: mean_dots(frame, "system_id", titles_of(frame), called="name"),
        "The mean of each measure per system, with 95 % intervals.",
        key="measures",
    ),
    columns=("measure", "name", "answers", "mean", "sd", "least", "most"),
    ordered=by_measure,
    sentence=_compares_words,
    decimals=3,
)
BY_TYPE = SectionSpec(
    system_measures,
    key="types",
    heading="By question type",
    columns=("question_type", "name", "answers", "mean", "sd"),
    sentence="Types with few questions have wide intervals: read each mean together with its interval.",
    decimals=3,
    file="system-types",
)

# -- preferences -------------------------------------------------------------------------------------------------------


def _preference_bars(frame: pd.DataFrame) -> Figure:
    named = frame.assign(name=frame["name_a"] + " : " + frame["name_b"], by=frame["rater_kind"].map(RATERS))
    return preference_bars(named)


PREFERENCES = SectionSpec(
    preferences,
    key="preferences_table",
    heading="Which answer is preferred",
    empty="The release has no preferences between two systems' answers, so it is unknown which answers people prefer.",
    drawing=Drawing(
        "preferences",
        "Which of two systems' answers is preferred, and by whom",
        _preference_bars,
        "How often the first of two systems was preferred, ties, both bad, and the second.",
    ),
    sentence=lambda frame: f"{frame['comparisons'].sum():,} comparisons. Each bar is 100 % of those named above it.",
)
STRENGTHS = SectionSpec(
    bradley_terry,
    key="strengths_table",
    heading="Strength of each system, from all comparisons",
    below=True,
    drawing=Drawing("strengths", "", strength_dots, "The Bradley-Terry strength of each system, with 95 % intervals."),
    sentence="Two systems whose strengths differ by 1 are preferred at odds of 2.7 to 1.",
    file="strengths",
)
ALIGNMENT = SectionSpec(
    preference_alignment,
    key="alignment",
    heading="Does the judge prefer what people prefer?",
    below=True,
    empty="Not measured: no comparison was made by people and by a judge.",
    sentence="The three rules show how much depends on what a tie of the judge counts as.",
)
PEOPLE = SectionSpec(preference_raters, key="raters")
EFFECTS = SectionSpec(
    preference_effects,
    key="effects",
    heading="Does the side or the length of an answer decide?",
    below=True,
    empty="Not measured: no comparison was decided, or sides and lengths are unknown.",
    sentence="Where one system was always first, its side and its quality cannot be told apart: the adjusted share is unknown.",
    decimals=3,
)
TRUST = (
    ("What the judge gives the reference answers, on the same {questions}:", judge_calibration),
    ("The composite, corrected by raters who scored some of the answers:", corrected_composite),
    ("The share that the judge prefers, corrected by people's preferences:", corrected_preference),
)
"""Lead and metric of each table on how far the judge's scores can be trusted."""

# -- retrieval ---------------------------------------------------------------------------------------------------------

DOWNSTREAM = SectionSpec(
    downstream,
    key="downstream_table",
    heading="Does a better search give a better answer?",
    empty="Not measured: no system has both measures of retrieval and measures of its answers.",
    sentence="A correlation does not prove a cause: what makes a {question} easy to search may make it easy to answer.",
)
WHEN_TO_RETRIEVE = SectionSpec(
    when_to_retrieve,
    key="when_table",
    heading="When is it better to retrieve?",
    empty="Not measured: no two systems, one with and one without retrieval, were scored on the same {questions}.",
    columns=("rule", "questions", "retrieved", "quality", "over_never", "over_always"),
)


def retrieval_and_quality(context: ExportContext) -> Iterator[Picture]:
    """The composite against each measure of retrieval, one figure for each system and measure."""
    points = downstream_points(context.con)
    if points.empty:
        raise AuditError(f"No system of run {context.run.key} has both measures of retrieval and composites.")
    for (_, measure), own in points.groupby(["system_id", "measure"], sort=False):
        name = str(own["name"].iloc[0])
        title = MEASURE_TITLES[str(measure)]
        caption = f"Composite of {name} against {title} of its search, question by question"
        yield Picture(f"downstream_{name}_{measure}", caption, downstream_bubbles(own, title))


# -- tables of an export with one row per system -----------------------------------------------------------------------


def one_row_each(
    stem: str, called: str, title: str, unit: str, measures: Sequence[str], notes: tuple[str, ...], what: str
) -> TableMaker:
    """What makes a table of means: one row per system, one column per measure that somebody has.

    unit  what the number of measured answers counts; what  the measures in words, where no system has one
    """

    @listed_as(called)
    def maker(context: ExportContext) -> Table:
        frame = context.frame("system_measures")
        own = frame[frame["measure"].isin(measures)]
        if own.empty:
            raise AuditError(NONE_MEASURED.format(key=context.run.key, what=what))
        by_system = own.pivot(index="system_id", columns="measure", values=["mean", "mean_low", "mean_high"])
        ends = {(measure, end): (f"mean{end}", measure) for measure in measures for end in ("", "_low", "_high")}
        means = {f"{measure}{end}": by_system[key] for (measure, end), key in ends.items() if key in by_system}
        order = own.drop_duplicates("system_id").set_index("system_id")[["name"]]
        wide = order.assign(answers=own.groupby("system_id")["answers"].max()).join(pd.DataFrame(means))
        columns = [Column.decimal(name, MEASURE_TITLES[name]) for name in measures if name in wide]
        spec = TableSpec(title, (SYSTEM, Column.count("answers", "Measured", unit), *columns), notes)
        return table_of(stem, spec, wide.reset_index(), context.run, replies_behind(context, frame))

    return maker


retrieval_of_systems = one_row_each(
    "system_retrieval",
    "retrieval_of_systems",
    "How well each answering system's search finds the sections that contain the answer",
    "{questions}",
    tuple(RETRIEVAL_MEASURES),
    ("Means over the {questions} whose section is known.", BY_SYSTEM_QUESTION),
    "measures of retrieval",
)
reference_measures = one_row_each(
    "system_reference_measures",
    "reference_measures",
    "How close each answering system's answers come to the reference answers",
    "answers",
    REFERENCE_MEASURES,
    (TEXT_MEASURES, READ, BY_SYSTEM_QUESTION),
    "measures against reference answers",
)
evidence_measures = one_row_each(
    "system_evidence_measures",
    "evidence_measures",
    "How each answering system's answers relate to their evidence",
    "answers, at most",
    EVIDENCE_MEASURES,
    (EVIDENCE_MEANINGS, BY_SYSTEM_QUESTION),
    "measures of answers by their evidence",
)


# -- export ------------------------------------------------------------------------------------------------------------


def replies_behind(context: ExportContext, frame: pd.DataFrame) -> str:
    """How many systems gave how many replies."""
    asked = context.frame("systems")["asked"]
    return context.fill(f"{asked.notna().sum()} systems, {int(asked.sum()):,} replies to {{questions}}")


def of_systems(shown: SectionSpec | Metric[...] | str, stem: str = "", title: str = "", **options: Any) -> TableMaker:
    """A metric of answering systems as a table; left out, with a reason, where the run has nothing for it."""
    metric = shown.metric.name if isinstance(shown, SectionSpec) else shown if isinstance(shown, str) else shown.name
    missing = if_empty(NONE_MEASURED, what=f"data for '{stem or metric}'")
    return own_table(metric, replies_behind, stem=stem, title=title, missing=missing, **options)


def _one_type(context: ExportContext, frame: pd.DataFrame) -> str:
    few = frame["question_type"].nunique() < 2
    return NONE_MEASURED.format(key=context.run.key, what="two question types") if few else ""


measures_by_type = own_table(
    BY_TYPE.metric,
    replies_behind,
    stem="system_types",
    title="Measures of each answering system by question type",
    missing=_one_type,
    finish=lambda context, table: replace(table, printed_rows=40),
    called="measures_by_type",
    by="question_type",
)
OF_EIGHT = "The composite of the eight criteria, from 0 to 10,"
SYSTEM_TABLES: tuple[TableMaker, ...] = (
    of_systems(REPLIES),
    retrieval_of_systems,
    reference_measures,
    evidence_measures,
    of_systems(QUALITY, "composite_zero", f"{OF_EIGHT} with 0 points for what could not be read", incomplete="zero"),
    of_systems(QUALITY, "composite_complete", f"{OF_EIGHT} of complete evaluations"),
    of_systems(QUALITY, "composite_shared", f"{OF_EIGHT} on what every system has", shared=True),
    of_systems("criteria_means"),
    of_systems(CRITERION_SCORES),
    of_systems(DIFFERENCES),
    measures_by_type,
    *(of_systems(shown) for shown in (PREFERENCES, STRENGTHS, ALIGNMENT, PEOPLE, EFFECTS)),
    *(of_systems(metric) for _, metric in TRUST),
    of_systems(DOWNSTREAM),
    of_systems(WHEN_TO_RETRIEVE),
)
"""Every table of answering systems, in order."""
SYSTEM_PICTURES = (
    *(
        picture_of(shown, if_empty(NO_FIGURE, what=shown.metric.name), called=called)
        for shown, called in (
            (QUALITY, "composites"),
            (CRITERION_SCORES, "criteria"),
            (DIFFERENCES, "differences"),
            (MEASURES, "measures_of_systems"),
            (PREFERENCES, "preferences"),
        )
    ),
    retrieval_and_quality,
)
"""Every figure of answering systems, in order."""
