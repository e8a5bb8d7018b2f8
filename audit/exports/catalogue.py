"""Every table and figure of an export, in order: to add one, write its function and name it here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from audit.errors import AuditError
from audit.exports.contents import (
    corpus,
    coverage,
    figures,
    figures_of_two,
    judge,
    labels,
    movers,
    rates,
    retrieval,
    themes,
    two_runs,
)
from audit.exports.context import Material
from audit.exports.table_model import Picture, Table

Made = TypeVar("Made")
TableMaker = Callable[[Material], Table]
PictureMaker = Callable[[Material], list[Picture]]


@dataclass(frozen=True)
class Section:
    """A part of an export: its heading, and what makes its tables and figures.

    compares  only beside another run; curated  only where people changed the themes
    """

    title: str
    tables: tuple[TableMaker, ...]
    pictures: tuple[PictureMaker, ...] = ()
    compares: bool = False
    curated: bool = False

    def has(self, material: Material) -> bool:
        """Whether the material holds what it is about."""
        return (material.other is not None or not self.compares) and (material.curation is not None or not self.curated)


@dataclass(frozen=True)
class Chapter:
    """A part of an export as it came out; `left_out` says of what is missing why."""

    title: str
    tables: Sequence[Table]
    pictures: Sequence[Picture] = ()
    left_out: dict[str, str] = field(default_factory=dict)


SECTIONS = (
    Section("What was compared", (corpus.corpus, corpus.questions, corpus.load_report)),
    Section(
        "How pairs were labelled",
        (labels.labels, labels.significance, rates.organs, rates.topics, rates.centers, rates.severity),
        (figures.labels, figures.organs, figures.organ_labels, figures.topics),
    ),
    Section("What is left out", (coverage.coverage, coverage.handbooks), (figures.coverage, figures.disagreement)),
    Section("What they disagree about", (themes.themes,), (themes.areas,)),
    Section(
        "What they disagree about, in themes as people curated them",
        (themes.curated_themes, themes.acts),
        (themes.curated_areas,),
        curated=True,
    ),
    Section(
        "How far the judge can be trusted", (judge.judge_checks, judge.judge_reading, judge.judge_length), (figures.judge_checks,)
    ),
    Section(
        "How well the answers were searched for",
        (
            retrieval.retrieval,
            retrieval.retrieval_paired,
            retrieval.retrieval_cost,
            retrieval.retrieval_answers,
            retrieval.retrieval_organs,
            retrieval.retrieval_handbooks,
            retrieval.retrieval_missed,
        ),
        (retrieval.strategies,),
    ),
    Section(
        "Beside another run",
        (
            two_runs.shared,
            movers.left_out,
            two_runs.rates_of_two,
            two_runs.absence_or_judgement,
            two_runs.absence_or_judgement_by_organ,
            movers.questions_moved,
            movers.questions_silent,
            movers.questions_relabelled,
            movers.handbooks_moved,
            movers.handbooks_silent,
            movers.handbooks_relabelled,
            two_runs.transitions,
            two_runs.run_agreement,
            themes.themes_moved,
        ),
        (figures_of_two.steps, figures_of_two.changes, figures_of_two.transitions),
        compares=True,
    ),
)


def chapters(material: Material, progress: Callable[[str], None]) -> Iterator[Chapter]:
    """Every section that the material can fill."""
    for section in SECTIONS:
        if section.has(material):
            progress(section.title)
            yield _chapter(section, material)


def _chapter(section: Section, material: Material) -> Chapter:
    left_out: dict[str, str] = {}
    tables = list(_made(section.tables, material, "table", left_out))
    pictures = [picture for several in _made(section.pictures, material, "figure", left_out) for picture in several]
    return Chapter(section.title, tables, pictures, left_out)


def _made(
    makers: Iterable[Callable[[Material], Made]], material: Material, kind: str, left_out: dict[str, str]
) -> Iterator[Made]:
    for maker in makers:
        try:
            yield maker(material)
        except AuditError as reason:
            left_out[f"{kind} {maker.__name__}"] = str(reason)
