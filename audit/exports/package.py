"""The whole package of an export in memory: tables, figures, report and manifest, the same bytes for the same state."""

from __future__ import annotations

import json
import platform
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import audit
from audit.atomic_io import sha256_of
from audit.charts.figure_files import NoPicturesError, pictures, standalone_html
from audit.errors import AuditError
from audit.exports.catalogue import Chapter, chapters
from audit.exports.context import CurationPart, Material, gathered
from audit.exports.files import digest
from audit.exports.published_comparison import compared
from audit.exports.readme import LATEX, readme
from audit.exports.report import html_report
from audit.exports.run_figures import Measured, measured
from audit.exports.table_model import Picture, Table
from audit.exports.writers import data, latex, markdown, spreadsheet
from audit.stats.bootstrap import SEED
from audit.store.runs import Run
from audit.terms import fill
from audit.themes.taxonomy import Taxonomy

MANIFEST = "manifest.json"
STEM = re.compile(r"[^A-Za-z0-9_-]+")
LIBRARIES = ("duckdb", "numpy", "pandas", "plotly", "kaleido", "openpyxl", "scipy")
SYNTHETIC = "Synthetic data, made up: no real {handbook}, {center} or {patient} stands behind it. Not for clinical use."
SAME_STATE = (
    "The same command on the same state writes the same files; only the date in this one differs. Pictures depend on the fonts "
    "and the Chromium of the machine too."
)


@dataclass(frozen=True)
class StudyPart:
    """What a study of human labels adds.

    study_id  its name; digest  the SHA-256 of the release that it was drawn from
    chapter   its tables and figures
    measured  its figures by the names of published ones
    facts     what it is: state, seed, where its ledgers end
    """

    study_id: str
    digest: str
    chapter: Chapter
    measured: Mapping[str, Measured | str]
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Order:
    """What to export.

    other  the run to compare with
    study  the part of a study
    paper  whether to set the published figures beside
    taxonomy  the themes of the run as they were built, where it has any
    curation  what people made of them, where anybody changed any
    against  the themes of the run to compare with as they were built, where it has any
    date   today, ISO 8601: it stands in the manifest and nowhere else
    """

    run: Run
    date: str
    other: Run | None = None
    study: StudyPart | None = None
    paper: bool = False
    taxonomy: Taxonomy | None = None
    curation: CurationPart | None = None
    against: Taxonomy | None = None

    @property
    def command(self) -> str:
        """What makes the same package again."""
        study_id = self.study.study_id if self.study else None
        return command_of(self.run, self.other, study_id, paper=self.paper)


def archive_name(run: Run) -> str:
    """What an archive of the run is called: `run-id_digest.zip`."""
    return STEM.sub("-", f"{run.run_id}_{run.digest[:8]}") + ".zip"


def command_of(run: Run, other: Run | None, study_id: str | None, *, paper: bool) -> str:
    """The command line that writes this package."""
    parts = ["audit", "export", *(["--study", study_id] if study_id else []), "--run", run.key]
    parts += ["--against", other.key] if other else []
    return shlex.join([*parts, *(["--compare", "paper"] if paper else []), "--out", archive_name(run)])


def check_drawn_from(study: StudyPart, run: Run) -> None:
    """Raise AuditError where a study's items are not pairs of the run."""
    if study.digest != run.digest:
        raise AuditError(
            f"Study '{study.study_id}' was not drawn from run {run.key}, so its labels do not speak for it. "
            "Nothing was written. Leave --run out to export the study with its own run."
        )


def today() -> str:
    """The date that the manifest tells."""
    return datetime.now(UTC).date().isoformat()


def package(order: Order, progress: Callable[[str], None] = lambda _: None) -> dict[str, bytes]:
    """Path -> content of every file of the export. Raises AuditError when the runs cannot be compared."""
    with gathered(order.run, order.other, order.taxonomy, order.curation, order.against) as material:
        parts = [_noticed(chapter, material) for chapter in _chapters(order, material, progress)]
    progress("Drawing the figures")
    shown = {picture.name: picture for chapter in parts for picture in chapter.pictures}
    drawn, missing = _drawn(shown)
    files = dict(_tables(parts, order.run)) | dict(_figures(shown, drawn))
    progress("Writing the report")
    drawings = {name: svg for name, (svg, _) in drawn.items()}
    files["report.html"] = html_report(order.run.title, _facts(order), _notices(order.run), parts, drawings).encode()
    listed = {part.title: _listed(part) for part in parts}
    files["README.txt"] = readme(f"{order.run.title} ({order.run.key})", _notices(order.run), order.command, listed).encode()
    left_out = {name: why for chapter in parts for name, why in chapter.left_out.items()} | missing
    files[MANIFEST] = _manifest(order, files, left_out)
    return files


def left_out(files: Mapping[str, bytes]) -> dict[str, str]:
    """What of an export was not written, and why."""
    told: dict[str, str] = json.loads(files[MANIFEST])["left_out"]
    return told


def _chapters(order: Order, material: Material, progress: Callable[[str], None]) -> Iterator[Chapter]:
    yield from chapters(material, progress)
    if order.study is not None:
        yield order.study.chapter
    if order.paper:
        progress("Published figures")
        study = order.study.measured if order.study else {}
        table = compared({**measured(material), **study})
        yield Chapter("Beside the published figures", [replace(table, notes=tuple(map(material.say, table.notes)))])


def _noticed(chapter: Chapter, material: Material) -> Chapter:
    """The chapter under safe names, each table with the run it is of and, where it is one, the word that it is synthetic."""
    source = f"Source: run {material.run.key}."
    notes = (*([material.say(SYNTHETIC)] if material.run.synthetic else []), source)
    tables = [table.noted(*notes) for table in chapter.tables]
    return replace(chapter, tables=tables, pictures=[replace(one, name=STEM.sub("-", one.name)) for one in chapter.pictures])


def _notices(run: Run) -> list[str]:
    return [fill(run, SYNTHETIC)] if run.synthetic else []


def _listed(part: Chapter) -> list[str]:
    """A line for each of its tables and figures, by the names of their files."""
    tables = [f"{table.name} (table): {table.title}" for table in part.tables]
    return tables + [f"{picture.name} (figure): {picture.title}" for picture in part.pictures]


def _drawn(shown: Mapping[str, Picture]) -> tuple[dict[str, tuple[bytes, bytes]], dict[str, str]]:
    try:
        return pictures({name: picture.figure for name, picture in shown.items()}), {}
    except NoPicturesError as reason:
        return {}, {"figures as SVG and PNG": str(reason)}


def _tables(parts: Sequence[Chapter], run: Run) -> Iterator[tuple[str, bytes]]:
    tables = [table for chapter in parts for table in chapter.tables]
    for table in tables:
        yield from _forms(table, run)
    yield "tables/latex/all_tables.tex", latex.document(tables).encode()
    yield "tables/xlsx/all_tables.xlsx", spreadsheet.xlsx_bytes(tables)
    yield "tables/markdown/all_tables.md", "\n\n".join(map(markdown.markdown, tables)).encode()


def _forms(table: Table, run: Run) -> Iterator[tuple[str, bytes]]:
    yield f"tables/csv/{table.name}.csv", spreadsheet.csv_bytes(table)
    yield f"tables/xlsx/{table.name}.xlsx", spreadsheet.xlsx_bytes([table])
    yield f"tables/latex/{table.name}.tex", latex.latex(table).encode()
    yield f"tables/markdown/{table.name}.md", markdown.markdown(table).encode()
    yield f"tables/json/{table.name}.json", data.json_data(table, run).encode()


def _figures(shown: Mapping[str, Picture], drawn: Mapping[str, tuple[bytes, bytes]]) -> Iterator[tuple[str, bytes]]:
    for name, picture in shown.items():
        yield f"figures/html/{name}.html", standalone_html(picture.figure, name, picture.title).encode()
        if name in drawn:
            yield f"figures/svg/{name}.svg", drawn[name][0]
            yield f"figures/png/{name}.png", drawn[name][1]


def _facts(order: Order) -> dict[str, str]:
    """What the report is on, to be read."""
    run, told = order.run, order.run.manifest
    known = {name: str(told[key]) for name, key in (("Date of the release", "date"), ("Answers", "generator")) if told.get(key)}
    beside = {"Beside": f"{order.other.title} ({order.other.key})"} if order.other else {}
    study = {"Study": f"{order.study.study_id} ({order.study.facts['state']})"} if order.study else {}
    acts = "as built, and as curated: {counting:,} of {acts:,} acts change them now"
    curation = {"Themes": acts.format(**order.curation.facts)} if order.curation else {}
    return {
        "Run": f"{run.title} ({run.key})", "SHA-256 of the release": run.digest, **known,
        "Judge": str(told.get("judge") or "the release does not say"), **beside, **study, **curation,
        "Load report": str(run.report.get("verdict", "none")), "Made by": f"audit {audit.__version__}",
        "The same again": order.command,
    }  # fmt: skip


def _manifest(order: Order, files: Mapping[str, bytes], missing: Mapping[str, str]) -> bytes:
    told = {
        "date": order.date, "command": order.command, "about": SAME_STATE, "latex": LATEX,
        "run": _identity(order.run), "against": _identity(order.other) if order.other else None,
        "study": {"study_id": order.study.study_id, **order.study.facts} if order.study else None,
        "themes": {"built_sha256": order.taxonomy.sha256} if order.taxonomy else None,
        "themes_against": {"built_sha256": order.against.sha256} if order.against else None,
        "curation": dict(order.curation.facts) if order.curation else None, "seeds": {"resampling": SEED},
        "versions": {"audit": audit.__version__, "python": platform.python_version(), **dict(_versions())},
        "left_out": dict(missing),
        "files": {path: {"sha256": digest(content), "bytes": len(content)} for path, content in sorted(files.items())},
    }  # fmt: skip
    return (json.dumps(told, ensure_ascii=False, indent=1) + "\n").encode()


def _identity(run: Run) -> dict[str, Any]:
    return {
        "key": run.key, "run_id": run.run_id, "title": run.title, "synthetic": run.synthetic, "release_sha256": run.digest,
        "store_sha256": sha256_of(run.path), "loaded_at": run.loaded_at,
    }  # fmt: skip


def _versions() -> Iterator[tuple[str, str]]:
    for name in LIBRARIES:
        try:
            yield name, version(name)
        except PackageNotFoundError:
            yield name, "not installed"
