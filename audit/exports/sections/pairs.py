"""Handbooks, questions and pairs of one run: what was compared, how pairs were labelled, what handbooks leave out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, cast

import pandas as pd

from audit.charts.coverage import coverage_figure, coverage_rows
from audit.charts.decisions import decision_figure
from audit.charts.found_states import state_bars
from audit.charts.funnel import funnel
from audit.charts.labels import share_heatmap, two_step_bar
from audit.charts.rates import (
    ANY_DISAGREEMENT_RATE,
    AUDIT_RATES,
    BOTH_ANSWER,
    DISAGREEMENT_RATE,
    NOT_ADDRESSED_RATE,
    Rate,
    rate_dots,
)
from audit.charts.style import Figure, handbook_names
from audit.errors import NotInRunError
from audit.exports.context import ExportContext
from audit.exports.sections.model import (
    Drawing,
    SectionSpec,
    TableMaker,
    if_empty,
    listed_as,
    own_table,
    picture_of,
    rows_of,
    total_of,
)
from audit.exports.table_model import Picture, Table, estimate, table_of
from audit.metrics._shared import ABSENCE, HANDBOOKS, ORGAN, PAIRS, PRESENT, QUESTIONS
from audit.metrics.composition import NOT_STATED, used_columns
from audit.metrics.likely_disputed import dispute_decisions
from audit.metrics.silence import GROUPS
from audit.queries.pair_counts import ALL_HANDBOOKS
from audit.store.runs import Run
from audit.tables import Column, TableSpec
from audit.terms import ALL, display_name, fill
from audit.vocabulary import LABELS, PRESENT_LABELS

# A figure with more rows than this is taller than a page: handbooks are then drawn organ by organ
MAX_ROWS = 40
MAX_TOPICS = 30
NO_TOPIC = "(none)"
TOPIC_COUNTS = TableSpec(
    "{Questions} by {topic}",
    (Column.named("topic", "{Topic}"), QUESTIONS, Column.share("share", "Share", "of all {questions}"), PAIRS, PRESENT),
    ("{A_question} on two {topics} counts in both, so the rows add up to more than the run.",),
)
LOAD_REPORT = TableSpec(
    "Records read, loaded and set aside",
    (
        Column.text("kind", "Records"),
        Column.count("read", "Read"),
        Column.count("loaded", "Loaded"),
        Column.count("quarantined", "Set aside"),
    ),
    ("Read = loaded + set aside; records that were set aside are left out of every figure.",),
)
SIGNIFICANCE = TableSpec(
    "Disagreements by {significance}",
    (Column.text("grade", "{Significance}"), PAIRS, Column.share("share", "Share", "of disagreeing pairs")),
    ("The judge grades divergent and contradictory pairs. Pairs without a grade are counted as not stated.",),
)
NOT_READ = "A search answered, not a model: what it did not find is no absence. The tables of what it found count three states."
GRADES = {"high": "high", "medium": "medium", "low": "low", "unstated": "not stated"}
COVERAGE = TableSpec(
    "Questions not addressed by {handbooks}, by their {organ}",
    (
        ORGAN,
        HANDBOOKS,
        Column.share("least", "Lowest", "absence"),
        Column.share("mean", "Mean", "absence"),
        Column.share("median", "Median", "absence"),
        Column.share("most", "Highest", "absence"),
    ),
    (ABSENCE, "Mean and median are over {handbooks}, each counting once."),
)


# -- data and units ----------------------------------------------------------------------------------------------------


def load_report(context: ExportContext) -> Table:
    """Whether every record was read: read = loaded + quarantined, by kind."""
    totals = context.run.report.get("totals", {})
    rows = [{"kind": context.run.term(kind), **numbers} for kind, numbers in totals.items()]
    frame = pd.DataFrame(rows).reindex(columns=[column.name for column in LOAD_REPORT.columns])
    n = f"{sum(numbers.get('read', 0) for numbers in totals.values()):,} records"
    verdict = str(context.run.report.get("verdict", "This run has no load report."))
    return table_of("load_report", LOAD_REPORT, frame, context.run, n).noted(verdict)


def _no_cost(context: ExportContext, frame: pd.DataFrame) -> str:
    without = "This release does not state the cost of its models: its answers and verdicts have no tokens or seconds."
    return "" if frame["stated"].any() else without


def _without_price(context: ExportContext, table: Table) -> Table:
    columns = tuple(column for column in table.columns if column.name != "cost")
    return replace(table, columns=columns, notes=table.notes[:-1])


DATA_TABLES: tuple[TableMaker, ...] = (
    load_report,
    own_table("model_cost", total_of("stated", "numbers"), missing=_no_cost, finish=_without_price),
)
"""What was read, and what it cost."""


def questions(context: ExportContext) -> Table:
    """How many questions there are on each topic."""
    frame, total = context.frame("topics", level="topic"), context.frame("organs", scope=ALL_HANDBOOKS).iloc[-1]["questions"]
    # Without questions the share is unknown, not 0
    with_share = frame.assign(share=frame["questions"] / total if total else float("nan"))
    return table_of("questions", TOPIC_COUNTS, with_share, context.run, context.fill(f"{total:,} {{questions}}"))


def _no_source(context: ExportContext, frame: pd.DataFrame) -> str:
    without = context.fill("No {question} of this run says where it comes from: the field `source` is empty.")
    return without if (frame["source"] == NOT_STATED).all() else ""


UNIT_TABLES: tuple[TableMaker, ...] = (
    # Handbooks, centers and phases by the handbook's organ; questions and pairs by the question's
    own_table(
        "composition",
        stem="corpus",
        finish=lambda context, table: replace(table, columns=used_columns(table.frame, table.columns)),
    ),
    questions,
    own_table("question_sources", total_of("questions", "{questions}"), missing=_no_source),
)
"""Handbooks, questions and pairs."""

# -- labels ------------------------------------------------------------------------------------------------------------


class LabelCounts(NamedTuple):
    """How many pairs were labelled in which way."""

    prescreened: int
    judged: dict[str, int]
    unscored: int

    @property
    def figure(self) -> Figure:
        """All pairs, with the judged pairs enlarged."""
        return two_step_bar(*self)


def label_counts(outcomes: pd.DataFrame) -> LabelCounts:
    """The counts of the metric `labels`."""
    pairs = outcomes.set_index(["how", "label"])["pairs"]
    judged = {label.value: int(pairs["judged", label.value]) for label in LABELS}
    return LabelCounts(int(pairs["pre-screened"].sum()), judged, int(pairs["unscored"].sum()))


def named_organs(run: Run, frame: pd.DataFrame) -> pd.DataFrame:
    """A frame by organ with readable names, and the ids in `organ_id`."""
    return frame.assign(organ_id=frame["organ"], organ=frame["organ"].replace(ALL, fill(run, "all {organs}")))


def significance(context: ExportContext) -> Table:
    """Disagreeing pairs by the clinical significance that the judge gave them."""
    counts = context.frame("severity", level="question")[list(GRADES)].sum()
    total = int(counts.sum())
    rows = [
        {"grade": words, "pairs": counts[name], "share": counts[name] / total if total else None}
        for name, words in GRADES.items()
    ]
    return table_of("significance", SIGNIFICANCE, pd.DataFrame(rows), context.run, f"{total:,} disagreeing pairs")


def _no_subtopic(context: ExportContext, frame: pd.DataFrame) -> str:
    return context.fill("No {question} of this run has a subtopic.") if (frame["topic"] == NO_TOPIC).all() else ""


def _with_rho(context: ExportContext, table: Table) -> Table:
    rho = cast(pd.Series, context.frame("severity_rho").set_index("level").loc["topic"])

    def shown(name: str) -> str:
        return estimate(*(float(rho[f"{name}{end}"]) for end in ("", "_low", "_high")))

    words = context.fill("Spearman's rho over the {topics} with a disagreement: of the two rankings ")
    return table.noted(f"{words}{shown('rho_disputed')}; of rate and mean significance {shown('rho_significance')}.")


DECISIONS = SectionSpec(
    dispute_decisions,
    key="decisions",
    heading="What does a list of disputed {questions} find, and what does it cost?",
    drawing=Drawing(
        "dispute_decisions",
        "Disputed {questions} that a list shows or not, and others that it shows, by the probability from which it shows them",
        decision_figure,
        alt="Of 100, how many are disputed and shown, shown without being disputed, and disputed but not shown.",
    ),
    columns=("threshold", "shown", "found", "false", "missed", "net_benefit"),
    notes=True,
    decimals=1,
)
LABEL_TABLES: tuple[TableMaker, ...] = (
    own_table("labels"),
    significance,
    own_table("organs"),
    own_table("topics", level="topic"),
    own_table("topics", stem="subtopics", title="The rates by subtopic", missing=_no_subtopic, level="subtopic"),
    *map(own_table, ("disputed_share_corrected", "likely_disputed", "dispute_decisions", "disputed_shares")),
    own_table("doubted_labels", missing=if_empty("No label of run {key} is more likely wrong than right.")),
    *map(own_table, ("centers", "center_case_mix", "disagreement_bounds", "label_entropy")),
    own_table("severity", finish=_with_rho, level="topic"),
    own_table("severity_rho"),
    own_table("evidence_modes"),
)
"""How pairs were labelled."""


def labels(context: ExportContext) -> list[Picture]:
    """All pairs, with the judged pairs enlarged."""
    title = "How pairs were labelled: all pairs, with the judged pairs enlarged"
    return [Picture("labels", title, label_counts(context.frame("labels")).figure)]


def organs(context: ExportContext) -> list[Picture]:
    """The rates per organ."""
    frame = named_organs(context.run, context.frame("organs"))
    title = context.fill("The four rates by {organ} of the {question}, with 95 % intervals; dashed: the whole run")
    return [Picture("organs", title, rate_dots(frame, "organ_id", _rates(context), overall=ALL, called="organ"))]


def _rates(context: ExportContext) -> tuple[Rate, ...]:
    """The four rates; without that of pairs not addressed where a search answered, which misses answers that are there."""
    return tuple(rate for rate in AUDIT_RATES if not (context.errors.searched and rate == NOT_ADDRESSED_RATE))


def organ_labels(context: ExportContext) -> list[Picture]:
    """Label shares per organ."""
    frame = named_organs(context.run, context.frame("organs"))
    title = context.fill("Labels of the pairs in which both answer, by {organ}")
    return [Picture("organ_labels", title, share_heatmap(frame, "organ", PRESENT_LABELS, BOTH_ANSWER))]


def topics(context: ExportContext) -> list[Picture]:
    """Three rates per topic, the most disagreement first."""
    frame = context.frame("topics", level="topic").sort_values("r_div", ascending=False, ignore_index=True).head(MAX_TOPICS)
    rates = (DISAGREEMENT_RATE, ANY_DISAGREEMENT_RATE, NOT_ADDRESSED_RATE)
    figure = rate_dots(frame, "topic", tuple(rate for rate in rates if rate in _rates(context)))
    return [Picture("topics", context.fill("Three rates by {topic}, with 95 % intervals"), figure)]


LABEL_PICTURES = (
    labels, organs, organ_labels, topics, picture_of(DECISIONS, if_empty("No {{question}} of run {key} has a verdict.")),
)  # fmt: skip
"""How pairs were labelled, as figures."""

# -- coverage ----------------------------------------------------------------------------------------------------------


def _not_read(context: ExportContext) -> str:
    return context.fill(NOT_READ) if context.errors.searched else ""


def _require_read(context: ExportContext) -> None:
    if reason := _not_read(context):
        raise NotInRunError(reason)


@listed_as("coverage")
def absence_by_organ(context: ExportContext) -> Table:
    """How much the handbooks of an organ leave out: the lowest absence, the mean, the median, the highest."""
    _require_read(context)
    handbooks = context.frame("handbooks")
    rows = [_absence_range(str(organ), group) for organ, group in (*handbooks.groupby("organ"), (ALL, handbooks))]
    n = context.fill(f"{handbooks['asked'].sum():,} answers of {len(handbooks):,} {{handbooks}}")
    return table_of("coverage", COVERAGE, pd.DataFrame(rows), context.run, n)


def _absence_range(organ: str, handbooks: pd.DataFrame) -> dict[str, object]:
    absence = handbooks["absence"]
    ends = {"least": absence.min(), "mean": absence.mean(), "median": absence.median(), "most": absence.max()}
    return {"organ": organ, "handbooks": len(handbooks), **ends}


COVERAGE_TABLES: tuple[TableMaker, ...] = (
    absence_by_organ,
    own_table("coverage", total_of("asked", "answers"), stem="coverage_cells", needs=_not_read),
    own_table("handbooks", rows_of("{handbooks}")),
    own_table("handbook_case_mix"),
)
"""What handbooks leave out."""


def coverage(context: ExportContext) -> list[Picture]:
    """Absence of each handbook, by organ of the question; one figure per organ if there are many handbooks."""
    _require_read(context)
    books, cells, word = context.frame("handbooks"), context.frame("coverage"), context.run.term("handbook")
    title = context.fill(
        "Percentage of {questions} that each {handbook} does not address; pale: not addressed, hatched: not asked"
    )
    if len(books) <= MAX_ROWS:
        return [Picture("coverage", title, coverage_figure(coverage_rows(books, "organ"), cells, word))]
    return [
        Picture(
            f"coverage_{organ}", f"{title}; {display_name(organ)}", coverage_figure(coverage_rows(own, "absence"), cells, word)
        )
        for organ, own in books.groupby("organ")
    ]


def disagreement(context: ExportContext) -> list[Picture]:
    """Disagreement of each handbook, the most first, as many as fit on a page."""
    if not context.run.has_pairs:
        return []
    books = context.frame("handbooks").sort_values("r_div", ascending=False, ignore_index=True).head(MAX_ROWS)
    names = handbook_names(context.frame("handbooks"))
    named = books.assign(name=books["handbook_id"].map(names))
    figure = rate_dots(named, "handbook_id", (DISAGREEMENT_RATE,), called="name")
    return [Picture("handbooks", context.fill("Disagreement of each {handbook} with others, with 95 % intervals"), figure)]


def case_mix(context: ExportContext) -> list[Picture]:
    """Disagreement of each center over the number expected from its questions, where two centers can be compared."""
    table = context.frame("center_case_mix")
    if table["ratio"].notna().sum() < 2:
        return []
    title = context.fill("Disagreement of each {center} with others over the number expected from its {questions}, as a funnel")
    return [Picture("center_case_mix", title, funnel(table, "center"))]


COVERAGE_PICTURES = (coverage, disagreement, case_mix)
"""What handbooks leave out, as figures."""

# -- a handbook with itself --------------------------------------------------------------------------------------------


def _compared_within(context: ExportContext) -> pd.DataFrame:
    counts = context.frame("within_handbook_counts")
    return counts[counts["findings"].notna()]


def _nothing_within(context: ExportContext) -> str:
    without = (
        context.fill("No {handbook} of this run was compared with itself: whether it disagrees with itself is unknown. ")
        + "A release has it in within_handbook.jsonl; `audit run` and `audit within` write it."
    )
    return without if _compared_within(context).empty else ""


def _handbooks_compared(context: ExportContext, frame: pd.DataFrame) -> str:
    return context.fill(f"{len(_compared_within(context)):,} of {len(frame):,} {{handbooks}} compared")


def _disagreements_within(context: ExportContext, frame: pd.DataFrame) -> str:
    compared = len(_compared_within(context))
    return context.fill(f"disagreements: {frame['number'].nunique():,}; {{handbooks}} compared: {compared:,}")


WITHIN_TABLES: tuple[TableMaker, ...] = (
    own_table("within_handbook_counts", _handbooks_compared, needs=_nothing_within),
    own_table("within_handbook", _disagreements_within, needs=_nothing_within),
)
"""Where handbooks disagree with themselves."""


# -- What a search found, in three states, and what an export leaves out because of it -----------------------


BY = {"run": "", "organ": ", by {organ} of the {question}", "topic": ", by {topic}", "handbook": ", by {handbook}"}
MISSES = (
    "The search misses {missed:,} of {answered:,} answers that are there, and finds something in {found:,} of {unanswered:,} "
    "cases without an answer."
)
UNKNOWN = "How often the search errs was not measured for this run, so the share that is silent is not shown."
LEFT_OUT = (
    "Shares of what is not addressed are left out: the search misses answers that are there; see the tables of what it found."
)
OF_SILENCE, OF_PAIRS = frozenset({"r_abs", "absence"}), frozenset({"present", "r_div", "pairs"})
"""Columns that a run made by a search, and one without pairs, leaves out."""


def in_words(context: ExportContext) -> str:
    """How often the search errs."""
    rates = context.errors.rates
    return MISSES.format(**rates._asdict()) if rates else UNKNOWN


def _states(by: str) -> TableMaker:
    return own_table(
        "silence", stem=f"found_by_{by}", by=by,
        n=lambda context, frame: context.fill(f"{frame['asked'].sum():,} answers that should be there"),
        notes=lambda context, frame: (in_words(context),),
        finish=lambda context, table: replace(_named(context, table, by), title=f"{table.title}{context.fill(BY[by])}"),
    )  # fmt: skip


def _named(context: ExportContext, table: Table, by: str) -> Table:
    names = handbook_names(context.frame("handbooks")) if by == "handbook" else {}
    return replace(table, frame=table.frame.assign(name=table.frame["name"].map(lambda name: names.get(name, name))))


FOUND_TABLES: tuple[TableMaker, ...] = tuple(_states(by) for by in GROUPS)


def found_by_handbook(context: ExportContext) -> Iterator[Picture]:
    """The three states of every handbook, as many to a figure as fit on a page."""
    frame, names = context.frame("silence", by="handbook"), handbook_names(context.frame("handbooks"))
    named = frame.assign(called=frame["name"].map(names))
    yield from _pictures(context, named, "handbook")


def found_by_topic(context: ExportContext) -> Iterator[Picture]:
    """The three states of every topic."""
    frame = context.frame("silence", by="topic")
    yield from _pictures(context, frame.assign(called=frame["name"].map(display_name)), "topic")


def _pictures(context: ExportContext, frame: pd.DataFrame, by: str) -> Iterator[Picture]:
    title = context.fill(f"What the search found of the answers that should be there{BY[by]}")
    for first in range(0, len(frame), MAX_ROWS):
        part = frame.iloc[first : first + MAX_ROWS].reset_index(drop=True)
        yield Picture(f"found_by_{by}" + (f"_{first // MAX_ROWS + 1}" if first else ""), title, state_bars(part))


FOUND_PICTURES = (found_by_handbook, found_by_topic)


def without_unknown(context: ExportContext, table: Table) -> Table:
    """A table without the columns that nobody can know: of silence where a search answered, of pairs where there are none."""
    names = {column.name for column in table.columns}
    of_silence = OF_SILENCE & names if context.errors.searched else frozenset()
    dropped = of_silence | (frozenset() if context.run.has_pairs else OF_PAIRS & names)
    if not dropped:
        return table
    kept = tuple(column for column in table.columns if column.name not in dropped)
    smaller = replace(table, columns=kept)
    return smaller.noted(LEFT_OUT) if of_silence else smaller
