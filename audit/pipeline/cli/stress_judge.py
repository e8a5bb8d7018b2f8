"""`audit stress judge`: changes with a known effect are planted in answers, and a judge is asked before and after each."""

from __future__ import annotations

import argparse
import shlex
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from audit.cli.conventions import FINDINGS, OK, add_json, count, print_result
from audit.errors import AuditError
from audit.evaluation.planted_changes import PlantedOutcome, planted_outcome
from audit.pipeline.cli.model_calls import add_call_options, model_for
from audit.pipeline.cli.task_command import about_calls, run_task
from audit.pipeline.judging.parse import load_prompts
from audit.pipeline.llm.summary import Summary
from audit.pipeline.llm.tasks import Replies
from audit.pipeline.stages.judge_planted import (
    PLANTED_FILE,
    PlantedTarget,
    earlier_planted,
    planted_target,
    write_planted,
)
from audit.pipeline.stress.planted.judging import PROMPTS, WORDS, Record, model_records, planted_task
from audit.pipeline.stress.planted.planting import PlantedChanges, plant
from audit.settings import Settings
from audit.vocabulary import PLANTED_KINDS, PlantedKind

DEFAULT_ITEMS, DEFAULT_SEED = 40, 1
ABOUT = f"""Each planted change is small, and its effect on the label is known. After a changed amount the label must be
DIVERGENT or CONTRADICTORY, after a denial CONTRADICTORY, after an added detail COMPLEMENTARY, after an answer was blanked ABSENT.
After sentences in another order, other words, padding, swapped answers, the name of another center, and an instruction to the
judge that was planted in an answer, the label must stay. The judge is asked before and after the change, with the prompt of
`audit judge`. The same seed plants the same changes for every judge.

The labels are written to {PLANTED_FILE} in the release's folder, where those of other judges stay.

{about_calls("RELEASE.planted.journal")}

Exit code: 0 success, 1 written, but some verdicts could not be read or changes were not asked about, 2 nothing was written."""


def judge_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit stress judge`."""
    parser.epilog = ABOUT
    parser.add_argument("source", metavar="RUN|RELEASE", help="folder of a release, or with --out the id or key of a loaded run")
    parser.add_argument("--out", type=Path, metavar="DIR", help=f"folder for {PLANTED_FILE} (default: the release's)")
    parser.add_argument(
        "--items",
        type=count,
        default=DEFAULT_ITEMS,
        metavar="N",
        help="maximum number of planted changes of each kind (default: %(default)s)",
    )
    parser.add_argument(
        "--seed", type=count, default=DEFAULT_SEED, metavar="N", help="seed of the drawn pairs and changes (default: %(default)s)"
    )
    parser.add_argument(
        "--kinds", nargs="+", choices=[str(kind) for kind in PLANTED_KINDS], default=[], metavar="KIND",
        help=f"only these kinds of change, of {', '.join(PLANTED_KINDS)} (default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--protocol",
        choices=tuple(PROMPTS),
        default="structured",
        help="reason and label, or the label alone (default: %(default)s)",
    )
    parser.add_argument(
        "--templates", type=Path, metavar="DIR", help="folder with your own prompts, named as in audit/pipeline/judging/templates"
    )
    add_call_options(parser, "labels")
    add_json(parser)


def judge(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit stress judge RUN|RELEASE`"""
    target = planted_target(arguments.source, arguments.out, settings, arguments.seed)
    # Checked first: a file that cannot be rewritten must not be discovered after hours of calls
    earlier = earlier_planted(target, settings.max_object_bytes)
    kinds = [PlantedKind(name) for name in arguments.kinds] or list(PLANTED_KINDS)
    changes = plant(target.pairs, arguments.items, seed=arguments.seed, kinds=kinds)
    if not changes.items:
        raise AuditError(f"No change could be planted in {arguments.source}. {_refused_text(changes)} Nothing was asked.")
    return _ask_model(arguments, settings, target, changes, earlier)


def _ask_model(
    arguments: argparse.Namespace, settings: Settings, target: PlantedTarget, changes: PlantedChanges, earlier: dict[Any, Any]
) -> int:
    # The journal is named after it, so it is next to the release and not a part of it
    arguments.out, arguments.release = target.folder.with_name(f"{target.folder.name}.planted"), target.folder
    prompt = load_prompts(arguments.templates)[arguments.protocol]
    task, summary = planted_task(prompt, model_for(arguments, settings), changes.items), Summary(WORDS)

    def write(replies: Replies, _: list[str]) -> int:
        records = list(model_records(task, changes.items, replies, summary))
        write_planted(target, earlier, task.model, records)
        return _finish(arguments, target, changes, summary, records)

    return run_task(
        arguments,
        settings,
        task,
        sends="questions, answers, and answers with planted changes",
        remarks=_refused_text(changes),
        items=len(changes.items),
        kinds=_by_kind(changes),
        write=write,
    )


def _finish(
    arguments: argparse.Namespace, target: PlantedTarget, changes: PlantedChanges, summary: Summary, records: list[Record]
) -> int:
    file = target.folder / PLANTED_FILE
    lines = [f"{file}: {summary.sentence}"]
    lines += [f"  {kind}: {_outcome_text(record for record in records if record['kind'] == kind)}" for kind in _by_kind(changes)]
    lines += summary.lines("no label, ")
    lines += [text for text in (_refused_text(changes),) if text]
    if target.is_release:
        lines.append(f"Load the release again with: audit load {shlex.quote(str(target.folder))}")
    result = {
        "file": str(file), "judged": summary.counts["judged"], "not_asked": summary.not_asked, "unscored": dict(summary.reasons),
        "kinds": _by_kind(changes), "refused": [[*key, number] for key, number in changes.refused.items()],
    }  # fmt: skip
    print_result(arguments, "\n".join(lines), result)
    return FINDINGS if summary.unread or summary.not_asked else OK


def _by_kind(changes: PlantedChanges) -> dict[str, int]:
    return dict(Counter(str(change.kind) for change in changes.items))


def _outcome_text(records: Iterable[Record]) -> str:
    """How many informative labels are right."""
    outcomes = Counter(
        planted_outcome(PlantedKind(record["kind"]), record["expected"], record["label_before"], record["label"])
        for record in records
    )
    right = outcomes[PlantedOutcome.RIGHT]
    telling = right + outcomes[PlantedOutcome.LENIENT] + outcomes[PlantedOutcome.WRONG]
    return f"{right:,} of {telling:,} right labels"


def _refused_text(changes: PlantedChanges) -> str:
    """A sentence on the pairs that could not take a change; empty where all could."""
    parts = [f"{kind}, {reason}: {number:,}" for (kind, reason), number in changes.refused.items()]
    return f"Pairs that could not take a change ({'; '.join(parts)})." if parts else ""
