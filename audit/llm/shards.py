"""Asking without a network: calls become shards of OpenAI-batch requests, and what a cluster made of them becomes replies.

A folder holds
    batch.json              what was asked: the plan, the stage, and each shard's number of requests
    shards/0000.jsonl ...   requests, whole groups each, in the order that a prefix cache likes
    ask.sbatch, todo.py     the SLURM array script, and what it uses to leave out what is answered
    outputs/0000.*.jsonl    what came back, one file per attempt (in the batch format of OpenAI and `vllm run-batch`)
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import IO, Any

from audit.errors import AuditError
from audit.llm.calls import ANSWERED, FAILED, Call, Reply
from audit.llm.responses import Busy, Response, read_response

ABOUT = "batch.json"
MOST_SHARDS = 5_000
"""Each is an open file while shards are written, and a task of the array."""


def emit(calls: Iterable[Call], folder: Path, shards: int, about: Mapping[str, Any], model: str) -> list[int]:
    """Write `calls` as at most `shards` shards and the script that asks them; return the number of requests of each shard.

    Calls of one group (a question) must follow one another; they stay together, in the shard that has the fewest
    characters so far. A call whose key was already written is written once. Memory does not grow with the texts.

    Raises AuditError when `folder` already holds something, or when `shards` is not in 1..5000.
    """
    _check(folder, shards)
    (folder / "shards").mkdir(parents=True, exist_ok=True)
    (folder / "outputs").mkdir(exist_ok=True)
    (folder / "logs").mkdir(exist_ok=True)
    sizes = _write_shards(calls, folder / "shards", shards)
    _write_scripts(folder, len(sizes), model)
    (folder / ABOUT).write_text(json.dumps({**about, "shards": sizes}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return sizes


def _check(folder: Path, shards: int) -> None:
    if not 1 <= shards <= MOST_SHARDS:
        raise AuditError(f"--shards is {shards}. Allowed: 1 to {MOST_SHARDS}. Nothing was written.")
    if folder.exists() and any(folder.iterdir()):
        raise AuditError(f"{folder} already holds something. Nothing was written. Name a new folder, or empty this one.")


def _write_shards(calls: Iterable[Call], folder: Path, shards: int) -> list[int]:
    """Requests per shard; shards that nothing fell to are not there."""
    written: set[str] = set()
    characters, requests = [0] * shards, [0] * shards
    with ExitStack() as open_files:
        out: dict[int, IO[str]] = {}
        group, shard = None, 0
        for call in calls:
            if call.group != group:
                group, shard = call.group, characters.index(min(characters))
            if call.key in written:
                continue
            if shard not in out:
                out[shard] = open_files.enter_context(_shard(folder, shard).open("w", encoding="utf-8", newline="\n"))
            written.add(call.key)
            requests[shard] += 1
            characters[shard] += out[shard].write(request_line(call))
    return [count for count in requests if count]


def _shard(folder: Path, number: int) -> Path:
    return folder / f"{number:04d}.jsonl"


def request_line(call: Call) -> str:
    """One line of a batch file; custom_id is the call's key."""
    record = {"custom_id": call.key, "method": "POST", "url": "/v1/chat/completions", "body": call.body}
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"


def _write_scripts(folder: Path, shards: int, model: str) -> None:
    source = files("audit.llm") / "cluster"
    script = Template((source / "ask.sbatch").read_text(encoding="utf-8"))
    (folder / "ask.sbatch").write_text(script.substitute(last=max(shards - 1, 0), model=model), encoding="utf-8")
    (folder / "todo.py").write_text((source / "todo.py").read_text(encoding="utf-8"), encoding="utf-8")


@dataclass
class ShardCount:
    """What came back for one shard: its requests, how many of them have which outcome, and how many have none."""

    shard: int
    asked: int
    outcomes: Counter[str] = field(default_factory=Counter)
    torn: int = 0
    strange: int = 0

    @property
    def missing(self) -> int:
        """Requests to which nothing came back."""
        return self.asked - sum(self.outcomes.values())


def about_batch(folder: Path) -> dict[str, Any]:
    """What `emit` wrote into batch.json. Raises AuditError where there is none."""
    path = folder / ABOUT
    if not path.is_file():
        raise AuditError(f"{folder} holds no {ABOUT}. Nothing was collected. Name the folder that --emit-batch wrote.")
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except ValueError as error:
        raise AuditError(f"{path} cannot be read ({error}). Nothing was collected. Restore it, or emit anew.") from None


def collect(folder: Path) -> Iterator[tuple[ShardCount, dict[str, Reply]]]:
    """Shard by shard, what came back: the count, and the best reply to each of its keys.

    Of several attempts at a key an answer beats anything else, and a later attempt an earlier one. A torn line (the task was
    killed while writing) counts as nothing; a custom_id that the shard never had is counted as strange and left out.
    """
    for number in range(len(about_batch(folder)["shards"])):
        keys = {str(json.loads(line)["custom_id"]) for line in _lines(_shard(folder / "shards", number))}
        count, best = ShardCount(number, len(keys)), dict[str, Reply]()
        for output in attempts(folder, number):
            _read_output(output, keys, count, best)
        count.outcomes.update(reply.outcome for reply in best.values())
        yield count, best


def attempts(folder: Path, shard: int) -> list[Path]:
    """The outputs of a shard, in the order of the jobs that wrote them."""
    return sorted((folder / "outputs").glob(f"{shard:04d}.*.jsonl"), key=_age)


def _age(output: Path) -> tuple[list[int], str]:
    name = output.name.split(".")[1]
    return [int(part) for part in name.split("_") if part.isdigit()], name


def _read_output(output: Path, keys: set[str], count: ShardCount, best: dict[str, Reply]) -> None:
    for line in _lines(output):
        reply = _reply(line)
        if reply is None:
            count.torn += 1
        elif reply.key not in keys:
            count.strange += 1
        elif reply.outcome == ANSWERED or best.get(reply.key, reply).outcome != ANSWERED:
            best[reply.key] = reply


def _reply(line: str) -> Reply | None:
    try:
        record = json.loads(line)
        key = str(record["custom_id"])
    except (ValueError, TypeError, KeyError):
        return None
    response = record.get("response") or {}
    if not response.get("status_code"):
        return Reply(key, FAILED, error=json.dumps(record.get("error"))[:500])
    raw = json.dumps(response.get("body")).encode()
    read = read_response(key, 1, Response(int(response["status_code"]), raw))
    return Reply(key, FAILED, error=read.why) if isinstance(read, Busy) else read


def _lines(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8", errors="replace") as file:
        yield from (line for line in file if line.strip())
