"""A trial of an endpoint: a few calls of a stage, alone and concurrently, measure the cost of a call and the capacity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from audit.pipeline.llm.calls import Call
from audit.pipeline.llm.client import Endpoint
from audit.pipeline.llm.estimate import TRIED, CallRates, measured_rates
from audit.pipeline.llm.limits import Limits
from audit.pipeline.llm.runner import run_calls
from audit.release.journal_files import Reply

ALONE = 3
# Below this share of what its latency alone would allow, an endpoint is at its limit.
UNLIMITED_SHARE = 0.75


@dataclass(frozen=True)
class Trial:
    """The rates measured on a sample of calls, and the replies by the key of their call."""

    rates: CallRates
    replies: dict[str, Reply]


async def try_calls(endpoints: Sequence[Endpoint], sample: Sequence[Call], limits: Limits) -> Trial:
    """Make the calls of `sample`: a few one after the other, the rest as a run would make them, as many at once as it may.

    Raises AuditError where no endpoint answers.
    """
    replies: dict[str, Reply] = {}
    alone, together = sample[:ALONE], sample[ALONE:]
    await _ask(endpoints, alone, replies, replace(limits, concurrency=1, start=1))
    rates = measured_rates(alone, replies, TRIED)
    if not together:
        return Trial(rates, replies)
    at_once = min(limits.concurrency, len(together))
    # Full rounds only: a last one with a few calls would look like an endpoint at its limit
    together = together[: len(together) // at_once * at_once]
    seconds = await _ask(endpoints, together, replies, replace(limits, concurrency=at_once, start=at_once))
    return Trial(_rates(sample, replies, rates.latency_s, len(together) / seconds, at_once), replies)


async def _ask(endpoints: Sequence[Endpoint], calls: Sequence[Call], replies: dict[str, Reply], limits: Limits) -> float:
    """Make the calls and put their replies into `replies`; returns the seconds that took."""

    def put(reply: Reply) -> None:
        replies[reply.key] = reply

    # Readability is checked by the run; the cost of a reply is the same.
    stats = await run_calls(calls, endpoints, put, readable=lambda *_: True, limits=limits)
    return stats.seconds


def _rates(sample: Sequence[Call], replies: dict[str, Reply], alone_s: float | None, per_s: float, at_once: int) -> CallRates:
    """Rates of all calls; `per_s` is the endpoint's limit where `at_once` calls took clearly longer each than one alone."""
    rates = measured_rates(sample, replies, TRIED)
    if alone_s is None or per_s * alone_s >= UNLIMITED_SHARE * at_once:
        return rates
    return replace(rates, latency_s=alone_s, per_s=per_s)
