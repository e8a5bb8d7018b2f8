"""A model that thinks before each reply unless it is told not to, as Qwen3 does, behind three kinds of server.

PARSED     vLLM with --reasoning-parser: thinking is in a field of its own, and ends where its budget does
UNPARSED   vLLM without it: a request with a budget is refused, else the reply begins with the block
RAW        llama.cpp with --reasoning-format none: it knows no budget, and the reply begins with the block
"""

from __future__ import annotations

from typing import Any

from aiohttp import web

from tests.support.llm.faults import completion

PARSED, UNPARSED, RAW = "parsed", "unparsed", "raw"
BUDGET = "thinking_token_budget"
NO_PARSER = "thinking_token_budget is set but reasoning_config is not configured. Please set --reasoning-parser"


def served(kind: str, body: dict[str, Any], text: str, thoughts: int) -> web.Response:
    """The response to a request; a token is a word, and `thoughts` is how many words the model would think."""
    if kind == UNPARSED and BUDGET in body:
        return web.json_response({"error": {"message": NO_PARSER, "code": 400}}, status=400)
    if not body.get("chat_template_kwargs", {}).get("enable_thinking", True):
        return web.json_response(completion(body, text))
    count = min(thoughts, body.get(BUDGET, thoughts)) if kind == PARSED else thoughts
    thinking, most = " ".join(["hm"] * count), body.get("max_tokens", 10**6)
    if count >= most:
        cut = " ".join(["hm"] * most)
        fields = {"text": None, "reasoning": cut} if kind == PARSED else {"text": f"<think>\n{cut}"}
        return web.json_response(completion(body, finish="length", **fields))
    if kind == PARSED:
        return web.json_response(completion(body, text, reasoning=thinking))
    return web.json_response(completion(body, f"<think>\n{thinking}\n</think>\n\n{text}"))
