"""Whether a call is asked again, and how: the same, with more room, or drawn anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from audit.llm.calls import ANSWERED, CUT, FAILED, Call, Reply
from audit.llm.limits import Limits

REDRAWN_TEMPERATURE = 0.3
"""At temperature 0 another seed draws the same text again, so a second try at an unreadable one is warmer."""
ROOMS = ("max_tokens", "max_completion_tokens")


@dataclass(frozen=True)
class Job:
    """A call on its way to an endpoint. `body` is what is sent where that is not the call's own body any more."""

    call: Call
    attempt: int = 1
    body: Mapping[str, Any] | None = None
    widened: bool = False
    redrawn: bool = False


def another(job: Job, reply: Reply, readable: bool, limits: Limits) -> Job | None:
    """The next attempt after `reply`, or None when this was the last.

    A failed call is asked for up to `limits.attempts` times, a text cut by its length once more with more room, an unreadable
    one once more, drawn anew. A refused one would be refused again.
    """
    following = replace(job, attempt=job.attempt + 1)
    if reply.outcome == FAILED:
        return following if job.attempt < limits.attempts else None
    if reply.outcome == CUT and not job.widened:
        return replace(following, body=_wider(job, limits.wider), widened=True)
    if reply.outcome == ANSWERED and not readable and not job.redrawn:
        return replace(following, body=_redrawn(job), redrawn=True)
    return None


def _sent(job: Job) -> dict[str, Any]:
    return dict(job.call.body if job.body is None else job.body)


def _wider(job: Job, factor: float) -> dict[str, Any]:
    body = _sent(job)
    return body | {name: int(body[name] * factor) for name in ROOMS if body.get(name)}


def _redrawn(job: Job) -> dict[str, Any]:
    body = _sent(job)
    return body | {"seed": job.attempt, "temperature": max(REDRAWN_TEMPERATURE, body.get("temperature") or 0.0)}
