"""Names for themes from the judge's model: `audit themes build --llm-names`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

from audit.cli.asking import endpoints_of, limits_of, model_of
from audit.errors import AuditError
from audit.llm.calls import Call, Reply
from audit.llm.prompts import Prompt
from audit.llm.runner import run_calls
from audit.settings import Settings
from audit.themes.naming import Card, Namer
from audit.themes.prompts import MAX_NAME, load_name_prompt


def model_namer(settings: Settings) -> tuple[Namer, dict[str, str]]:
    """A namer that asks the endpoint of the settings, and what the artefact says of it: model, and the prompt with its digest.

    A theme to which no readable name comes back keeps the name that its words give it. Raises AuditError when no endpoint
    is set, or it will not do.
    """
    if not settings.judge_urls:
        raise AuditError(
            "No model is set to name the themes. Nothing was asked. Set AUDIT_JUDGE_URL to an OpenAI-compatible endpoint, or "
            "leave --llm-names out: themes are then named by their own words."
        )
    model, prompt = model_of(settings, None), load_name_prompt()

    def names(cards: Sequence[Card]) -> list[str | None]:
        calls = [_call(prompt, model, number, card) for number, card in enumerate(cards)]
        replies = _ask(settings, model, calls)
        return [read_name(replies.get(call.key)) for call in calls]

    return names, {"namer": model, "namer_prompt": prompt.title}


def _call(prompt: Prompt, model: str, number: int, card: Card) -> Call:
    phrases = card.children or card.exemplars
    return prompt.call(model, f"theme {number}", {"words": ", ".join(card.terms), "phrases": "\n".join(phrases)})


def _ask(settings: Settings, model: str, calls: Sequence[Call]) -> dict[str, Reply]:
    replies: dict[str, Reply] = {}

    def keep(reply: Reply) -> None:
        replies[reply.key] = reply

    once = {call.key: call for call in calls}.values()
    asked = run_calls(
        once, endpoints_of(settings, model), keep, readable=lambda _, reply: read_name(reply) is not None,
        limits=limits_of(settings),
    )  # fmt: skip
    asyncio.run(asked)
    return replies


def read_name(reply: Reply | None) -> str | None:
    """The name in a reply, on one line; None where there is none, or it is longer than a name."""
    try:
        told = json.loads(reply.text or "", strict=False) if reply else None
    except ValueError:
        return None
    name = told.get("name") if isinstance(told, dict) else None
    name = " ".join(name.split()) if isinstance(name, str) else ""
    return name if 0 < len(name) <= MAX_NAME else None
