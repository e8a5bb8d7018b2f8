"""Which lines of a shard are still to be asked: `python3 todo.py SHARD.jsonl TODO.jsonl OUTPUT.jsonl...`, and print how many.

This file is copied beside the shards and runs on a cluster's node by itself, so it stands on the standard library alone.
A request is done when an output of any attempt holds its custom_id with an answer, or with a refusal that would be repeated.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

PASSING = (408, 409, 425, 429)
"""Refusals of the moment: the same request may be answered later."""


def main(shard: str, todo: str, *outputs: str) -> int:
    """Write the open requests of `shard` to `todo` and return how many there are."""
    done = {custom_id for output in outputs for custom_id in finished(Path(output))}
    still = [line for line in lines(Path(shard)) if json.loads(line)["custom_id"] not in done]
    Path(todo).write_text("".join(f"{line}\n" for line in still), encoding="utf-8")
    return len(still)


def finished(output: Path) -> Iterator[str]:
    """The custom_ids that one output settles; a line that was cut off settles nothing."""
    for line in lines(output):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict) and is_final(record):
            yield record["custom_id"]


def is_final(record: dict) -> bool:  # type: ignore[type-arg]
    """Whether asking again would bring nothing new."""
    response = record.get("response")
    status = response.get("status_code") if isinstance(response, dict) else None
    return status == 200 or (isinstance(status, int) and 400 <= status < 500 and status not in PASSING)


def lines(path: Path) -> Iterable[str]:
    """The lines of a file that may not be there yet, and whose last one may be torn."""
    if not path.is_file():
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        yield from (line.rstrip("\n") for line in file if line.strip())


if __name__ == "__main__":
    print(main(*sys.argv[1:]))
