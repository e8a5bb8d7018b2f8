"""Starts the dashboard as `audit serve` does, with a stopwatch: `python served.py FILE run app.py [--server.port ...]`.

For every run of a script, one line goes to FILE: milliseconds of the whole run, and of these the ones spent with the label
store: waiting for its lock, statements, commit.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from streamlit.runtime.scriptrunner.script_runner import ScriptRunner

from annotation.label_store.engine import LabelStore

spent = threading.local()
Opening = Callable[[LabelStore], AbstractContextManager[Any]]


def timed(opening: Opening) -> Opening:
    """`opening`, with its time added to this thread's."""

    @contextmanager
    def watched(store: LabelStore) -> Iterator[Any]:
        start = time.perf_counter()
        try:
            with opening(store) as connection:
                yield connection
        finally:
            spent.ms = getattr(spent, "ms", 0.0) + (time.perf_counter() - start) * 1_000

    return watched


def watch(lines: int) -> None:
    """Put the stopwatch in; `lines` is an open file."""
    run_script = ScriptRunner._run_script

    def watched(self: ScriptRunner, request: Any) -> None:
        spent.ms, start = 0.0, time.perf_counter()
        run_script(self, request)
        os.write(lines, f"{(time.perf_counter() - start) * 1_000:.3f} {spent.ms:.3f}\n".encode())

    ScriptRunner._run_script = watched  # type: ignore[method-assign]
    LabelStore.begin = timed(LabelStore.begin)  # type: ignore[method-assign]
    LabelStore.read = timed(LabelStore.read)  # type: ignore[method-assign]


if __name__ == "__main__":
    from pages._blinded.serve import main, patch_server

    watch(os.open(sys.argv.pop(1), os.O_WRONLY | os.O_CREAT | os.O_APPEND))
    patch_server()
    main()
