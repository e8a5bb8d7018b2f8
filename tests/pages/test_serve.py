"""How the server is started."""

import asyncio
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import uvicorn
from streamlit.runtime.pages_manager import PagesManager

from annotation.label_store.engine import lock_for_serving, open_label_store
from audit.errors import AuditError
from pages._blinded.serve import patch_server
from tests.browser.conftest import ROOT, server
from tests.support.ports import free_port
from tests.support.studies import people


def test_a_connection_sends_every_frame_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async def started(server: uvicorn.Server, sockets: list[socket.socket] | None = None) -> None:
        """A server that accepts nothing."""

    monkeypatch.setattr(uvicorn.Server, "startup", started)
    monkeypatch.setattr(PagesManager, "uses_pages_directory", None)
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")  # restored afterwards, or servers that later tests start would have it too
    patch_server()
    with socket.socket() as listening, socket.socket() as browser:  # made as Streamlit makes it: without naming TCP
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        asyncio.run(uvicorn.Server(uvicorn.Config("app")).startup(sockets=[listening]))
        browser.connect(listening.getsockname())
        connection, _ = listening.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    assert PagesManager.uses_pages_directory is False
    assert os.environ["FORWARDED_ALLOW_IPS"] == ""


def second_server(folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "AUDIT_DATA_DIR": str(folder)}
    command = [sys.executable, "-m", "audit", "serve", f"--port={free_port()}"]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)


def test_a_second_server_on_one_sqlite_store_is_refused_in_a_sentence_and_commands_are_not(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'studies.db'}"
    open_label_store(url).close()
    with server(tmp_path):
        refused = second_server(tmp_path)
        assert refused.returncode == 2
        assert "Another dashboard already serves the studies" in refused.stderr
        assert "PostgreSQL" in refused.stderr
        assert "Traceback" not in refused.stderr
        store = open_label_store(url)
        people(store, "petra", role="pi")
        store.close()
    lock = lock_for_serving(url)  # the first one has ended, however it did
    assert lock is not None
    lock.release()


def test_of_servers_that_start_on_a_fresh_folder_one_serves_and_none_creates_a_database(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'new' / 'studies.db'}"
    held = lock_for_serving(url)
    with pytest.raises(AuditError, match="Another dashboard already serves"):
        lock_for_serving(url)
    assert held is not None
    assert not (tmp_path / "new" / "studies.db").exists()
    held.release()


def test_a_database_server_is_shared_by_any_number() -> None:
    assert lock_for_serving("postgresql://user@host/studies") is None


def test_a_folder_that_cannot_be_written_ends_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(AuditError, match=r"cannot write to .*It was not started"):
        lock_for_serving(f"sqlite:///{tmp_path / 'file' / 'studies.db'}")
