"""Writes the requests of a shard that are still open, and prints how many: `todo.py SHARD.jsonl TODO.jsonl OUTPUT.jsonl...`

This file is copied next to the shards and runs alone on a cluster node, so it uses only the standard library. A request is
done if an output of any attempt has its custom_id with an answer, or with a refusal that would be repeated.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

# Temporary refusals: the same request may be answered later.
TEMPORARY = (408, 409, 425, 429)


def main(shard: str, todo: str, *outputs: str) -> int:
    """Write the open requests of `shard` to `todo`, and return their number."""
    done = {custom_id for output in outputs for custom_id in finished(Path(output))}
    open_requests = [line for line in lines(Path(shard)) if json.loads(line)["custom_id"] not in done]
    Path(todo).write_text("".join(f"{line}\n" for line in open_requests), encoding="utf-8")
    return len(open_requests)


def finished(output: Path) -> Iterator[str]:
    """The custom_ids that one output settles; a line that was cut off settles none."""
    for line in lines(output):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict) and is_final(record):
            yield record["custom_id"]


def is_final(record: dict) -> bool:  # type: ignore[type-arg]
    """Whether asking again would change nothing."""
    response = record.get("response")
    status = response.get("status_code") if isinstance(response, dict) else None
    return status == 200 or (isinstance(status, int) and 400 <= status < 500 and status not in TEMPORARY)


def lines(path: Path) -> Iterable[str]:
    """The lines of a file that may not exist yet, and whose last line may be cut off."""
    if not path.is_file():
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        yield from (line.rstrip("\n") for line in file if line.strip())


if __name__ == "__main__":
    print(main(*sys.argv[1:]))
