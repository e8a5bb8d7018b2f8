"""`audit export`: every table and figure of a run, a report to mail, and a manifest, as a folder or an archive."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from audit.atomic_io import atomic_folder, write_atomic
from audit.cli.command import OK, add_command
from audit.errors import AuditError, describe_error
from audit.exports.context import CurationPart
from audit.exports.files import zipped
from audit.exports.package import Order, StudyPart, check_drawn_from, left_out, package, today
from audit.queries.run_taxonomy import taxonomy_of
from audit.settings import Settings
from audit.store.runs import Run, find_run
from audit.themes.taxonomy import Taxonomy

ABOUT = """Tables as CSV, XLSX, LaTeX, Markdown and JSON; figures as HTML, SVG and PNG; report.html to mail; README.txt, which
says how to compile the LaTeX; manifest.json with the SHA-256 of every file. The same state gives the same files but for the
date in the manifest. SVG and PNG need the extra `figures` and a Chromium; without them they are left out, and the manifest
says so. {themes}"""
CURATED = "Themes that people curated stand beside those that were built."
AS_BUILT = "Themes are those that were built; `annotation export-all` sets what people made of them beside."
PAPER = "paper"

Studies = Callable[[str, Settings], StudyPart]
"""(study id, settings) -> what the study adds to an export."""
Curation = Callable[[Run, Taxonomy, Settings], CurationPart | None]
"""(run, its themes as built, settings) -> what people made of them."""


def register(commands: Any, studies: Studies | None = None, curation: Curation | None = None, name: str = "export") -> None:
    """Add the command; whoever knows studies of human labels and curation of themes hands them over."""
    command = add_command(
        commands,
        name,
        export,
        "Write a run's tables, figures and report as a folder or a ZIP.",
        ABOUT.format(themes=CURATED if curation else AS_BUILT),
    )
    command.set_defaults(studies=studies, curation=curation)
    command.add_argument("--run", help="run id or key (default: the study's run, or the newest whole run)")
    command.add_argument("--against", metavar="RUN", help="compare with this run too: what changed from the run to it")
    command.add_argument(
        "--study", metavar="ID", help="add the validation tables of a study" + ("" if studies else ": annotation export-all")
    )
    command.add_argument("--compare", choices=(PAPER,), help="set the published figures of arXiv:2605.29084 beside")
    command.add_argument("--out", type=Path, required=True, metavar="DIR|ZIP", help="a new folder, or a file ending in .zip")


def export(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit export --run RUN --out DIR|ZIP`"""
    out: Path = arguments.out
    _check_room(out)
    order = _order(arguments, settings)
    files = package(order, lambda step: print(f"{step} ...", file=sys.stderr))
    _write(out, files)
    print(f"{out}: {len(files)} files of run {order.run.key}. Begin with report.html.")
    for name, why in left_out(files).items():
        print(f"Left out, {name}: {why}", file=sys.stderr)
    return OK


def _order(arguments: argparse.Namespace, settings: Settings) -> Order:
    study = _study(arguments, settings)
    run = find_run(settings.store_dir, arguments.run or (study.digest if study else None))
    if study is not None:
        check_drawn_from(study, run)
    other = find_run(settings.store_dir, arguments.against) if arguments.against else None
    taxonomy = taxonomy_of(run, settings.themes_dir)
    curation = arguments.curation(run, taxonomy, settings) if arguments.curation and taxonomy else None
    against = taxonomy_of(other, settings.themes_dir) if other else None
    return Order(run, today(), other, study, arguments.compare == PAPER, taxonomy, curation, against)


def _study(arguments: argparse.Namespace, settings: Settings) -> StudyPart | None:
    if not arguments.study:
        return None
    if arguments.studies is None:
        raise AuditError(f"Studies are known to `annotation export-all --study {arguments.study}`. Nothing was written.")
    part: StudyPart = arguments.studies(arguments.study, settings)
    return part


def _check_room(out: Path) -> None:
    """Nothing is written over what may be somebody's work; an archive is one file, and made anew.

    Whether anything can be written there is tried now: making an export takes minutes.
    """
    try:
        full = out.is_dir() and (_is_archive(out) or any(out.iterdir()))
        if full or (out.is_file() and not _is_archive(out)):
            raise AuditError(f"--out {out}: there is something already. Nothing was written. Name a new folder, or a .zip file.")
        with tempfile.TemporaryFile(dir=_nearest(out)):
            pass
    except OSError as error:
        raise _unwritable(out, error) from None


def _nearest(out: Path) -> Path:
    """What is there already of the place where `out` will stand."""
    return next(each for each in (*([] if _is_archive(out) else [out]), *out.absolute().parents) if each.exists())


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
            for path, content in files.items():
                place = draft / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content)
    except OSError as error:
        raise _unwritable(out, error) from None


def _unwritable(out: Path, error: OSError) -> AuditError:
    return AuditError(f"--out {out} cannot be written: {describe_error(error)}. Nothing was written. Name another place.")
