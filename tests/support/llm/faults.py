"""Faults by name. A prompt that contains `fault:NAME` gets that fault, with `fault:NAME*2` only the first two times."""

from __future__ import annotations

import asyncio
import json
import zlib
from contextlib import suppress
from functools import partial
from typing import Any

from aiohttp import web

from tests.support.llm.fitting import answer

FLOOD = 200_000
HUGE = 5 * 2**20
LARGE = 20 * 2**20


def completion(body: dict[str, Any], text: str | None, finish: str | None = "stop", **message: Any) -> dict[str, Any]:
    """A valid body; tokens are words."""
    prompt = sum(len(str(part["content"]).split()) for part in body["messages"])
    thought = len(message.get("reasoning", "").split())
    words = thought + len((text or "").split())
    return {
        "id": "chatcmpl-x",
        "object": "chat.completion",
        "model": body.get("model"),
        "system_fingerprint": "fault-server-1",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": words,
            "prompt_tokens_details": {"cached_tokens": prompt // 2},
            "completion_tokens_details": {"reasoning_tokens": thought},
        },
    }


def _error(status: int, message: str, headers: dict[str, str] | None = None) -> web.Response:
    return web.json_response({"error": {"message": message, "code": status}}, status=status, headers=headers)


def _raw(raw: bytes, status: int = 200) -> web.Response:
    return web.Response(body=raw, status=status, content_type="application/json")


def _completed(body: dict[str, Any], text: str | None, finish: str | None = "stop", **message: Any) -> web.Response:
    return web.json_response(completion(body, text, finish, **message))


def _without_usage(body: dict[str, Any]) -> web.Response:
    content = completion(body, answer(body))
    del content["usage"]
    return web.json_response(content)


def _control(body: dict[str, Any]) -> web.Response:
    """A raw control character inside a string, as xgrammar lets it through."""
    return _completed(body, answer(body).replace('": "', '": "\x01\t', 1))


def _surrogate(body: dict[str, Any]) -> web.Response:
    return _raw(json.dumps(completion(body, "SURROGATE " + answer(body))).replace("SURROGATE", "\\ud83d").encode())


FAULTS: dict[str, Any] = {
    "500": lambda body: _error(500, "grammar rejected tokens"),
    "502": lambda body: web.Response(status=502, text="<html><body>Bad  gateway</body></html>", content_type="text/html"),
    "503": lambda body: _error(503, "The engine is currently busy"),
    "503-after": lambda body: _error(503, "The engine is currently busy", {"Retry-After": "1"}),
    "429": lambda body: _error(429, "rate limit"),
    "429-day": lambda body: _error(429, "quota used up", {"Retry-After": "86400"}),
    "400": lambda body: _error(400, "the prompt has 40000 tokens, the context 8192"),
    "422": lambda body: _error(422, "unprocessable"),
    "401": lambda body: _error(401, "Incorrect API key provided: sk-very-secret"),
    "403": lambda body: _error(403, "not for you"),
    "404": lambda body: _error(404, "The model `x` does not exist."),
    "redirect": lambda body: web.Response(status=307, headers={"Location": "http://127.0.0.1:9/"}),
    "length": lambda body: _completed(body, answer(body)[:20], "length"),
    "flood": lambda body: _completed(body, '{"label":' + " \n" * FLOOD, "length"),
    "blank": lambda body: _completed(body, " \n" * FLOOD),
    "control": _control,
    "reasoning": lambda body: _completed(body, "", "stop", reasoning="Let me think about it."),
    "thinking": lambda body: _completed(body, f"<think>Hm, {{ they }} differ.</think>\n{answer(body)}"),
    "prose": lambda body: _completed(body, "I think that they agree."),
    "declines": lambda body: _completed(body, json.dumps({"answer": "I would rather not say.", "declined": True})),
    "null": lambda body: _completed(body, None),
    "abort": lambda body: _completed(body, "", "abort"),
    "no-usage": _without_usage,
    "surrogate": _surrogate,
    "bad-json": lambda body: _raw(b'{"choices": [{"message": '),
    "nested": lambda body: _raw(b"[" * 200_000),
    "no-choices": lambda body: _raw(b'{"choices": []}'),
    "list": lambda body: _raw(b"[1, 2]"),
    "not-utf8": lambda body: _raw(b'{"choices": "\xff\xfe\xfa"}'),
    "error-200": lambda body: _raw(b'{"error": {"message": "upstream said no"}}'),
    "huge": lambda body: _raw(b" " * HUGE),
}


async def cut_body(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    """Half of the bytes that Content-Length announces."""
    raw = json.dumps(completion(body, answer(body))).encode()
    response = web.StreamResponse(headers={"Content-Length": str(len(raw)), "Content-Type": "application/json"})
    await response.prepare(request)
    await response.write(raw[: len(raw) // 2])
    assert request.transport is not None
    request.transport.close()
    return response


async def reset(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    """The connection is aborted before the first byte."""
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def slow(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    """A byte now and then: no pause is long enough for a read timeout."""
    raw = json.dumps(completion(body, answer(body))).encode()
    response = web.StreamResponse(headers={"Content-Length": str(len(raw)), "Content-Type": "application/json"})
    await response.prepare(request)
    for byte in raw:
        await response.write(bytes([byte]))
        await asyncio.sleep(0.1)
    return response


async def silent(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    """No answer for longer than any test waits."""
    await asyncio.sleep(3_600)
    return web.Response()


async def large(status: int, packed: bool, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    """LARGE bytes piece by piece, so that the server itself needs no memory; `packed` as a few kilobytes of gzip."""
    response = web.StreamResponse(status=status, headers={"Content-Encoding": "gzip"} if packed else None)
    await response.prepare(request)
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    piece = b"x" * 2**16
    with suppress(ConnectionResetError):  # a client that has read enough closes the connection
        for _ in range(LARGE // len(piece)):
            await response.write(packer.compress(piece) if packed else piece)
        if packed:
            await response.write(packer.flush())
    return response


LARGE_FAULTS = {
    **{f"large-{status}": partial(large, status, False) for status in (200, 400, 429, 500, 503)},
    **{f"bomb-{status}": partial(large, status, True) for status in (200, 400, 429, 500, 503)},
}
CONNECTION_FAULTS = {"cut-body": cut_body, "reset": reset, "slow": slow, "silent": silent, **LARGE_FAULTS}
