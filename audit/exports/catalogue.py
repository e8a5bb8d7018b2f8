"""Every table and figure of an export, in order. To add a metric's table, name the metric here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Literal, TypeVar

from audit.errors import AuditError
from audit.exports import figures, run_tables, two_run_tables
from audit.exports.analysis_plan import analysis_plan
from audit.exports.context import ExportContext
from audit.exports.run_tables import pairs_behind
from audit.exports.sections.judge import JUDGE_TABLES, checks
from audit.exports.sections.retrieval import RETRIEVAL_PICTURES, RETRIEVAL_TABLES
from audit.exports.sections.routing import ROUTING_PICTURES, ROUTING_TABLES
from audit.exports.sections.stress import STRESS_PICTURES, STRESS_TABLES
from audit.exports.sections.systems import SYSTEM_PICTURES, SYSTEM_TABLES
from audit.exports.table_model import Picture, Table

Made = TypeVar("Made")
TableMaker = Callable[[ExportContext], Table]
PictureMaker = Callable[[ExportContext], Iterable[Picture]]


def metric(name: str, **options: Any) -> TableMaker:
    """A metric's own table, with the number of pairs of the run."""

    def maker(context: ExportContext) -> Table:
        return context.table(name, pairs_behind(context), **options)

    # The name under which a table is listed as left out if the run cannot have it
    maker.__name__ = name
    return maker


@dataclass(frozen=True)
class ExportSection:
    """A part of an export: its heading, and what makes its tables and figures.

    about     what a run must have: pairs, answering systems, routes to sources, stress tests, or nothing specific
    compares  only if a second run is compared
    curated   only if people changed the themes
    depends_on_labels  whether its figures depend on answers and verdicts, so those of a preview are preliminary
    """

    title: str
    tables: tuple[TableMaker, ...]
    pictures: tuple[PictureMaker, ...] = ()
    about: Literal["pairs", "systems", "routes", "stress", "any run"] = "pairs"
    compares: bool = False
    curated: bool = False
    depends_on_labels: bool = True

    def applies_to(self, context: ExportContext) -> bool:
        """Whether the context has what the section is about."""
        run = context.run
        has_it = {
            "pairs": run.has_pairs, "systems": run.has_systems, "routes": run.has_routes, "stress": run.has_stress,
            "any run": True,
        }[self.about]  # fmt: skip
        compared = context.other is not None or not self.compares
        return has_it and compared and (context.curation is not None or not self.curated)


@dataclass(frozen=True)
class Chapter:
    """A section with its tables and figures; `left_out` gives the reasons why others are missing.

    paragraphs  heading -> text for a paper
    """

    title: str
    tables: Sequence[Table]
    pictures: Sequence[Picture] = ()
    left_out: dict[str, str] = field(default_factory=dict)
    depends_on_labels: bool = True
    paragraphs: Mapping[str, str] = field(default_factory=dict)


SECTIONS = (
    ExportSection(
        "Data", (run_tables.load_report, run_tables.model_cost), about="any run", depends_on_labels=False
    ),
    ExportSection(
        "Units compared", (run_tables.corpus, run_tables.questions, run_tables.question_sources), depends_on_labels=False
    ),
    ExportSection(
        "How pairs were labelled",
        (
            metric("labels"), run_tables.significance, metric("organs"), metric("topics", level="topic"), run_tables.subtopics,
            metric("disputed_shares"), metric("centers"), metric("center_case_mix"), metric("disagreement_bounds"),
            metric("label_entropy"),
            run_tables.severity, metric("severity_rho"), metric("evidence_modes"),
        ),
        (figures.labels, figures.organs, figures.organ_labels, figures.topics),
    ),
    ExportSection(
        "Coverage",
        (run_tables.coverage, run_tables.coverage_cells, run_tables.handbooks, metric("handbook_case_mix")),
        (figures.coverage, figures.disagreement, figures.case_mix),
    ),
    ExportSection("Topics of disagreement", (run_tables.themes,), (figures.theme_areas,)),
    ExportSection("Self-disagreement", (run_tables.within_handbook_counts, run_tables.within_handbook)),
    ExportSection(
        "Topics of disagreement, in curated themes",
        (run_tables.curated_themes, run_tables.theme_edits),
        (figures.curated_theme_areas,),
        curated=True,
    ),
    ExportSection(
        "How far the judge can be trusted",
        JUDGE_TABLES,
        (checks,),
    ),
    ExportSection(
        "How well retrieval finds the answers",
        RETRIEVAL_TABLES,
        RETRIEVAL_PICTURES,
        depends_on_labels=False,
    ),
    ExportSection(
        "Answering systems compared",
        SYSTEM_TABLES,
        SYSTEM_PICTURES,
        about="systems",
        depends_on_labels=False,
    ),
    ExportSection(
        "How systems choose between sources",
        ROUTING_TABLES,
        ROUTING_PICTURES,
        about="routes",
        depends_on_labels=False,
    ),
    ExportSection(
        "Stress tests",
        STRESS_TABLES,
        STRESS_PICTURES,
        about="stress",
        depends_on_labels=False,
    ),
    ExportSection(
        "Compared with another run",
        (
            two_run_tables.shared, two_run_tables.left_out, two_run_tables.editions,
            two_run_tables.rates_of_two, two_run_tables.mean_over_organs,
            two_run_tables.change_of_run,
            two_run_tables.change_of_organs, two_run_tables.questions_moved, two_run_tables.questions_moved_in_absence,
            two_run_tables.questions_relabelled, two_run_tables.handbooks_moved, two_run_tables.handbooks_moved_in_absence,
            two_run_tables.handbooks_relabelled, two_run_tables.transitions, two_run_tables.run_agreement,
            two_run_tables.topic_likeness, two_run_tables.topics_in_one_theme, two_run_tables.runs_cost,
            two_run_tables.themes_moved,
        ),
        (figures.steps, figures.changes, figures.transitions),
        compares=True,
    ),
    ExportSection("Methods", (analysis_plan,), about="any run", depends_on_labels=False),
)  # fmt: skip


def chapters(context: ExportContext, progress: Callable[[str], None]) -> Iterator[Chapter]:
    """Every section that applies to the context."""
    for section in SECTIONS:
        if section.applies_to(context):
            progress(section.title)
            yield _chapter(section, context)


def _chapter(section: ExportSection, context: ExportContext) -> Chapter:
    left_out: dict[str, str] = {}
    tables = list(_built_items(section.tables, context, "table", left_out))
    drawn = [_all_pictures(maker) for maker in section.pictures]
    pictures = [picture for group in _built_items(drawn, context, "figure", left_out) for picture in group]
    return Chapter(section.title, tables, pictures, left_out, section.depends_on_labels)


def _all_pictures(maker: PictureMaker) -> Callable[[ExportContext], list[Picture]]:
    """A maker that has drawn all its figures when it returns, so that one which cannot be drawn is left out."""
    return wraps(maker)(lambda context: list(maker(context)))


def _built_items(
    makers: Iterable[Callable[[ExportContext], Made]], context: ExportContext, kind: str, left_out: dict[str, str]
) -> Iterator[Made]:
    for maker in makers:
        try:
            yield maker(context)
        # One table that a run cannot have (no trials, no answers) must not prevent the others.
        except AuditError as reason:
            left_out[f"{kind} {maker.__name__}"] = str(reason)
