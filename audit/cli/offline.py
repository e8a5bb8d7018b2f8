"""Asking on a cluster without a network: `--emit-batch DIR` before, `--collect DIR` after."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from audit.errors import AuditError
from audit.llm.calls import ANSWERED, CUT, FAILED, REFUSED, Call, Reply
from audit.llm.journal import Journal
from audit.llm.shards import ShardCount, collect_replies, read_batch, write_batch
from audit.llm.tasks import LlmTask, Replies

OUTCOMES = (ANSWERED, CUT, REFUSED, FAILED)


def emit_batch(folder: Path, shards: int, work: LlmTask, replies: Replies) -> str:
    """Write the first stage that has open calls as shards into `folder`; say what was written and what comes next."""
    stage, calls = next_stage(work, replies)
    if not stage:
        return "Every call is answered already: nothing was written. Write the release with --parse-again."
    sizes = write_batch(calls, folder, shards, {"stage": stage, "plan": work.plan()}, work.model)
    return (
        f"{folder}: {sum(sizes):,} requests of stage '{stage}' in {len(sizes):,} shards, whole {work.unit} in each.\n"
        f"On the cluster:  cd {shlex.quote(str(folder))} && sbatch ask.sbatch\n"
        "Then collect them with the same command and --collect in place of --emit-batch."
    )


def next_stage(work: LlmTask, replies: Replies) -> tuple[str, Iterator[Call]]:
    """The first stage with open calls, and these; an empty name where none is open."""
    for stage in work.stages:
        calls = work.open_calls(stage, replies)
        if first := next(calls, None):
            return stage, chain([first], calls)
    return "", iter(())


def still_open(work: LlmTask, replies: Replies) -> str:
    """What is to be emitted next, in words; empty where every call is answered."""
    stage, calls = next_stage(work, replies)
    if not stage:
        return ""
    count = sum(1 for _ in calls)
    return f"Stage '{stage}' has {count:,} open requests. Emit them into another folder: the same command with --emit-batch."


def collect_batch(folder: Path, plan: dict[str, Any], journal: Journal) -> str:
    """Put what came back into the journal, each reply once; say what it was, and what is missing.

    Raises AuditError when `folder` was emitted for another plan.
    """
    emitted = read_batch(folder).get("plan")
    if emitted != json.loads(json.dumps(plan)):
        raise AuditError(
            f"{folder} was emitted with other options than these, or for another run. Nothing was collected. "
            "Collect it with the command that emitted it."
        )
    counts = []
    for count, best in collect_replies(folder):
        for reply in news(best, journal):
            journal.put(reply)
        counts.append(count)
    return collected_text(folder, counts)


def news(best: dict[str, Reply], journal: Journal) -> Iterable[Reply]:
    """The replies that the journal does not hold yet, or holds only as a failure."""
    known = journal.latest(best)
    for key, reply in best.items():
        held = known.get(key)
        if held is None or (held.outcome != ANSWERED and reply.outcome != held.outcome):
            yield reply


def collected_text(folder: Path, counts: list[ShardCount]) -> str:
    """What came back, in total and for each shard that is not whole, and how to ask for the rest."""
    total = sum((count.outcomes for count in counts), Counter[str]())
    missing = sum(count.missing for count in counts)
    lines = [f"{sum(count.asked for count in counts):,} requests: {_outcomes(total)}, {missing:,} missing."]
    open_shards = [count for count in counts if count.missing or count.outcomes[FAILED]]
    lines += map(_shard_text, open_shards)
    if open_shards:
        tasks = ",".join(str(count.shard) for count in open_shards)
        lines.append(f"Ask for the rest:  cd {shlex.quote(str(folder))} && sbatch --array={tasks} ask.sbatch")
    return "\n".join(lines)


def _shard_text(count: ShardCount) -> str:
    return f"  shard {count.shard}: {_outcomes(count.outcomes)}, {count.missing:,} missing{_oddities(count)}"


def _outcomes(outcomes: Counter[str]) -> str:
    return ", ".join(f"{outcomes[name]:,} {name}" for name in OUTCOMES if outcomes[name] or name == ANSWERED)


def _oddities(count: ShardCount) -> str:
    told = {"torn line": count.torn, "line of another batch": count.strange}
    return "".join(f"; {number:,} {words}{'s' if number > 1 else ''}" for words, number in told.items() if number)
