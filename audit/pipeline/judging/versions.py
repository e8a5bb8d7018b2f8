"""Versions of the prompt of a judge: the text that a person edits, examples in it, and rules that a model proposes.

A version is one template, complete in itself; its name says which protocol it is for. An example is a line `{example:ITEM} why`;
the texts of the item take its place.
What people decided, and which items may be shown, is known above the wall: `annotation.studies.alignment` calls this by name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field

from audit.pipeline.judging.parse import FORMS
from audit.pipeline.judging.protocols import STAGES, STRUCTURED
from audit.pipeline.llm.calls import Call
from audit.pipeline.llm.foreign_text import escaped
from audit.pipeline.llm.item_task import ItemTask
from audit.pipeline.llm.prompts import Prompt, PromptForm, load_template, prompt_of, whole_template
from audit.pipeline.llm.reply_models import ReplyModel, cleaned, read_reply
from audit.release.journal_files import Reply

PACKAGE, RULES = "audit.pipeline.judging", "rules"
VERSION_FORMS = {form.name: form for form in FORMS if form.name in STAGES}
"""Protocol -> the form of its prompt. Protocol `positions` has none here: it is asked about single answers and not about pairs,
so a pair with its label is no example for it."""
MARKER = re.compile(r"^\{example:([^{}\s]+)\}[ \t]*(.*)$", re.MULTILINE)
END_OF_SYSTEM = "\nReply with one JSON object"
MAX_RULES, MAX_RULE, REPLY_TOKENS = 5, 400, 250
Example = Mapping[str, str]
"""question, answer_a, answer_b, label."""


class RulesReply(ReplyModel):
    """Rules to add to a rubric."""

    keys, key_type = ("rules",), list
    rules: Annotated[list[Annotated[str, Field(max_length=MAX_RULE), cleaned(MAX_RULE)]], Field(max_length=MAX_RULES)]


RULES_FORM = PromptForm(RULES, RULES, ("rubric", "pairs"), RulesReply.schema_to_send())


def version_draft(rules: Sequence[str], examples: Sequence[str], protocol: str = STRUCTURED) -> str:
    """The prompt of a protocol as shipped, with further rules and lines of examples before what it says on the reply."""
    whole = whole_template(protocol, PACKAGE)
    added = ["Further rules:", *(f"- {rule}" for rule in rules), ""] if rules else []
    added += ["Examples, with the label on which people decided:", *examples, ""] if examples else []
    start = whole.index(END_OF_SYSTEM)
    return "\n".join([whole[:start], *added]) + whole[start:] if added else whole


def examples_in(text: str) -> list[str]:
    """The ids of the items that a version shows as examples."""
    return [match[1] for match in MARKER.finditer(text)]


def checked_version(text: str, examples: Mapping[str, Example], where: str) -> tuple[str, str, str, str]:
    """(protocol, digest, title, text with its examples in full) of a version.

    Raises AuditError where the text is not a template of a prompt: where it lacks the places for the texts, above all.
    """
    shown = MARKER.sub(lambda match: _example_text(examples[match[1]], match[2]), text.replace("\r\n", "\n"))
    prompt = prompt_of(VERSION_FORMS, shown, where)
    return prompt.name, prompt.digest, prompt.title, shown


def _example_text(example: Example, why: str) -> str:
    texts = {name: re.sub(r"[{}]", "", escaped(example[name])) for name in ("question", "answer_a", "answer_b")}
    parts = (f"<example_{name}>\n{text}\n</example_{name}>" for name, text in texts.items())
    return "\n".join([*parts, f"{example['label']}. {why}".strip(), ""])


# -- rules that a model proposes ---------------------------------------------------------------------------------------


def rules_task(model: str, pairs: Sequence[Mapping[str, str]]) -> ItemTask[Mapping[str, str]]:
    """One call: which rules would have given these pairs the label of people.

    pairs  question, answer_a, answer_b, label (by people), judged (by the judge)
    """
    prompt = load_template(RULES_FORM, PACKAGE)
    texts = {"rubric": whole_template("rubric", PACKAGE), "pairs": "\n\n".join(map(_pair_text, pairs))}
    return ItemTask(
        {RULES: prompt},
        model,
        RULES,
        lambda: [texts],
        calls_of=lambda item: [_call(prompt, model, item)],
        is_read=lambda _, reply: rules_in(reply) is not None,
        tokens={RULES: REPLY_TOKENS},
    )


def _call(prompt: Prompt, model: str, texts: Mapping[str, str]) -> Call:
    return prompt.call(model, RULES, texts)


def _pair_text(pair: Mapping[str, str]) -> str:
    names = ("question", "answer_a", "answer_b", "label", "judged")
    return "\n".join(f"{name.replace('_', ' ')} is: {' '.join(pair[name].split())}" for name in names)


def rules_in(reply: Reply) -> list[str] | None:
    """The proposed rules; None where the reply cannot be read."""
    read, _ = read_reply(RulesReply, reply).only("no rules")
    return None if read is None else [" ".join(rule.split()) for rule in read.rules if rule.strip()]
