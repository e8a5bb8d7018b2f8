"""Prompts from Markdown templates: fixed instructions first, then the texts, each inside tags that it cannot forge."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from audit.errors import AuditError
from audit.llm.calls import Call

FRONT = re.compile(r"\A---\n(?P<front>.*?)\n---\n(?P<body>.*)\Z", re.DOTALL)
PARTS = re.compile(r"\A\s*# system\n(?P<system>.*?)\n# user\n(?P<user>.*)\Z", re.DOTALL)
INCLUDE = re.compile(r"\{include:(\w+)\}")
FIELD = re.compile(r"\{(\w+)\}")
DELIMITED = r"<([a-z]\w*)>\s*\{%s\}\s*</\1>"

# `<` before a number is a comparison and stays. Any other may open a tag, ours or a chat template's (<|im_end|>, </think>).
TAG = re.compile(r"<(?!\s*=?\s*\d)")
# [INST], [/TOOL_RESULTS], ...: what some models take for the start of a turn.
TURN = re.compile(r"\[(?=/?[A-Z_]{2,}\])")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True)
class Form:
    """What a template of this name must hold and what it is for.

    `fields` are the texts that it takes, in the order that lets a prefix cache carry all but the last; `schema` is the JSON
    Schema of the reply: one fixed one a template, since a server compiles each anew.
    """

    name: str
    purpose: str
    fields: tuple[str, ...]
    schema: Mapping[str, Any]


@dataclass(frozen=True)
class Prompt:
    """A template, ready to be filled. `digest` covers its words, its schema and its bound: whatever changes the request."""

    name: str
    version: str
    system: str
    user: str
    max_tokens: int
    form: Form

    @property
    def digest(self) -> str:
        """12 hex digits of a sha256."""
        told = json.dumps([self.system, self.user, self.max_tokens, self.form.schema], sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()[:12]

    @property
    def title(self) -> str:
        """Name, version and digest: how records speak of it."""
        return f"{self.name}-{self.version}@{self.digest}"

    def call(self, model: str, group: str, texts: Mapping[str, str], repeat: int = 0) -> Call:
        """The request that puts `texts` to `model`."""
        user = FIELD.sub(lambda found: harmless(texts[found[1]]), self.user)  # in one pass: a text may hold a {field} itself
        body: dict[str, Any] = {
            "model": model,
            "messages": [{"role": "system", "content": self.system}, {"role": "user", "content": user}],
            "temperature": 0,
            "max_tokens": self.max_tokens,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": self.name, "strict": True, "schema": self.form.schema},
            },
            "chat_template_kwargs": {"enable_thinking": False},
        }
        return Call(body, group, self.form.purpose, repeat)


@lru_cache(4096)  # the same answer stands in as many prompts as it has partners
def harmless(text: str) -> str:
    """The text without anything that could close its delimiter or open a turn of the conversation; numbers keep their `<`."""
    return TURN.sub("(", TAG.sub("‹", CONTROL.sub(" ", text.replace("\r\n", "\n")))).strip()


def load_templates(forms: Iterable[Form], home: Traversable, folder: Path | None = None) -> dict[str, Prompt]:
    """The templates of `home` by name; one that `folder` holds too is taken from there.

    Raises AuditError when a template of `folder` cannot be used, or the folder holds none.
    """
    known = sorted(path.name for path in home.iterdir() if path.name.endswith(".md"))
    if folder is not None and not any((folder / name).is_file() for name in known):
        raise AuditError(f"{folder} holds no template. Expected at least one of: {', '.join(known)}. Nothing was asked.")
    return {form.name: _prompt(form, home, folder) for form in forms}


def _prompt(form: Form, home: Traversable, folder: Path | None) -> Prompt:
    front, body, where = _read(form.name, home, folder)
    parts = PARTS.match(body)
    if parts is None:
        raise _fault(where, "it needs a part '# system' and after it a part '# user'")
    system = INCLUDE.sub(lambda found: _read(found[1], home, folder)[1].strip(), parts["system"]).strip()
    _check(where, form.fields, system, parts["user"])
    bound = front.get("max_tokens", "")
    if not bound.isdigit() or not 1 <= int(bound) <= 100_000:
        raise _fault(where, f"max_tokens is '{bound}', but must be a number from 1 to 100000")
    return Prompt(form.name, front.get("version", "0"), system, parts["user"].strip(), int(bound), form)


def _read(name: str, home: Traversable, folder: Path | None) -> tuple[dict[str, str], str, str]:
    """Front matter, body and place of a template."""
    own = folder / f"{name}.md" if folder else None
    source = own if own and own.is_file() else home.joinpath(f"{name}.md")
    if not source.is_file():
        raise _fault(f"{folder or 'templates'}", f"{{include:{name}}} names no template")
    found = FRONT.match(source.read_text(encoding="utf-8").replace("\r\n", "\n"))
    if found is None:
        raise _fault(str(source), "it needs front matter between two lines '---'")
    front = dict(line.split(":", 1) for line in found["front"].splitlines() if ":" in line)
    return {key.strip(): value.strip() for key, value in front.items()}, found["body"], str(source)


def _check(where: str, wanted: tuple[str, ...], system: str, user: str) -> None:
    """The texts come once each, in prefix order, inside tags, and never among the instructions."""
    if tuple(FIELD.findall(user)) != wanted:
        raise _fault(
            where, f"its user part must hold, once each and in this order: {' '.join(f'{{{field}}}' for field in wanted)}"
        )
    if FIELD.search(system):
        raise _fault(where, "its system part must hold none of the texts: it is the same for every call")
    for field in wanted:
        if not re.search(DELIMITED % field, user):
            raise _fault(where, f"{{{field}}} must stand between <tag> and </tag>: what others wrote is set apart")


def _fault(where: str, what: str) -> AuditError:
    return AuditError(f"Template {where} cannot be used: {what}. Nothing was asked.")
