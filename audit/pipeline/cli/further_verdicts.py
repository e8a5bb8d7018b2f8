"""`audit judge --second-judge` and `--recheck`: pairs of a run are read again, and its release gets the further verdicts."""

from __future__ import annotations

import argparse
import hashlib
import shlex
from dataclasses import replace
from pathlib import Path

from audit.cli.conventions import FINDINGS, OK, count, print_result
from audit.errors import AuditError
from audit.pipeline.cli.estimates import handbooks_text
from audit.pipeline.cli.model_calls import model_for
from audit.pipeline.cli.task_command import run_task
from audit.pipeline.judging.corpus import with_centers
from audit.pipeline.judging.protocols import KEEP, STAGES
from audit.pipeline.llm.summary import Summary
from audit.pipeline.llm.tasks import Replies
from audit.pipeline.stages.further_verdicts import (
    FILE,
    OTHERS,
    PANEL,
    WORDS,
    asked_alone,
    earlier_records,
    further_plan,
    further_records,
    write_further,
)
from audit.pipeline.stages.judging_runs import protocol_of, read_corpus
from audit.settings import Settings
from audit.store.connection import open_store
from audit.store.load import load_release
from audit.vocabulary import FurtherKind

SAME_JUDGE = (
    "The second judge has the name of the run's judge ({judge}): its verdicts say how steady that model is, not who is right."
)


def add_further(parser: argparse.ArgumentParser) -> None:
    """The options that put pairs of a run to a judge again."""
    further = parser.add_mutually_exclusive_group()
    further.add_argument(
        "--second-judge", type=count, nargs="?", const=OTHERS, metavar="N",
        help="put all disagreeing and unscored pairs and N random others to a second judge, the model that is set; its verdicts "
        f"are added to the release in the folder --out (default N: {OTHERS})",
    )  # fmt: skip
    further.add_argument(
        "--recheck", type=count, nargs="?", const=PANEL, metavar="N",
        help="ask the same N pairs again, twice each, as at every recheck of the release in the folder --out: what changed, and "
        f"what is chance (default N: {PANEL}; they are drawn the first time)",
    )  # fmt: skip


def judge_further(arguments: argparse.Namespace, settings: Settings, run_id: str) -> int:
    """Read pairs of the run again that was loaded from the folder --out, and add the verdicts to the folder."""
    folder: Path = arguments.out.resolve()
    _refuse_other_options(arguments)
    # Checked first: a file that cannot be rewritten must not be discovered after hours of calls
    earlier = earlier_records(folder, settings.max_object_bytes)
    run = load_release(folder, settings).run
    if run.run_id != run_id:
        raise AuditError(
            f"{folder} has the release {run.run_id}, and not {run_id}. Nothing was asked. Name the folder that the run was "
            "loaded from with --out: the verdicts are added to it."
        )
    is_second = bool(arguments.second_judge)
    kind = FurtherKind.SECOND if is_second else FurtherKind.RECHECK
    with open_store(run.path) as con:
        plan = further_plan(con, kind, arguments.second_judge or arguments.recheck)
        corpus = read_corpus(con, run, plan.pairs, kind)
        model = model_for(arguments, settings)
        # A journal for each judge and each round, so a later round does not find the replies of an earlier one
        which = hashlib.sha256(model.encode()).hexdigest()[:8] if is_second else str(plan.round)
        arguments.out, arguments.repeat = folder.with_name(f"{folder.name}.{kind}-{which}"), int(not is_second)
        task = asked_alone(protocol_of(arguments, model).task(with_centers(corpus) if arguments.name_centers else corpus))
        remark = SAME_JUDGE.format(judge=model) if is_second and model == run.manifest.get("judge") else ""

        def write(replies: Replies, _: list[str]) -> int:
            summary = Summary(WORDS)
            write_further(folder, earlier, plan, model, list(further_records(task, plan, replies, summary)))
            return _finish(arguments, settings, folder, summary, remark)

        sends = f"questions and answers of {handbooks_text([str(one['handbook_id']) for one in corpus.handbooks])}"
        remarks = " ".join(filter(None, (f"Pairs: {plan.drawn}.", remark)))
        return run_task(arguments, settings, task, sends=sends, remarks=remarks, pairs=len(plan.pairs), write=write)


def _refuse_other_options(arguments: argparse.Namespace) -> None:
    """Raises AuditError for what a second judge or a recheck does not have."""
    others = {
        "--swap": arguments.swap, "--blind-centers": arguments.blind_centers, "--repeat": arguments.repeat,
        "--limit": arguments.limit, "--pairs": arguments.pairs != "all", "--absence check": arguments.absence != KEEP,
        f"--protocol {arguments.protocol}": arguments.protocol not in STAGES,
    }  # fmt: skip
    if named := [name for name, is_set in others.items() if is_set]:
        raise AuditError(f"With a second judge or a recheck, leave out {', '.join(named)}. Nothing was asked.")


def _finish(arguments: argparse.Namespace, settings: Settings, folder: Path, summary: Summary, remark: str) -> int:
    lines = [f"{folder / FILE}: {summary.sentence}", *summary.lines("unscored, "), *filter(None, [remark])]
    result = {"file": str(folder / FILE), **summary.record("judged", "unscored")}
    if arguments.load or arguments.load_into:
        run = load_release(folder, replace(settings, data_dir=arguments.load_into or settings.data_dir)).run
        lines.append(f"Run {run.key}: {run.report['verdict']}")
        result |= {"run": run.key}
    else:
        lines.append(f"Load the release again with: audit load {shlex.quote(str(folder))}")
    print_result(arguments, "\n".join(lines), result)
    return FINDINGS if summary.unread or summary.not_asked else OK
