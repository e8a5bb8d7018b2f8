"""`audit run CONFIG.toml`: from handbooks and questions to a run that the dashboard shows, in one command."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from audit.cli.arguments import add_json, note, print_result
from audit.cli.execution import FAILED, FINDINGS, OK
from audit.cli.run_endpoints import check_endpoints, endpoint_checks
from audit.cli.run_models import check_judge, estimate_text, generator_name, judge_corpus, write_answers
from audit.corpus.questions import read_taxonomy
from audit.errors import AuditError
from audit.llm.limits import StoppedError
from audit.pipeline.books import books_of
from audit.pipeline.config import table
from audit.pipeline.folder import check_room, taken
from audit.pipeline.meeting import check_several
from audit.pipeline.plan import plan_of, plan_text
from audit.pipeline.reading import read_config
from audit.pipeline.running import CLEAN, STOPPED, Count, Tally, run_stages
from audit.pipeline.shop import Shop, Stage, Work
from audit.pipeline.stages.extract import Extract
from audit.pipeline.stages.generate import Generate
from audit.pipeline.stages.judge import Judging
from audit.pipeline.stages.load import Load
from audit.pipeline.stages.questions import Questions
from audit.pipeline.stages.retrieve import Retrieve
from audit.pipeline.stages.themes import Themes
from audit.settings import Settings

STAGES = ("extract", "questions", "retrieve", "generate", "judge", "themes", "load")
ABOUT = """The content of files, the settings and the code decide what has to be done: after a change, only what depends on it
is done again. If the command stops, the same command continues where it stopped, and no model call is made twice. A handbook
that fails is left out with a message, and the others continue. Keys are never in a config: set AUDIT_JUDGE_KEY and
LLAMA_CLOUD_API_KEY.

Exit code: 0 all is well, 1 done, but something was left out, is unscored or was not asked, 2 it stopped, with the reason.

All settings of a config (paths are relative to its folder):

"""


def run_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit run`."""
    parser.epilog = ABOUT + table()
    parser.add_argument(
        "config", type=Path, metavar="CONFIG.toml", help="what to audit, and how; `audit example tenancy` has one"
    )
    parser.add_argument("--dry-run", action="store_true", help="print what would be done and what it would cost, and do nothing")
    parser.add_argument("--until", choices=STAGES, default=STAGES[-1], help="stop after this stage (default: load)")
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit run CONFIG.toml`"""
    config = read_config(arguments.config)
    work = Work((config.release.work or settings.data_dir / "pipeline" / config.release.run_id).resolve())
    books, left_out = books_of(config, work)
    check_room(work.root)
    check_judge(config.judge)
    if config.questions.taxonomy:
        read_taxonomy(config.questions.taxonomy)
    shop = Shop(config, settings, work, books, left_out)
    stages = stages_of(shop, arguments.until)
    if arguments.dry_run:
        return _print_plan(arguments, shop, stages)
    if len(stages) > STAGES.index("judge"):
        check_several(shop)
    with taken(work, config.path):
        before = replace(shop, left_out=dict(left_out))
        check_endpoints(before, stages_of(before, arguments.until))
        return _run_stages(arguments, shop, stages)


def _print_plan(arguments: argparse.Namespace, shop: Shop, stages: list[Stage]) -> int:
    plan = plan_of(shop, stages)
    checks = endpoint_checks(shop, plan.rows)
    reached = {check.stage for check in checks if not check.fault}
    texts = [plan_text(plan, shop.left_out), *(check.line for check in checks), estimate_text(shop, plan, reached)]
    record = {
        "stages": [{"stage": row.stage, "tasks": row.pieces, "to_do": list(row.to_do)} for row in plan.rows],
        "handbooks": plan.handbooks, "questions": plan.questions, "answers": plan.answers, "pairs": plan.pairs,
        "pairs_to_judge": plan.to_judge, "left_out": dict(shop.left_out), "text": "\n".join(filter(None, texts)),
    }  # fmt: skip
    print_result(arguments, "\n".join(filter(None, texts)), record)
    return OK


def _run_stages(arguments: argparse.Namespace, shop: Shop, stages: list[Stage]) -> int:
    try:
        tally = run_stages(shop, stages, Bars())
    except (KeyboardInterrupt, StoppedError, AuditError, OSError) as error:
        reason = "Stopped." if isinstance(error, KeyboardInterrupt) else str(error)
        note(f"\naudit run: {reason}\nFinished work is kept in {shop.work.root}. Continue with:\n  {_same_command(arguments)}")
        return FAILED
    return _finish(arguments, shop, tally)


def stages_of(shop: Shop, until: str) -> list[Stage]:
    """The stages up to `until`; those that call a model are given the functions that do so."""
    stages: list[Stage] = [
        Extract(shop), Questions(shop), Retrieve(shop), Generate(shop, write_answers),
        Judging(shop, judge_corpus, generator_name(shop)), Themes(shop), Load(shop),
    ]  # fmt: skip
    return stages[: STAGES.index(until) + 1]


class Bars:
    """A progress bar for each stage in a terminal; elsewhere a line for each stage."""

    def begin(self, stage: str, pieces: int, to_do: int) -> None:
        """Show the bar, where there is something to do."""
        self.bar = tqdm(total=to_do, desc=stage, unit="file", disable=None if to_do else True, leave=False, dynamic_ncols=True)

    def advance(self, name: str) -> None:
        """One task is done."""
        self.bar.set_postfix_str(name, refresh=False)
        self.bar.update()

    def end(self, count: Count) -> None:
        """Close the bar, and print a line."""
        self.bar.close()
        failed = f", {count.failed:,} failed" if count.failed else ""
        note(f"{count.stage:<10}{count.done:>6,} done, {count.kept:,} unchanged{failed} ({count.seconds:.1f} s)")


def _finish(arguments: argparse.Namespace, shop: Shop, tally: Tally) -> int:
    present = {book.handbook_id for book in shop.books}
    for sentence in (reason for name, reason in shop.left_out.items() if name not in present):
        note(f"Left out: {sentence}")
    for sentence in tally.failed:
        note(f"{'Failed' if tally.verdict == STOPPED else 'Left out'}: {sentence}")
    lines = list(tally.said)
    if tally.verdict != STOPPED and arguments.until == STAGES[-1] and shop.config.load.load:
        lines.append("View it with: audit serve")
    record: dict[str, Any] = {
        "verdict": tally.verdict, "stopped_at": tally.stopped_at, "messages": list(tally.said), "failed": list(tally.failed),
        "left_out": dict(shop.left_out), "release": str(shop.work.release),
    }  # fmt: skip
    print_result(arguments, "\n".join(lines), record)
    if tally.verdict == STOPPED:
        note(f"Stopped at {tally.stopped_at}. Correct the problem, and continue with:\n  {_same_command(arguments)}")
        return FAILED
    return OK if tally.verdict == CLEAN and not shop.left_out and not tally.findings else FINDINGS


def _same_command(arguments: argparse.Namespace) -> str:
    until = [] if arguments.until == STAGES[-1] else ["--until", arguments.until]
    return shlex.join(["audit", "run", str(arguments.config), *until, *(["--json"] if arguments.json else [])])
