"""Calling a model on a cluster without a network: `--emit-batch DIR` before, `--collect DIR` after."""

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
    """Write the first stage that has open calls as shards to `folder`; returns what was written and what to do next."""
    stage, calls = next_stage(work, replies)
    if not stage:
        return "Every call is answered already. Nothing was written. Write the result with --parse-again."
    sizes = write_batch(calls, folder, shards, {"stage": stage, "plan": work.plan()}, work.model)
    return (
        f"{folder}: {sum(sizes):,} requests of stage '{stage}' in {len(sizes):,} shards, complete {work.unit} in each.\n"
        f"On the cluster:  cd {shlex.quote(str(folder))} && sbatch ask.sbatch\n"
        "Then collect them with the same command and --collect in place of --emit-batch."
    )


def next_stage(work: LlmTask, replies: Replies) -> tuple[str, Iterator[Call]]:
    """The first stage with open calls, and these calls; an empty name where no call is open."""
    for stage in work.stages:
        calls = work.open_calls(stage, replies)
        if first := next(calls, None):
            return stage, chain([first], calls)
    return "", iter(())


def open_requests(work: LlmTask, replies: Replies) -> str:
    """What to emit next, in words; empty where every call is answered."""
    stage, calls = next_stage(work, replies)
    if not stage:
        return ""
    number = sum(1 for _ in calls)
    return f"Stage '{stage}' has {number:,} open requests. Emit them to another folder: the same command with --emit-batch."


def collect_batch(folder: Path, plan: dict[str, Any], journal: Journal) -> str:
    """Put the cluster's replies into the journal, each once; returns how many came and how many are missing.

    Raises AuditError when `folder` was emitted for another plan.
    """
    emitted = read_batch(folder).get("plan")
    # Compared as stored: JSON turns tuples into lists.
    if emitted != json.loads(json.dumps(plan)):
        raise AuditError(
            f"{folder} was emitted with other options, or for another run. Nothing was collected. "
            "Collect it with the command that emitted it."
        )
    counts = []
    for shard_count, replies in collect_replies(folder):
        for reply in _new_replies(replies, journal):
            journal.put(reply)
        counts.append(shard_count)
    return _collected_text(folder, counts)


def _new_replies(replies: dict[str, Reply], journal: Journal) -> Iterable[Reply]:
    """The replies that the journal lacks, or has only as a failure."""
    stored = journal.latest(replies)
    for key, reply in replies.items():
        earlier = stored.get(key)
        if earlier is None or (earlier.outcome != ANSWERED and reply.outcome != earlier.outcome):
            yield reply


def _collected_text(folder: Path, counts: list[ShardCount]) -> str:
    """The replies in total and for each incomplete shard, and how to request the rest."""
    total = sum((shard.outcomes for shard in counts), Counter[str]())
    missing = sum(shard.missing for shard in counts)
    lines = [f"{sum(shard.asked for shard in counts):,} requests: {_outcomes_text(total)}, {missing:,} missing."]
    incomplete = [shard for shard in counts if shard.missing or shard.outcomes[FAILED]]
    lines += map(_shard_text, incomplete)
    if incomplete:
        tasks = ",".join(str(shard.shard) for shard in incomplete)
        lines.append(f"Request the rest:  cd {shlex.quote(str(folder))} && sbatch --array={tasks} ask.sbatch")
    return "\n".join(lines)


def _shard_text(shard: ShardCount) -> str:
    faults = {"torn line": shard.torn, "line of another batch": shard.strange}
    suffix = "".join(f"; {number:,} {words}{'s' if number > 1 else ''}" for words, number in faults.items() if number)
    return f"  shard {shard.shard}: {_outcomes_text(shard.outcomes)}, {shard.missing:,} missing{suffix}"


def _outcomes_text(outcomes: Counter[str]) -> str:
    return ", ".join(f"{outcomes[name]:,} {name}" for name in OUTCOMES if outcomes[name] or name == ANSWERED)
