"""What is asked of an endpoint and what came back: the two records between protocols, client and journal."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

ANSWERED = "answered"
"""The server finished its text; whether it can be read is the parser's business."""
CUT = "cut"
"""finish_reason `length`: the text ended because the room for it did."""
REFUSED = "refused"
"""400, 404, 422, ...: the same request would be refused again."""
FAILED = "failed"
"""500, a timeout, a body cut short: another attempt may go better."""


@dataclass(frozen=True)
class Call:
    """One request to a chat-completions endpoint.

    `body` is the JSON body (model, messages, response_format, temperature, max_tokens, ...). `group` is what must stay
    together on one endpoint and in one shard, so that its prefix cache helps: the question's id. `repeat` numbers the
    times that the same body is asked on purpose. `purpose` is the protocol's step: absence, structured, label, extract.
    """

    body: Mapping[str, Any]
    group: str
    purpose: str
    repeat: int = 0

    @cached_property
    def key(self) -> str:
        """32 hex digits of the sha256 of everything that decides the answer; custom_id and X-Request-Id of the request."""
        text = json.dumps([self.body, self.repeat], sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Reply:
    """What one attempt at a call brought, as it came: stored before anyone tries to read it.

    `outcome` is ANSWERED, CUT, REFUSED or FAILED. `text` is the message's content, `error` what the server or the
    connection said instead. `usage` has prompt_tokens, completion_tokens and, where the server tells, cached_tokens and
    reasoning_tokens. `attempt` counts from 1; a later attempt at the same key supersedes an earlier one.
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
