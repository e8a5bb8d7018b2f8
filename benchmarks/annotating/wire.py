"""Annotators without a browser: they speak Streamlit's own protocol over a websocket, as its JavaScript does.

What they send is what the labelling widget sends (the same event, the same fragment), and a label's time runs from the moment the
submit is handed to the socket to the moment the frame with the next item has been read from it: queueing, script, label
store, serialization and transfer, all but drawing.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

LABELS = ("ABSENT", "CONSISTENT", "COMPLEMENTARY")


@dataclass
class Wire:
    """One annotator's connection, and what stands on the screen.

    data   what the labelling widget was last given
    times  milliseconds of each label, from submit to next item
    sizes  bytes of each label's frames from the server
    """

    name: str
    socket: ClientConnection
    script: str = ""
    fragment: str = ""
    widget: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    times: list[float] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    count: int = 0

    async def open(self) -> None:
        """Open the page and read it to its end."""
        message = BackMsg()
        message.rerun_script.query_string = ""
        await self.socket.send(message.SerializeToString())
        while await self.read() != "script_finished" or not self.data:
            pass

    async def read(self) -> str:
        """Take in one message and return its kind."""
        frame = await self.socket.recv()
        assert isinstance(frame, bytes)
        message = ForwardMsg.FromString(frame)
        self.sizes[-1:] = [(self.sizes or [0])[-1] + len(frame)]
        kind = str(message.WhichOneof("type"))
        if kind == "new_session":
            self.script = message.new_session.page_script_hash
        element = message.delta.new_element
        if kind == "delta" and element.bidi_component.component_name.endswith("labelling_widget"):
            self.widget, self.fragment = element.bidi_component.id, message.delta.fragment_id
            self.data = json.loads(element.bidi_component.json)
            return "widget"
        return kind

    async def label(self) -> None:
        """Label what stands on the screen, and read on to the end of the run that brings the next item."""
        assignment, self.count = self.data["current"], self.count + 1
        key = f"{self.name}/{self.count}"
        message = self._submit(key, assignment)
        self.sizes.append(0)
        start = time.perf_counter()
        await self.socket.send(message)
        while await self.read() != "widget" or key not in self.data["handled"]:
            pass
        self.times.append((time.perf_counter() - start) * 1_000)
        assert not self.data["failed"], self.data["failed"]
        assert self.data["current"] != assignment
        while await self.read() != "script_finished":
            pass

    def _submit(self, key: str, assignment: str) -> bytes:
        event = {"key": key, "kind": "submit", "assignment": assignment, "label": LABELS[self.count % 3], "significance": None}
        message = BackMsg()
        message.rerun_script.page_script_hash = self.script
        message.rerun_script.fragment_id = self.fragment
        state = message.rerun_script.widget_states.widgets.add()
        state.id = self.widget
        state.json_value = json.dumps({"outbox": [{**event, "flagged": False, "comment": "", "revises": 0}]})
        return message.SerializeToString()


@dataclass(frozen=True)
class Work:
    """Milliseconds of every label of everybody, kilobytes that one takes, and labels a second of all together."""

    times: list[float]
    kilobytes: float
    rate: float


async def label_together(
    address: str,
    tokens: dict[str, str],
    labels: int,
    pace_s: float,
    mark: Callable[[], None],
    stopped: Callable[[], bool] = lambda: False,
) -> Work:
    """Everybody labels at the same time, a label every `pace_s` seconds each, or flat out; `mark` is called on both ends."""
    ready = asyncio.Barrier(len(tokens) + 1)
    sessions = [_session(address, name, token, ready, labels, pace_s, stopped) for name, token in tokens.items()]
    work = [asyncio.create_task(session) for session in sessions]
    await ready.wait()
    mark()
    start = time.perf_counter()
    await ready.wait()
    seconds = time.perf_counter() - start
    mark()
    done = await asyncio.gather(*work)
    times = [taken for wire in done for taken in wire.times]
    sizes = [size for wire in done for size in wire.sizes]
    return Work(times, sum(sizes) / max(len(sizes), 1) / 1_000, len(times) / seconds)


async def _session(
    address: str, name: str, token: str, ready: asyncio.Barrier, labels: int, pace_s: float, stopped: Callable[[], bool]
) -> Wire:
    headers = {"Cookie": f"handbook_session={token}"}
    async with connect(address.replace("http", "ws") + "/_stcore/stream", additional_headers=headers, max_size=None) as socket:
        wire = Wire(f"{name}/{time.monotonic_ns()}", socket)
        await wire.open()
        await wire.label()  # the first one of a session warms caches
        wire.times, wire.sizes = [], []
        await ready.wait()
        await _work(wire, labels, pace_s, stopped)
        await ready.wait()
        return wire


async def _work(wire: Wire, labels: int, pace_s: float, stopped: Callable[[], bool]) -> None:
    start = time.perf_counter() + pace_s * random.random()  # people do not press in step
    for number in range(labels):
        await asyncio.sleep(max(0.0, start + number * pace_s - time.perf_counter()))
        if stopped():
            return
        await wire.label()
