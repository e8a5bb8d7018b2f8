"""An OpenAI-compatible server that makes the faults it is asked for, in its own thread, and counts its requests.

with fault_server() as server:
    Endpoint(server.url, "judge")
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from tests.support.llm.faults import CONNECTION_FAULTS, FAULTS, completion
from tests.support.llm.fitting import absent_or, answer
from tests.support.llm.thinking import served

FAULT = re.compile(r"fault:([a-z0-9-]+)(?:\*(\d+))?")


@dataclass(frozen=True)
class Answered:
    """A normal answer: the name of its schema, when its request came and it left, and the tokens that it reported."""

    schema: str
    came: float
    left: float
    prompt_tokens: int
    completion_tokens: int


@dataclass
class FaultServer:
    """Its behaviour (may be changed while it runs) and its counts.

    delay_s, capacity   how long an answer takes; more calls than `capacity` at once are answered 503
    slots               calls that it works on at once, the others wait (None: all)
    models, context, key, version   what it is; context in words
    absent_share        of the generator's answers that are NOT ADDRESSED
    obeys, thinks       whether it knows response_format, and whether its model thinks first whatever it is asked
    hybrid, thoughts    how a model that thinks unless told not to is served (tests.support.llm.thinking), and words it thinks
    always, retry_after a fault of every call; the Retry-After header of every fault
    keys, groups        how often each X-Request-Id came; the order in which texts `group:NAME` came
    answers             what each normal answer took: an `Answered`
    """

    delay_s: float = 0.0
    capacity: int | None = None
    slots: int | None = None
    models: tuple[str, ...] = ("judge",)
    context: int = 8_192
    key: str = ""
    version: str = "0.33.0"
    absent_share: float = 0.0
    obeys: bool = True
    thinks: bool = False
    hybrid: str = ""
    thoughts: int = 40
    always: str = ""
    retry_after: str = ""
    port: int = 0
    asked: int = 0
    open: int = 0
    most_open: int = 0
    aborted: int = 0
    keys: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    groups: list[str] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    answers: list[Answered] = field(default_factory=list)
    _free: asyncio.Semaphore | None = None
    _spent: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def unrecorded(self, release: Path) -> set[str]:
        """Instructions that it was given, and that a release does not have in full: in its manifest, or in a further verdict."""
        manifest, later = release / "manifest.json", release / "further_verdicts.jsonl"
        texts = [prompt["system"] for prompt in json.loads(manifest.read_text(encoding="utf-8")).get("prompts", ())]
        if later.is_file():
            verdicts = map(json.loads, later.read_text(encoding="utf-8").splitlines())
            texts += [verdict["prompt"] for verdict in verdicts if "prompt" in verdict]
        given = {one["content"] for body in self.bodies for one in body["messages"] if one["role"] == "system"}
        assert given
        return {one for one in given if not any(one in text for text in texts)}

    # -- behaviour --------------------------------------------------------------------------------------------------------

    async def chat(self, request: web.Request) -> web.StreamResponse:
        self.asked += 1
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            return await self._chat(request)
        except asyncio.CancelledError:
            self.aborted += 1
            raise
        finally:
            self.open -= 1

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self._record_request(request, body)
        if self.capacity is not None and self.open > self.capacity:
            return FAULTS["503"](body)
        if self.key and request.headers.get("Authorization") != f"Bearer {self.key}":
            return FAULTS["401"](body)
        if body["model"] not in self.models:
            return FAULTS["404"](body)
        came = time.monotonic()
        await self._work()
        fault = self._fault(request.headers.get("X-Request-Id", ""), body)
        if fault:
            self.faults[fault] += 1
            return await self._fault_response(fault, request, body)
        return self._normal_response(body, came)

    async def _work(self) -> None:
        if self.slots is None:
            await asyncio.sleep(self.delay_s)
            return
        if self._free is None:
            self._free = asyncio.Semaphore(self.slots)
        async with self._free:
            await asyncio.sleep(self.delay_s)

    async def _fault_response(self, fault: str, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if fault in CONNECTION_FAULTS:
            return await CONNECTION_FAULTS[fault](request, body)
        response: web.Response = FAULTS[fault](body)
        if self.retry_after:
            response.headers["Retry-After"] = self.retry_after
        return response

    def _record_request(self, request: web.Request, body: dict[str, Any]) -> None:
        self.keys[request.headers.get("X-Request-Id", "")] += 1
        self.headers.append(dict(request.headers))
        self.bodies.append(body)
        self.groups += re.findall(r"group:(\S+)", body["messages"][-1]["content"])

    def _fault(self, key: str, body: dict[str, Any]) -> str | None:
        text = " ".join(str(message["content"]) for message in body["messages"])
        match = FAULT.search(f"{text} {self.always}")
        if not match:
            return None
        name, times = match[1], match[2]
        self._spent[key, name] += 1
        return name if times is None or self._spent[key, name] <= int(times) else None

    def _normal_response(self, body: dict[str, Any], came: float) -> web.Response:
        if self.thinks:
            return web.json_response(completion(body, "", "length", reasoning="Let me think."))
        schema = body.get("response_format", {}).get("json_schema", {}).get("name", "")
        text = absent_or(answer(body), self.absent_share) if schema == "answer" else answer(body)
        if self.hybrid:
            return served(self.hybrid, body, text, self.thoughts)
        content = completion(body, text if self.obeys else "A poem about the sea.")
        if content["usage"]["prompt_tokens"] > self.context:
            return FAULTS["400"](body)
        usage = content["usage"]
        self.answers.append(Answered(schema, came, time.monotonic(), usage["prompt_tokens"], usage["completion_tokens"]))
        return web.json_response(content)

    async def list_models(self, request: web.Request) -> web.Response:
        if self.key and request.headers.get("Authorization") != f"Bearer {self.key}":
            return FAULTS["401"]({})
        cards = [{"id": name, "object": "model", "max_model_len": self.context} for name in self.models]
        return web.json_response({"object": "list", "data": cards})

    async def report_version(self, request: web.Request) -> web.Response:
        return web.json_response({"version": self.version}) if self.version else web.Response(status=404)

    async def report_health(self, _: web.Request) -> web.Response:
        return web.json_response({"status": "ok"})

    async def tokenize(self, request: web.Request) -> web.Response:
        body = await request.json()
        words = sum(len(str(part["content"]).split()) for part in body["messages"])
        return web.json_response({"count": words, "max_model_len": self.context, "tokens": []})

    def app(self) -> web.Application:
        app = web.Application(client_max_size=2**26)
        app.router.add_post("/v1/chat/completions", self.chat)
        app.router.add_get("/v1/models", self.list_models)
        app.router.add_get("/version", self.report_version)
        app.router.add_get("/health", self.report_health)
        app.router.add_post("/tokenize", self.tokenize)
        return app


class _Serving:
    def __init__(self, server: FaultServer) -> None:
        self._server, self._loop = server, asyncio.new_event_loop()
        self._runner = web.AppRunner(server.app(), handler_cancellation=True, shutdown_timeout=0.1)
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def start(self) -> None:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(10)

    async def _listen(self) -> None:
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._server.port, reuse_address=True)
        await site.start()
        self._server.port = self._runner.addresses[0][1]

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()


@contextmanager
def fault_server(**behaviour: Any) -> Iterator[FaultServer]:
    """A running server; afterwards its port refuses connections."""
    server = FaultServer(**behaviour)
    serving = _Serving(server)
    serving.start()
    try:
        yield server
    finally:
        serving.stop()
