"""Before a run: whether an endpoint will do what is needed of it, asked of it rather than believed."""

from __future__ import annotations

import asyncio
import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from audit.errors import AuditError
from audit.llm.calls import ANSWERED, CUT, Call, Reply
from audit.llm.client import Client, Endpoint
from audit.llm.limits import Limits
from audit.llm.responses import Busy
from audit.vocabulary import nearest

NOTHING = "Nothing was asked."
WORD = "k7-schema-obeyed"
# An endpoint that ignores the schema writes a poem; one that obeys it can write nothing but this word.
SCHEMA = {"type": "object", "properties": {"probe": {"const": WORD}}, "required": ["probe"], "additionalProperties": False}
ASKED = {
    "messages": [{"role": "user", "content": "Write a poem about the sea."}],
    "response_format": {"type": "json_schema", "json_schema": {"name": "probe", "strict": True, "schema": SCHEMA}},
    "max_tokens": 200,
}
GREETED = {"messages": [{"role": "user", "content": "Say yes."}], "max_tokens": 1}
PATIENCE, PAUSE_S = 5, 1.0
MOST_READ_S = 120.0
KEY_REFUSED = (401, 403)


@dataclass(frozen=True)
class ProbeReport:
    """What a probe found of an endpoint that will do.

    `context` is the longest prompt and answer together in tokens, `longest_prompt` the longest probed prompt; None where the
    server does not tell. The rest are means over the probed calls: seconds, and tokens a call.
    """

    base_url: str
    model: str
    server: str | None
    context: int | None
    longest_prompt: int | None
    calls: int
    latency_s: float
    prompt_tokens: float | None
    completion_tokens: float | None


async def find_model(endpoint: Endpoint, limits: Limits | None = None) -> Endpoint:
    """The endpoint with its model's name: the one asked for if it is there, or else the only one there is.

    Raises AuditError when the endpoint cannot be asked, or has another model or several.
    """
    async with Client(endpoint, _impatient(limits)) as client:
        return replace(endpoint, model=_model(endpoint, await _models(client)))


async def reach(endpoint: Endpoint, limits: Limits | None = None) -> Endpoint:
    """`find_model`, and whether the endpoint answers at all with this key: some tell their models to everybody.

    Costs one call of one token. Raises AuditError, one sentence, for the first thing that does not fit.
    """
    async with Client(endpoint, _impatient(limits)) as client:
        model = _model(endpoint, await _models(client))
        await _asked(client, Call({"model": model, **GREETED}, "probe", "probe"))
    return replace(endpoint, model=model)


async def probe(endpoint: Endpoint, calls: Sequence[Call], limits: Limits | None = None) -> ProbeReport:
    """Ask the endpoint what it is, whether it obeys a schema without thinking aloud, and the given calls, longest among them.

    Raises AuditError, one sentence on what is wrong and what to do, for the first thing that does not fit.
    """
    async with Client(endpoint, _impatient(limits)) as client:
        cards = await _models(client)
        model = _model(endpoint, cards)
        context = _context(cards.get(model, {}))
        server = await _version(client)
        schema = await _schema(client, Call(_schema_body(calls, model), "probe", "probe"))
        context, longest = await _longest(client, calls, context)
        replies = [await _asked(client, call) for call in calls]
    _fits(endpoint, calls, replies, context)
    return _report(replace(endpoint, model=model), server or schema.server, context, longest, replies or [schema])


def _impatient(limits: Limits | None) -> Limits:
    limits = limits or Limits()
    return replace(limits, read_s=min(limits.read_s, MOST_READ_S))


# -- what the endpoint is ------------------------------------------------------------------------------------------------


async def _models(client: Client) -> dict[str, dict[str, Any]]:
    """Model -> what the endpoint says of it."""
    where = client.endpoint.base_url
    status, body = await client.fetch("GET", f"{where}/models")
    if status is None:
        raise AuditError(f"{where} cannot be reached: {body}. {NOTHING} Start the server, or set AUDIT_JUDGE_URL.")
    if status in KEY_REFUSED:
        raise AuditError(_refused(where, status))
    cards = body.get("data") if isinstance(body, dict) else None
    if status != 200 or not isinstance(cards, list):
        raise AuditError(
            f"{where}/models answers with status {status} and no list of models, so this is no OpenAI-compatible API. "
            f"{NOTHING} Set AUDIT_JUDGE_URL to an address such as http://127.0.0.1:8000/v1."
        )
    return {card["id"]: card for card in cards if isinstance(card, dict) and isinstance(card.get("id"), str)}


def _refused(where: str, status: int | None) -> str:
    return f"{where} does not take the key (status {status}). {NOTHING} Set AUDIT_JUDGE_KEY."


def _model(endpoint: Endpoint, cards: Mapping[str, Any]) -> str:
    there = ", ".join(cards) or "none"
    if endpoint.model in cards:
        return endpoint.model
    if endpoint.model:
        raise AuditError(
            f"{endpoint.base_url} has no model '{endpoint.model}'.{nearest(endpoint.model, tuple(cards))} There is: {there}. "
            f"{NOTHING} Set AUDIT_JUDGE_MODEL."
        )
    if len(cards) != 1:
        raise AuditError(f"{endpoint.base_url} has {len(cards)} models: {there}. {NOTHING} Say which by AUDIT_JUDGE_MODEL.")
    return next(iter(cards))


def _context(card: Mapping[str, Any]) -> int | None:
    meta = card.get("meta")
    told = card.get("max_model_len") or (meta.get("n_ctx") if isinstance(meta, dict) else None)
    return told if isinstance(told, int) else None


async def _version(client: Client) -> str | None:
    status, body = await client.fetch("GET", f"{client.endpoint.root}/version")
    version = body.get("version") if status == 200 and isinstance(body, dict) else None
    return f"vllm {version}" if isinstance(version, str) else None


# -- what it does --------------------------------------------------------------------------------------------------------


def _schema_body(calls: Sequence[Call], model: str) -> dict[str, Any]:
    """The probe's own question, with the run's way of switching thinking off and whatever else its calls carry."""
    return {**(calls[0].body if calls else {}), "model": model, **ASKED}


async def _schema(client: Client, call: Call) -> Reply:
    reply = await _asked(client, call)
    where, text = client.endpoint.base_url, (reply.text or "").strip()
    if reply.usage.get("reasoning_tokens") or (reply.error and not text):
        raise AuditError(
            f"{where} thinks before it answers, though it was told not to: {reply.usage.get('reasoning_tokens', 'some')} tokens "
            f"went there. {NOTHING} Start the server with --default-chat-template-kwargs '{{\"enable_thinking\":false}}', or "
            "take a model that does not think."
        )
    if reply.outcome == CUT and len(text) < len(reply.text or "") / 2:
        raise AuditError(
            f"{where} answers with endless white space. {NOTHING} Start vLLM with "
            """--structured-outputs-config '{"backend":"xgrammar","disable_any_whitespace":true}'."""
        )
    if _probed(text) != WORD:
        raise AuditError(
            f"{where} does not obey a JSON schema (response_format): asked for the word {WORD}, it wrote '{text[:80]}'. "
            f"{NOTHING} Take a server that does, such as vLLM from 0.12 on or llama.cpp's."
        )
    return reply


def _probed(text: str) -> Any:
    try:
        found = json.loads(text, strict=False)
    except ValueError:
        return None
    return found.get("probe") if isinstance(found, dict) else None


async def _longest(client: Client, calls: Sequence[Call], context: int | None) -> tuple[int | None, int | None]:
    """(context, tokens of the longest prompt) as vLLM's /tokenize counts them; what was known before where there is none."""
    if not calls:
        return context, None
    call = max(calls, key=lambda call: len(json.dumps(call.body["messages"])))
    told = {name: call.body[name] for name in ("model", "messages", "chat_template_kwargs") if name in call.body}
    status, body = await client.fetch("POST", f"{client.endpoint.root}/tokenize", told)
    count = body.get("count") if status == 200 and isinstance(body, dict) else None
    if not isinstance(count, int):
        return context, None
    context = body.get("max_model_len") or context
    _room(client.endpoint, count, call, context)
    return context, count


def _room(endpoint: Endpoint, prompt: int, call: Call, context: int | None) -> None:
    answer = call.body.get("max_tokens") or 0
    if context is not None and prompt + answer > context:  # vLLM would cut the answer and say nothing but `length`
        raise AuditError(
            f"{endpoint.base_url}: the longest prompt has {prompt:,} tokens and its answer may have {answer:,}, together "
            f"more than the {context:,} that the model takes. {NOTHING} Start the server with a larger --max-model-len, or leave "
            "that pair out."
        )


async def _asked(client: Client, call: Call) -> Reply:
    """The reply to one call; a busy endpoint is given a few moments."""
    for _ in range(PATIENCE):
        reply = await client.ask(call)
        if isinstance(reply, Reply):
            break
        await asyncio.sleep(min(reply.after_s or PAUSE_S, PATIENCE))
    if isinstance(reply, Reply) and reply.status in KEY_REFUSED:
        raise AuditError(_refused(client.endpoint.base_url, reply.status))
    if isinstance(reply, Busy) or reply.outcome not in (ANSWERED, CUT):
        why = reply.why if isinstance(reply, Busy) else reply.error
        raise AuditError(
            f"{client.endpoint.base_url} did not answer a call on trial ({call.purpose}): {why}. {NOTHING} "
            "Look at the server's log."
        )
    return reply


def _fits(endpoint: Endpoint, calls: Sequence[Call], replies: Sequence[Reply], context: int | None) -> None:
    for call, reply in zip(calls, replies, strict=True):
        _room(endpoint, reply.usage.get("prompt_tokens", 0), call, context)


def _report(
    endpoint: Endpoint, server: str | None, context: int | None, longest: int | None, replies: Sequence[Reply]
) -> ProbeReport:
    prompts = [reply.usage["prompt_tokens"] for reply in replies if "prompt_tokens" in reply.usage]
    completions = [reply.usage["completion_tokens"] for reply in replies if "completion_tokens" in reply.usage]
    return ProbeReport(
        base_url=endpoint.base_url,
        model=endpoint.model,
        server=server,
        context=context,
        longest_prompt=longest or max(prompts, default=None),
        calls=len(replies),
        latency_s=statistics.fmean(reply.latency_s or 0.0 for reply in replies),
        prompt_tokens=statistics.fmean(prompts) if prompts else None,
        completion_tokens=statistics.fmean(completions) if completions else None,
    )
