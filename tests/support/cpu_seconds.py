"""CPU seconds of each test, with its fixtures and every process below it.

`pytest -p tests.support.cpu_seconds --cpu-seconds FILE` appends JSON lines: file, test, step of the test, seconds.
`python -m tests.support.cpu_seconds FILE` prints the sums by file and the dearest steps. Wall times say little on a machine that
others use. Processes that left their parent, such as a daemon, are not seen.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

TICKS = os.sysconf("SC_CLK_TCK")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cpu-seconds", type=Path, help="append the CPU seconds of each test to this file")


def below(process: int) -> float:
    """CPU seconds of a process, of what it waited for, and of all that runs below it."""
    total = 0.0
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
        total = sum(int(ticks) for ticks in fields[11:15]) / TICKS
        for task in Path(f"/proc/{process}/task").iterdir():
            total += sum(below(int(child)) for child in (task / "children").read_text().split())
    except (FileNotFoundError, ProcessLookupError):
        pass  # it ended while it was read; its parent has its seconds from now on
    return total


def measured(item: pytest.Item, step: str) -> Iterator[None]:
    log = item.config.getoption("--cpu-seconds")
    before = below(os.getpid())
    yield
    if log:
        used = max(0.0, round(below(os.getpid()) - before, 2))  # the children of a child that ended uncounted are lost
        with log.open("a") as lines:
            lines.write(json.dumps([item.location[0], item.nodeid, step, used]) + "\n")


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    yield from measured(item, "setup")


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    yield from measured(item, "call")


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    yield from measured(item, "teardown")


def main() -> None:
    files: Counter[str] = Counter()
    tests: Counter[str] = Counter()
    for line in Path(sys.argv[1]).read_text().splitlines():
        file, test, step, seconds = json.loads(line)
        files[file] += seconds
        tests[f"{test} {step}"] += seconds
    for name, sums, most in (("files", files, None), ("steps", tests, 150)):
        print(f"{name}: {sum(sums.values()):.0f} CPU s in {len(sums)}")
        print("\n".join(f"{seconds:9.1f}  {what}" for what, seconds in sums.most_common(most) if seconds >= 0.5))


if __name__ == "__main__":
    main()
