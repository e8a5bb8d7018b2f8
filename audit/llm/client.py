"""Talks to one OpenAI-compatible endpoint. The only module that knows the client library, and it loads it when first used."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from audit.errors import AuditError
from audit.llm.calls import FAILED, Call, Reply
from audit.llm.limits import Limits
from audit.llm.responses import Busy, Response, read_response

LONGEST_BODY = 4 * 2**20
# uvicorn closes an idle connection after 5 s; a request sent in that moment is lost, so ours are dropped before.
KEEPALIVE_S = 3.0
# What the library tells of this machine is nobody's business, and to write each of these costs time in every call.
UNSENT = tuple(f"x-stainless-{name}" for name in ("lang", "package-version", "os", "arch", "runtime", "runtime-version"))
UNSENT_EACH = ("x-stainless-retry-count", "x-stainless-read-timeout", "x-stainless-async")
ALLOWED = "Allowed: an address such as http://127.0.0.1:8000/v1. Nothing was asked. Set AUDIT_JUDGE_URL."


@dataclass(frozen=True)
class Endpoint:
    """Where a model answers: the address of its API (with or without /v1), the model's name there, the key if it asks for one.

    Raises AuditError for an address that is none.
    """

    base_url: str
    model: str = ""
    key: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "base_url", _address(self.base_url))
        if not (self.key.isascii() and self.key.isprintable()):
            raise AuditError("The endpoint's key has characters that no key has. Nothing was asked. Set AUDIT_JUDGE_KEY anew.")

    @property
    def root(self) -> str:
        """The server's own address, where vLLM tells its version."""
        return self.base_url.removesuffix("/v1")


def _address(url: str) -> str:
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port)
    except ValueError:
        raise AuditError(f"The endpoint's address '{url}' is none. {ALLOWED}") from None
    if parts.username is not None or parts.query or parts.fragment:  # it may hold a secret, so it is not shown
        raise AuditError(f"The endpoint's address holds a user, a query or a fragment; keys go into AUDIT_JUDGE_KEY. {ALLOWED}")
    if not sound:
        raise AuditError(f"The endpoint's address '{url}' is none. {ALLOWED}")
    return url.rstrip("/") if parts.path.strip("/") else f"{url.rstrip('/')}/v1"


class TooLongError(Exception):
    """A body went on and on."""


class Client:
    """The connections to one endpoint, for one event loop: `async with Client(endpoint, limits) as client`."""

    def __init__(self, endpoint: Endpoint, limits: Limits) -> None:
        import httpx2
        import openai

        self.endpoint, self._limits = endpoint, limits
        self._chat = f"{endpoint.base_url}/chat/completions"  # whole: to join a path to a base is dear
        self._deadline_s = limits.connect_s + limits.read_s
        omitted: Any = openai.Omit()
        timeout = httpx2.Timeout(limits.read_s, connect=limits.connect_s, pool=None)
        room = httpx2.Limits(max_connections=limits.concurrency + 8, keepalive_expiry=KEEPALIVE_S)
        headers: dict[str, Any] = {"Authorization": f"Bearer {endpoint.key or 'none'}", **dict.fromkeys(UNSENT, omitted)}
        self._openai = openai.AsyncOpenAI(
            base_url=endpoint.base_url,
            api_key=endpoint.key or "none",  # never None: the library would send the environment's OPENAI_API_KEY
            default_headers=headers,
            max_retries=0,
            timeout=timeout,
            http_client=openai.DefaultAioHttpClient(timeout=timeout, limits=room, follow_redirects=False),
        )
        self._openai.organization = self._openai.project = None  # so are these
        self._raw: dict[str, Any] = {"cast_to": httpx2.Response, "stream": True, "stream_cls": openai.AsyncStream[Any]}
        self._unsent = dict.fromkeys(UNSENT_EACH, omitted)
        self._status_error = openai.APIStatusError
        self._unreached = (httpx2.ConnectError, httpx2.ConnectTimeout)
        self._troubles = (openai.APIConnectionError, httpx2.HTTPError, TimeoutError, TooLongError)

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._openai.close()

    async def ask(self, call: Call, attempt: int = 1, body: Mapping[str, Any] | None = None) -> Reply | Busy:
        """One attempt at a call. `body` is what is sent instead of the call's own when it is asked in another way."""
        key, started = call.key, time.monotonic()
        try:
            response = await self.send("POST", self._chat, body or call.body, {"X-Request-Id": key})
        except self._troubles as error:
            found = self._trouble(key, attempt, error)
        else:
            found = read_response(key, attempt, response)
        if isinstance(found, Busy):
            return replace(found, why=self._without_key(found.why) or "")
        return replace(found, error=self._without_key(found.error), latency_s=round(time.monotonic() - started, 4))

    async def fetch(self, method: str, url: str, body: Mapping[str, Any] | None = None) -> tuple[int | None, Any]:
        """(status, the body's JSON or None) of any other request; (None, why) where no response came."""
        try:
            response = await self.send(method, url, body)
        except self._troubles as error:
            found = self._trouble("", 1, error)
            return None, self._without_key(found.why if isinstance(found, Busy) else found.error)
        return response.status, response.json()

    async def send(
        self, method: str, url: str, body: Mapping[str, Any] | None = None, headers: Mapping[str, str] | None = None
    ) -> Response:
        """The response to one request, whatever its status. Raises what the library raises when there is none."""
        async with asyncio.timeout(self._deadline_s):
            try:
                answer = await self._request(method, url, body, headers or {})
            except self._status_error as error:
                said = error.response
                return Response(said.status_code, said.content[:LONGEST_BODY], said.headers.get("Retry-After"))
            try:
                return Response(answer.status_code, await _body(answer))
            finally:
                await answer.aclose()

    async def _request(self, method: str, url: str, body: Mapping[str, Any] | None, headers: Mapping[str, str]) -> Any:
        # The raw response spares the library's models, which cost more than the rest; as a stream, its length can be bounded.
        if method == "GET":
            return await self._openai.get(url, options={"headers": {**headers, **self._unsent}}, **self._raw)
        return await self._openai.post(url, body=body, options={"headers": {**headers, **self._unsent}}, **self._raw)

    def _trouble(self, key: str, attempt: int, error: BaseException) -> Reply | Busy:
        """What it means that no response came."""
        cause = error.__cause__ if type(error).__module__.startswith("openai") and error.__cause__ else error
        root = cause.__cause__ or cause
        # aiohttp's lost connections come as ConnectTimeout as well; only those that ran out of time were never there.
        if isinstance(cause, self._unreached) and (_refused(root) or isinstance(root, TimeoutError)):
            return Busy(f"no connection, {_words(root)}", reached=False)
        if isinstance(cause, TooLongError):
            said = f"the body is longer than {LONGEST_BODY:,} bytes"
        elif isinstance(cause, TimeoutError) or isinstance(root, TimeoutError):
            said = f"no answer within {self._limits.read_s:,.0f} s"
        else:
            said = f"the connection was lost, {_words(root)}"
        return Reply(key, FAILED, attempt, error=said)

    def _without_key(self, text: str | None) -> str | None:
        return text.replace(self.endpoint.key, "***") if text and self.endpoint.key else text


def _refused(root: BaseException) -> bool:
    import aiohttp

    return isinstance(root, aiohttp.ClientConnectorError)


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


async def _body(answer: Any) -> bytes:
    parts, length = [], 0
    async for part in answer.aiter_bytes():
        length += len(part)
        if length > LONGEST_BODY:
            raise TooLongError
        parts.append(part)
    return b"".join(parts)
