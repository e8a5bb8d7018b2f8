"""What an HTTP response of a chat-completions endpoint means. Nothing here talks to a server."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from audit.llm.calls import ANSWERED, CUT, FAILED, REFUSED, Reply

OVERLOADED = (429, 503, 529)
ENDPOINT_FAULTS = (301, 302, 303, 307, 308, 401, 403, 404, 405)
"""Refusals that speak of the endpoint (its address, key or model) and not of the call."""
BROKEN_ENDS = ("abort", "error")
LONGEST_ERROR = 500


@dataclass(frozen=True)
class Busy:
    """No answer, and not the call's fault: ask again, after `after_s` seconds where the server says so.

    `reached` is False when no connection came about. Nothing of it is stored, and no attempt is used up.
    """

    why: str
    after_s: float | None = None
    reached: bool = True


@dataclass(frozen=True)
class Response:
    """A response as it came over the wire; `retry_after` is the header's text."""

    status: int
    raw: bytes
    retry_after: str | None = None

    def json(self) -> Any:
        """The body, or None where it is no JSON. A body nested without end is none either."""
        try:
            return json.loads(self.raw, strict=False)
        except (ValueError, RecursionError):
            return None

    def said(self) -> str:
        """What the server says of an error, on one line and not at length."""
        body = self.json()
        told = _message(body) if isinstance(body, dict) else None
        text = " ".join((told or self.raw[: 8 * LONGEST_ERROR].decode(errors="replace")).split())
        return f"status {self.status}: {text[:LONGEST_ERROR] or 'nothing else was said'}"


def _message(body: Mapping[str, Any]) -> str | None:
    error = body.get("error")
    places = (error.get("message") if isinstance(error, dict) else error, body.get("message"), body.get("detail"))
    return next((place for place in places if isinstance(place, str) and place), None)


def read_response(key: str, attempt: int, response: Response) -> Reply | Busy:
    """The one outcome that a response stands for."""
    if response.status in OVERLOADED:
        return Busy(response.said(), seconds(response.retry_after))
    if response.status >= 500:
        return Reply(key, FAILED, attempt, status=response.status, error=response.said())
    if not 200 <= response.status < 300:
        return Reply(key, REFUSED, attempt, status=response.status, error=response.said())
    return _completion(key, attempt, response)


def seconds(retry_after: str | None, now: datetime | None = None) -> float | None:
    """Seconds to wait by a Retry-After header, a number or a date; None where it says nothing sensible."""
    if not retry_after:
        return None
    try:
        wait = float(retry_after)
    except ValueError:
        wait = _until(retry_after, now or datetime.now(UTC))
    return max(0.0, wait) if math.isfinite(wait) else None


def _until(date: str, now: datetime) -> float:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return math.nan
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now.timestamp()


def _completion(key: str, attempt: int, response: Response) -> Reply:
    body = response.json()
    choice = _first_choice(body)
    if choice is None:
        return Reply(key, FAILED, attempt, status=response.status, error=f"no completion in the body, {response.said()}")
    finish, text, note = choice.get("finish_reason"), _text(choice), _thought(choice)
    outcome = CUT if finish == "length" else FAILED if finish in BROKEN_ENDS else ANSWERED
    error = f"the server ended it with {finish}" if outcome == FAILED else note
    return Reply(
        key,
        outcome,
        attempt,
        text=text,
        finish_reason=_word(finish),
        status=response.status,
        error=error,
        usage=_usage(body.get("usage")),
        model=_word(body.get("model")),
        server=_word(body.get("system_fingerprint")),
    )


def _first_choice(body: Any) -> dict[str, Any] | None:
    choices = body.get("choices") if isinstance(body, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) and isinstance(first.get("message"), dict) else None


def _word(value: Any) -> str | None:
    return _sound(value) if isinstance(value, str) else None


def _sound(text: str) -> str:
    """Half a surrogate pair, which JSON can carry and no file can, becomes the replacement character."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _text(choice: Mapping[str, Any]) -> str | None:
    return _word(choice["message"].get("content"))


def _thought(choice: Mapping[str, Any]) -> str | None:
    """Thinking is never the answer; where it took the answer's place, the reply says so."""
    message = choice["message"]
    thinking = message.get("reasoning") or message.get("reasoning_content")
    if thinking and not (_text(choice) or "").strip():
        return "the text stands in `reasoning` and the content is empty: thinking is on"
    return None


def _usage(usage: Any) -> dict[str, int]:
    if not isinstance(usage, dict):
        return {}
    prompt, completion = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    told = {
        "prompt_tokens": usage.get("prompt_tokens"),
        "completion_tokens": usage.get("completion_tokens"),
        "cached_tokens": prompt.get("cached_tokens") if isinstance(prompt, dict) else None,
        "reasoning_tokens": completion.get("reasoning_tokens") if isinstance(completion, dict) else None,
    }
    return {name: count for name, count in told.items() if isinstance(count, int) and not isinstance(count, bool)}
