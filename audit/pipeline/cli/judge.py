"""`audit judge`: a model judges the pairs of a loaded run, and the result is a release."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from audit.cli.conventions import FINDINGS, OK, add_json, count, note, print_result
from audit.commands import STUDY_PAIRS, load_object
from audit.jobs.processes import LOADING, Progress
from audit.pipeline.cli.estimates import handbooks_text
from audit.pipeline.cli.further_verdicts import add_further, judge_further
from audit.pipeline.cli.model_calls import add_call_options, carry_out, model_for
from audit.pipeline.cli.task_command import about_calls, print_estimate
from audit.pipeline.judging.corpus import first_pairs
from audit.pipeline.judging.positions.task import NAME as POSITIONS
from audit.pipeline.judging.positions.task import PositionsTask
from audit.pipeline.judging.protocols import CHECK, KEEP, STAGES, pairs_to_ask
from audit.pipeline.judging.release import check_output_folder
from audit.pipeline.judging.verdict_sources import JudgingSummary
from audit.pipeline.llm.journal import Journal
from audit.pipeline.stages.judging_runs import draw_pairs, read_corpus, read_pairs, record_calls, record_outcome
from audit.pipeline.stages.judging_tasks import AnyJudgingTask, judge_by_task, judging_task
from audit.settings import Settings
from audit.store.connection import Connection, open_store
from audit.store.load import load_release
from audit.store.runs import find_run
from audit.vocabulary import PairIds

ALL, SAMPLE, STUDY = "all", "sample", "study"
DEFAULT_SAMPLE = 200
ABOUT = f"""{about_calls("RELEASE.journal")}

A run without labels is judged for the first time: its pairs are all couples of handbooks that were asked the question.

Exit code: 0 success, 1 written, but some verdicts could not be read or pairs were not asked, 2 nothing was written."""
OUT_HELP = "folder to write, such as data/releases/again; with --second-judge or --recheck, that of the run's own release"
PAIRS_HELP = (
    f"{ALL} (default); {SAMPLE} or {SAMPLE}:N, a random sample of the pairs that a judge was asked about (N: {DEFAULT_SAMPLE}); "
    f"{STUDY}:ID, the pairs of a study; or a CSV file with the columns question_id, handbook_a, handbook_b"
)


def judge_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit judge`."""
    parser.epilog = ABOUT
    # A background job puts a Progress here that stores its figures (audit.cli.dashboard)
    parser.set_defaults(progress=Progress())
    parser.add_argument("run", metavar="RUN", help="run id or key")
    parser.add_argument("--out", type=Path, required=True, metavar="RELEASE", help=OUT_HELP)
    parser.add_argument("--pairs", type=_pair_selection, default=ALL, metavar="SELECTION", help=PAIRS_HELP)
    parser.add_argument(
        "--protocol",
        choices=(*STAGES, POSITIONS),
        default="structured",
        help=(
            "structured: one call per pair, reasons before the label; label_first: the label before its reasons "
            "(arXiv:2605.29084, section 4); label_only: the label alone, and the rest in a second call; positions: one call per "
            "answer and one per question, from which the labels of pairs follow (default: %(default)s)"
        ),
    )
    parser.add_argument(
        "--absence", choices=(KEEP, CHECK), default=KEEP, help="keep the run's absence flags (default), or check every answer"
    )
    parser.add_argument("--swap", action="store_true", help="also judge each pair in the other order")
    parser.add_argument("--blind-centers", action="store_true", help="also judge with the names of centers and handbooks masked")
    parser.add_argument("--name-centers", action="store_true", help="show the judge which center each answer is from")
    parser.add_argument("--repeat", type=count, default=0, metavar="N", help="also judge each pair N more times")
    parser.add_argument("--limit", type=count, metavar="N", help="judge only the first N pairs that need a judge")
    parser.add_argument(
        "--templates",
        type=Path,
        metavar="DIR",
        help="folder with your own prompts, named as in audit/pipeline/judging/templates (positions: ../positions/templates)",
    )
    add_further(parser)
    add_call_options(parser, "release")
    load = parser.add_mutually_exclusive_group()
    load.add_argument("--load", action="store_true", help="load the release as a run when it is written")
    load.add_argument("--load-into", type=Path, metavar="DIR", help="load it as a run in another data folder")
    add_json(parser)


def _pair_selection(text: str) -> str:
    """A value of --pairs; the size of a sample is an integer of at least 1."""
    name, _, size = text.partition(":")
    if name == SAMPLE and size:
        try:
            count(size)
        except argparse.ArgumentTypeError as error:
            raise argparse.ArgumentTypeError(f"the sample size in '{text}' {error}; a file of that name is ./{text}") from None
    return text


def judge(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit judge RUN --out RELEASE`"""
    run = find_run(settings.store_dir, arguments.run)
    if arguments.second_judge or arguments.recheck:
        return judge_further(arguments, settings, run.run_id)
    # Checked first: a wrong --out must not be discovered after hours of calls
    check_output_folder(arguments.out)
    with open_store(run.path) as con:
        pairs, selection = _select_pairs(arguments, settings, con)
        corpus = read_corpus(con, run, pairs, selection)
        if arguments.limit:
            corpus = first_pairs(corpus, arguments.limit)
        task = judging_task(arguments, model_for(arguments, settings), corpus)
        return _print_estimate(arguments, settings, task) if arguments.dry_run else _ask_model(arguments, settings, task)


def _select_pairs(arguments: argparse.Namespace, settings: Settings, con: Connection) -> tuple[Sequence[PairIds] | None, str]:
    """The selected pairs (None: all of them), and the selection in words, as the manifest states it."""
    name, _, value = arguments.pairs.partition(":")
    if arguments.pairs == ALL:
        return None, ALL
    if name == SAMPLE:
        size = int(value or DEFAULT_SAMPLE)
        return draw_pairs(con, size), f"{SAMPLE}:{size}"
    if name == STUDY and value:
        return load_object(STUDY_PAIRS)(value, settings), arguments.pairs
    # With its digest, so the manifest tells which version of the file was used
    pairs, digest = read_pairs(Path(arguments.pairs))
    return pairs, f"file {Path(arguments.pairs).name} ({digest})"


# -- ways of judging ---------------------------------------------------------------------------------------------------


def _ask_model(arguments: argparse.Namespace, settings: Settings, task: AnyJudgingTask) -> int:
    def write(journal: Journal, servers: list[str]) -> int:
        return _finish(arguments, settings, judge_by_task(arguments.out, task, journal, servers, arguments.progress))

    def explain_stop(reason: str) -> None:
        arguments.progress.update(message=reason)
        note(f"Continue with:\n  {_same_command(arguments)}")

    watch = partial(record_calls, arguments.progress)
    return carry_out(arguments, settings, task, write=write, explain_stop=explain_stop, watch=watch)


def _same_command(arguments: argparse.Namespace) -> str:
    # From the parsed options: in a background job, sys.argv has another command
    with_value = ("out", "pairs", "protocol", "absence", "repeat", "limit", "templates", "load_into")
    flags = ("swap", "blind_centers", "load", "json")
    parts = [*arguments.prog.split(), arguments.run]
    for name in with_value:
        if getattr(arguments, name):
            parts += [f"--{name.replace('_', '-')}", str(getattr(arguments, name))]
    parts += [f"--{name.replace('_', '-')}" for name in flags if getattr(arguments, name)]
    return shlex.join(parts)


def _print_estimate(arguments: argparse.Namespace, settings: Settings, task: AnyJudgingTask) -> int:
    pairs, to_ask = pairs_to_ask(task.corpus.items())
    figures = {"pairs": pairs, "without_call": pairs - to_ask, "pairwise_calls": to_ask}
    sends = f"questions and answers of {handbooks_text([str(one['handbook_id']) for one in task.corpus.handbooks])}"
    remark = f"The protocol structured would make {to_ask:,} calls, one for each pair of answers."
    remarks = remark if isinstance(task, PositionsTask) else ""
    record = print_estimate(arguments, settings, task, sends=sends, remarks=remarks, **figures)
    arguments.progress.update(estimate=record)
    return OK


# -- the release -------------------------------------------------------------------------------------------------------


def _finish(arguments: argparse.Namespace, settings: Settings, summary: JudgingSummary) -> int:
    lines = [f"{arguments.out}: {summary.sentence}"]
    lines += summary.lines("unscored, ")
    lines += [summary.remark] if summary.remark else []
    result: dict[str, Any] = {"release": str(arguments.out), **record_outcome(arguments.progress, summary)}
    if arguments.load or arguments.load_into:
        arguments.progress.update(phase=LOADING)
        loaded = load_release(arguments.out, replace(settings, data_dir=arguments.load_into or settings.data_dir))
        lines.append(f"Run {loaded.run.key}: {loaded.run.report['verdict']}")
        result |= {"run": loaded.run.key, "verdict": loaded.run.report["verdict"]}
    else:
        lines.append(f"Load it with: audit load {shlex.quote(str(arguments.out))}")
    print_result(arguments, "\n".join(lines), result)
    return FINDINGS if summary.unread or summary.not_asked else OK
