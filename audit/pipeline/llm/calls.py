"""Calls to a model and their replies, and the meaning of HTTP responses."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import Any

from audit.release.journal_files import Reply

# The server finished its text; the parser decides whether it is readable.
ANSWERED = "answered"
# finish_reason `length`: the text reached the token limit.
CUT = "cut"
# 400, 404, 422, ...: the same request would be refused again.
REFUSED = "refused"
# 500, a timeout, an incomplete body: another attempt may succeed.
FAILED = "failed"


@dataclass(frozen=True)
class Call:
    """One request to a chat-completions endpoint.

    `body` is the JSON body (model, messages, response_format, temperature, max_tokens, ...). Calls with the same `group`, the
    question's id, stay on one endpoint and in one shard, so its prefix cache helps. `repeat` numbers deliberate repeats
    of the same body. `purpose` is the step of the protocol: absence, structured, label, extract. `schema` is what its reply is
    read as, also where the request does not ask for it.
    """

    body: Mapping[str, Any]
    group: str
    purpose: str
    repeat: int = 0
    schema: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def in_text(self) -> bool:
        """Whether its reply may be plain words: the request binds it to no schema."""
        return "response_format" not in self.body

    @property
    def instructions(self) -> str:
        """The fixed part of the prompt, without the texts that it is about; empty where they are in one message."""
        first = self.body["messages"][0]
        return str(first["content"]) if first["role"] == "system" else ""

    @cached_property
    def key(self) -> str:
        """32 hex digits of the SHA-256 of all that determines the answer; the custom_id and X-Request-Id of the request."""
        # Sorted, so the order of the keys of a body cannot make an answered call look new.
        text = json.dumps([self.body, self.repeat], sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:32]


def usage_record(replies: Sequence[Reply]) -> dict[str, float]:
    """The total tokens and seconds of some replies, as a release names them, without what none of them reports."""
    fields = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens", "cached_tokens": "cached_tokens"}
    reported = {name: [r.usage[field] for r in replies if field in r.usage] for name, field in fields.items()}
    seconds = [reply.latency_s for reply in replies if reply.latency_s is not None]
    totals: dict[str, float] = {name: sum(counts) for name, counts in reported.items() if counts}
    return totals | ({"latency_s": round(sum(seconds), 3)} if seconds else {})


# -- what an HTTP response means ----------------------------------------------------------------------------------------

# 529 is not in the standard: some gateways send it when they are overloaded.
OVERLOADED = (429, 503, 529)
# Refusals because of the endpoint (its address, key or model) and not because of the call.
ENDPOINT_FAULTS = (301, 302, 303, 307, 308, 401, 403, 404, 405)
BROKEN_FINISH_REASONS = ("abort", "error")
MAX_ERROR_LENGTH = 500


@dataclass(frozen=True)
class Busy:
    """No answer, through no fault of the call: ask again, after `after_s` seconds if the server gives them.

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
    # OpenAI and vLLM put the message into `error`, older servers into `message`, FastAPI into `detail`.
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
    # float() accepts "nan" and "inf" as well.
    return max(0.0, wait_s) if math.isfinite(wait_s) else None


def _seconds_until(date: str, now: datetime) -> float:
    try:
        moment = parsedate_to_datetime(date)
    except (ValueError, OverflowError):  # a year or a zone of twenty digits
        return math.nan
    # A date without a zone is in UTC: HTTP knows no other.
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now.timestamp()


def _read_completion(key: str, attempt: int, response: Response) -> Reply:
    body = response.json()
    choice = _first_choice(body)
    if choice is None:
        error = f"no completion in the body, {response.error_text()}"
        return Reply(key, FAILED, attempt, status=response.status, error=error)
    finish_reason = choice.get("finish_reason")
    # The server reports these with status 200, but the text ends anywhere.
    outcome = CUT if finish_reason == "length" else FAILED if finish_reason in BROKEN_FINISH_REASONS else ANSWERED
    return Reply(
        key,
        outcome,
        attempt,
        text=_storable(_content_text(choice["message"].get("content"))),
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


def _content_text(content: Any) -> Any:
    """The text of a message; some servers send it in parts, of which those of thinking do not belong to the answer."""
    if not isinstance(content, list):
        return content
    parts = [part.get("text") if isinstance(part, dict) and part.get("type") == "text" else part for part in content]
    return "".join(part for part in parts if isinstance(part, str)) or None


def _storable(text: Any) -> str | None:
    """Half a surrogate pair is allowed in JSON but in no file: it becomes the replacement character."""
    if not isinstance(text, str) or text.isascii():
        return text if isinstance(text, str) else None
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _thinking_note(message: Mapping[str, Any]) -> str | None:
    # Thinking is never the answer; noted, because an empty reply would otherwise be inexplicable.
    thinking = message.get("reasoning") or message.get("reasoning_content")
    if thinking and not (_storable(_content_text(message.get("content"))) or "").strip():
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
    # True is an int in Python, but not a count.
    return {name: count for name, count in counts.items() if isinstance(count, int) and not isinstance(count, bool)}
