"""The form of the judge's replies, by template and JSON Schema, and their parsing.

A reply is read as the JSON that was asked for, as JSON with faults, as a label in the text, or not at all: then the pair is
unscored, with the reason. Nothing here ever falls back on a default label.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from audit.pipeline.llm.calls import CUT, Call
from audit.pipeline.llm.prompts import Prompt, PromptForm, load_templates
from audit.pipeline.llm.reply_text import (
    clean_text,
    json_objects,
    object_obeying,
    unreadable_reason,
    without_fences,
    without_thinking,
)
from audit.pipeline.verdict import Verdict
from audit.release.journal_files import Reply
from audit.vocabulary import (
    DISAGREEING,
    EMPTY_WORDS,
    LABEL_SPELLINGS,
    LABELS,
    SIGNIFICANCE_SPELLINGS,
    SIGNIFICANCES,
    WITHOUT_TOPIC,
    Parse,
    plain,
)

# -- what is asked for --------------------------------------------------------------------------------------------------

MAX_REASONING, MAX_TOPIC = 700, 120


def _object_schema(**properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


LABEL = {"type": "string", "enum": [*map(str, LABELS)]}
SIGNIFICANCE = {"type": "string", "enum": [*map(str, SIGNIFICANCES)]}
TOPIC = {"type": "string", "maxLength": MAX_TOPIC}

# A model writes the keys in this order, so the reasoning comes before the label that it leads to. One fixed schema for each
# template, never one for each pair: a server compiles every new schema.
SCHEMAS: dict[str, dict[str, Any]] = {
    "absence": _object_schema(addressed={"type": "string", "enum": ["YES", "NO"]}),
    "structured": _object_schema(
        reasoning={"type": "string", "maxLength": MAX_REASONING},
        classification=LABEL,
        divergence_topic={"type": ["string", "null"], "maxLength": MAX_TOPIC},
        clinical_significance={"type": ["string", "null"], "enum": [*map(str, SIGNIFICANCES), None]},
    ),
    "label_only": _object_schema(classification=LABEL),
    "extract": _object_schema(divergence_topic=TOPIC, clinical_significance=SIGNIFICANCE),
}

PAIR_FIELDS = ("question", "answer_a", "answer_b")
FORMS = (
    PromptForm("absence", "absence", ("question", "answer"), SCHEMAS["absence"]),
    PromptForm("structured", "structured", PAIR_FIELDS, SCHEMAS["structured"]),
    PromptForm("label_only", "label", PAIR_FIELDS, SCHEMAS["label_only"]),
    PromptForm("extract", "extract", (*PAIR_FIELDS, "label"), SCHEMAS["extract"]),
    # Two passages of one handbook: another text, the same reply
    PromptForm("within", "structured", ("subject", "passage_a", "passage_b"), SCHEMAS["structured"]),
)


def load_prompts(folder: Path | None = None) -> dict[str, Prompt]:
    """All prompts by name; a template that `folder` has too is taken from there.

    Raises AuditError if a template of `folder` cannot be used, or the folder contains none.
    """
    return load_templates(FORMS, resources.files("audit.pipeline.judging").joinpath("templates"), folder)


# -- reading a reply ----------------------------------------------------------------------------------------------------

NO_LABEL, SEVERAL = "no label", "several labels"
# Far above what the schema allows; only a reply that ignores the schema is shortened.
MAX_TEXT = 4_000

# How a model may spell a label; the numbers are for matrices, and no prompt mentions them.
SPELLINGS = {word: str(label) for word, label in LABEL_SPELLINGS.items() if not word.isdigit()}
JSON_LABEL = re.compile(r'(?<!\\)"classification"\s*:\s*"([A-Za-z]+)"')
STATED_LABEL = re.compile(r"\b(?:classification|label|verdict)[\"'`*_\s]*(?:\bis\b|:|=)[\"'`*_\s]*([A-Za-z]+)", re.IGNORECASE)
# Capitals only: in running text "consistent", "divergent" and "absent" are ordinary words.
LABEL_IN_CAPITALS = re.compile(
    rf"(?P<negated>(?:\b(?:not|never|neither|nor|no|than)|n't)\s+(?:\w+\s+){{0,2}})?\b(?P<label>{'|'.join(LABELS)})\b"
)
DETAIL_FIELDS = {"divergence_topic", "clinical_significance"}
YES_NO = re.compile(r"\b(yes|no)\b", re.IGNORECASE)
ADDRESSED = re.compile(r'(?<!\\)"addressed"\s*:\s*"(yes|no)"', re.IGNORECASE)


@dataclass(frozen=True)
class Presence:
    """Whether an answer addresses its question; None if that is unknown, for the `reason`."""

    addressed: bool | None
    parse: str = Parse.STRICT
    reason: str | None = None


@dataclass(frozen=True)
class DisagreementDetails:
    """The topic and significance of a disagreement; both None if the reply is unparseable."""

    topic: str | None
    significance: str | None
    parse: str = Parse.STRICT
    reason: str | None = None


def read_verdict(reply: Reply, template: str) -> Verdict:
    """The verdict in a reply to `template` (structured or label_only)."""
    if reason := unreadable_reason(reply):
        return _unscored(reason)
    text = without_thinking(reply.text or "")
    if fields := object_obeying(text, SCHEMAS[template]):
        return _verdict(fields["classification"], fields, Parse.STRICT)
    matches = [match for match in json_objects(text) if "classification" in match.value]
    if not matches:
        return _verdict_from_text(text, cut=reply.outcome == CUT)
    # A model that answers twice is believed only if both answers agree.
    labels = {_label(match.value["classification"]) for match in matches}
    if None in labels:
        several = any(len(_labels_in_capitals(match.value["classification"])) > 1 for match in matches)
        return _unscored(SEVERAL if several else NO_LABEL)
    # Text before an object prepares it; text after it may take it back.
    labels |= _labels_in_capitals(matches[-1].after)
    return _verdict(labels.pop() or "", matches[-1].value, Parse.LENIENT) if len(labels) == 1 else _unscored(SEVERAL)


def read_presence(reply: Reply) -> Presence:
    """The finding in a reply to the absence check."""
    if reason := unreadable_reason(reply):
        return Presence(None, Parse.NONE, reason)
    text = without_thinking(reply.text or "")
    if fields := object_obeying(text, SCHEMAS["absence"]):
        return Presence(fields["addressed"] == "YES")
    # Also from an object that is broken elsewhere: the field itself is complete.
    quoted = {word.lower() for word in ADDRESSED.findall(text)}
    if len(quoted) == 1:
        return Presence(quoted == {"yes"}, Parse.LENIENT)
    if reply.outcome == CUT:
        return Presence(None, Parse.NONE, CUT)
    words = YES_NO.findall(without_fences(text))
    stated = {word.lower() for word in words}
    if len(stated) == 2:
        stated = {word.lower() for word in words if word.isupper()}  # "YES: there is no need to wait" means YES
    if len(stated) == 1:
        return Presence(stated == {"yes"}, Parse.LABEL)
    return Presence(None, Parse.NONE, SEVERAL if words else NO_LABEL)


def read_details(reply: Reply) -> DisagreementDetails:
    """The details in a reply to `extract`."""
    if reason := unreadable_reason(reply):
        return DisagreementDetails(None, None, Parse.NONE, reason)
    text = without_thinking(reply.text or "")
    if fields := object_obeying(text, SCHEMAS["extract"]):
        return DisagreementDetails(_topic(fields), _significance(fields))
    objects = [match.value for match in json_objects(text) if DETAIL_FIELDS & set(match.value)]
    if len(objects) != 1:
        return DisagreementDetails(None, None, Parse.NONE, CUT if reply.outcome == CUT else SEVERAL if objects else NO_LABEL)
    return DisagreementDetails(_topic(objects[0]), _significance(objects[0]), Parse.LENIENT)


def is_readable(call: Call, reply: Reply) -> bool:
    """Whether a reply contains what its call asked for."""
    if call.purpose == "absence":
        return read_presence(reply).addressed is not None
    if call.purpose == "extract":
        return read_details(reply).reason is None
    return read_verdict(reply, "structured" if call.purpose == "structured" else "label_only").label is not None


def _verdict_from_text(text: str, *, cut: bool) -> Verdict:
    """The one label in a text without a usable object; the other fields stay empty."""
    labels = _spelled(JSON_LABEL.findall(text))
    bare = without_fences(text)
    if not labels and cut:
        return _unscored(CUT)
    if not labels and not bare.startswith("{"):  # in a broken object, a label inside the reasoning is not a verdict
        labels = _spelled(STATED_LABEL.findall(bare)) or _spelled([bare.strip(" .*_`\"'")]) or _labels_in_capitals(bare)
    if len(labels) == 1:
        return Verdict(labels.pop(), parse=Parse.LABEL)
    return _unscored(SEVERAL if labels else NO_LABEL)


def _spelled(words: list[str]) -> set[str | None]:
    return {SPELLINGS[plain(word)] for word in words if plain(word) in SPELLINGS}


def _label(value: Any) -> str | None:
    return SPELLINGS.get(plain(value)) if isinstance(value, str) else None


def _labels_in_capitals(value: Any) -> set[str | None]:
    """The labels that a text gives in capitals without negating them."""
    if not isinstance(value, str):
        return set()
    return {match["label"] for match in LABEL_IN_CAPITALS.finditer(value) if not match["negated"]}


def _verdict(label: str, fields: Mapping[str, Any], parse: str) -> Verdict:
    # Models fill in every field; a significance without a disagreement has no meaning.
    significance = _significance(fields) if label in DISAGREEING else None
    # Where nothing differs, a topic is a formality of the model.
    topic = None if label in WITHOUT_TOPIC else _topic(fields)
    return Verdict(label, significance, topic, clean_text(fields.get("reasoning"), MAX_TEXT), parse)


def _unscored(reason: str) -> Verdict:
    return Verdict(None, parse=Parse.NONE, reason=reason)


def _significance(fields: Mapping[str, Any]) -> str | None:
    value = fields.get("clinical_significance")
    significance = SIGNIFICANCE_SPELLINGS.get(plain(value)) if isinstance(value, str) else None
    return None if significance is None else str(significance)


def _topic(fields: Mapping[str, Any]) -> str | None:
    topic = clean_text(fields.get("divergence_topic"), MAX_TEXT)
    return None if topic is None or plain(topic) in EMPTY_WORDS else topic
