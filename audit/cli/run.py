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
from audit.corpus.questions.tags import read_tag_taxonomy
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
        ABOUT + table().replace("%", "%%"),
    )  # fmt: skip
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    command.add_argument("config", type=Path, metavar="CONFIG.toml", help="what to audit, and how; examples/tenancy has one")
    command.add_argument("--dry-run", action="store_true", help="say what would be done, and what it would cost, and do nothing")
    command.add_argument("--until", choices=STAGES, default=STAGES[-1], help="go no further than this stage (default: load)")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit run CONFIG.toml`"""
    config = read_config(arguments.config)
    work = Work((config.release.work or settings.data_dir / "pipeline" / config.release.run_id).resolve())
    books, left_out = books_of(config, work)
    check_room(work.root)
    check_judge(config.judge)
    if config.questions.taxonomy:
        read_tag_taxonomy(config.questions.taxonomy)
    shop = Shop(config, settings, work, books, left_out)
    stages = stages_of(shop, arguments.until)
    if arguments.dry_run:
        return _planned(shop, stages)
    if len(stages) > STAGES.index("judge"):
        check_several(shop)
    with taken(work, config.path):
        before = replace(shop, left_out=dict(left_out))
        check_endpoints(before, stages_of(before, arguments.until))
        return _carried_out(arguments, shop, stages)


def _planned(shop: Shop, stages: list[Stage]) -> int:
    plan = plan_of(shop, stages)
    found = askings(shop, plan.rows)
    reached = {each.stage for each in found if not each.fault}
    print(
        "\n".join(filter(None, [plan_text(plan, shop.left_out), *(each.line for each in found), estimated(shop, plan, reached)]))
    )
    return OK


def _carried_out(arguments: argparse.Namespace, shop: Shop, stages: list[Stage]) -> int:
    try:
        tally = run_stages(shop, stages, Bars())
    except (KeyboardInterrupt, StoppedError, AuditError, OSError) as error:
        said = "Stopped." if isinstance(error, KeyboardInterrupt) else str(error)
        kept = f"What is done is kept in {shop.work.root}. Go on with:\n  {_same(arguments)}"
        print(f"\naudit run: {said}\n{kept}", file=sys.stderr)
        return FAILED
    return _say(arguments, shop, tally)


def stages_of(shop: Shop, until: str) -> list[Stage]:
    """The stages up to `until`, with what asks a model put into their hands."""
    every: list[Stage] = [
        Extract(shop), Questions(shop), Retrieve(shop), Generate(shop, written), Judging(shop, judged, generator_name(shop)),
        Themes(shop), Load(shop),
    ]  # fmt: skip
    return every[: STAGES.index(until) + 1]


class Bars:
    """A bar a stage on a terminal; elsewhere a line a stage."""

    def begin(self, stage: str, pieces: int, to_do: int) -> None:
        """Draw the bar, where there is something to do."""
        self.bar = tqdm(total=to_do, desc=stage, unit="file", disable=None if to_do else True, leave=False, dynamic_ncols=True)

    def advance(self, name: str) -> None:
        """One more."""
        self.bar.set_postfix_str(name, refresh=False)
        self.bar.update()

    def end(self, count: Count) -> None:
        """Close it, and leave a line."""
        self.bar.close()
        failed = f", {count.failed:,} failed" if count.failed else ""
        told = f"{count.done:>6,} done, {count.kept:,} as they were{failed} ({count.seconds:.1f} s)"
        print(f"{count.stage:<10}{told}", file=sys.stderr)


def _say(arguments: argparse.Namespace, shop: Shop, tally: Tally) -> int:
    unread = [why for name, why in shop.left_out.items() if name not in {book.handbook_id for book in shop.books}]
    failed = [("Failed" if tally.verdict == STOPPED else "Left out", sentence) for sentence in tally.failed]
    for what, sentence in [*(("Left out", sentence) for sentence in unread), *failed]:
        print(f"{what}: {sentence}", file=sys.stderr)
    for sentence in tally.said:
        print(sentence)
    if tally.verdict == STOPPED:
        print(f"Stopped at {tally.stopped_at}. Correct it, and go on with:\n  {_same(arguments)}", file=sys.stderr)
        return FAILED
    if arguments.until == STAGES[-1] and shop.config.load.load:
        print("See it with: audit serve")
    return OK if tally.verdict == CLEAN and not shop.left_out and not tally.findings else FINDINGS


def _same(arguments: argparse.Namespace) -> str:
    until = [] if arguments.until == STAGES[-1] else ["--until", arguments.until]
    return shlex.join(["audit", "run", str(arguments.config), *until])
