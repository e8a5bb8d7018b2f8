"""`audit extract | questions`: convert files of handbooks and questions to the form that the pipeline reads."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from tqdm import tqdm

from audit.cli.conventions import FINDINGS, OK, add_json, cosine, note, print_result
from audit.errors import DocumentError, QuestionsError
from audit.pipeline.cli.themes import show_progress
from audit.pipeline.corpus.extraction.catalog_draft import write_catalog_draft
from audit.pipeline.corpus.extraction.engines import DEFAULT_ENGINE, ENGINES
from audit.pipeline.corpus.extraction.identity import CATALOG_COLUMNS, IdentityOptions
from audit.pipeline.corpus.extraction.ocr import DEFAULT_LANGUAGE, Ocr
from audit.pipeline.corpus.extraction.run import ExtractionProgress, ExtractionReport, extract_all
from audit.pipeline.corpus.extraction.source_files import SUPPORTED
from audit.pipeline.corpus.quality import quality_table
from audit.pipeline.corpus.questions.checks import DEFAULT_REGIONS, make_screen, read_tag_taxonomy
from audit.pipeline.corpus.questions.importing import EncoderFactory, import_questions
from audit.pipeline.corpus.questions.near_duplicates import DUPLICATE_THRESHOLD
from audit.pipeline.embedding.encoders import cached_encoder, model_or_words, sentence_encoder, words_encoder
from audit.release.taxonomy import LEXICAL
from audit.settings import Settings
from audit.vocabulary import PHASES

ABOUT_EXTRACT = f"""Each handbook becomes OUT/HANDBOOK_ID.json: headings and sections in reading order, with their pages. Headers
and footers, page numbers, tables of contents and the navigation of web pages are left out. Formats: {", ".join(SUPPORTED)}.
A folder of web pages whose name is organ_center_phase, or that the catalog names, is one handbook. Which handbook a file is, is
given by its name (organ_center_phase.pdf), by options, or by a row of the catalog (columns:
{", ".join(CATALOG_COLUMNS)}; file and center are required).
A file that the same programs have already extracted is skipped. Beside the documents, quality.jsonl has a report on each: pages,
pages without text, share of words that cannot be read, language, headings, tables, and places to check against the page.
HANDBOOK_ID.corrections.jsonl beside a file has corrections by people, which name page and words and outlive every extraction.
Pages that are pictures have no text unless --ocr reads them, with the program ocrmypdf or tesseract (Debian: apt install
ocrmypdf). --catalog-draft writes a catalog for you
to correct, from names and first pages, and extracts nothing. The engine llamaparse sends the PDF to a service, with the
key in LLAMA_CLOUD_API_KEY; it needs the extra cloud-parser. pdfium needs no network.

Exit code: 0 every file has its document, 1 some failed, lost text or need checking (the messages say why; the others are
written), 2 nothing was done."""
ABOUT_QUESTIONS = """Possible near-duplicates are listed in a table. Fill its column 'decision' with keep_both, drop_first or
drop_second and run the command again; undecided pairs are kept. No question is reworded and none disappears: the report lists
what was left out, the table what was dropped.

Exit code: 0 written, 1 written and there is something to look at, 2 nothing was written."""
NO_ENCODER = "none"


def extract_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit extract`."""
    parser.epilog = ABOUT_EXTRACT
    parser.add_argument("pdf", type=Path, nargs="+", metavar="FILE|DIR", help="files, or folders of them with subfolders")
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("--out", type=Path, metavar="DIR", help="folder for the documents, one JSON file each")
    target.add_argument("--catalog-draft", type=Path, metavar="FILE.csv", help="write a catalog to correct, and extract nothing")
    parser.add_argument("--catalog", type=Path, metavar="FILE.csv", help="table that maps files to handbooks, one row per file")
    parser.add_argument(
        "--corrections",
        type=Path,
        metavar="DIR",
        help="folder of HANDBOOK_ID.corrections.jsonl, corrections of the text by people (default: beside each file)",
    )
    parser.add_argument("--organ", help="organ of every file given (default: from the file's name, else general)")
    parser.add_argument("--center", help="center of every file given (default: from the file's name)")
    parser.add_argument(
        "--phase", choices=PHASES, help="phase of every file given (default: from the file's name, else combined)"
    )
    parser.add_argument("--engine", default=DEFAULT_ENGINE, metavar="NAME", help=f"{', '.join(ENGINES)} (default: %(default)s)")
    parser.add_argument("--ocr", action="store_true", help="recognise the text of pages that are pictures")
    parser.add_argument(
        "--ocr-language",
        default=DEFAULT_LANGUAGE,
        metavar="LANG",
        help="as tesseract names it: deu, eng+spa (default: %(default)s)",
    )
    add_json(parser)


def extract(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit extract FILE|DIR --out DIR`"""
    if arguments.catalog_draft:
        return _draft_catalog(arguments)
    identity = IdentityOptions(arguments.organ, arguments.center, arguments.phase)
    # disable=None: no bar where standard error is not a terminal, such as in a log
    with tqdm(unit=" pages", disable=None, leave=False, dynamic_ncols=True) as bar:
        report = extract_all(
            arguments.pdf,
            arguments.out,
            options=identity,
            catalog=arguments.catalog,
            engine=arguments.engine,
            ocr=Ocr(settings.data_dir / "ocr", arguments.ocr_language) if arguments.ocr else None,
            progress=_watch(bar),
            corrections=arguments.corrections,
        )
    return _print_extraction(arguments, report)


def _draft_catalog(arguments: argparse.Namespace) -> int:
    rows = write_catalog_draft(arguments.pdf, arguments.catalog_draft)
    text = (
        f"{arguments.catalog_draft}: {len(rows):,} rows. Centers, organs, phases and titles are guesses: correct them, "
        f"then run: audit extract {' '.join(map(str, arguments.pdf))} --catalog {arguments.catalog_draft} --out DIR"
    )
    print_result(arguments, text, {"catalog": str(arguments.catalog_draft), "rows": rows})
    return OK


def _watch(bar: Any) -> ExtractionProgress:
    """The bar shows the pages of the PDF that is being read."""
    current: list[Path] = []

    def watch(pdf: Path, done: int, total: int) -> None:
        if current != [pdf]:
            current[:] = [pdf]
            bar.reset(total)
            bar.set_description(pdf.name)
        bar.update(done - bar.n)

    return watch


def _print_extraction(arguments: argparse.Namespace, report: ExtractionReport) -> int:
    out = arguments.out
    for sentence in (*report.failed, *report.notes):
        note(sentence)
    if not report.done and not report.unchanged:
        raise DocumentError(f"{report.summary} {out} is unchanged. Correct the problems above, and run the same command again.")
    frames = [f"{quality.handbook_id}: {quality.frame}" for quality in report.qualities if quality.frame]
    corrected = [f"{quality.handbook_id}: {quality.corrected}" for quality in report.qualities if quality.corrected]
    checks = [f"{quality.handbook_id}: {sentence}" for quality in report.qualities for sentence in quality.to_check]
    text = "\n".join([quality_table(report.qualities), "", *frames, *corrected, *checks, f"{out}: {report.summary}"])
    if report.failed:
        text += "\nThe others are written. Correct the files that failed and run the same command again: it skips the others."
    print_result(
        arguments, text,
        {"out": str(out), "summary": report.summary, "failed": list(report.failed), "notes": list(report.notes),
         "quality": [quality.as_record() for quality in report.qualities]},
    )  # fmt: skip
    return FINDINGS if report.failed or report.notes else OK


def questions_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit questions`."""
    parser.epilog = ABOUT_QUESTIONS
    parser.add_argument("path", type=Path, metavar="FILE", help="CSV, JSON, JSON lines or Parquet, with fields as in a release")
    parser.add_argument("--out", type=Path, metavar="FILE.jsonl", required=True, help="file for the questions")
    parser.add_argument(
        "--decisions", type=Path, metavar="FILE.csv", help="decisions on near-duplicates (default: next to --out, .decisions.csv)"
    )
    parser.add_argument(
        "--taxonomy",
        metavar="FILE|NAME",
        help="TOML file of allowed organs, topics and subtopics, or 'transplant' (default: any tag)",
    )
    parser.add_argument(
        "--screen",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="look for identifying details: names, addresses, dates, numbers (default: yes)",
    )
    parser.add_argument(
        "--region",
        action="append",
        metavar="CC",
        help=f"country of telephone numbers; repeat for more (default: {', '.join(DEFAULT_REGIONS)})",
    )
    parser.add_argument(
        "--threshold",
        type=cosine,
        default=DUPLICATE_THRESHOLD,
        metavar="COSINE",
        help="questions more similar than this are listed as near-duplicates (default: %(default)s)",
    )
    parser.add_argument(
        "--encoder",
        metavar="NAME|PATH",
        help=f"sentence model, '{LEXICAL}' (no model), or '{NO_ENCODER}': exact duplicates only (default: MiniLM if installed)",
    )
    add_json(parser)


def questions(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit questions FILE --out FILE.jsonl`"""
    if arguments.out.suffix != ".jsonl":
        raise QuestionsError(f"{arguments.out} does not end in .jsonl. Nothing was written. Questions are written as JSON lines.")
    report = import_questions(
        arguments.path,
        arguments.out,
        decisions=arguments.decisions,
        taxonomy=read_tag_taxonomy(arguments.taxonomy) if arguments.taxonomy else None,
        screen=make_screen(tuple(region.upper() for region in arguments.region or DEFAULT_REGIONS)) if arguments.screen else None,
        encoder_of=_encoder_of(arguments.encoder, settings),
        threshold=arguments.threshold,
        max_bytes=settings.max_object_bytes,
        progress=show_progress,
    )
    print_result(arguments, report.as_text(), report.as_dict())
    return OK if report.clean else FINDINGS


def _encoder_of(name: str | None, settings: Settings) -> EncoderFactory | None:
    """A factory of the encoder with that name; None for the name `none`."""
    model = name or model_or_words()
    if model == NO_ENCODER:
        return None
    return (
        words_encoder if model == LEXICAL else lambda _: cached_encoder(sentence_encoder(model), settings.themes_dir / "vectors")
    )
