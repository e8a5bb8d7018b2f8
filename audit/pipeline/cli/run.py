"""`audit run CONFIG.toml`: from handbooks and questions to a run that the dashboard shows, in one command."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from audit.cli.conventions import FAILED, FINDINGS, OK, add_json, note, print_result
from audit.errors import AuditError
from audit.pipeline.cli.estimates import estimate_text
from audit.pipeline.cli.model_calls import add_probe
from audit.pipeline.cli.run_models import (
    ask_system,
    check_endpoints,
    compare_within,
    endpoint_checks,
    estimate_run,
    generator_name,
    judge_corpus,
    with_reader,
    write_answers,
)
from audit.pipeline.corpus.questions.checks import read_tag_taxonomy
from audit.pipeline.judging.parse import load_prompts
from audit.pipeline.llm.limits import StoppedError
from audit.pipeline.stages.config import options_table
from audit.pipeline.stages.config_reader import read_config
from audit.pipeline.stages.context import RunContext, Stage, Workspace, check_room, taken
from audit.pipeline.stages.corpus import ExtractStage, QuestionsStage, find_sources
from audit.pipeline.stages.generate import GenerateStage
from audit.pipeline.stages.judging_input import check_a_handbook
from audit.pipeline.stages.plan import plan_run, plan_text
from audit.pipeline.stages.presets import PRESETS, preset_lines
from audit.pipeline.stages.release import JudgeStage, LoadStage, ThemesStage
from audit.pipeline.stages.retrieve import RetrieveStage
from audit.pipeline.stages.route import RouteStage
from audit.pipeline.stages.runner import CLEAN, STOPPED, RunSummary, StageCount, run_stages
from audit.pipeline.stages.systems import SystemsStage
from audit.pipeline.stages.text_quality import text_quality
from audit.pipeline.stages.within import WithinStage
from audit.settings import Settings

STAGES = ("extract", "questions", "retrieve", "generate", "judge", "within", "themes", "route", "systems", "load")
# Stages that only answers of handbooks need
HANDBOOK_STAGES = ("generate", "judge", "within", "themes")
ABOUT = """The content of files, the settings and the code decide what has to be done: after a change, only what depends on it
is done again. If the command stops, the same command continues where it stopped, and no model call is made twice. A handbook
that fails is left out with a message, and the others continue. Keys are never in a config: set AUDIT_JUDGE_KEY and
LLAMA_CLOUD_API_KEY.

Exit code: 0 all that could be done was done; pages without text, answers that no search found and pairs that a judge left
open are notes. 1 done, and something can be mended or asked again: a file or a row of the questions was left out, a question has
the organ of no handbook, a reply of a model is missing or unreadable. 2 it stopped, with the reason.

What compares the handbooks is set in [judge]: nothing (the default; the run has answers, coverage and Ask, and no labels), a
language model, or the truth table of a made-up example. One handbook, or one of each organ, is enough for a run without labels.

[[systems]] are answering systems that are compared with each other: models, alone or with the passages found, or several sources
(mode = "multi_source"): each question is routed to groups of handbooks, and every statement of the one answer says which sources
make it and which contradict it. Each answers every question once. With generator = "none" in [generate], nothing else is done,
and a corpus is only needed by those that retrieve.

All settings of a config (paths are relative to its folder):

"""


def run_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit run`."""
    parser.epilog = ABOUT + options_table()
    parser.add_argument(
        "config", type=Path, metavar="CONFIG.toml", help="what to audit, and how; `audit example tenancy` writes one"
    )
    parser.add_argument(
        "--preset",
        choices=tuple(PRESETS),
        default="",
        help="settings of a published pipeline for options that the config leaves open: paper (arXiv:2605.29084), s1 (the "
        "methods of Chen et al., for each system of several sources), s2 (Fensore et al.), medrgb (its standard test on your "
        "own questions); --dry-run lists them",
    )
    parser.add_argument("--dry-run", action="store_true", help="print the plan and its cost, and do nothing")
    add_probe(parser)
    parser.add_argument("--until", choices=STAGES, default=STAGES[-1], help="stop after this stage (default: load)")
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit run CONFIG.toml`"""
    context, reader = _context(arguments.config, arguments.preset, settings)
    config, work, left_out = context.config, context.workspace, context.left_out
    if reader:
        note(reader)
    # Errors must be detected before the first stage: extraction alone may take hours
    check_room(work.root)
    load_prompts(config.judge.templates)
    if config.questions.taxonomy:
        read_tag_taxonomy(config.questions.taxonomy)
    stages = stages_of(context, arguments.until)
    if arguments.dry_run:
        return _print_plan(arguments, context, stages)
    if config.answers_handbooks:
        check_a_handbook(context)
    # Two commands in one folder would overwrite each other's files
    with taken(work, config.path):
        # A copy: the check assumes that handbooks fail as they did last time, and this time they may not
        before = replace(context, left_out=dict(left_out))
        check_endpoints(before, stages_of(before, arguments.until))
        return _run_stages(arguments, context, stages)


def _context(path: Path, preset: str, settings: Settings) -> tuple[RunContext, str]:
    """The run of a config, and a sentence on who writes its answers where the config does not say it."""
    config, reader = with_reader(read_config(path, preset), settings)
    work = Workspace((config.release.work or settings.data_dir / "pipeline" / config.release.run_id).resolve())
    return RunContext(config, settings, work, *find_sources(config, work)), reader


def planned_run(path: Path, settings: Settings) -> dict[str, Any]:
    """Stage -> what the calls of its model would take, by rules, as `--dry-run` counts them."""
    context, _ = _context(path, "", settings)
    plan = plan_run(context, stages_of(context, STAGES[-1]))
    return estimate_run(context, plan, endpoint_checks(context, plan.stages), probe=False)


def _print_plan(arguments: argparse.Namespace, context: RunContext, stages: list[Stage]) -> int:
    plan = plan_run(context, stages)
    checks = endpoint_checks(context, plan.stages)
    costs = estimate_run(context, plan, checks, probe=arguments.probe)
    preset = list(preset_lines(context.config, arguments.preset)) if arguments.preset else []
    texts = ["\n".join(preset), plan_text(plan, context.left_out), *(check.line for check in checks)]
    text = "\n".join(filter(None, [*texts, *map(estimate_text, costs.values())]))
    result = {"estimate": costs, "preset": preset, "left_out": context.left_out, "text": text}
    print_result(arguments, text, asdict(plan) | result)
    return OK


def _run_stages(arguments: argparse.Namespace, context: RunContext, stages: list[Stage]) -> int:
    try:
        summary = run_stages(context, stages, Bars())
    except (KeyboardInterrupt, StoppedError, AuditError, OSError) as error:
        reason = "Stopped." if isinstance(error, KeyboardInterrupt) else str(error)
        note(
            f"\naudit run: {reason}\nFinished work is kept in {context.workspace.root}. "
            f"Continue with:\n  {_same_command(arguments)}"
        )
        return FAILED
    return _finish(arguments, context, summary)


def stages_of(context: RunContext, until: str) -> list[Stage]:
    """The stages up to `until` that the config needs; those that call a model are given the functions that do so."""
    stages: list[Stage] = [
        ExtractStage(context), QuestionsStage(context), RetrieveStage(context), GenerateStage(context, write_answers),
        JudgeStage(context, judge_corpus, generator_name(context)), WithinStage(context, compare_within), ThemesStage(context),
        RouteStage(context), SystemsStage(context, ask_system), LoadStage(context),
    ]  # fmt: skip
    config = context.config
    unused = {
        *(() if config.answers_handbooks else HANDBOOK_STAGES),
        *(() if config.retrieves else ["retrieve"]),
        *(() if config.asks_sources else ["route"]),
    }
    wanted = set(STAGES[: STAGES.index(until) + 1]) - unused
    return [stage for stage in stages if stage.name in wanted]


class Bars:
    """A progress bar for each stage in a terminal; elsewhere a line for each stage."""

    def begin(self, stage: str, tasks: int, to_do: int) -> None:
        """Show the bar, where there is something to do."""
        self.bar = tqdm(total=to_do, desc=stage, unit="file", disable=None if to_do else True, leave=False, dynamic_ncols=True)

    def advance(self, name: str) -> None:
        """One task is done."""
        self.bar.set_postfix_str(name, refresh=False)
        self.bar.update()

    def end(self, count: StageCount) -> None:
        """Close the bar, and print a line."""
        self.bar.close()
        failed = f", {count.failed:,} failed" if count.failed else ""
        note(f"{count.stage:<10}{count.done:>6,} done, {count.unchanged:,} unchanged{failed} ({count.seconds:.1f} s)")


def _finish(arguments: argparse.Namespace, context: RunContext, summary: RunSummary) -> int:
    present = {source.handbook_id for source in context.sources}
    for sentence in (reason for name, reason in context.left_out.items() if name not in present):
        note(f"Left out: {sentence}")
    for sentence in summary.failed:
        note(f"{'Failed' if summary.verdict == STOPPED else 'Left out'}: {sentence}")
    texts = text_quality(context)
    for sentence in texts.notes:
        note(f"Text: {sentence}")
    lines = list(summary.messages)
    if summary.verdict != STOPPED and arguments.until == STAGES[-1] and context.config.load.load:
        lines.append("View it with: audit serve")
    record: dict[str, Any] = {
        "verdict": summary.verdict, "stopped_at": summary.stopped_at, "messages": list(summary.messages),
        "failed": list(summary.failed),
        "left_out": dict(context.left_out), "release": str(context.workspace.release), "notes": list(texts.notes),
        "quality": [quality.as_record() for quality in texts.qualities],
    }  # fmt: skip
    print_result(arguments, "\n".join(lines), record)
    if summary.verdict == STOPPED:
        note(f"Stopped at {summary.stopped_at}. Correct the problem, and continue with:\n  {_same_command(arguments)}")
        return FAILED
    clean = summary.verdict == CLEAN and not (context.left_out or summary.findings)
    return OK if clean else FINDINGS


def _same_command(arguments: argparse.Namespace) -> str:
    until = [] if arguments.until == STAGES[-1] else ["--until", arguments.until]
    preset = ["--preset", arguments.preset] if arguments.preset else []
    return shlex.join(["audit", "run", str(arguments.config), *preset, *until, *(["--json"] if arguments.json else [])])
