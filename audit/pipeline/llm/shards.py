"""Calls without a network: they become shards of OpenAI batch requests, and a cluster's responses become replies.

A batch folder contains
    batch.json              the plan, the stage, and the number of requests in each shard
    shards/0000.jsonl ...   requests; each group is in one shard, in the order that suits a prefix cache
    ask.sbatch, todo.py     the SLURM array script, and the script by which it skips requests already answered
    submit.sh               submits all shards, as several array jobs where SLURM allows fewer tasks in one
    outputs/0000.*.jsonl    responses, one file for each attempt (in the batch format of OpenAI and `vllm run-batch`)
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from string import Template
from typing import Any

from audit.errors import AuditError
from audit.pipeline.llm.calls import ANSWERED, FAILED, Busy, Call, Response, read_response
from audit.release.journal_files import Reply

MANIFEST = "batch.json"
# Each shard is a task of a SLURM array.
MAX_SHARDS = 5_000
# SLURM's own default of MaxArraySize: tasks in one array, whose numbers go from 0 to one less
DEFAULT_ARRAY_SIZE = 1_001
ARRAY_SIZE = re.compile(r"^MaxArraySize\s*=\s*(\d+)", re.MULTILINE)


def write_batch(calls: Iterable[Call], folder: Path, shards: int, manifest: Mapping[str, Any], model: str) -> list[int]:
    """Write `calls` as at most `shards` shards, with the script that asks them; return the number of requests in each shard.

    Calls of one group (a question) must follow one another. They stay together, in the shard with the fewest characters so
    far. A repeated key is written once. Memory does not grow with the texts.

    Raises AuditError if `folder` is not empty, or if `shards` is not between 1 and 5,000.
    """
    _check_request(folder, shards)
    (folder / "shards").mkdir(parents=True, exist_ok=True)
    (folder / "outputs").mkdir(exist_ok=True)
    (folder / "logs").mkdir(exist_ok=True)
    sizes = _write_shards(calls, folder / "shards", shards)
    _write_scripts(folder, len(sizes), model)
    (folder / MANIFEST).write_text(
        json.dumps({**manifest, "shards": sizes}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    return sizes


def max_array_size() -> int:
    """How many tasks one array job may have: what the SLURM of this machine says, or else SLURM's default."""
    scontrol = shutil.which("scontrol")
    try:
        command = [scontrol or "", "show", "config"]  # SLURM's own program, with fixed words
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False) if scontrol else None  # noqa: S603
        config = done.stdout if done else ""
    except (OSError, subprocess.TimeoutExpired):
        config = ""
    match = ARRAY_SIZE.search(config)
    # 0 means that arrays are switched off, which sbatch itself reports
    return (int(match[1]) if match else 0) or DEFAULT_ARRAY_SIZE


def sbatch_commands(shards: Iterable[int], array_size: int) -> list[str]:
    """The commands that submit these shards: one for each array job, whose tasks count from a first shard."""
    by_first: dict[int, list[int]] = {}
    for shard in shards:
        by_first.setdefault(shard - shard % array_size, []).append(shard % array_size)
    return [
        f"sbatch --array={','.join(map(str, tasks))}{f' --export=ALL,FIRST_SHARD={first}' if first else ''} ask.sbatch"
        for first, tasks in sorted(by_first.items())
    ]


def _check_request(folder: Path, shards: int) -> None:
    if not 1 <= shards <= MAX_SHARDS:
        raise AuditError(f"--shards is {shards}. Allowed: 1 to {MAX_SHARDS:,}. Nothing was written.")
    if folder.exists() and any(folder.iterdir()):
        raise AuditError(f"{folder} is not empty. Nothing was written. Choose a new folder, or empty this one.")


def _write_shards(calls: Iterable[Call], folder: Path, shards: int) -> list[int]:
    """The number of requests in each shard, without empty shards."""
    written: set[str] = set()
    characters, requests = [0] * shards, [0] * shards
    for _, group in groupby(calls, key=lambda call: call.group):
        # By characters, not calls: prompts differ in length, and the longest shard decides when all are done.
        shard = characters.index(min(characters))
        lines = {call.key: request_line(call) for call in group if call.key not in written}
        written |= lines.keys()
        if lines:
            # Opened for each group: a process may have fewer files open than there are shards.
            with _shard_path(folder, shard).open("a", encoding="utf-8", newline="\n") as out:
                out.writelines(lines.values())
        requests[shard] += len(lines)
        characters[shard] += sum(map(len, lines.values()))
    return [count for count in requests if count]


def _shard_path(folder: Path, number: int) -> Path:
    return folder / f"{number:04d}.jsonl"


def request_line(call: Call) -> str:
    """One line of a batch file; its custom_id is the key of the call."""
    record = {"custom_id": call.key, "method": "POST", "url": "/v1/chat/completions", "body": call.body}
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"


def _write_scripts(folder: Path, shards: int, model: str) -> None:
    source = files("audit.pipeline.llm") / "cluster"
    script = Template((source / "ask.sbatch").read_text(encoding="utf-8"))
    (folder / "ask.sbatch").write_text(script.substitute(last=max(shards - 1, 0), model=model), encoding="utf-8")
    submit = Template((source / "submit.sh").read_text(encoding="utf-8"))
    (folder / "submit.sh").write_text(submit.substitute(shards=shards, limit=DEFAULT_ARRAY_SIZE), encoding="utf-8")
    (folder / "todo.py").write_text((source / "todo.py").read_text(encoding="utf-8"), encoding="utf-8")


@dataclass
class ShardCount:
    """The responses to one shard.

    `asked` are its requests, `outcomes` counts those with a response. `torn` are lines that were cut off when the task was
    killed, `strange` are lines with a custom_id of another batch.
    """

    shard: int
    asked: int
    outcomes: Counter[str] = field(default_factory=Counter)
    torn: int = 0
    strange: int = 0

    @property
    def missing(self) -> int:
        """Requests without a response."""
        return self.asked - sum(self.outcomes.values())


def read_batch(folder: Path) -> dict[str, Any]:
    """The contents of batch.json. Raises AuditError if there is none."""
    path = folder / MANIFEST
    if not path.is_file():
        raise AuditError(f"{folder} does not contain {MANIFEST}. Nothing was collected. Name the folder that --emit-batch wrote.")
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except ValueError as error:
        raise AuditError(
            f"{path} cannot be read ({error}). Nothing was collected. Restore it, or emit the batch again."
        ) from None


def collect_replies(folder: Path) -> Iterator[tuple[ShardCount, dict[str, Reply]]]:
    """For each shard, the counts and the best reply to each of its keys.

    Of several attempts at a key, an answer takes precedence over anything else, and a later attempt over an earlier one.
    """
    for number in range(len(read_batch(folder)["shards"])):
        keys = {str(json.loads(line)["custom_id"]) for line in _lines(_shard_path(folder / "shards", number))}
        # One shard at a time in memory.
        count, best_replies = ShardCount(number, len(keys)), dict[str, Reply]()
        for output in shard_outputs(folder, number):
            _read_output(output, keys, count, best_replies)
        count.outcomes.update(reply.outcome for reply in best_replies.values())
        yield count, best_replies


def shard_outputs(folder: Path, shard: int) -> list[Path]:
    """The output files of a shard, in the order of the SLURM jobs that wrote them."""
    return sorted((folder / "outputs").glob(f"{shard:04d}.*.jsonl"), key=_job_order)


def _job_order(output: Path) -> tuple[list[int], str]:
    # Numerically: as text, job 10 would come before job 9.
    name = output.name.split(".")[1]
    return [int(part) for part in name.split("_") if part.isdigit()], name


def _read_output(output: Path, keys: set[str], count: ShardCount, best_replies: dict[str, Reply]) -> None:
    for line in _lines(output):
        reply = _parse_output_line(line)
        if reply is None:
            count.torn += 1
        elif reply.key not in keys:
            count.strange += 1
        # A later attempt that failed must not replace an answer.
        elif reply.outcome == ANSWERED or best_replies.get(reply.key, reply).outcome != ANSWERED:
            best_replies[reply.key] = reply


def _parse_output_line(line: str) -> Reply | None:
    try:
        record = json.loads(line)
        key = str(record["custom_id"])
    except (ValueError, TypeError, KeyError):
        return None
    # The format has null here for a request that got no response.
    response = record.get("response") or {}
    if not response.get("status_code"):
        return Reply(key, FAILED, error=json.dumps(record.get("error"))[:500])
    raw = json.dumps(response.get("body")).encode()
    reply = read_response(key, 1, Response(int(response["status_code"]), raw))
    return Reply(key, FAILED, error=reply.why) if isinstance(reply, Busy) else reply


def _lines(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8", errors="replace") as file:
        yield from (line for line in file if line.strip())
