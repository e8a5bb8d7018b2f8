"""A visitor without a browser: connects to the dashboard's websocket with headers of its own, and reads a page."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from ssl import SSLContext

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect

ORIGIN = "Origin"


@dataclass
class Visit:
    """What one visit saw. pages: titles in the menu; text: every frame of the page, as protobuf prints it."""

    pages: list[str] = field(default_factory=list)
    text: str = ""


def visit(address: str, headers: Mapping[str, str] | list[tuple[str, str]] = (), tls: SSLContext | None = None) -> Visit:  # type: ignore[assignment]
    """Open the first page of the dashboard at `address` (http or https, with its path) and read it to its end."""
    with ThreadPoolExecutor(1) as elsewhere:  # a browser that other tests have started runs a loop of its own here
        return elsewhere.submit(asyncio.run, _visit(address, headers, tls)).result(60)


async def _visit(address: str, headers: Mapping[str, str] | list[tuple[str, str]], tls: SSLContext | None) -> Visit:
    url = address.replace("http", "ws", 1) + "/_stcore/stream"
    async with connect(url, additional_headers=headers, subprotocols=["streamlit"], ssl=tls, max_size=None) as socket:  # type: ignore[list-item]
        message = BackMsg()
        message.rerun_script.query_string = ""
        await socket.send(message.SerializeToString())
        seen = Visit()
        while True:
            frame = ForwardMsg.FromString(await socket.recv())  # type: ignore[arg-type]
            if frame.WhichOneof("type") == "navigation":
                seen.pages = [page.page_name for page in frame.navigation.app_pages if not page.is_hidden]
            seen.text += str(frame)
            if frame.WhichOneof("type") == "script_finished":
                return seen
