"""A visitor without a browser: speaks Streamlit's protocol over a websocket, with headers and certificates of its own."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ssl import SSLContext
from typing import Any, TypeVar

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

T = TypeVar("T")
FINISHED = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
Headers = Mapping[str, str] | Sequence[tuple[str, str]]


@dataclass
class Visit:
    """What a visit has seen since its last rerun. pages: titles in the menu; text: every frame, as protobuf prints it.

    session: Streamlit's id of the session; downloads: the files that are made on a click, by the label of their buttons.
    components, ids: data and id of each component, by its name.
    """

    socket: ClientConnection
    pages: list[str] = field(default_factory=list)
    text: str = ""
    script: str = ""
    session: str = ""
    downloads: dict[str, str] = field(default_factory=dict)
    inputs: dict[str, str] = field(default_factory=dict)
    buttons: dict[str, str] = field(default_factory=dict)
    components: dict[str, dict[str, Any]] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)

    async def rerun(
        self, values: Mapping[str, str] | None = None, button: str = "", page: str = "", query: str = "", fragment: str = ""
    ) -> None:
        """Open the page, or fill in inputs (by label) and press a button, and read on until no other run follows.

        page, query  another page to open, by its name in the address, and the parameters there
        fragment     the part of the page to draw again
        """
        message = BackMsg()
        message.rerun_script.page_script_hash = "" if page else self.script
        message.rerun_script.page_name, message.rerun_script.query_string = page, query
        message.rerun_script.fragment_id = fragment
        for label, value in (values or {}).items():
            message.rerun_script.widget_states.widgets.add(id=self.inputs[label], string_value=value)
        if button:
            message.rerun_script.widget_states.widgets.add(id=self.buttons[button], trigger_value=True)
        self.text = ""
        await self.send(message)
        await self.finished()

    async def finished(self) -> None:
        """Read on until no other run follows."""
        while not await self._finished():
            pass

    async def send(self, message: BackMsg) -> None:
        """Send anything."""
        await self.socket.send(message.SerializeToString())

    async def download(self, file_id: str) -> str:
        """Press a download: the address of the file, empty where the server makes none."""
        message = BackMsg()
        request = message.backend_operation_request
        request.request_id, request.session_id, request.deferred_file.file_id = file_id, self.session, file_id
        await self.send(message)
        while True:
            frame = ForwardMsg.FromString(await self.socket.recv())  # type: ignore[arg-type]
            if frame.WhichOneof("type") == "backend_operation_response":
                return frame.backend_operation_response.deferred_file.url

    async def _finished(self) -> bool:
        frame = ForwardMsg.FromString(await self.socket.recv())  # type: ignore[arg-type]
        self.text += str(frame)
        kind = frame.WhichOneof("type")
        if kind == "navigation":
            self.pages = [page.page_name for page in frame.navigation.app_pages if not page.is_hidden]
        elif kind == "new_session":
            self.script = frame.new_session.page_script_hash
            self.session = frame.new_session.initialize.session_id
        elif kind == "delta":
            self._note(frame.delta.new_element)
        return kind == "script_finished" and frame.script_finished in FINISHED

    def _note(self, element: Any) -> None:
        if element.WhichOneof("type") == "text_input":
            self.inputs[element.text_input.label] = element.text_input.id
        elif element.WhichOneof("type") == "button":
            self.buttons[element.button.label] = element.button.id
        elif element.WhichOneof("type") == "download_button":
            self.downloads[element.download_button.label] = element.download_button.deferred_file_id
        elif element.WhichOneof("type") == "bidi_component":
            name = element.bidi_component.component_name.rpartition(".")[2]
            self.components[name], self.ids[name] = json.loads(element.bidi_component.json or "{}"), element.bidi_component.id


def visit(address: str, headers: Headers = (), tls: SSLContext | None = None, query: str = "") -> Visit:
    """Open the first page of the dashboard at `address` (http or https, with its path) and read it to its end.

    query  of the handshake's address, for a proxy
    """
    return run(_visit(address, headers, tls, query=query))


def sign_in(address: str, name: str, password: str, tls: SSLContext | None = None) -> str:
    """The cookie, as the server sets it for somebody who types name and password into the form. Raises where it does not."""
    visited = run(_visit(address, (), tls, {"Name": name, "Password": password}))
    request = visited.components["session_cookie"]
    host = "/".join(address.split("/", 3)[:3])
    body = json.dumps({"ticket": request["ticket"], "secure": address.startswith("https")}).encode()
    call = urllib.request.Request(host + request["address"], body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(call, timeout=30, context=tls) as response:
        return str(response.headers["Set-Cookie"])


def run(work: Coroutine[Any, Any, T], seconds: float = 60) -> T:
    """The result of a coroutine, such as a test's own with several visits; `seconds` at most."""
    with ThreadPoolExecutor(1) as elsewhere:  # a browser that other tests have started runs a loop in this thread
        return elsewhere.submit(asyncio.run, asyncio.wait_for(work, seconds)).result()


def arrivals(address: str, pages: Sequence[str], query: str, cookies: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What arrives when a browser with these cookies asks for each page by its name: the text of all frames.

    A browser shows nothing but what arrives, and takes two seconds a page to load Streamlit before it does.
    """

    async def ask() -> dict[str, str]:
        header = "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in cookies)
        texts = {}
        async with opened(address, [("Cookie", header)] if header else ()) as visited:
            for page in pages:
                await visited.rerun(page=page, query=query)
                texts[page] = visited.text
        return texts

    return run(ask())


async def _visit(
    address: str, headers: Headers, tls: SSLContext | None, form: Mapping[str, str] | None = None, query: str = ""
) -> Visit:
    async with opened(address, headers, tls, query) as visited:
        if form is not None:
            await visited.rerun(form, "Sign in")
        return visited


@asynccontextmanager
async def opened(
    address: str, headers: Headers = (), tls: SSLContext | None = None, query: str = "", session: str = ""
) -> AsyncIterator[Visit]:
    """A visit that goes on: the dashboard's first page, in the session of that id where the server lets it."""
    url = address.replace("http", "ws", 1).rstrip("/") + "/_stcore/stream?" + query
    origin: Any = "/".join(address.split("/", 3)[:3])
    protocols: Any = ["streamlit", "none", session] if session else ["streamlit"]
    async with connect(
        url, additional_headers=headers, origin=origin, subprotocols=protocols, ssl=tls, max_size=None
    ) as socket:  # fmt: skip
        visited = Visit(socket)
        await visited.rerun()
        yield visited
