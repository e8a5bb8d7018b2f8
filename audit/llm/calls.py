"""What is asked of a model and what came back: the two records between protocols, client and journal."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

ANSWERED = "answered"
"""The server finished its text; whether it can be read is for the parser to say."""
CUT = "cut"
"""finish_reason `length`: the text reached the token limit."""
REFUSED = "refused"
"""400, 404, 422, ...: the same request would be refused again."""
FAILED = "failed"
"""500, a timeout, an incomplete body: another attempt may succeed."""


@dataclass(frozen=True)
class Call:
    """One request to a chat-completions endpoint.

    `body` is the JSON body (model, messages, response_format, temperature, max_tokens, ...). Calls with the same `group`, the
    question's id, stay on one endpoint and in one shard, so that its prefix cache helps. `repeat` numbers deliberate repeats
    of the same body. `purpose` is the step of the protocol: absence, structured, label, extract.
    """

    body: Mapping[str, Any]
    group: str
    purpose: str
    repeat: int = 0

    @cached_property
    def key(self) -> str:
        """32 hex digits of the SHA-256 of all that determines the answer; the custom_id and X-Request-Id of the request."""
        text = json.dumps([self.body, self.repeat], sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Reply:
    """What one attempt at a call brought, unchanged: it is stored before anything reads it.

    `outcome` is ANSWERED, CUT, REFUSED or FAILED. `text` is the content of the message, `error` the message of the server or
    the connection. `usage` has prompt_tokens, completion_tokens and, if the server reports them, cached_tokens and
    reasoning_tokens. `attempt` counts from 1; a later attempt at the same key replaces an earlier one.
    """

    key: str
    outcome: str
    attempt: int = 1
    text: str | None = None
    finish_reason: str | None = None
    status: int | None = None
    error: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    latency_s: float | None = None
    model: str | None = None
    server: str | None = None
