"""The whole package of an export in memory: tables, figures, report and manifest, the same bytes for the same state."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import audit
from audit.atomic_io import sha256_of
from audit.charts.captions import with_notice
from audit.charts.figure_files import PLOTLY_FILE, NoPicturesError, figure_page, pictures, plotly_script
from audit.errors import AuditError
from audit.exports.analysis_plan import library_versions
from audit.exports.catalogue import Chapter, chapters
from audit.exports.context import ExportContext, open_context
from audit.exports.html_pages import html_report
from audit.exports.package_files import LATEX, digest, readme, unique_stems
from audit.exports.package_request import REPORT, STEM, VALIDATION, ExportRequest
from audit.exports.published.tables import published_tables
from audit.exports.table_model import Picture, Table
from audit.exports.text_writers import csv_table, json_table, latex, latex_document, markdown
from audit.exports.xlsx import xlsx_bytes
from audit.model_family import self_preference_note
from audit.previews import PRELIMINARY, preview_notice
from audit.queries.datasheet import datasheet, datasheet_text
from audit.stats.bootstrap import SEED
from audit.store.runs import Run
from audit.terms import INTENDED_USE, fill

MAX_STEM = 120
"""Letters in the name of a figure's file; file systems take 255 bytes."""
MANIFEST, PAPER_TEXT = "manifest.json", "methods_and_results.md"
SYNTHETIC = "Synthetic data: it describes no real {handbook}, {center} or {patient}. Not for use in practice."
SAME_STATE = (
    "The same command on the same state writes the same files; only the date in this one differs. Pictures also depend on "
    "the fonts and the Chromium of the machine."
)


def package(request: ExportRequest, progress: Callable[[str], None] = lambda _: None) -> dict[str, bytes]:
    """Path -> content of every file of the export.

    Raises AuditError when the runs cannot be compared, and for the validation alone where there is no study.
    """
    if request.contents == VALIDATION and request.study is None:
        raise AuditError("No study was named, so there is no validation to export. Nothing was written. Name one with --study.")
    with open_context(request.run, request.other, request.taxonomy, request.curation, request.against) as context:
        sheet = datasheet_text(request.run.title, datasheet(context.con)) + _of_study(request)
        # Only tables and charts need the stores; they are closed while pictures are drawn and files written
        parts = _with_file_names([_with_notices(chapter, context) for chapter in _chapters(request, context, progress)])
    progress("Drawing the figures")
    shown = {picture.name: picture for chapter in parts for picture in chapter.pictures}
    drawn, missing = _drawn(shown)
    beside = request.contents != REPORT
    files = dict(_all_table_files(parts, request.run)) | dict(_figures(shown, drawn)) if beside else {}
    files |= {"datasheet.md": sheet.encode(), **_paper_text(parts)}
    progress("Writing the report")
    drawings = {name: svg for name, (svg, _) in drawn.items()}
    files["report.html"] = html_report(request.run.title, _facts(request), _notices(request), parts, drawings).encode()
    listed = {part.title: _file_lines(part) for part in parts}
    title = f"{request.run.title} ({request.run.key})"
    files["README.txt"] = readme(title, _notices(request), request.command, listed).encode()
    left_out = {name: why for chapter in parts for name, why in chapter.left_out.items()} | missing
    files[MANIFEST] = _manifest(request, files, left_out)  # last: it has the digest of every other file
    return files


def left_out(files: Mapping[str, bytes]) -> dict[str, str]:
    """The parts that were not written, with reasons."""
    reasons: dict[str, str] = json.loads(files[MANIFEST])["left_out"]
    return reasons


def _chapters(request: ExportRequest, context: ExportContext, progress: Callable[[str], None]) -> Iterator[Chapter]:
    if request.contents != VALIDATION:
        yield from chapters(context, progress)
    if request.study is not None:
        yield request.study.chapter
    if request.paper:
        progress("Published figures")
        study = request.study.figures if request.study else {}
        tables = [replace(table, notes=tuple(map(context.fill, table.notes))) for table in published_tables(context, study)]
        yield Chapter("Compared with the published figures", tables)


def _with_notices(chapter: Chapter, context: ExportContext) -> Chapter:
    """The chapter; each table names its run, and states when that is synthetic or a preview."""
    source = f"Source: run {context.run.key}."
    # Each table repeats this, because people send single tables
    notes = (context.fill(_use_of(context.run)), source)
    preview = _preview_of(context.run, context.other)
    tables = [table.noted(*notes).as_preview(preview, preliminary=chapter.depends_on_labels) for table in chapter.tables]
    pictures = [_with_preview(picture, preview, preliminary=chapter.depends_on_labels) for picture in chapter.pictures]
    return replace(chapter, tables=tables, pictures=pictures)


def _with_file_names(parts: Sequence[Chapter]) -> list[Chapter]:
    """The chapters, each figure under the name of its file: theirs may have an organ in them, which is free text."""
    names = [picture.name for part in parts for picture in part.pictures]
    stems = iter(unique_stems(names, STEM, "-", MAX_STEM))
    return [replace(part, pictures=[replace(each, name=next(stems)) for each in part.pictures]) for part in parts]


def _use_of(run: Run) -> str:
    return SYNTHETIC if run.synthetic else INTENDED_USE


def _with_preview(picture: Picture, preview: str, *, preliminary: bool) -> Picture:
    title = f"{picture.title} ({PRELIMINARY})" if preview and preliminary else picture.title
    return replace(picture, title=title, figure=with_notice(picture.figure, preview))


def _preview_of(run: Run, other: Run | None) -> str:
    return preview_notice(run.manifest, other.manifest if other else None)


def _notices(request: ExportRequest) -> list[str]:
    """Notices that a reader must see first."""
    run, preview = request.run, _preview_of(request.run, request.other)
    return [fill(run, _use_of(run)), *([f"{preview}."] if preview else [])]


def _paper_text(parts: Sequence[Chapter]) -> dict[str, bytes]:
    """The paragraphs of all chapters as Markdown; no file if there are none."""
    paragraphs = [f"## {heading}\n\n{text}\n" for part in parts for heading, text in part.paragraphs.items()]
    return {PAPER_TEXT: "\n".join(paragraphs).encode()} if paragraphs else {}


def _of_study(request: ExportRequest) -> str:
    """The datasheet's lines about the study, in the end: how far its raters were blinded."""
    words = str(request.study.facts.get("blinding") or "") if request.study else ""
    return f"\n## Labels of the study\n\n- {words}\n" if words else ""


def _file_lines(part: Chapter) -> list[str]:
    """A line for each of its tables and figures, by the names of their files."""
    tables = [f"{table.name} (table): {table.title}" for table in part.tables]
    return tables + [f"{picture.name} (figure): {picture.title}" for picture in part.pictures]


def _drawn(shown: Mapping[str, Picture]) -> tuple[dict[str, tuple[bytes, bytes]], dict[str, str]]:
    try:
        files, missing = pictures({name: picture.figure for name, picture in shown.items()})
        return files, {f"figure {name}": reason for name, reason in missing.items()}
    except NoPicturesError as reason:
        # Without Chromium the rest of the package is still useful
        return {}, {"figures as SVG and PNG": str(reason)}


def _all_table_files(parts: Sequence[Chapter], run: Run) -> Iterator[tuple[str, bytes]]:
    tables = [table for chapter in parts for table in chapter.tables]
    for table in tables:
        yield from _table_files(table, run)
    yield "tables/latex/all_tables.tex", latex_document(tables).encode()
    yield "tables/xlsx/all_tables.xlsx", xlsx_bytes(tables)
    yield "tables/markdown/all_tables.md", "\n\n".join(map(markdown, tables)).encode()


def _table_files(table: Table, run: Run) -> Iterator[tuple[str, bytes]]:
    yield f"tables/csv/{table.name}.csv", csv_table(table)
    yield f"tables/latex/{table.name}.tex", latex(table).encode()
    yield f"tables/markdown/{table.name}.md", markdown(table).encode()
    yield f"tables/json/{table.name}.json", json_table(table, run).encode()


def _figures(shown: Mapping[str, Picture], drawn: Mapping[str, tuple[bytes, bytes]]) -> Iterator[tuple[str, bytes]]:
    if shown:  # once for all figures: it is 4.5 MB
        yield f"figures/html/{PLOTLY_FILE}", plotly_script().encode()
    for name, picture in shown.items():
        yield f"figures/html/{name}.html", figure_page(picture.figure, name, picture.title).encode()
        if name in drawn:
            yield f"figures/svg/{name}.svg", drawn[name][0]
            yield f"figures/png/{name}.png", drawn[name][1]


def _facts(request: ExportRequest) -> dict[str, str]:
    """The subject of the report."""
    run, manifest = request.run, request.run.manifest
    entries = {"Date of the release": manifest.get("date"), "Answers": manifest.get("generator")}
    known = {name: str(value) for name, value in entries.items() if value}
    compared = {"Compared with": f"{request.other.title} ({request.other.key})"} if request.other else {}
    family = {"Family of models": note} if (note := self_preference_note(manifest)) else {}
    study = {"Study": f"{request.study.study_id} ({request.study.facts['state']})"} if request.study else {}
    edits = "as built, and as curated: {counting:,} of {acts:,} edits in effect"
    curation = {"Themes": edits.format(**request.curation.facts)} if request.curation else {}
    return {
        "Run": f"{run.title} ({run.key})",
        "SHA-256 of the release": run.digest,
        **known,
        "Judge": str(manifest.get("judge") or "not reported by the release"),
        **family,
        **compared,
        **study,
        **curation,
        "Load report": str(run.report.get("verdict", "none")),
        "Made by": f"audit {audit.__version__}",
        "Command to repeat the export": request.command,
    }


def _manifest(request: ExportRequest, files: Mapping[str, bytes], missing: Mapping[str, str]) -> bytes:
    manifest = {
        "date": request.date,
        "command": request.command,
        "about": SAME_STATE,
        "latex": LATEX,
        "run": _identity(request.run),
        "against": _identity(request.other) if request.other else None,
        "study": {"study_id": request.study.study_id, **request.study.facts} if request.study else None,
        "themes": {"built_sha256": request.taxonomy.sha256} if request.taxonomy else None,
        "themes_against": {"built_sha256": request.against.sha256} if request.against else None,
        "curation": dict(request.curation.facts) if request.curation else None,
        "seeds": {"resampling": SEED},
        "versions": dict(library_versions()),
        "left_out": dict(missing),
        "files": {path: {"sha256": digest(content), "bytes": len(content)} for path, content in sorted(files.items())},
    }
    return (json.dumps(manifest, ensure_ascii=False, indent=1) + "\n").encode()


def _identity(run: Run) -> dict[str, Any]:
    return {
        "key": run.key,
        "run_id": run.run_id,
        "title": run.title,
        "synthetic": run.synthetic,
        "preview": preview_notice(run.manifest) or None,
        "release_sha256": run.digest,
        "store_sha256": sha256_of(run.path),
        "loaded_at": run.loaded_at,
    }
