"""`audit within`: each handbook of a folder compared with itself by a model."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from audit.cli.conventions import FINDINGS, OK, add_json, count, print_result
from audit.errors import AuditError
from audit.pipeline.answers.files import read_questions
from audit.pipeline.cli.estimates import handbooks_text
from audit.pipeline.cli.model_calls import add_call_options, model_for
from audit.pipeline.cli.task_command import about_calls, run_task
from audit.pipeline.embedding.encoders import model_or_words
from audit.pipeline.judging.parse import load_prompts
from audit.pipeline.judging.within.findings import Verdicts
from audit.pipeline.judging.within.model import DEFAULT_PAIRS, PROMPT, within_task, within_verdicts
from audit.pipeline.stages.within import FILES, HandbookCandidates, candidates_in, within_figures, write_comparison
from audit.release.taxonomy import LEXICAL
from audit.settings import Settings
from audit.text.documents import read_documents

ABOUT = f"""Passages of different places that may be about the same thing are compared: for each question the closest ones, and
statements that are most similar to each other. Those of the same words are counted and not compared. Only a model can tell
whether two passages disagree, so there is no comparison without one.

{about_calls("DIR.journal")}

Where DIR is the folder of a release, the files become part of it: load it again with `audit load`.

Exit code: 0 success, 1 written, but some replies could not be parsed, 2 nothing was written."""


def within_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit within`."""
    parser.epilog = ABOUT
    parser.add_argument("documents", type=Path, metavar="DOCUMENTS", help="folder that `audit extract` wrote, or one document")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help=f"folder for {' and '.join(FILES)}")
    parser.add_argument("--questions", type=Path, metavar="FILE", help="questions as a release has them (JSONL), to search by")
    parser.add_argument(
        "--pairs",
        type=count,
        default=DEFAULT_PAIRS,
        metavar="N",
        help="maximum number of pairs of one handbook put to a model (default: %(default)s)",
    )
    parser.add_argument("--templates", type=Path, metavar="DIR", help="folder with your own prompt, within.md")
    add_call_options(parser, "files")
    add_json(parser)


def within(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit within DOCUMENTS --out DIR`"""
    if arguments.out.exists() and not arguments.out.is_dir():
        raise AuditError(f"{arguments.out} is a file. Nothing was written. Name a folder with --out.")
    queries = read_questions(arguments.questions) if arguments.questions else []
    model = model_or_words() if queries else LEXICAL
    handbooks = candidates_in(read_documents(arguments.documents), queries, model, settings)
    prompt = load_prompts(arguments.templates)[PROMPT]
    task = within_task(prompt, model_for(arguments, settings), handbooks, arguments.pairs)
    return run_task(
        arguments,
        settings,
        task,
        sends=f"pairs of passages of {handbooks_text([handbook for handbook, _ in handbooks])}",
        write=lambda replies, _: _finish(arguments, handbooks, task.model, within_verdicts(task, handbooks, replies)),
    )


def _finish(arguments: argparse.Namespace, handbooks: HandbookCandidates, judge: str, verdicts: Sequence[Verdicts]) -> int:
    arguments.out.mkdir(parents=True, exist_ok=True)
    findings, counts = write_comparison([arguments.out / name for name in FILES], judge, handbooks, verdicts)
    figures: dict[str, Any] = {**within_figures(findings, counts)}
    path = shlex.quote(str(arguments.out / FILES[0]))
    print_result(
        arguments, f"{figures['message']}\nThe disagreements: {path}", {**figures, "file": str(arguments.out / FILES[0])}
    )
    return FINDINGS if figures["findings"] else OK
