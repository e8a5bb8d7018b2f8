"""How the server is started."""

import asyncio
import socket

import pytest
import uvicorn
from streamlit.runtime.pages_manager import PagesManager

from pages._blinded.serve import patch_server


def test_a_connection_sends_every_frame_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async def started(server: uvicorn.Server, sockets: list[socket.socket] | None = None) -> None:
        """A server that accepts nothing."""

    monkeypatch.setattr(uvicorn.Server, "startup", started)
    monkeypatch.setattr(PagesManager, "uses_pages_directory", None)
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "")  # restored afterwards, or servers that later tests start would have it too
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
