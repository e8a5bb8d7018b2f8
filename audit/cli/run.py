"""`audit run CONFIG.toml`: from handbooks and questions to a run that the dashboard shows, in one command."""

from __future__ import annotations

import argparse
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from audit.cli.command import FAILED, FINDINGS, OK, add_command
from audit.cli.run_endpoints import askings, check_endpoints
from audit.cli.run_models import check_judge, estimated, generator_name, judged, written
from audit.corpus.questions import read_taxonomy
from audit.errors import AuditError
from audit.llm.limits import StoppedError
from audit.pipeline.config import options_table
from audit.pipeline.config_reader import read_config
from audit.pipeline.context import RunContext, Stage, Workspace
from audit.pipeline.coverage_check import check_two_handbooks
from audit.pipeline.folder import check_room, taken
from audit.pipeline.plan import plan_run, plan_text
from audit.pipeline.runner import CLEAN, STOPPED, RunSummary, StageCount, run_stages
from audit.pipeline.sources import find_sources
from audit.pipeline.stages.corpus import ExtractStage, QuestionsStage
from audit.pipeline.stages.generate import GenerateStage
from audit.pipeline.stages.judge import JudgeStage
from audit.pipeline.stages.release import LoadStage, ThemesStage
from audit.pipeline.stages.retrieve import RetrieveStage
from audit.settings import Settings

STAGES = ("extract", "questions", "retrieve", "generate", "judge", "themes", "load")
ABOUT = """What is done is known by the content of files, the settings and the code, and is not done again: after a change, only
what hangs on it. Whatever stops the command, the same command goes on; a model is asked nothing twice. A handbook that fails is
left out and said, and the others go on. Keys stand in no config: AUDIT_JUDGE_KEY, LLAMA_CLOUD_API_KEY.
Exit code: 0 all is well, 1 done, but something was left out, is unscored or was not asked, 2 it stopped, and says where.

Everything that a config may say (paths count from its folder):

"""


def register(commands: Any) -> None:
    """Add the command."""
    command = add_command(
        commands, "run", run, "From handbooks and questions to a run: extract, retrieve, generate, judge, themes, load.",
        ABOUT + options_table().replace("%", "%%"),
    )  # fmt: skip
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    command.add_argument("config", type=Path, metavar="CONFIG.toml", help="what to audit, and how; examples/tenancy has one")
    command.add_argument("--dry-run", action="store_true", help="say what would be done, and what it would cost, and do nothing")
    command.add_argument("--until", choices=STAGES, default=STAGES[-1], help="go no further than this stage (default: load)")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit run CONFIG.toml`"""
    config = read_config(arguments.config)
    work = Workspace((config.release.work or settings.data_dir / "pipeline" / config.release.run_id).resolve())
    sources, left_out = find_sources(config, work)
    check_room(work.root)
    check_judge(config.judge)
    if config.questions.taxonomy:
        read_taxonomy(config.questions.taxonomy)
    context = RunContext(config, settings, work, sources, left_out)
    stages = stages_of(context, arguments.until)
    if arguments.dry_run:
        return _planned(context, stages)
    if len(stages) > STAGES.index("judge"):
        check_two_handbooks(context)
    with taken(work, config.path):
        before = replace(context, left_out=dict(left_out))
        check_endpoints(before, stages_of(before, arguments.until))
        return _carried_out(arguments, context, stages)


def _planned(context: RunContext, stages: list[Stage]) -> int:
    plan = plan_run(context, stages)
    found = askings(context, plan.stages)
    reached = {each.stage for each in found if not each.fault}
    print(
        "\n".join(
            filter(None, [plan_text(plan, context.left_out), *(each.line for each in found), estimated(context, plan, reached)])
        )
    )
    return OK


def _carried_out(arguments: argparse.Namespace, context: RunContext, stages: list[Stage]) -> int:
    try:
        summary = run_stages(context, stages, Bars())
    except (KeyboardInterrupt, StoppedError, AuditError, OSError) as error:
        said = "Stopped." if isinstance(error, KeyboardInterrupt) else str(error)
        kept = f"What is done is kept in {context.workspace.root}. Go on with:\n  {_same(arguments)}"
        print(f"\naudit run: {said}\n{kept}", file=sys.stderr)
        return FAILED
    return _say(arguments, context, summary)


def stages_of(context: RunContext, until: str) -> list[Stage]:
    """The stages up to `until`, with what asks a model put into their hands."""
    every: list[Stage] = [
        ExtractStage(context),
        QuestionsStage(context),
        RetrieveStage(context),
        GenerateStage(context, written),
        JudgeStage(context, judged, generator_name(context)),
        ThemesStage(context),
        LoadStage(context),
    ]
    return every[: STAGES.index(until) + 1]


class Bars:
    """A bar a stage on a terminal; elsewhere a line a stage."""

    def begin(self, stage: str, tasks: int, to_do: int) -> None:
        """Draw the bar, where there is something to do."""
        self.bar = tqdm(total=to_do, desc=stage, unit="file", disable=None if to_do else True, leave=False, dynamic_ncols=True)

    def advance(self, name: str) -> None:
        """One more."""
        self.bar.set_postfix_str(name, refresh=False)
        self.bar.update()

    def end(self, count: StageCount) -> None:
        """Close it, and leave a line."""
        self.bar.close()
        failed = f", {count.failed:,} failed" if count.failed else ""
        told = f"{count.done:>6,} done, {count.kept:,} as they were{failed} ({count.seconds:.1f} s)"
        print(f"{count.stage:<10}{told}", file=sys.stderr)


def _say(arguments: argparse.Namespace, context: RunContext, summary: RunSummary) -> int:
    unread = [why for name, why in context.left_out.items() if name not in {source.handbook_id for source in context.sources}]
    failed = [("Failed" if summary.verdict == STOPPED else "Left out", sentence) for sentence in summary.failed]
    for what, sentence in [*(("Left out", sentence) for sentence in unread), *failed]:
        print(f"{what}: {sentence}", file=sys.stderr)
    for sentence in summary.messages:
        print(sentence)
    if summary.verdict == STOPPED:
        print(f"Stopped at {summary.stopped_at}. Correct it, and go on with:\n  {_same(arguments)}", file=sys.stderr)
        return FAILED
    if arguments.until == STAGES[-1] and context.config.load.load:
        print("See it with: audit serve")
    return OK if summary.verdict == CLEAN and not context.left_out and not summary.findings else FINDINGS


def _same(arguments: argparse.Namespace) -> str:
    until = [] if arguments.until == STAGES[-1] else ["--until", arguments.until]
    return shlex.join(["audit", "run", str(arguments.config), *until])
