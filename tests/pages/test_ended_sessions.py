"""What is left of a session when its visitor has gone."""

from __future__ import annotations

import gc
import json
import time
import weakref
from pathlib import Path

import pytest
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.session_manager import SessionInfo

from audit.store.runs import Run
from pages._blinded.session_cookie import end_sessions
from tests.browser.conftest import server
from tests.pages.conftest import Open
from tests.support.visitor import opened
from tests.support.visitor import run as carry_out

PAGES = ("start", "question", "topics", "coverage")
VISITORS = 4
GONE_WITHIN_S = 30
COUNTING = (
    "tests.support.counting_server", "{{file}}", "run", "app.py", "--server.port={port}", "--server.address=127.0.0.1",
    "--server.headless=true", "--server.fileWatcherType=none", "--server.disconnectedSessionTTL=1",
)  # fmt: skip


class Session:
    """What the storage needs of a session."""

    id = "session of a visitor"
    shut_down = False

    def shutdown(self) -> None:
        self.shut_down = True


@pytest.mark.parametrize(("kept_s", "ended"), [(0, 1), (120, 0)])
def test_a_session_ends_once_its_time_to_come_back_is_over(kept_s: int, ended: int) -> None:
    session = Session()
    storage = MemorySessionStorage(ttl_seconds=kept_s)
    storage.save(SessionInfo(client=None, session=session))  # type: ignore[arg-type]
    assert end_sessions(storage) == ended
    assert session.shut_down == bool(ended)
    assert bool(storage.get(session.id)) != bool(ended)
    left = weakref.ref(session)
    del session
    assert (left() is None) == bool(ended)


async def look_around(address: str) -> None:
    for _ in range(VISITORS):
        async with opened(address) as visit:
            for page in PAGES:
                await visit.rerun(page=page)
            assert visit.downloads, "the last page offers a file"


def left_of_sessions(file: Path) -> dict[str, int]:
    """The last count of the server, once no more than one session is left or the time is over."""
    until, counts = time.monotonic() + GONE_WITHIN_S, {"sessions": -1, "files": -1}
    while (counts["sessions"] not in (0, 1) or counts["files"]) and time.monotonic() < until:
        time.sleep(0.1)
        counts = json.loads(file.read_text()) if file.exists() else counts
    return counts


def test_a_server_keeps_nothing_of_visitors_who_have_left(run: Run, data_dir: Path, tmp_path: Path) -> None:
    file = tmp_path / "counts.json"
    command = [word.replace("{{file}}", str(file)) for word in COUNTING]
    with server(data_dir, command=command) as address:
        carry_out(look_around(address))
        left = left_of_sessions(file)
    assert left["sessions"] in (0, 1)  # Streamlit may still refer to the one that ran last
    assert left["files"] == 0


def copies_of_runs() -> int:
    gc.collect()
    return sum(isinstance(thing, Run) for thing in gc.get_objects())


def test_pages_share_one_copy_of_a_run(run: Run, open_page: Open) -> None:
    visits = [open_page(PAGES[0])]
    after_the_first = copies_of_runs()
    visits += [open_page(page) for page in PAGES[:2]]
    assert copies_of_runs() == after_the_first, f"after {len(visits)} visits"
