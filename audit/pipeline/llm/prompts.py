"""Prompts from Markdown templates: fixed instructions first, then the texts, each inside tags that it cannot close.

A paper's own prompt has no such tags. A template with the line `delimiters: none` in its front matter is taken as it is. That is
less safe, because a text can pose as an instruction: the prompt's name says so wherever it is shown, and no template here is so.
With the line `reply: text` no schema is sent, and the reply has the form that the prompt asks for: words, or JSON of its own.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from audit.errors import AuditError
from audit.pipeline.llm.calls import Call
from audit.pipeline.llm.foreign_text import escaped
from audit.settings import Settings

FRONT_MATTER = re.compile(r"\A---\n(?P<front>.*?)\n---\n(?P<body>.*)\Z", re.DOTALL)
PARTS = re.compile(r"\A\s*# system\n(?P<system>.*?)\n# user\n(?P<user>.*)\Z", re.DOTALL)
INCLUDE = re.compile(r"\{include:(\w+)\}")
FIELD = re.compile(r"\{(\w+)\}")
WITHOUT_DELIMITERS = {"delimiters": "none"}
"""The line of the front matter of a template whose texts stand between no tags."""
REPLY_IN_TEXT = "text"
"""The value of `reply` in the front matter of a template whose replies are bound to no schema."""
FIELD_IN_TAGS = r"<([a-z]\w*)>\s*\{%s\}\s*</\1>"

MAX_MAX_TOKENS = 100_000


def thinking_fields(tokens: int) -> dict[str, Any]:
    """The fields of a request that let a model think for at most so many tokens before its reply; 0: not at all.

    They are those of vLLM and of Qwen3's template; other servers and templates ignore them.
    """
    switch = {"chat_template_kwargs": {"enable_thinking": tokens > 0}}
    return {**switch, "thinking_token_budget": tokens} if tokens else switch


@dataclass(frozen=True)
class PromptForm:
    """The required contents of a template of this name, and the purpose of its calls.

    `fields` are the texts that are filled in, in the order in which a prefix cache can reuse all but the last. `schema` is the
    JSON Schema of the reply: the same for all calls of a template, because a server compiles every new schema. `optional`: what a
    template may name too.
    """

    name: str
    purpose: str
    fields: tuple[str, ...]
    schema: Mapping[str, Any]
    optional: tuple[str, ...] = ()


@dataclass(frozen=True)
class Prompt:
    """A template, ready to be filled in.

    thinking  tokens in which the model may think before its reply, on top of `max_tokens` (AUDIT_JUDGE_THINKING)
    delimited False for a template with `delimiters: none`
    in_text   True for one with `reply: text`
    """

    name: str
    version: str
    system: str
    user: str
    max_tokens: int
    form: PromptForm
    temperature: float = 0
    thinking: int = 0
    delimited: bool = True
    in_text: bool = False

    @property
    def digest(self) -> str:
        """12 hex digits of a SHA-256 of all that changes the request: the words, the schema, the token limit, the temperature."""
        # The version in the front matter is for people: a text may change without it.
        # Without a temperature of 0, so journals written before it could be set are still resumed.
        warmth = [self.temperature] if self.temperature else []
        schema = None if self.in_text else self.form.schema
        content = json.dumps([self.system, self.user, self.max_tokens, schema, *warmth], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:12]

    @property
    def title(self) -> str:
        """Name, version and digest, as records name it."""
        thinking = f", thinking in {self.thinking} tokens" if self.thinking else ""
        kind = f"{'' if self.delimited else ', without delimiters'}{', reply in text' if self.in_text else ''}"
        return f"{self.name}-{self.version}@{self.digest}{kind}{thinking}"

    def names(self, field: str) -> bool:
        """Whether a text is filled in."""
        return field in FIELD.findall(self.user)

    @property
    def reply_tokens(self) -> int:
        """The most tokens of a reply, with the thinking before it."""
        return self.max_tokens + self.thinking

    def record(self, used_for: str) -> dict[str, Any]:
        """The prompt in full, as the manifest of a release has it (`audit.release.handbook_kinds.PROMPT`)."""
        return {
            "prompt": self.title, "used_for": used_for, "system": self.system, "user": self.user,
            "max_tokens": self.max_tokens, "temperature": self.temperature, "schema": {} if self.in_text else self.form.schema,
        }  # fmt: skip

    def call(self, model: str, group: str, texts: Mapping[str, str], repeat: int = 0) -> Call:
        """The request that asks `model` about `texts`."""
        # All fields in one pass: a text may contain something like {field} itself.
        user = FIELD.sub(lambda match: escaped(texts[match[1]]), self.user)
        instructions = [{"role": "system", "content": self.system}] if self.system else []
        bound = {"type": "json_schema", "json_schema": {"name": self.name, "strict": True, "schema": self.form.schema}}
        body: dict[str, Any] = {
            "model": model,
            "messages": [*instructions, {"role": "user", "content": user}],
            # 0 for a judge: the same pair should get the same verdict; `repeat` measures how far that holds.
            "temperature": self.temperature,
            "max_tokens": self.reply_tokens,
            **({} if self.in_text else {"response_format": bound}),
            **thinking_fields(self.thinking),
        }
        return Call(body, group, self.form.purpose, repeat, self.form.schema)


def load_template(form: PromptForm, package: str, folder: Path | None = None) -> Prompt:
    """The one template of a package; see `load_templates`."""
    return load_templates([form], package, folder)[form.name]


def load_templates(forms: Iterable[PromptForm], home: Traversable | str, folder: Path | None = None) -> dict[str, Prompt]:
    """The templates in `home`, a folder or the name of a package, by name; a template that `folder` has too is taken from there.

    Raises AuditError if a template of `folder` cannot be used, or the folder contains none.
    """
    if isinstance(home, str):
        home = resources.files(home).joinpath("templates")
    templates = [*home.iterdir(), *_shared_templates().iterdir()]
    file_names = sorted(path.name for path in templates if path.name.endswith(".md"))
    if folder is not None and not any((folder / name).is_file() for name in file_names):
        raise AuditError(
            f"{folder} does not contain a template. Expected at least one of: {', '.join(file_names)}. Nothing was asked."
        )
    thinking = Settings().judge_thinking
    return {form.name: replace(_load_prompt(form, home, folder), thinking=thinking) for form in forms}


def _shared_templates() -> Traversable:
    """The templates that others include, above all what the tags around untrusted text mean."""
    return resources.files("audit.pipeline.llm").joinpath("templates")


def prompt_of(forms: Mapping[str, PromptForm], text: str, where: str) -> Prompt:
    """The prompt of a template that stands alone in `text`, called `where` in errors; its name says which of `forms` it has.

    Raises AuditError as `load_templates`, and where the name is none of them.
    """
    front, body = _split_template(text, where)
    name = front.get("name", "")
    if name not in forms:
        raise _template_error(where, f"its name is '{name}', but must be one of: {', '.join(forms)}")
    return _prompt_from(forms[name], front, body, where, _shared_templates(), None)


def whole_template(name: str, package: str) -> str:
    """The template of a package as a person edits it: with what it includes in its place."""
    home = resources.files(package).joinpath("templates")
    text = home.joinpath(f"{name}.md").read_text(encoding="utf-8")
    return INCLUDE.sub(lambda match: _read_template(match[1], home, None)[1].strip(), text)


def _load_prompt(form: PromptForm, home: Traversable, folder: Path | None) -> Prompt:
    return _prompt_from(form, *_read_template(form.name, home, folder), home, folder)


def _prompt_from(
    form: PromptForm, front: Mapping[str, str], body: str, where: str, home: Traversable, folder: Path | None
) -> Prompt:
    delimited = WITHOUT_DELIMITERS.items() - front.items() != set()
    parts = PARTS.match(body)
    if parts is None and delimited:
        raise _template_error(where, f"it needs a part '# system' followed by a part '# user'. {OF_A_PAPER}")
    instructions, user = (parts["system"], parts["user"]) if parts else ("", body)
    system = INCLUDE.sub(lambda match: _read_template(match[1], home, folder)[1].strip(), instructions).strip()
    (_check_fields if delimited else _check_undelimited)(where, form, system, user)
    max_tokens = front.get("max_tokens", "")
    if not max_tokens.isdigit() or not 1 <= int(max_tokens) <= MAX_MAX_TOKENS:
        raise _template_error(where, f"max_tokens is '{max_tokens}', but must be a number from 1 to {MAX_MAX_TOKENS}")
    if front.get("reply", REPLY_IN_TEXT) != REPLY_IN_TEXT:
        raise _template_error(where, f"reply is '{front['reply']}'; allowed: {REPLY_IN_TEXT}, or no such line")
    return Prompt(
        form.name, front.get("version", "0"), system, user.strip(), int(max_tokens), form, delimited=delimited,
        in_text="reply" in front,
    )  # fmt: skip


def _read_template(name: str, home: Traversable, folder: Path | None) -> tuple[dict[str, str], str, str]:
    """(front matter, body, file name for messages) of a template."""
    candidates = [parent.joinpath(f"{name}.md") for parent in (folder, home, _shared_templates()) if parent]
    source = next((path for path in candidates if path.is_file()), None)
    if source is None:
        raise _template_error(f"{folder or 'templates'}", f"{{include:{name}}} does not name a template")
    return (*_split_template(source.read_text(encoding="utf-8"), str(source)), str(source))


def _split_template(text: str, where: str) -> tuple[dict[str, str], str]:
    """(front matter, body) of a template."""
    match = FRONT_MATTER.match(text.replace("\r\n", "\n"))
    if match is None:
        raise _template_error(where, "it needs front matter between two lines '---'")
    # The front matter is plain `key: value` lines: no YAML parser is needed.
    front = dict(line.split(":", 1) for line in match["front"].splitlines() if ":" in line)
    return {key.strip(): value.strip() for key, value in front.items()}, match["body"]


OF_A_PAPER = (
    "A paper's own prompt is taken as it is where its front matter has the line 'delimiters: none', which is less safe, because "
    "a text can then pose as an instruction"
)


def _check_fields(where: str, form: PromptForm, system: str, user: str) -> None:
    """Each text must appear once, in prefix order, inside tags, and never among the instructions."""
    named = FIELD.findall(user)
    if tuple(name for name in named if name not in form.optional) != form.fields:
        raise _template_error(
            where, f"its user part must contain, once each and in this order: {_in_braces(form.fields)}. {OF_A_PAPER}"
        )
    _check_system(where, system)
    for field in named:
        if not re.search(FIELD_IN_TAGS % field, user):
            raise _template_error(
                where,
                f"{{{field}}} must be between <tag> and </tag>, to separate untrusted text from instructions. {OF_A_PAPER}",
            )


def _check_undelimited(where: str, form: PromptForm, system: str, user: str) -> None:
    """Each text must appear, in any order, and nothing else that looks like one."""
    named, allowed = set(FIELD.findall(user)), {*form.fields, *form.optional}
    if missing := [field for field in form.fields if field not in named]:
        raise _template_error(where, f"it lacks {_in_braces(missing)}")
    if unknown := sorted(named - allowed):
        raise _template_error(where, f"it names {_in_braces(unknown)}; allowed: {_in_braces(sorted(allowed))}")
    _check_system(where, system)


def _check_system(where: str, system: str) -> None:
    # A prefix cache reuses the system part only while it is the same for all.
    if FIELD.search(system):
        raise _template_error(where, "its system part must not contain any of the texts: it is the same for every call")


def _in_braces(fields: Iterable[str]) -> str:
    return " ".join(f"{{{field}}}" for field in fields)


def _template_error(where: str, problem: str) -> AuditError:
    return AuditError(f"Template {where} cannot be used: {problem}. Nothing was asked.")
