"""One attempt at one call: the HTTP request to an OpenAI-compatible endpoint.

The only module that knows the `openai` library, which it loads when a client is made.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import cache, partial
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from audit.errors import AuditError
from audit.pipeline.llm.calls import FAILED, Busy, Call, Response, read_response
from audit.pipeline.llm.limits import Limits
from audit.release.journal_files import Reply

# Far above any reply; a longer body is a fault of the server. Only the status and message of an error matter.
MAX_BODY_BYTES = 4 * 2**20
MAX_ERROR_BODY_BYTES = 2**16
# uvicorn closes a connection after 5 s without a request, and a request sent at that very moment is lost. Ours close earlier.
KEEPALIVE_S = 3.0
# The library would describe this machine in these headers, and would send the organisation and the project of another
# service if the environment names them. The library sets those of the second list for each request.
OMITTED_HEADERS = (
    "OpenAI-Organization",
    "OpenAI-Project",
    *(f"x-stainless-{name}" for name in ("lang", "package-version", "os", "arch", "runtime", "runtime-version")),
)
OMITTED_HEADERS_PER_REQUEST = tuple(f"x-stainless-{name}" for name in ("retry-count", "read-timeout", "async"))
ALLOWED = "Allowed: an address such as http://127.0.0.1:8000/v1. Nothing was asked. Set AUDIT_JUDGE_URL."


@dataclass(frozen=True)
class Endpoint:
    """A server of models: the address of its API (with or without /v1), the model's name there, the key if it needs one.

    thinking  tokens in which the model may think before each reply: the probe checks that it does as it is asked

    Raises AuditError if the address or the key is not valid.
    """

    base_url: str
    model: str = ""
    key: str = field(default="", repr=False)
    thinking: int = 0

    def __post_init__(self) -> None:
        # The class is frozen.
        object.__setattr__(self, "base_url", _checked_address(self.base_url))
        # It goes into a header, where a line break would begin another one.
        if not (self.key.isascii() and self.key.isprintable()):
            raise AuditError(
                "The endpoint's key contains characters that no key may have. Nothing was asked. Correct AUDIT_JUDGE_KEY."
            )

    @property
    def root(self) -> str:
        """The server's address without /v1, where vLLM reports its version."""
        return self.base_url.removesuffix("/v1")


@cache
def _certificates() -> ssl.SSLContext:
    """The certificates that this machine trusts. Reading them takes 30 ms of computing time, most of what a client takes."""
    import httpx2

    return httpx2.create_ssl_context()


def _checked_address(url: str) -> str:
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port)
    except ValueError:
        raise AuditError(f"The endpoint's address '{url}' is not a valid URL. {ALLOWED}") from None
    if parts.username is not None or parts.query or parts.fragment:  # it may contain a secret, so it is not shown
        raise AuditError(
            f"The endpoint's address contains a user name, a query or a fragment; keys belong in AUDIT_JUDGE_KEY. {ALLOWED}"
        )
    if not valid:
        raise AuditError(f"The endpoint's address '{url}' is not a valid URL. {ALLOWED}")
    return url.rstrip("/") if parts.path.strip("/") else f"{url.rstrip('/')}/v1"


class BodyTooLongError(Exception):
    """A response has more than MAX_BODY_BYTES."""


class Client:
    """The connections to one endpoint, for one event loop: `async with Client(endpoint, limits) as client`.

    Requests go through the library's `post` and `get`, which its documentation gives for endpoints and fields that it does not
    type. `chat.completions.create` would check vLLM's fields against OpenAI's types and build a model of each reply, which
    takes half as much CPU time again, and would not let a reply that breaks the format reach the journal unchanged.
    """

    def __init__(self, endpoint: Endpoint, limits: Limits) -> None:
        import aiohttp
        import httpx2
        import openai

        self.endpoint, self._limits = endpoint, limits
        # The library's read timeout starts again with every byte, so a slow drip of bytes would never end.
        self._deadline_s = limits.connect_s + limits.read_s
        timeout = httpx2.Timeout(limits.read_s, connect=limits.connect_s, pool=None)
        self._sdk = openai.AsyncOpenAI(
            base_url=endpoint.base_url,
            api_key=endpoint.key or "none",  # never None, or the library sends the environment's OPENAI_API_KEY
            default_headers=dict.fromkeys(OMITTED_HEADERS, openai.Omit()),  # type: ignore[arg-type]
            max_retries=0,  # the scheduler retries, because it knows the results of all other calls
            timeout=timeout,
            # With aiohttp's transport a call takes about a third less CPU time than with the default one.
            http_client=openai.DefaultAioHttpClient(
                timeout=timeout,
                limits=httpx2.Limits(max_connections=limits.concurrency + 8, keepalive_expiry=KEEPALIVE_S),
                follow_redirects=False,
                verify=_certificates(),
                event_hooks={"response": [_bound_body]},
            ),
        )
        self._omitted: dict[str, Any] = dict.fromkeys(OMITTED_HEADERS_PER_REQUEST, openai.Omit())
        self._status_error, self._response_type = openai.APIStatusError, httpx2.Response
        self._open: set[asyncio.Timeout] = set()
        self._abandoned = False
        self._no_response = (openai.APIConnectionError, httpx2.HTTPError, TimeoutError, BodyTooLongError)
        self._not_connected = (httpx2.ConnectError, httpx2.ConnectTimeout), (aiohttp.ClientConnectorError, TimeoutError)

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._sdk.close()

    async def ask(self, call: Call, attempt: int = 1, body: Mapping[str, Any] | None = None) -> Reply | Busy:
        """One attempt at a call. `body` replaces the call's own body if the call is asked in a different way."""
        started = time.monotonic()
        url = f"{self.endpoint.base_url}/chat/completions"
        try:
            response = await self._send("POST", url, body or call.body, {"X-Request-Id": call.key})
        except self._no_response as error:
            outcome = self._without_response(call.key, attempt, error)
        else:
            outcome = read_response(call.key, attempt, response)
        if isinstance(outcome, Busy):
            return replace(outcome, why=self._without_key(outcome.why) or "")
        return replace(outcome, error=self._without_key(outcome.error), latency_s=round(time.monotonic() - started, 4))

    async def fetch(self, method: str, url: str, body: Mapping[str, Any] | None = None) -> tuple[int | None, Any]:
        """(status, the JSON of the body or None) of any other request; (None, why) if there was no response."""
        try:
            response = await self._send(method, url, body, {})
        except self._no_response as error:
            outcome = self._without_response("", 1, error)
            return None, self._without_key(outcome.why if isinstance(outcome, Busy) else outcome.error)
        return response.status, response.json()

    async def _send(self, method: str, url: str, body: Mapping[str, Any] | None, headers: Mapping[str, str]) -> Response:
        """The response to one request, whatever its status. Raises one of `self._no_response` if there is none."""
        options: Any = {"headers": {**headers, **self._omitted}}
        async with asyncio.timeout(self._deadline_s) as deadline:
            self._open.add(deadline)
            try:
                if method == "GET":
                    response = await self._sdk.get(url, cast_to=self._response_type, options=options)
                else:
                    response = await self._sdk.post(url, cast_to=self._response_type, body=body, options=options)
            except self._status_error as error:
                response = error.response
            finally:
                self._open.discard(deadline)
        return Response(response.status_code, response.content, response.headers.get("Retry-After"))

    def abandon(self) -> None:
        """End every open call now; each comes back as Busy, to be asked of another endpoint."""
        self._abandoned = True
        for deadline in self._open:
            deadline.reschedule(asyncio.get_running_loop().time())

    def _without_response(self, key: str, attempt: int, error: BaseException) -> Reply | Busy:
        """The outcome of a call that got no response."""
        # The library wraps httpx's errors, and these wrap aiohttp's: the innermost one describes what happened.
        cause = error.__cause__ if type(error).__module__.startswith("openai") and error.__cause__ else error
        root = cause.__cause__ or cause
        connect_errors, connect_causes = self._not_connected
        # aiohttp's lost connections arrive as ConnectTimeout too; only a refusal or a timeout means that there never was one.
        if isinstance(cause, connect_errors) and isinstance(root, connect_causes):
            return Busy(f"no connection, {_describe(root)}", reached=False)
        if self._abandoned:
            return Busy("abandoned, because the endpoint answered nothing", reached=False)
        if isinstance(cause, BodyTooLongError):
            why = f"the body is longer than {MAX_BODY_BYTES:,} bytes"
        elif isinstance(cause, TimeoutError) or isinstance(root, TimeoutError):
            why = f"no answer within {self._limits.read_s:,.0f} s"
        else:
            why = f"the connection was lost, {_describe(root)}"
        return Reply(key, FAILED, attempt, error=why)

    def _without_key(self, text: str | None) -> str | None:
        """Some servers repeat the key in their error message; it must not reach the journal or a log."""
        return text.replace(self.endpoint.key, "***") if text and self.endpoint.key else text


def _describe(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


async def _bound_body(response: Any) -> None:
    """Bound what is read of a body after unpacking: an endless one, or a few bytes of gzip, would fill the memory."""
    # The library reads an error's body itself, in full, before anything else sees the response.
    response.aiter_bytes = partial(_bounded_parts, response, response.aiter_bytes)


async def _bounded_parts(response: Any, read: Callable[[], AsyncGenerator[bytes]]) -> AsyncGenerator[bytes]:
    """The parts of a body. A reply ends in BodyTooLongError at MAX_BODY_BYTES, an error just ends at MAX_ERROR_BODY_BYTES."""
    left = MAX_BODY_BYTES if response.is_success else MAX_ERROR_BODY_BYTES
    async with aclosing(read()) as parts:
        async for part in parts:
            yield part[:left]
            left -= len(part)
            if left < 0:
                break
    if left < 0:
        await response.aclose()  # frees the connection, which still has bytes to deliver
        if response.is_success:
            raise BodyTooLongError
