"""`audit export`: every table and figure of a run, a report to send, and a manifest, as a folder or an archive."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping
from pathlib import Path

from audit.atomic_io import atomic_folder, write_atomic
from audit.cli.conventions import add_json, note, print_result
from audit.commands import CURATED_THEMES, STUDY_TABLES, load_object
from audit.errors import AuditError, describe_error
from audit.exports.package import left_out, package
from audit.exports.package_files import zipped
from audit.exports.package_request import EVERYTHING, REPORT, VALIDATION, ExportRequest, StudyPart, check_drawn_from, today
from audit.queries.themes import taxonomy_of
from audit.settings import Settings
from audit.store.runs import find_run

ABOUT = """Tables as CSV, XLSX, LaTeX, Markdown and JSON; figures as HTML, SVG and PNG; report.html to send; README.txt, which
explains how to compile the LaTeX; manifest.json with the SHA-256 of every file. The same state gives the same files except for
the date in the manifest. SVG and PNG need the extra `figures` and a Chromium; without them they are left out, and the manifest
lists them as missing. Edited themes are shown next to the themes as built."""
PAPER = "paper"


def export_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit export`."""
    parser.epilog = ABOUT
    parser.add_argument("--run", help="run id or key (default: the study's run, or the newest complete run)")
    parser.add_argument("--against", metavar="RUN", help="also compare with this run: what changed from --run to it")
    parser.add_argument("--study", metavar="ID", help="add the validation tables of this study of human labels")
    parser.add_argument("--themes-as-built", action="store_true", help="leave out people's edits of the themes")
    parser.add_argument(
        "--compare",
        choices=(PAPER,),
        help="add published figures for comparison: of pairs (arXiv:2605.29084), of answering systems",
    )
    parser.add_argument(
        "--only",
        choices=(VALIDATION, REPORT),
        help="write less: the tables, figures and paragraphs of --study; or only report.html",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR|ZIP", help="a new folder, or a file ending in .zip")
    add_json(parser)


def export(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit export --run RUN --out DIR|ZIP`"""
    out: Path = arguments.out
    _check_writable(out)
    request = _request(arguments, settings)
    files = package(request, lambda step: note(f"{step} ..."))
    _write(out, files)
    missing = left_out(files)
    for name, reason in missing.items():
        note(f"Left out, {name}: {reason}")
    text = f"{out}: {len(files)} files of run {request.run.key}. Start with report.html."
    return print_result(arguments, text, {"out": str(out), "run": request.run.key, "files": sorted(files), "left_out": missing})


def _request(arguments: argparse.Namespace, settings: Settings) -> ExportRequest:
    if arguments.only == VALIDATION and not arguments.study:
        raise AuditError("--only validation requires --study. Nothing was written. Name the study with --study.")
    study: StudyPart | None = load_object(STUDY_TABLES)(arguments.study, settings) if arguments.study else None
    # A study belongs to the run that it was drawn from, so that run is its default
    run = find_run(settings.store_dir, arguments.run or (study.digest if study else None))
    if study is not None:
        check_drawn_from(study, run)
    other = find_run(settings.store_dir, arguments.against) if arguments.against else None
    taxonomy = taxonomy_of(run, settings.themes_dir)
    edited = taxonomy and not arguments.themes_as_built
    curation = load_object(CURATED_THEMES)(run, taxonomy, settings) if edited else None
    against = taxonomy_of(other, settings.themes_dir) if other else None
    return ExportRequest(
        run, today(), other, study, arguments.compare == PAPER, taxonomy, curation, against, arguments.only or EVERYTHING
    )


def _check_writable(out: Path) -> None:
    """Refuse to write over existing work; only an archive, which is one file, is replaced."""
    try:
        is_full = out.is_dir() and (_is_archive(out) or any(out.iterdir()))
        if is_full or (out.is_file() and not _is_archive(out)):
            raise AuditError(f"--out {out} already exists. Nothing was written. Name a new folder, or a .zip file.")
        # An export takes minutes, so an unwritable folder must be detected now
        with tempfile.TemporaryFile(dir=_nearest_existing(out)):
            pass
    except OSError as error:
        raise _unwritable(out, error) from None


def _nearest_existing(out: Path) -> Path:
    """The closest folder above `out` that exists already."""
    return next(path for path in (*([] if _is_archive(out) else [out]), *out.absolute().parents) if path.exists())


def _is_archive(out: Path) -> bool:
    return out.suffix.lower() == ".zip"


def _write(out: Path, files: Mapping[str, bytes]) -> None:
    """An archive or a folder appears complete or not at all."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        if _is_archive(out):
            write_atomic(out, zipped(files))
            return
        with atomic_folder(out) as draft:
            for name, content in files.items():
                path = draft / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
    except OSError as error:
        raise _unwritable(out, error) from None


def _unwritable(out: Path, error: OSError) -> AuditError:
    return AuditError(f"--out {out} cannot be written: {describe_error(error)}. Nothing was written. Name another path.")
