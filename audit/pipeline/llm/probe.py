"""Checks before a run that an endpoint will do what is needed: it is asked, because vLLM ignores unknown fields silently."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from audit.errors import AuditError
from audit.pipeline.llm.calls import ANSWERED, CUT, Busy, Call
from audit.pipeline.llm.client import Client, Endpoint
from audit.pipeline.llm.limits import Limits
from audit.release.journal_files import Reply
from audit.vocabulary import nearest

NOTHING = "Nothing was asked."
PROBE_WORD = "k7-schema-obeyed"
# An endpoint that ignores the schema writes a poem; one that obeys it can write nothing but this word.
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
ONE_TOKEN_BODY = {"messages": [{"role": "user", "content": "Say yes."}], "max_tokens": 1}
MAX_BUSY_REPLIES, PAUSE_S, MAX_PAUSE_S = 5, 1.0, 5.0
# A person waits for the probe; a run itself may wait much longer in a full queue.
MAX_READ_S = 120.0
KEY_REFUSED = (401, 403)


@dataclass(frozen=True)
class CheckedEndpoint:
    """An endpoint that answers, with the name of its model.

    context  maximum of prompt and reply together in tokens, `server`: what it says it is; None where it does not tell
    """

    endpoint: Endpoint
    context: int | None
    server: str | None = None


async def find_model(endpoint: Endpoint, limits: Limits | None = None) -> Endpoint:
    """The endpoint with the name of its model: the requested one if it is there, or else the only one there is.

    Raises AuditError if the endpoint cannot be reached, does not have the model, or has several to choose from.
    """
    async with _reached(endpoint, limits) as (_, found):
        return found.endpoint


async def check_endpoint(endpoint: Endpoint, limits: Limits | None = None) -> CheckedEndpoint:
    """`find_model`, and whether the endpoint answers with this key: some list their models without one.

    Costs one call of one token. Raises AuditError for the first problem.
    """
    async with _reached(endpoint, limits) as (client, found):
        await _ask_patiently(client, Call({"model": found.endpoint.model, **ONE_TOKEN_BODY}, "probe", "probe"))
        return found


async def probe_endpoint(endpoint: Endpoint, longest: Call | None, limits: Limits | None = None) -> CheckedEndpoint:
    """Identify the endpoint, check that it obeys a schema without thinking aloud, and make the longest call to come.

    Raises AuditError, with the problem and the remedy, for the first problem.
    """
    async with _reached(endpoint, limits) as (client, found):
        version = await _vllm_version(client)
        # With the run's own fields, such as its way of switching thinking off.
        body = {**(longest.body if longest else {}), "model": found.endpoint.model, **PROBE_BODY}
        reply = await _check_schema(client, Call(body, "probe", "probe"))
        if longest:
            await _check_length(client, longest, found.context)
        return replace(found, server=version or reply.server)


@asynccontextmanager
async def _reached(endpoint: Endpoint, limits: Limits | None) -> AsyncIterator[tuple[Client, CheckedEndpoint]]:
    """A client without much patience, and the endpoint with its model and context."""
    limits = limits or Limits()
    async with Client(endpoint, replace(limits, read_s=min(limits.read_s, MAX_READ_S))) as client:
        models = await _list_models(client)
        model = _choose_model(endpoint, models)
        yield client, CheckedEndpoint(replace(endpoint, model=model), _context_length(models[model]))


# -- what the endpoint is ------------------------------------------------------------------------------------------------


async def _list_models(client: Client) -> dict[str, dict[str, Any]]:
    """Model -> its record."""
    where = client.endpoint.base_url
    status, body = await client.fetch("GET", f"{where}/models")
    if status is None:
        raise AuditError(f"{where} cannot be reached: {body}. {NOTHING} Start the server, or set AUDIT_JUDGE_URL.")
    if status in KEY_REFUSED:
        raise AuditError(_key_refused(where, status))
    models = body.get("data") if isinstance(body, dict) else None
    if status != 200 or not isinstance(models, list):
        raise AuditError(
            f"{where}/models answers with status {status} and without a list of models, so this is not an OpenAI-compatible API. "
            f"{NOTHING} Set AUDIT_JUDGE_URL to an address such as http://127.0.0.1:8000/v1."
        )
    return {model["id"]: model for model in models if isinstance(model, dict) and isinstance(model.get("id"), str)}


def _key_refused(where: str, status: int | None) -> str:
    return f"{where} does not accept the key (status {status}). {NOTHING} Set AUDIT_JUDGE_KEY."


def _choose_model(endpoint: Endpoint, models: Mapping[str, Any]) -> str:
    available = ", ".join(models) or "none"
    if endpoint.model in models:
        return endpoint.model
    if endpoint.model:
        raise AuditError(
            f"{endpoint.base_url} has no model '{endpoint.model}'.{nearest(endpoint.model, tuple(models))} "
            f"Available: {available}. {NOTHING} Set AUDIT_JUDGE_MODEL."
        )
    if len(models) != 1:
        raise AuditError(
            f"{endpoint.base_url} has {len(models)} models: {available}. {NOTHING} Choose one with AUDIT_JUDGE_MODEL."
        )
    return next(iter(models))


def _context_length(model: Mapping[str, Any]) -> int | None:
    meta = model.get("meta")
    # vLLM reports max_model_len, llama.cpp n_ctx
    length = model.get("max_model_len") or (meta.get("n_ctx") if isinstance(meta, dict) else None)
    return length if isinstance(length, int) else None


async def _vllm_version(client: Client) -> str | None:
    status, body = await client.fetch("GET", f"{client.endpoint.root}/version")
    version = body.get("version") if status == 200 and isinstance(body, dict) else None
    return f"vllm {version}" if isinstance(version, str) else None


# -- what it does --------------------------------------------------------------------------------------------------------


async def _check_schema(client: Client, call: Call) -> Reply:
    reply = await _ask_patiently(client, call)
    where, text = client.endpoint.base_url, (reply.text or "").strip()
    # Thinking would multiply the cost of a run, and often uses up the token limit before the answer.
    if reply.usage.get("reasoning_tokens") or (reply.error and not text):
        tokens = reply.usage.get("reasoning_tokens", "an unknown number of")
        raise AuditError(
            f"{where} thinks before it answers although it was asked not to: it spent {tokens} tokens on that. "
            f"{NOTHING} Start the server with --default-chat-template-kwargs '{{\"enable_thinking\":false}}', or "
            "choose a model that does not think."
        )
    # xgrammar allows white space between JSON tokens, and some models never stop writing it.
    if reply.outcome == CUT and len(text) < len(reply.text or "") / 2:
        raise AuditError(
            f"{where} answers with endless white space. {NOTHING} Start vLLM with "
            """--structured-outputs-config '{"backend":"xgrammar","disable_any_whitespace":true}'."""
        )
    if _word_in(text) != PROBE_WORD:
        raise AuditError(
            f"{where} does not obey a JSON schema (response_format): asked for the word {PROBE_WORD}, it wrote '{text[:80]}'. "
            f"{NOTHING} Choose a server that does, such as vLLM 0.12 or newer, or llama.cpp's."
        )
    return reply


def _word_in(text: str) -> Any:
    try:
        value = json.loads(text, strict=False)
    except ValueError:
        return None
    return value.get("probe") if isinstance(value, dict) else None


async def _check_length(client: Client, longest: Call, context: int | None) -> None:
    """Make the longest call, whose tokens the server counts."""
    reply = await _ask_patiently(client, longest)
    prompt_tokens, answer_tokens = reply.usage.get("prompt_tokens", 0), longest.body.get("max_tokens") or 0
    # vLLM would not refuse it, but shorten the answer and report only `length`.
    if context is not None and prompt_tokens + answer_tokens > context:
        raise AuditError(
            f"{client.endpoint.base_url}: the longest prompt has {prompt_tokens:,} tokens and its answer may have "
            f"{answer_tokens:,}, together more than the model's {context:,}. {NOTHING} Start the server with a larger "
            "--max-model-len, or leave that pair out."
        )


async def _ask_patiently(client: Client, call: Call) -> Reply:
    """The reply to one call; a busy endpoint gets a few moments."""
    for _ in range(MAX_BUSY_REPLIES):
        reply = await client.ask(call)
        if isinstance(reply, Reply):
            break
        await asyncio.sleep(min(max(reply.after_s or 0.0, PAUSE_S), MAX_PAUSE_S))
    if isinstance(reply, Reply) and reply.status in KEY_REFUSED:
        raise AuditError(_key_refused(client.endpoint.base_url, reply.status))
    if isinstance(reply, Busy) or reply.outcome not in (ANSWERED, CUT):
        why = reply.why if isinstance(reply, Busy) else reply.error
        raise AuditError(
            f"{client.endpoint.base_url} did not answer a trial call ({call.purpose}): {why}. {NOTHING} Look at the server's log."
        )
    return reply
