"""Tables of one run. Most are a metric's own table; this module has those that an export adds or combines."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from audit.errors import NotInRunError
from audit.exports.context import ExportContext
from audit.exports.table_model import Table, estimate, table_of
from audit.metrics._shared import ABSENCE, HANDBOOKS, ORGAN, PAIRS, PRESENT, QUESTIONS
from audit.metrics.composition import used_columns
from audit.metrics.question_sources import NOT_STATED
from audit.queries.pair_counts import ALL_HANDBOOKS
from audit.release.taxonomy import Taxonomy
from audit.tables import Column, TableSpec
from audit.terms import ALL

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
    "Disagreements by clinical significance",
    (Column.text("grade", "Clinical significance"), PAIRS, Column.share("share", "Share", "of disagreeing pairs")),
    ("The judge grades divergent and contradictory pairs. Pairs without a grade are counted as not stated.",),
)
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
EDITS = TableSpec(
    "People's edits of the themes",
    (
        Column.count("act", "Edit"),
        Column.text("day", "Day", "UTC"),
        Column.text("what", "What"),
        Column.text("reason", "Why"),
        Column.text("standing", "Status"),
    ),
    (
        "Edits are applied, first to last, to the themes as they were built. Neither an undone edit nor the undo "
        "changes them now.",
    ),
)
NO_TOPIC = "(none)"
SET_ASIDE = Column.text("aside", "Set aside")


def pairs_behind(context: ExportContext) -> str:
    """How many pairs of how many questions the run has."""
    total = context.frame("organs", scope=ALL_HANDBOOKS).iloc[-1]
    return context.fill(f"{total['pairs']:,} pairs from {total['questions']:,} {{questions}}")


def corpus(context: ExportContext) -> Table:
    """Handbooks, centers and phases by the handbook's organ; questions and pairs by the question's."""
    table = context.table("composition", pairs_behind(context), stem="corpus")
    return replace(table, columns=used_columns(table.frame, table.columns))


def questions(context: ExportContext) -> Table:
    """How many questions there are on each topic."""
    frame, total = context.frame("topics", level="topic"), context.frame("organs", scope=ALL_HANDBOOKS).iloc[-1]["questions"]
    # Without questions the share is unknown, not 0
    with_share = frame.assign(share=frame["questions"] / total if total else float("nan"))
    return table_of("questions", TOPIC_COUNTS, with_share, context.run, context.fill(f"{total:,} {{questions}}"))


def question_sources(context: ExportContext) -> Table:
    """Where the questions come from. Raises NotInRunError if no question states its source."""
    frame = context.frame("question_sources")
    if (frame["source"] == NOT_STATED).all():
        raise NotInRunError(context.fill("No {question} of this run says where it comes from: the field `source` is empty."))
    return context.table("question_sources", context.fill(f"{frame['questions'].sum():,} {{questions}}"))


def subtopics(context: ExportContext) -> Table:
    """The rates by subtopic. Raises NotInRunError where no question has one."""
    frame = context.frame("topics", level="subtopic")
    if (frame["topic"] == NO_TOPIC).all():
        raise NotInRunError(context.fill("No {question} of this run has a subtopic."))
    table = context.table("topics", pairs_behind(context), stem="subtopics", level="subtopic")
    return replace(table, title="The rates by subtopic")


def coverage_cells(context: ExportContext) -> Table:
    """Absence of every handbook, by the organ of the question: the cells of the heatmap."""
    frame = context.frame("coverage")
    return context.table("coverage", f"{frame['asked'].sum():,} answers", stem="coverage_cells")


def model_cost(context: ExportContext) -> Table:
    """Cost of the models. Raises NotInRunError if the release does not state it."""
    frame = context.frame("model_cost")
    if not frame["stated"].any():
        raise NotInRunError(
            "This release does not state the cost of its models: its answers and verdicts have no tokens or seconds."
        )
    table = context.table("model_cost", f"{frame['stated'].sum():,} numbers")
    return replace(table, columns=tuple(column for column in table.columns if column.name != "cost"), notes=table.notes[:-1])


def load_report(context: ExportContext) -> Table:
    """Whether every record was read: read = loaded + quarantined, by kind."""
    totals = context.run.report.get("totals", {})
    rows = [{"kind": context.run.term(kind), **numbers} for kind, numbers in totals.items()]
    frame = pd.DataFrame(rows).reindex(columns=[column.name for column in LOAD_REPORT.columns])
    n = f"{sum(numbers.get('read', 0) for numbers in totals.values()):,} records"
    verdict = str(context.run.report.get("verdict", "This run has no load report."))
    return table_of("load_report", LOAD_REPORT, frame, context.run, n).noted(verdict)


def significance(context: ExportContext) -> Table:
    """Disagreeing pairs by the clinical significance that the judge gave them."""
    counts = context.frame("severity", level="question")[list(GRADES)].sum()
    total = int(counts.sum())
    rows = [
        {"grade": words, "pairs": counts[name], "share": counts[name] / total if total else None}
        for name, words in GRADES.items()
    ]
    return table_of("significance", SIGNIFICANCE, pd.DataFrame(rows), context.run, f"{total:,} disagreeing pairs")


def severity(context: ExportContext) -> Table:
    """Whether weighting disagreements by significance changes which topics look worst."""
    rho = context.frame("severity_rho").set_index("level")
    low_to_high = (rho[name].astype(float)["topic"] for name in ("rho", "rho_low", "rho_high"))
    agreement = context.fill("Spearman's rho of the two rankings over {topics}: ") + estimate(*low_to_high) + "."
    return context.table("severity", pairs_behind(context), level="topic").noted(agreement)


def coverage(context: ExportContext) -> Table:
    """How much the handbooks of an organ leave out: the lowest absence, the mean, the median, the highest."""
    handbooks = context.frame("handbooks")
    rows = [_absence_range(str(organ), group) for organ, group in (*handbooks.groupby("organ"), (ALL, handbooks))]
    n = context.fill(f"{handbooks['asked'].sum():,} answers of {len(handbooks):,} {{handbooks}}")
    return table_of("coverage", COVERAGE, pd.DataFrame(rows), context.run, n)


def _absence_range(organ: str, handbooks: pd.DataFrame) -> dict[str, object]:
    absence = handbooks["absence"]
    ends = {"least": absence.min(), "mean": absence.mean(), "median": absence.median(), "most": absence.max()}
    return {"organ": organ, "handbooks": len(handbooks), **ends}


def handbooks(context: ExportContext) -> Table:
    """Every handbook: what it leaves out, and how often it disagrees."""
    return context.table("handbooks", context.fill(f"{len(context.frame('handbooks')):,} {{handbooks}}"))


def within_handbook(context: ExportContext) -> Table:
    """Every place in which a handbook disagrees with itself."""
    _, compared = _compared_within(context)
    disagreements = context.frame("within_handbook")["number"].nunique()
    return context.table(
        "within_handbook", context.fill(f"disagreements: {disagreements:,}; {{handbooks}} compared: {len(compared):,}")
    )


def within_handbook_counts(context: ExportContext) -> Table:
    """What was compared within each handbook."""
    counts, compared = _compared_within(context)
    return context.table("within_handbook_counts", context.fill(f"{len(compared):,} of {len(counts):,} {{handbooks}} compared"))


def _compared_within(context: ExportContext) -> tuple[pd.DataFrame, pd.DataFrame]:
    """All handbooks, and those that were compared with themselves. Raises NotInRunError where none was."""
    counts = context.frame("within_handbook_counts")
    compared = counts[counts["findings"].notna()]
    if compared.empty:
        raise NotInRunError(
            context.fill("No {handbook} of this run was compared with itself: whether it disagrees with itself is unknown. ")
            + "A release has it in within_handbook.jsonl; `audit run` and `audit within` write it."
        )
    return counts, compared


def themes(context: ExportContext) -> Table:
    """Every theme as it was built, the gravest first, then the pairs without a theme."""
    note = f"Taxonomy: {_identity(context.themes)}."
    if context.curation is None:
        return _theme_table(context, "themes", "", (note,))
    note += " People have changed these themes since: the table themes_curated has them as they are now."
    return _theme_table(context, "themes", ", as they were built", (note,))


def curated_themes(context: ExportContext) -> Table:
    """The themes as people curated them."""
    part = context.curated
    notes = [
        f"Taxonomy: as curated (SHA-256 {part.taxonomy.sha256}); from the one as built (SHA-256 {context.themes.sha256}) by "
        f"{_edit_count(context)}: the table themes_acts."
    ]
    if part.aside:
        notes.append("Set aside: a curator found the theme not clinically meaningful; it is still ranked with the others.")
    return _theme_table(context, "themes_curated", ", as people curated them", tuple(notes), curated=True)


def _theme_table(context: ExportContext, stem: str, variant: str, notes: tuple[str, ...], *, curated: bool = False) -> Table:
    taxonomy, aside = (context.curated.taxonomy, context.curated.aside) if curated else (context.themes, frozenset[str]())
    table = context.table("themes", f"{len(taxonomy.leaves):,} themes", stem=stem, curated=curated).noted(*notes)
    frame = table.frame.assign(aside=["yes" if theme in aside else "" for theme in table.frame["theme_id"]])
    columns = (*table.columns, SET_ASIDE) if aside else table.columns
    return replace(table, title=table.title + variant, frame=frame, columns=columns, printed_rows=None)


def _identity(taxonomy: Taxonomy) -> str:
    return f"as it was built, without curation (SHA-256 {taxonomy.sha256})" if taxonomy.sha256 else "that of the release"


def theme_edits(context: ExportContext) -> Table:
    """Every edit by a curator: what was changed, when, why, and whether it is in effect."""
    part = context.curated
    frame = part.edits.assign(day=part.edits["made_at"].str[:10])
    replay = (
        "With authors, times and phrases, so that they can be replayed: "
        f"audit themes history --run {context.run.key} --out acts.jsonl (SHA-256 {part.facts['acts_sha256']})."
    )
    return table_of("themes_acts", EDITS, frame, context.run, _edit_count(context)).noted(replay)


def _edit_count(context: ExportContext) -> str:
    facts = context.curated.facts
    edits = "1 edit" if facts["acts"] == 1 else f"{facts['acts']:,} edits"
    return f"{edits}, {facts['counting']:,} of them in effect"
