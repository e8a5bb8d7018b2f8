"""One attempt at one call: the HTTP request to an OpenAI-compatible endpoint, and what its response means.

The only module that knows the `openai` library, which it loads when a client is made.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from audit.errors import AuditError
from audit.llm.calls import ANSWERED, CUT, FAILED, REFUSED, Call, Reply
from audit.llm.limits import Limits

MAX_BODY_BYTES = 4 * 2**20
# uvicorn closes a connection after 5 s without a request, and a request sent at that very moment is lost. Ours close earlier.
KEEPALIVE_S = 3.0
# The library would describe this machine in these headers, and would send the organisation and the project of another
# service if the environment names them. Those of the second list are set anew for each request.
OMITTED_HEADERS = (
    "OpenAI-Organization",
    "OpenAI-Project",
    *(f"x-stainless-{name}" for name in ("lang", "package-version", "os", "arch", "runtime", "runtime-version")),
)
OMITTED_HEADERS_PER_REQUEST = tuple(f"x-stainless-{name}" for name in ("retry-count", "read-timeout", "async"))
ALLOWED = "Allowed: an address such as http://127.0.0.1:8000/v1. Nothing was asked. Set AUDIT_JUDGE_URL."

OVERLOADED = (429, 503, 529)
ENDPOINT_FAULTS = (301, 302, 303, 307, 308, 401, 403, 404, 405)
"""Refusals because of the endpoint (its address, key or model) and not because of the call."""
BROKEN_FINISH_REASONS = ("abort", "error")
MAX_ERROR_LENGTH = 500


@dataclass(frozen=True)
class Endpoint:
    """A server of models: the address of its API (with or without /v1), the model's name there, the key if it needs one.

    Raises AuditError if the address or the key is not valid.
    """

    base_url: str
    model: str = ""
    key: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "base_url", _checked_address(self.base_url))
        if not (self.key.isascii() and self.key.isprintable()):
            raise AuditError(
                "The endpoint's key contains characters that no key may have. Nothing was asked. Correct AUDIT_JUDGE_KEY."
            )

    @property
    def root(self) -> str:
        """The server's address without /v1, where vLLM reports its version."""
        return self.base_url.removesuffix("/v1")


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
            max_retries=0,  # the scheduler retries: it knows what all the other calls met
            timeout=timeout,
            # With aiohttp's transport a call takes about a third less CPU time than with the default one.
            http_client=openai.DefaultAioHttpClient(
                timeout=timeout,
                limits=httpx2.Limits(max_connections=limits.concurrency + 8, keepalive_expiry=KEEPALIVE_S),
                follow_redirects=False,
                event_hooks={"response": [_bound_body]},
            ),
        )
        self._omitted: dict[str, Any] = dict.fromkeys(OMITTED_HEADERS_PER_REQUEST, openai.Omit())
        self._status_error, self._response_type = openai.APIStatusError, httpx2.Response
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
        async with asyncio.timeout(self._deadline_s):
            try:
                if method == "GET":
                    response = await self._sdk.get(url, cast_to=self._response_type, options=options)
                else:
                    response = await self._sdk.post(url, cast_to=self._response_type, body=body, options=options)
            except self._status_error as error:
                response = error.response
        return Response(response.status_code, response.content, response.headers.get("Retry-After"))

    def _without_response(self, key: str, attempt: int, error: BaseException) -> Reply | Busy:
        """What it means that there is no response."""
        cause = error.__cause__ if type(error).__module__.startswith("openai") and error.__cause__ else error
        root = cause.__cause__ or cause
        connect_errors, connect_causes = self._not_connected
        # aiohttp's lost connections arrive as ConnectTimeout too; only a refusal or a timeout means that there never was one.
        if isinstance(cause, connect_errors) and isinstance(root, connect_causes):
            return Busy(f"no connection, {_describe(root)}", reached=False)
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
    """Let the body of a response end in BodyTooLongError at MAX_BODY_BYTES: an endless one would fill the memory."""
    response.stream = _bounded_stream_type()(response.stream)


@cache
def _bounded_stream_type() -> Callable[[Any], Any]:
    import httpx2

    class BoundedStream(httpx2.AsyncByteStream):
        def __init__(self, stream: Any) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            length = 0
            async for part in self._stream:
                length += len(part)
                if length > MAX_BODY_BYTES:
                    raise BodyTooLongError
                yield part

        async def aclose(self) -> None:
            await self._stream.aclose()

    return BoundedStream


# -- what a response means ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Busy:
    """No answer, through no fault of the call: ask again, after `after_s` seconds if the server says so.

    `reached` is False if there was no connection. None of this is stored, and it does not count as an attempt.
    """

    why: str
    after_s: float | None = None
    reached: bool = True


@dataclass(frozen=True)
class Response:
    """An HTTP response: its status, its body, and the text of its Retry-After header."""

    status: int
    raw: bytes
    retry_after: str | None = None

    def json(self) -> Any:
        """The body, or None if it is not JSON; a body that is nested too deeply counts as not JSON."""
        try:
            return json.loads(self.raw, strict=False)
        except (ValueError, RecursionError):
            return None

    def error_text(self) -> str:
        """The server's error message on one line, at most MAX_ERROR_LENGTH characters long."""
        body = self.json()
        message = _error_message(body) if isinstance(body, dict) else None
        text = " ".join((message or self.raw[: 8 * MAX_ERROR_LENGTH].decode(errors="replace")).split())
        return f"status {self.status}: {text[:MAX_ERROR_LENGTH] or 'no error message'}"


def _error_message(body: Mapping[str, Any]) -> str | None:
    error = body.get("error")
    candidates = (error.get("message") if isinstance(error, dict) else error, body.get("message"), body.get("detail"))
    return next((text for text in candidates if isinstance(text, str) and text), None)


def read_response(key: str, attempt: int, response: Response) -> Reply | Busy:
    """The one outcome that a response has."""
    if response.status in OVERLOADED:
        return Busy(response.error_text(), retry_after_seconds(response.retry_after))
    if response.status >= 500:
        return Reply(key, FAILED, attempt, status=response.status, error=response.error_text())
    if not 200 <= response.status < 300:
        return Reply(key, REFUSED, attempt, status=response.status, error=response.error_text())
    return _read_completion(key, attempt, response)


def retry_after_seconds(header: str | None, now: datetime | None = None) -> float | None:
    """Seconds to wait by a Retry-After header, a number or a date; None if it makes no sense."""
    if not header:
        return None
    try:
        wait_s = float(header)
    except ValueError:
        wait_s = _seconds_until(header, now or datetime.now(UTC))
    return max(0.0, wait_s) if math.isfinite(wait_s) else None


def _seconds_until(date: str, now: datetime) -> float:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return math.nan
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now.timestamp()


def _read_completion(key: str, attempt: int, response: Response) -> Reply:
    body = response.json()
    choice = _first_choice(body)
    if choice is None:
        error = f"no completion in the body, {response.error_text()}"
        return Reply(key, FAILED, attempt, status=response.status, error=error)
    finish_reason = choice.get("finish_reason")
    outcome = CUT if finish_reason == "length" else FAILED if finish_reason in BROKEN_FINISH_REASONS else ANSWERED
    return Reply(
        key,
        outcome,
        attempt,
        text=_storable(choice["message"].get("content")),
        finish_reason=_storable(finish_reason),
        status=response.status,
        error=f"the server ended it with {finish_reason}" if outcome == FAILED else _thinking_note(choice["message"]),
        usage=_token_counts(body.get("usage")),
        model=_storable(body.get("model")),
        server=_storable(body.get("system_fingerprint")),
    )


def _first_choice(body: Any) -> dict[str, Any] | None:
    choices = body.get("choices") if isinstance(body, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) and isinstance(first.get("message"), dict) else None


def _storable(text: Any) -> str | None:
    """Half a surrogate pair is allowed in JSON but in no file: it becomes the replacement character."""
    if not isinstance(text, str) or text.isascii():
        return text if isinstance(text, str) else None
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _thinking_note(message: Mapping[str, Any]) -> str | None:
    """Thinking is never the answer. If it took the place of the answer, the reply notes that."""
    thinking = message.get("reasoning") or message.get("reasoning_content")
    if thinking and not (_storable(message.get("content")) or "").strip():
        return "the text is in `reasoning` and the content is empty: thinking is on"
    return None


def _token_counts(usage: Any) -> dict[str, int]:
    if not isinstance(usage, dict):
        return {}
    prompt, completion = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    counts = {
        "prompt_tokens": usage.get("prompt_tokens"),
        "completion_tokens": usage.get("completion_tokens"),
        "cached_tokens": prompt.get("cached_tokens") if isinstance(prompt, dict) else None,
        "reasoning_tokens": completion.get("reasoning_tokens") if isinstance(completion, dict) else None,
    }
    return {name: count for name, count in counts.items() if isinstance(count, int) and not isinstance(count, bool)}
