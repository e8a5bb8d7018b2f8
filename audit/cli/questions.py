"""`audit questions`: questions from a file of anybody's into the form in which they are asked, with what to look at first."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from audit.cli.command import FINDINGS, OK, add_command
from audit.cli.themes import show_progress
from audit.corpus.questions import THRESHOLD, import_questions, read_taxonomy, screen
from audit.corpus.questions.run import EncoderOf
from audit.corpus.questions.screening import REGIONS
from audit.embedding.encoders import LEXICAL, cached_encoder, default_model, sentence_encoder, words_encoder
from audit.errors import QuestionsError
from audit.settings import Settings

ABOUT = """Questions that may be one are listed in a table; fill its column 'decision' with keep_both, drop_first or drop_second
and run the command again. Undecided pairs are kept. Nothing is reworded and nothing vanishes: what was left out stands in the
report, what was dropped in the table. Exit code: 0 written, 1 written and something to look at, 2 nothing was written."""
NONE = "none"


def register(commands: Any) -> None:
    """Add the command."""
    command = add_command(commands, "questions", questions, "Import questions: check, screen, tag, find near-duplicates.", ABOUT)
    command.add_argument("path", type=Path, metavar="FILE", help="CSV, JSON, JSON lines or parquet, with fields as in a release")
    command.add_argument("--out", type=Path, metavar="FILE.jsonl", required=True, help="where the questions are written")
    command.add_argument(
        "--decisions", type=Path, metavar="FILE.csv", help="table of near-duplicates (default: beside --out, .decisions.csv)"
    )
    command.add_argument(
        "--taxonomy", metavar="FILE|NAME", help="TOML of allowed organs, topics and subtopics, or 'transplant' (default: any tag)"
    )
    command.add_argument(
        "--screen", action=argparse.BooleanOptionalAction, default=True,
        help="look for identifying details: names, addresses, dates, numbers (default: yes; extra 'questions')",
    )  # fmt: skip
    command.add_argument(
        "--region",
        action="append",
        metavar="CC",
        help=f"country of telephone numbers, again for more (default: {', '.join(REGIONS)})",
    )
    command.add_argument(
        "--threshold", type=_cosine, default=THRESHOLD, metavar="COSINE",
        help="questions more alike than this are listed, 0 to 1 (default: %(default)s)",
    )  # fmt: skip
    command.add_argument(
        "--encoder", metavar="NAME|PATH",
        help=f"sentence model, '{LEXICAL}' (no model), or '{NONE}': exact duplicates only (default: MiniLM where installed)",
    )  # fmt: skip
    command.add_argument("--json", action="store_true", help="the report for machines, every finding included")


def _cosine(text: str) -> float:
    value = float(text)
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is no cosine above 0 and up to 1")
    return value


def questions(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit questions FILE --out FILE.jsonl`"""
    if arguments.out.suffix != ".jsonl":
        raise QuestionsError(f"{arguments.out} does not end in .jsonl. Nothing was written. Questions are written as JSON lines.")
    report = import_questions(
        arguments.path, arguments.out,
        decisions=arguments.decisions,
        taxonomy=read_taxonomy(arguments.taxonomy) if arguments.taxonomy else None,
        screen=screen(tuple(region.upper() for region in arguments.region or REGIONS)) if arguments.screen else None,
        encoder_of=encoder_of(arguments.encoder, settings),
        threshold=arguments.threshold, max_bytes=settings.max_object_bytes, progress=show_progress,
    )  # fmt: skip
    print(json.dumps(report.as_dict(), indent=1, ensure_ascii=False) if arguments.json else report.as_text())
    return OK if report.clean else FINDINGS


def encoder_of(name: str | None, settings: Settings) -> EncoderOf | None:
    """What makes the encoder of that name for some texts; None for the name `none`."""
    model = name or default_model() or LEXICAL
    if model == NONE:
        return None
    return (
        words_encoder if model == LEXICAL else lambda _: cached_encoder(sentence_encoder(model), settings.themes_dir / "vectors")
    )
