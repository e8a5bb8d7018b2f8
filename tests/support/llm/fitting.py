"""A value that a JSON Schema allows, different for different texts: the normal answers of the fault server."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

UNSURE = "UNSURE"
NUMBERED = re.compile(r"\\n(\d+)\. ")
"""A numbered text at the start of a line, in messages as JSON."""
READ_ANSWER = re.compile(r"<answer>\\n(.*?)\\n</answer>")
"""The answer that a call is about, in messages as JSON."""


def fitting(schema: dict[str, Any], text: str) -> Any:
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        # A judge that always can tell: pairs without a label are a fault in most tests
        words = [word for word in schema["enum"] if word != UNSURE]
        return words[_number(text) % len(words)]
    if kind == "object":
        values = {name: fitting(part, text + name) for name, part in schema.get("properties", {}).items()}
        # Words that a call asks to be copied are those of the answer that it shows
        shown = READ_ANSWER.search(text)
        copied = {"quote": json.loads(f'"{shown[1]}"')} if "quote" in values and shown else {}
        return values | copied | ({"answer": f"{values['answer'].split()[0].title()} [1]."} if "answer" in values else {})
    if kind == "array":
        # One entry for each numbered text of the prompt, or one where the reply finds its entries itself
        if "number" in schema["items"].get("properties", {}):
            return [fitting(schema["items"], f"{text}{n}") | {"number": n} for n in range(1, len(NUMBERED.findall(text)) + 1)]
        if schema["items"].get("type") == "integer":
            return list(range(1, len(NUMBERED.findall(text)) + 1))
        return [fitting(schema["items"], text)]
    if kind == "boolean":
        return _number(text) % 4 == 0
    return f"words {_number(text) % 1000}"[: schema.get("maxLength", 100)]


def answer(body: dict[str, Any]) -> str:
    """What a well-behaved model answers."""
    text = json.dumps(body["messages"])
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
    return json.dumps(fitting(schema, text)) if schema else f"Some words, number {_number(text) % 1000}."


def absent_or(text: str, share: float) -> str:
    """The text of the generator's answer, or for this share of the texts that the handbook does not address the question."""
    return json.dumps({"answer": "NOT ADDRESSED"}) if _number(text) % 1000 < share * 1000 else text


def _number(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)
