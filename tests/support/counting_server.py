"""A server that ends sessions soon, and then writes what it still holds of any.

`python -m tests.support.counting_server FILE run app.py [--server.port ...]` writes `{"sessions": ..., "files": ...}` to FILE
after each sweep that ended a session: session objects in memory, and files that pages would still make on a click.
"""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path
from typing import Any, cast

from streamlit import runtime
from streamlit.runtime.app_session import AppSession

from audit.atomic_io import write_atomic
from pages._blinded import serve, session_cookie

SWEEP_S = 0.5


def counting(file: Path) -> None:
    """Let every sweep report to `file`."""
    free_memory = session_cookie.free_memory

    def counted() -> None:
        free_memory()
        sessions = sum(isinstance(thing, AppSession) for thing in gc.get_objects())
        files = len(cast(Any, runtime.get_instance()).media_file_mgr._deferred_callables)
        write_atomic(file, json.dumps({"sessions": sessions, "files": files}))

    session_cookie.free_memory = counted
    session_cookie.SWEEP_S = SWEEP_S  # type: ignore[assignment]


if __name__ == "__main__":
    counting(Path(sys.argv.pop(1)))
    serve.start()
