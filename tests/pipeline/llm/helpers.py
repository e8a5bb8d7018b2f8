"""Calls for the tests of the client and the runner, and a run of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from audit.pipeline.llm.calls import Busy, Call
from audit.pipeline.llm.client import Client, Endpoint
from audit.pipeline.llm.limits import Limits
from audit.pipeline.llm.runner import CallStats, run_calls
from audit.release.journal_files import Reply
from tests.support.llm.fault_server import FaultServer

KEY = "sk-very-secret"
SCHEMA = {
    "type": "object",
    "properties": {"reasoning": {"type": "string", "maxLength": 60}, "label": {"enum": ["SAME", "OTHER"]}},
    "required": ["reasoning", "label"],
    "additionalProperties": False,
}
FORMAT = {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": SCHEMA}}
QUICK = Limits(concurrency=8, start=8, connect_s=1, read_s=9, pause_s=0.02, cooldown_s=0.1, refused_s=0.4, busy_s=5, tick_s=0.05)
IMPATIENT = replace(QUICK, connect_s=0.5, read_s=0.4)
LENIENT = {"unreadable_share": 1.0, "cut_share": 1.0, "failed_share": 1.0}


def call(text: str, group: str = "q1", model: str = "judge", **body: Any) -> Call:
    messages = [{"role": "system", "content": "Judge."}, {"role": "user", "content": f"{text} group:{group}"}]
    request = {"model": model, "messages": messages, "response_format": FORMAT, "temperature": 0, "max_tokens": 100}
    return Call(request | body, group, "structured")


def questions(number: int, pairs: int) -> list[Call]:
    return [call(f"pair {pair}", group=f"q{question}") for question in range(number) for pair in range(pairs)]


def readable(_: Call, reply: Reply) -> bool:
    """As the parser does: the last object in the text, control characters allowed."""
    with suppress(ValueError, TypeError, AttributeError):
        text = reply.text or ""
        return "label" in json.loads(text[text.rindex("{") :], strict=False)
    return False


def limits_for(text: str) -> Limits:
    """Short limits for an answer that never comes; longer ones otherwise, because a busy machine may be slow."""
    return IMPATIENT if "slow" in text or "silent" in text else QUICK


def ask(server: FaultServer, text: str, key: str = "") -> Reply | Busy:
    async def once() -> Reply | Busy:
        async with Client(Endpoint(server.url, "judge", key), limits_for(text)) as client:
            return await client.ask(call(text))

    return asyncio.run(once())


def run(
    servers: FaultServer | Iterable[FaultServer], calls: Iterable[Call], limits: Limits = QUICK, key: str = ""
) -> tuple[CallStats, list[Reply]]:
    """The counts, and every stored reply."""
    replies: list[Reply] = []
    all_servers = [servers] if isinstance(servers, FaultServer) else servers
    endpoints = [Endpoint(server.url, "judge", key) for server in all_servers]
    return asyncio.run(run_calls(calls, endpoints, replies.append, readable=readable, limits=limits)), replies
