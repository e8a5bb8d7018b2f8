"""What asking will cost: calls counted, tokens and time estimated from a few calls or by a rule of thumb."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from audit.llm.calls import Call

CHARACTERS_PER_TOKEN = 4.0
SAMPLE = 8


@dataclass(frozen=True)
class Cost:
    """The open calls of one stage: how many, the characters of their prompts, the first few, the longest.

    `written` are the tokens that a reply takes, roughly, where no server can be asked.
    """

    stage: str
    calls: int = 0
    characters: int = 0
    sample: tuple[Call, ...] = ()
    longest: Call | None = None
    written: float = 0.0


@dataclass(frozen=True)
class Rates:
    """What a call takes, as a few calls have shown, or by a rule of thumb: then no time is known."""

    characters_per_token: float = CHARACTERS_PER_TOKEN
    written: float | None = None
    latency_s: float | None = None


def cost_of(stage: str, calls: Iterable[Call], written: float = 0.0) -> Cost:
    """What some calls of one stage cost."""
    count = characters = most = 0
    sample: list[Call] = []
    longest = None
    for call in calls:
        length = characters_in(call)
        count, characters = count + 1, characters + length
        if count <= SAMPLE:
            sample.append(call)
        if length > most:
            most, longest = length, call
    return Cost(stage, count, characters, tuple(sample), longest, written)


def characters_in(call: Call) -> int:
    """The length of a call's prompt."""
    return sum(len(message["content"]) for message in call.body["messages"])


def rates_from(
    sample: Sequence[Call], prompt_tokens: float | None, completion_tokens: float | None, latency_s: float | None
) -> Rates:
    """What the calls of a sample took on the mean, tokens and seconds a call; the rule of thumb for what is not told."""
    if not sample or not prompt_tokens:
        return Rates(latency_s=latency_s)
    characters = sum(map(characters_in, sample)) / len(sample)
    return Rates(characters / prompt_tokens, completion_tokens, latency_s)


def figures(found: Sequence[Cost], rates: Rates, concurrency: int) -> dict[str, Any]:
    """Calls and tokens by stage, `seconds` for all (None where no endpoint was tried), and what it rests on."""
    stages = [dict(zip(("stage", "calls", "prompt_tokens", "reply_tokens"), _stage(cost, rates), strict=True)) for cost in found]
    known = {"characters_per_token": rates.characters_per_token, "latency_s": rates.latency_s, "concurrency": concurrency}
    return {"stages": stages, "seconds": _seconds(found, rates, concurrency), **known}


def estimate_text(found: Sequence[Cost], rates: Rates, concurrency: int) -> str:
    """Calls, tokens and time, one line a stage, and how the figures came about."""
    lines = [f"{'stage':<12}{'calls':>12}{'prompt tokens':>16}{'reply tokens':>16}", *(_line(cost, rates) for cost in found)]
    characters = f"{rates.characters_per_token:.1f} characters a token"
    seconds = _seconds(found, rates, concurrency)
    if seconds is not None:
        lines.append(f"Estimated from a few calls to the endpoint: {characters}, {rates.latency_s:.2f} s a call.")
        lines.append(f"About {_time(seconds / 3600)}, if {concurrency} calls at once take no longer each than one alone.")
    else:
        lines.append(f"Estimated from the length of the texts, {characters}. How long it takes is not known without an endpoint.")
    return "\n".join(lines)


def _seconds(found: Sequence[Cost], rates: Rates, concurrency: int) -> float | None:
    if rates.latency_s is None:
        return None
    return sum(cost.calls for cost in found) * rates.latency_s / max(1, concurrency)


def _line(cost: Cost, rates: Rates) -> str:
    stage, calls, prompt, written = _stage(cost, rates)
    return f"{stage:<12}{calls:>12,}{prompt:>16,}{written:>16,}"


def _stage(cost: Cost, rates: Rates) -> tuple[str, int, int, int]:
    """(stage, calls, tokens of the prompts, tokens of the replies)"""
    written = cost.calls * (cost.written if rates.written is None else rates.written)
    return cost.stage, cost.calls, round(cost.characters / rates.characters_per_token), round(written)


def _time(hours: float) -> str:
    return f"{hours:.1f} hours" if hours >= 1 else f"{max(1, round(hours * 60))} min"
