"""`audit within`: each handbook of a folder compared with itself, by rules or by a model."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from audit.cli.conventions import FINDINGS, OK, add_json, count, print_result
from audit.errors import AuditError
from audit.pipeline.cli.estimates import handbooks_text
from audit.pipeline.cli.model_calls import add_call_options, model_for, uses_batch
from audit.pipeline.cli.task_command import about_calls, run_task
from audit.pipeline.judging.parse import load_prompts
from audit.pipeline.judging.within.findings import Verdicts
from audit.pipeline.judging.within.model import DEFAULT_PAIRS, PROMPT, within_task, within_verdicts
from audit.pipeline.rules.within.candidates import find_candidates
from audit.pipeline.rules.within.rules import judge_pair
from audit.pipeline.stages.config import MODEL
from audit.pipeline.stages.within import FILES, HandbookCandidates, within_figures, write_comparison
from audit.settings import Settings
from audit.text.documents import read_documents
from audit.vocabulary import RULES_JUDGE

BASELINE = "baseline"
ABOUT = f"""Statements of different sections that seem to be about the same thing are compared; pairs that state the same value
are counted and not judged. baseline: plain rules, which abstain in doubt.

{about_calls("DIR.journal")}

Where DIR is the folder of a release, the files become part of it: load it again with `audit load`.

Exit code: 0 success, 1 written, but some replies could not be parsed, 2 nothing was written."""


def within_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit within`."""
    parser.epilog = ABOUT
    parser.add_argument("documents", type=Path, metavar="DOCUMENTS", help="folder that `audit extract` wrote, or one document")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help=f"folder for {' and '.join(FILES)}")
    parser.add_argument(
        "--judge", choices=(BASELINE, MODEL), default=BASELINE, help="plain rules, or a model (default: %(default)s)"
    )
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
    handbooks = [(document.handbook_id, find_candidates(document)) for document in read_documents(arguments.documents)]
    if arguments.judge == BASELINE:
        return _by_rules(arguments, handbooks)
    prompt = load_prompts(arguments.templates)[PROMPT]
    task = within_task(prompt, model_for(arguments, settings), handbooks, arguments.pairs)
    return run_task(
        arguments,
        settings,
        task,
        sends=f"pairs of statements of {handbooks_text([handbook for handbook, _ in handbooks])}",
        write=lambda replies, _: _finish(arguments, handbooks, task.model, within_verdicts(task, handbooks, replies)),
    )


def _by_rules(arguments: argparse.Namespace, handbooks: HandbookCandidates) -> int:
    if uses_batch(arguments) or arguments.parse_again:
        raise AuditError(
            "The rules call no model, so there are no replies to collect or parse. Nothing was written. "
            "Add --judge model, or leave that option out."
        )
    if arguments.dry_run:
        pairs = sum(len(candidates.pairs) for _, candidates in handbooks)
        text = f"Pairs of statements: {pairs:,}, handbooks: {len(handbooks):,}. The rules judge them without a model."
        print_result(arguments, text, {"pairs": pairs, "calls": 0})
        return OK
    verdicts = [{pair: judge_pair(candidates, pair) for pair in candidates.pairs} for _, candidates in handbooks]
    return _finish(arguments, handbooks, RULES_JUDGE, verdicts)


def _finish(arguments: argparse.Namespace, handbooks: HandbookCandidates, judge: str, verdicts: Sequence[Verdicts]) -> int:
    arguments.out.mkdir(parents=True, exist_ok=True)
    findings, counts = write_comparison([arguments.out / name for name in FILES], judge, handbooks, verdicts)
    figures: dict[str, Any] = {**within_figures(findings, counts, by_model=arguments.judge == MODEL)}
    path = shlex.quote(str(arguments.out / FILES[0]))
    print_result(
        arguments, f"{figures['message']}\nThe disagreements: {path}", {**figures, "file": str(arguments.out / FILES[0])}
    )
    return FINDINGS if figures["findings"] else OK
