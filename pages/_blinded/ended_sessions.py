"""Ends the sessions of visitors who have left, and gives their memory back to the operating system.

Streamlit keeps a session for `server.disconnectedSessionTTL` seconds (two minutes) after its connection was lost, so that a
visitor with a poor network continues where they were. After that it only ends a session when the next visitor leaves: what was
on the screens of twenty visitors would stay in memory until somebody else comes and goes.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import gc
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

from streamlit import runtime
from streamlit.runtime.memory_session_storage import MemorySessionStorage

SWEEP_S = 30
"""How often sessions that are over are looked for. One such look costs nothing where there are none."""


@asynccontextmanager
async def sweeping(_: Any) -> AsyncIterator[None]:
    """Sweep every SWEEP_S seconds for as long as the server runs."""
    # Modules stay for as long as the process: without them, a collection has half as many objects to look at.
    gc.freeze()
    sweeper = asyncio.create_task(_sweep())
    try:
        yield
    finally:
        sweeper.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await sweeper


async def _sweep() -> None:
    while True:
        await asyncio.sleep(SWEEP_S)
        if end_sessions(_storage()):
            free_memory()


def _storage() -> MemorySessionStorage:
    manager = cast(Any, runtime.get_instance())._session_mgr
    return cast(MemorySessionStorage, manager._session_storage)


def end_sessions(storage: MemorySessionStorage) -> int:
    """End the sessions that were left longer ago than Streamlit keeps them; returns how many. On the server's own thread."""
    over = cast(Any, storage._cache).expire()
    for _, info in over:
        info.session.shutdown()  # forgets what the visitor uploaded, and the files that were offered
    return len(over)


def free_memory() -> None:
    """Collect cycles, and give free pages back to the operating system where its C library can (glibc)."""
    gc.collect()
    if sys.platform == "linux" and hasattr(library := ctypes.CDLL(None), "malloc_trim"):
        library.malloc_trim(0)
