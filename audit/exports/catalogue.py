"""The chapters of an export, in order. To add a metric's table, name the metric in its module of `audit.exports.sections`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Literal, TypeVar

from audit.errors import AuditError
from audit.exports.analysis_plan import analysis_plan
from audit.exports.context import ExportContext
from audit.exports.sections.judge import JUDGE_TABLES, checks
from audit.exports.sections.model import PictureMaker, TableMaker
from audit.exports.sections.pairs import (
    COVERAGE_PICTURES,
    COVERAGE_TABLES,
    DATA_TABLES,
    FOUND_PICTURES,
    FOUND_TABLES,
    LABEL_PICTURES,
    LABEL_TABLES,
    UNIT_TABLES,
    WITHIN_TABLES,
    without_unknown,
)
from audit.exports.sections.retrieval import RETRIEVAL_PICTURES, RETRIEVAL_TABLES
from audit.exports.sections.routing import ROUTING_PICTURES, ROUTING_TABLES
from audit.exports.sections.stress import STRESS_PICTURES, STRESS_TABLES
from audit.exports.sections.systems import SYSTEM_PICTURES, SYSTEM_TABLES
from audit.exports.sections.themes import curated_theme_areas, curated_themes, theme_areas, theme_edits, themes
from audit.exports.sections.two_runs import TWO_RUN_PICTURES, TWO_RUN_TABLES
from audit.exports.table_model import Picture, Table

Made = TypeVar("Made")


@dataclass(frozen=True)
class ChapterPlan:
    """A chapter of an export: its heading, and what makes its tables and figures.

    about     what a run must have: pairs, handbooks, answers by a search alone, answering systems, routes to sources, stress
              tests, or nothing specific
    compares  only if a second run is compared
    curated   only if people changed the themes
    depends_on_labels  whether its figures depend on answers and verdicts, so those of a preview are preliminary
    """

    title: str
    tables: tuple[TableMaker, ...]
    pictures: tuple[PictureMaker, ...] = ()
    about: Literal["pairs", "handbooks", "search", "systems", "routes", "stress", "any run"] = "pairs"
    compares: bool = False
    curated: bool = False
    depends_on_labels: bool = True

    def applies_to(self, context: ExportContext) -> bool:
        """Whether the context has what the chapter is about."""
        run = context.run
        has_it = {
            "pairs": run.has_pairs,
            "handbooks": run.has_handbooks,
            "search": context.errors.searched,
            "systems": run.has_systems,
            "routes": run.has_routes,
            "stress": run.has_stress,
            "any run": True,
        }[self.about]
        compared = context.other is not None or not self.compares
        return has_it and compared and (context.curation is not None or not self.curated)


@dataclass(frozen=True)
class Chapter:
    """A chapter with its tables and figures; `left_out` gives the reasons why others are missing.

    paragraphs  heading -> text for a paper
    """

    title: str
    tables: Sequence[Table]
    pictures: Sequence[Picture] = ()
    left_out: dict[str, str] = field(default_factory=dict)
    depends_on_labels: bool = True
    paragraphs: Mapping[str, str] = field(default_factory=dict)


CHAPTERS = (
    ChapterPlan("Data", DATA_TABLES, about="any run", depends_on_labels=False),
    ChapterPlan("Units compared", UNIT_TABLES, about="handbooks", depends_on_labels=False),
    ChapterPlan("How pairs were labelled", LABEL_TABLES, LABEL_PICTURES),
    ChapterPlan("Coverage", COVERAGE_TABLES, COVERAGE_PICTURES, about="handbooks"),
    ChapterPlan("What the search found", FOUND_TABLES, FOUND_PICTURES, about="search"),
    ChapterPlan("Topics of disagreement", (themes,), (theme_areas,)),
    ChapterPlan("Self-disagreement", WITHIN_TABLES, about="handbooks"),
    ChapterPlan("Topics of disagreement, in curated themes", (curated_themes, theme_edits), (curated_theme_areas,), curated=True),
    ChapterPlan("How far the judge can be trusted", JUDGE_TABLES, (checks,)),
    ChapterPlan(
        "How well retrieval finds the answers", RETRIEVAL_TABLES, RETRIEVAL_PICTURES, "handbooks", depends_on_labels=False
    ),
    ChapterPlan("Answering systems compared", SYSTEM_TABLES, SYSTEM_PICTURES, about="systems", depends_on_labels=False),
    ChapterPlan("How systems choose between sources", ROUTING_TABLES, ROUTING_PICTURES, about="routes", depends_on_labels=False),
    ChapterPlan("Stress tests", STRESS_TABLES, STRESS_PICTURES, about="stress", depends_on_labels=False),
    ChapterPlan("Compared with another run", TWO_RUN_TABLES, TWO_RUN_PICTURES, compares=True),
    ChapterPlan("Methods", (analysis_plan,), about="any run", depends_on_labels=False),
)


def chapters(context: ExportContext, progress: Callable[[str], None]) -> Iterator[Chapter]:
    """Every chapter that applies to the context."""
    for plan in CHAPTERS:
        if plan.applies_to(context):
            progress(plan.title)
            yield _chapter(plan, context)


def _chapter(plan: ChapterPlan, context: ExportContext) -> Chapter:
    left_out: dict[str, str] = {}
    tables = [without_unknown(context, table) for table in _built_items(plan.tables, context, "table", left_out)]
    drawn = [_all_pictures(maker) for maker in plan.pictures]
    pictures = [picture for group in _built_items(drawn, context, "figure", left_out) for picture in group]
    return Chapter(plan.title, tables, pictures, left_out, plan.depends_on_labels)


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
