"""The check before a run that an endpoint will do what is needed: it is asked, because vLLM ignores unknown fields silently."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from audit.errors import AuditError
from audit.pipeline.llm.calls import ANSWERED, CUT, Busy, Call
from audit.pipeline.llm.client import Client, Endpoint
from audit.pipeline.llm.limits import Limits
from audit.pipeline.llm.prompts import thinking_fields
from audit.pipeline.llm.reply_text import THINKING, unreadable_reason, without_thinking
from audit.release.journal_files import Reply
from audit.vocabulary import nearest

NOTHING = "Nothing was asked."
# An endpoint that ignores the schema writes a poem; one that obeys it can write nothing but this word.
PROBE_WORD = "k7-schema-obeyed"
PROBE_REPLY = f'{{"probe":"{PROBE_WORD}"}}'
PROBE_SCHEMA = {
    "type": "object",
    "properties": {"probe": {"const": PROBE_WORD}},
    "required": ["probe"],
    "additionalProperties": False,
}
PROBE_BODY = {
    "messages": [{"role": "user", "content": "Write a poem about the sea."}],
    "response_format": {"type": "json_schema", "json_schema": {"name": "probe", "strict": True, "schema": PROBE_SCHEMA}},
    "max_tokens": 200,
}
MAX_BUSY_REPLIES, PAUSE_S, MAX_PAUSE_S = 5, 1.0, 5.0
# A person waits for the probe; a run itself may wait much longer in a full queue.
MAX_READ_S = 120.0
KEY_REFUSED = (401, 403)


@dataclass(frozen=True)
class CheckedEndpoint:
    """An endpoint that can be used, with the name of its model.

    context  maximum of prompt and reply together in tokens, `server`: what it says it is; None where it does not tell
    """

    endpoint: Endpoint
    context: int | None
    server: str | None = None


async def probe_endpoint(
    endpoint: Endpoint, limits: Limits, longest: Call | None = None, *, only_name: bool = False
) -> CheckedEndpoint:
    """The endpoint with its model, the requested one or the only one there is, once it obeyed a schema and thought as asked to.

    longest    a call that is made too, to see whether it fits into the context
    only_name  find the model, and make no call

    Raises AuditError, with the problem and the remedy, for the first problem.
    """
    async with Client(endpoint, replace(limits, read_s=min(limits.read_s, MAX_READ_S))) as client:
        models = await _list_models(client)
        model = _choose_model(endpoint, models)
        context = _context_length(models[model])
        named = replace(endpoint, model=model)
        if only_name:
            return CheckedEndpoint(named, context)
        body = {"model": model, **PROBE_BODY, **thinking_fields(endpoint.thinking)}
        body["max_tokens"] += endpoint.thinking
        reply = await _ask_patiently(client, Call(body, "probe", "probe"))
        _check_schema(endpoint, reply)
        checked = CheckedEndpoint(named, context, await _vllm_version(client) or reply.server)
    if longest:
        # Waits as long as a run would: it is known by now that the server works, and a slow one reads a long prompt for minutes.
        async with Client(endpoint, limits) as client:
            # A whole reply would take longer still, and only the length of the prompt is asked for.
            reply = await _ask_patiently(client, replace(longest, body={**longest.body, "max_tokens": 1}))
        # vLLM would not refuse it, but shorten the answer and report only `length`.
        if problem := too_long(longest, reply.usage.get("prompt_tokens", 0), context):
            raise AuditError(f"{endpoint.base_url}: {problem} {NOTHING}")
    return checked


def too_long(longest: Call | None, prompt_tokens: int, context: int | None) -> str:
    """A sentence on a prompt that does not fit into a context together with its reply; empty where it does."""
    reply_tokens = (longest and longest.body.get("max_tokens")) or 0
    if context is None or prompt_tokens + reply_tokens <= context:
        return ""
    return (
        f"the longest prompt has {prompt_tokens:,} tokens and its answer may have {reply_tokens:,}, together more than the "
        f"model's {context:,}. Start the server with a larger --max-model-len, set a smaller context for answers, or leave that "
        "pair out."
    )


async def _list_models(client: Client) -> dict[str, dict[str, Any]]:
    """Model -> its record."""
    where = client.endpoint.base_url
    status, body = await client.fetch("GET", f"{where}/models")
    if status is None:
        raise AuditError(f"{where} cannot be reached: {body}. {NOTHING} Start the server, or change its address.")
    _check_key(where, status)
    models = body.get("data") if isinstance(body, dict) else None
    if status != 200 or not isinstance(models, list):
        raise AuditError(
            f"{where}/models answers with status {status} and without a list of models, so this is not an OpenAI-compatible API. "
            f"{NOTHING} Set AUDIT_JUDGE_URL to an address such as http://127.0.0.1:8000/v1."
        )
    return {model["id"]: model for model in models if isinstance(model, dict) and isinstance(model.get("id"), str)}


def _check_key(where: str, status: int | None) -> None:
    if status in KEY_REFUSED:
        raise AuditError(f"{where} does not accept the key (status {status}). {NOTHING} Set AUDIT_JUDGE_KEY.")


def _choose_model(endpoint: Endpoint, models: Mapping[str, Any]) -> str:
    if endpoint.model in models:
        return endpoint.model
    if not endpoint.model and len(models) == 1:
        return next(iter(models))
    problem = f"{len(models)} models."
    if endpoint.model:
        problem = f"no model '{endpoint.model}'.{nearest(endpoint.model, tuple(models))}"
    available = ", ".join(models) or "none"
    raise AuditError(f"{endpoint.base_url} has {problem} Available: {available}. {NOTHING} Choose one with AUDIT_JUDGE_MODEL.")


def _context_length(model: Mapping[str, Any]) -> int | None:
    meta = model.get("meta")
    # vLLM reports max_model_len, llama.cpp n_ctx
    length = model.get("max_model_len") or (meta.get("n_ctx") if isinstance(meta, dict) else None)
    return length if isinstance(length, int) else None


async def _vllm_version(client: Client) -> str | None:
    status, body = await client.fetch("GET", f"{client.endpoint.root}/version")
    version = body.get("version") if status == 200 and isinstance(body, dict) else None
    return f"vllm {version}" if isinstance(version, str) else None


def _check_schema(endpoint: Endpoint, reply: Reply) -> None:
    text = (reply.text or "").strip()
    thought = bool(reply.usage.get("reasoning_tokens") or (reply.error and not text) or "<think>" in text)
    # Thinking would multiply the cost of a run, and often uses up the token limit before the answer.
    if thought and not endpoint.thinking:
        tokens = reply.usage.get("reasoning_tokens", "an unknown number of")
        problem = f"thinks before it answers although it was asked not to: it spent {tokens} tokens on that"
        remedy = """Start the server with --default-chat-template-kwargs '{"enable_thinking":false}', or choose another model."""
    # xgrammar allows white space between JSON tokens, and some models never stop writing it.
    elif reply.outcome == CUT and len(text) < len(reply.text or "") / 2:
        problem = "answers with endless white space"
        remedy = """Start vLLM with --structured-outputs-config '{"backend":"xgrammar","disable_any_whitespace":true}'."""
    elif endpoint.thinking and not thought:
        problem = f"does not think although AUDIT_JUDGE_THINKING is {endpoint.thinking}"
        remedy = "Start vLLM with --reasoning-parser (qwen3 for Qwen3), choose a model that thinks, or unset the setting."
    elif endpoint.thinking and unreadable_reason(reply) == THINKING:
        problem = f"thinks without coming to an answer: {endpoint.thinking} tokens are too few, or its server knows no limit"
        remedy = "Set AUDIT_JUDGE_THINKING to more, or to 0."
    elif "".join(without_thinking(text).split()) != PROBE_REPLY:
        problem = f"does not obey a JSON schema (response_format): asked for the word {PROBE_WORD}, it wrote '{text[:80]}'"
        remedy = "Choose a server that does, such as vLLM 0.12 or newer, or llama.cpp's."
    else:
        return
    raise AuditError(f"{endpoint.base_url} {problem}. {NOTHING} {remedy}")


async def _ask_patiently(client: Client, call: Call) -> Reply:
    """The reply to one call; a busy endpoint gets a few moments."""
    where = client.endpoint.base_url
    for _ in range(MAX_BUSY_REPLIES):
        reply = await client.ask(call)
        if isinstance(reply, Reply):
            break
        await asyncio.sleep(min(max(reply.after_s or 0.0, PAUSE_S), MAX_PAUSE_S))
    if isinstance(reply, Reply):
        _check_key(where, reply.status)
        if reply.outcome in (ANSWERED, CUT):
            return reply
    why = reply.why if isinstance(reply, Busy) else reply.error
    raise AuditError(f"{where} did not answer a trial call ({call.purpose}): {why}. {NOTHING} Look at the server's log.")
