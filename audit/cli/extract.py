"""`audit extract`: PDF files into documents."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from tqdm import tqdm

from audit.cli.command import FINDINGS, OK, add_command
from audit.corpus.extraction.engines import DEFAULT_ENGINE, ENGINES
from audit.corpus.extraction.identity import CATALOG_COLUMNS, IdentityOptions
from audit.corpus.extraction.run import ExtractionProgress, ExtractionReport, extract_all
from audit.errors import DocumentError
from audit.settings import Settings
from audit.vocabulary import PHASES

ABOUT = f"""Each PDF becomes OUT/HANDBOOK_ID.json: headings and sections in reading order, with their pages; running heads and
feet, page numbers and a table of contents are left out. Whose handbook it is says its name (organ_center_phase.pdf), an option,
or a row of the catalog (columns: {", ".join(CATALOG_COLUMNS)}; file and center are needed). What was extracted
from the same content by the same engine is left as it is. llamaparse sends the PDF to a service, with the key in
LLAMA_CLOUD_API_KEY (extra llamaparse); the others need no network (extra pdf). Exit code: 0 every PDF has its document, 1 some
failed or are worth a look, and it says why (the others are written), 2 nothing was done."""


def register(commands: Any) -> None:
    """Add the command."""
    command = add_command(commands, "extract", extract, "Turn PDF files into documents: sections with headings.", ABOUT)
    command.add_argument(
        "pdf", type=Path, nargs="+", metavar="PDF|DIR", help="PDF files, or folders of them (subfolders included)"
    )
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="where the documents go, one JSON file each")
    command.add_argument("--catalog", type=Path, metavar="FILE.csv", help="which PDF is whose, one row per file")
    command.add_argument("--organ", help="of every PDF here (default: by the file's name, else general)")
    command.add_argument("--center", help="of every PDF here (default: by the file's name)")
    command.add_argument("--phase", choices=PHASES, help="of every PDF here (default: by the file's name, else combined)")
    command.add_argument("--engine", default=DEFAULT_ENGINE, metavar="NAME", help=f"{', '.join(ENGINES)} (default: %(default)s)")


def extract(arguments: argparse.Namespace, _: Settings) -> int:
    """`audit extract PDF|DIR --out DIR`"""
    options = IdentityOptions(arguments.organ, arguments.center, arguments.phase)
    with tqdm(unit=" pages", disable=None, leave=False, dynamic_ncols=True) as bar:
        report = extract_all(
            arguments.pdf,
            arguments.out,
            options=options,
            catalog=arguments.catalog,
            engine=arguments.engine,
            progress=_watch(bar),
        )
    return _say(report, arguments.out)


def _watch(bar: Any) -> ExtractionProgress:
    """The bar shows the pages of the PDF that is being read."""
    shown: list[Path] = []

    def watch(pdf: Path, done: int, total: int) -> None:
        if shown != [pdf]:
            shown[:] = [pdf]
            bar.reset(total)
            bar.set_description(pdf.name)
        bar.update(done - bar.n)

    return watch


def _say(report: ExtractionReport, out: Path) -> int:
    for sentence in (*report.failed, *report.notes):
        print(sentence, file=sys.stderr)
    if not report.done and not report.unchanged:
        raise DocumentError(f"{report.summary} {out} is as it was. Correct what is said above, and run the same command again.")
    print(f"{out}: {report.summary}")
    if report.failed:
        print("The others are written. Correct what failed and run the same command again: the rest is not done twice.")
    return FINDINGS if report.failed or report.notes else OK
