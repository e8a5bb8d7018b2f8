"""Work on contents of others in a process of its own, with limits of time and memory: no file and no text holds up the server.

    within_limits(read_positions, question, aspect, answers)     # the function's result, or TooMuchError

Every rule over texts takes time in proportion to them (tests/text/test_linear_time.py), so what is short is done in place, where
it takes less than starting a process.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import BoundedSemaphore
from typing import Any, ParamSpec, TypeVar

from audit.errors import AuditError

IN_PLACE_BYTES, MAX_BYTES = 100_000, 50_000_000
"""All texts together. In place, texts made to be slow take a second at most; above the larger number nothing is tried."""
MAX_SECONDS, MAX_MEMORY_BYTES, MAX_AT_ONCE = 10, 4 * 2**30, 2

Taken = ParamSpec("Taken")
Given = TypeVar("Given")

_turns = BoundedSemaphore(MAX_AT_ONCE)


class TooMuchError(AuditError):
    """Texts need more time or memory than they may have; the message says what, without a full stop."""


def within_limits(function: Callable[Taken, Given], *arguments: Taken.args, **named: Taken.kwargs) -> Given:
    """`function(*arguments)`, in a process of its own where the arguments are long; it ends when its time is up.

    function  one of a module, so that another process finds it by its name

    Raises what `in_own_process` does.
    """
    if len(pickle.dumps((function, arguments, named))) <= IN_PLACE_BYTES:
        return function(*arguments, **named)
    return in_own_process(function, *arguments, **named)


def in_own_process(function: Callable[Taken, Given], *arguments: Taken.args, **named: Taken.kwargs) -> Given:
    """As `within_limits`, in a process of its own however long the arguments are.

    Raises TooMuchError above MAX_BYTES, MAX_SECONDS or MAX_MEMORY_BYTES, and while MAX_AT_ONCE others are at work for as long.
    """
    sent = pickle.dumps((function, arguments, named))
    if len(sent) > MAX_BYTES:
        raise TooMuchError(f"they have {len(sent) / 1e6:,.0f} MB; {MAX_BYTES / 1e6:,.0f} are read")
    if not _turns.acquire(timeout=MAX_SECONDS):
        raise TooMuchError("the server is busy with other long texts; try again in a minute")
    try:
        done = subprocess.run(  # noqa: S603 - our own module
            [sys.executable, "-m", __name__], input=sent, capture_output=True, timeout=MAX_SECONDS, check=False, env=environment()
        )
    except subprocess.TimeoutExpired:
        raise TooMuchError(f"they take more than {MAX_SECONDS} seconds to read") from None
    finally:
        _turns.release()
    if done.returncode:
        raise TooMuchError(f"they take more than {MAX_MEMORY_BYTES >> 30} GB of memory to read, or what reads them failed")
    result: Given = pickle.loads(done.stdout)  # noqa: S301 - of our own process
    return result


def environment(**more: str) -> dict[str, str]:
    """The variables of this process, with the packages that it runs wherever it was started."""
    paths = [str(Path(__file__).resolve().parents[1]), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **more}


def limit_memory(size: int) -> None:
    """Bound the memory of this process, in bytes, where the system can: Windows has no such limit."""
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (size, size))


def main() -> None:
    """The process: carry out the request on standard input."""
    limit_memory(MAX_MEMORY_BYTES)
    request: tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]] = pickle.load(sys.stdin.buffer)  # noqa: S301
    function, arguments, named = request
    pickle.dump(function(*arguments, **named), sys.stdout.buffer)


if __name__ == "__main__":
    main()
