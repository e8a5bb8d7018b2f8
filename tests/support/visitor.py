"""A visitor without a browser: speaks Streamlit's protocol over a websocket, with headers and certificates of its own."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from ssl import SSLContext
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

Headers = Mapping[str, str] | Sequence[tuple[str, str]]


@dataclass
class Visit:
    """What a visit has seen since its last rerun. pages: titles in the menu; text: every frame, as protobuf prints it."""

    socket: ClientConnection
    pages: list[str] = field(default_factory=list)
    text: str = ""
    script: str = ""
    inputs: dict[str, str] = field(default_factory=dict)
    buttons: dict[str, str] = field(default_factory=dict)
    components: dict[str, dict[str, Any]] = field(default_factory=dict)

    async def rerun(self, values: Mapping[str, str] | None = None, button: str = "") -> None:
        """Open the page, or fill in inputs (by label) and press a button, and read on until no other run follows."""
        message = BackMsg()
        message.rerun_script.page_script_hash = self.script
        for label, value in (values or {}).items():
            message.rerun_script.widget_states.widgets.add(id=self.inputs[label], string_value=value)
        if button:
            message.rerun_script.widget_states.widgets.add(id=self.buttons[button], trigger_value=True)
        self.text = ""
        await self.socket.send(message.SerializeToString())
        while not await self._finished():
            pass

    async def _finished(self) -> bool:
        frame = ForwardMsg.FromString(await self.socket.recv())  # type: ignore[arg-type]
        self.text += str(frame)
        kind = frame.WhichOneof("type")
        if kind == "navigation":
            self.pages = [page.page_name for page in frame.navigation.app_pages if not page.is_hidden]
        elif kind == "new_session":
            self.script = frame.new_session.page_script_hash
        elif kind == "delta":
            self._note(frame.delta.new_element)
        return kind == "script_finished" and frame.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY

    def _note(self, element: Any) -> None:
        if element.WhichOneof("type") == "text_input":
            self.inputs[element.text_input.label] = element.text_input.id
        elif element.WhichOneof("type") == "button":
            self.buttons[element.button.label] = element.button.id
        elif element.WhichOneof("type") == "bidi_component":
            self.components[element.bidi_component.component_name.rpartition(".")[2]] = json.loads(
                element.bidi_component.json or "{}"
            )


def visit(address: str, headers: Headers = (), tls: SSLContext | None = None, query: str = "") -> Visit:
    """Open the first page of the dashboard at `address` (http or https, with its path) and read it to its end.

    query  of the handshake's address, for a proxy
    """
    return _in_a_loop_of_its_own(_visit(address, headers, tls, query=query))


def sign_in(address: str, name: str, password: str, tls: SSLContext | None = None) -> str:
    """The cookie, as the server sets it for somebody who types name and password into the form. Raises where it does not."""
    visited = _in_a_loop_of_its_own(_visit(address, (), tls, {"Name": name, "Password": password}))
    request = visited.components["session_cookie"]
    host = "/".join(address.split("/", 3)[:3])
    body = json.dumps({"ticket": request["ticket"], "secure": address.startswith("https")}).encode()
    call = urllib.request.Request(host + request["address"], body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(call, timeout=30, context=tls) as response:
        return str(response.headers["Set-Cookie"])


def _in_a_loop_of_its_own(visit: Any) -> Visit:
    with ThreadPoolExecutor(1) as elsewhere:  # a browser that other tests have started runs a loop in this thread
        visited: Visit = elsewhere.submit(asyncio.run, asyncio.wait_for(visit, 60)).result()
        return visited


async def _visit(
    address: str, headers: Headers, tls: SSLContext | None, form: Mapping[str, str] | None = None, query: str = ""
) -> Visit:
    url = address.replace("http", "ws", 1).rstrip("/") + "/_stcore/stream?" + query
    origin: Any = "/".join(address.split("/", 3)[:3])
    async with connect(
        url,
        additional_headers=headers,
        origin=origin,
        subprotocols=["streamlit"],
        ssl=tls,
        max_size=None,  # type: ignore[list-item]
    ) as socket:
        visited = Visit(socket)
        await visited.rerun()
        if form is not None:
            await visited.rerun(form, "Sign in")
        return visited
