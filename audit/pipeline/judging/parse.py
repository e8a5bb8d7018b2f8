"""The judge's replies: what is asked for, by template, and their parsing.

A reply is read as the JSON that was asked for, as JSON with faults, as a label in the text, or not at all: then the pair is
unscored, with the reason. Nothing here ever falls back on a default label.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from audit.pipeline.llm.calls import CUT, Call
from audit.pipeline.llm.prompts import Prompt, PromptForm, load_templates
from audit.pipeline.llm.reply_models import ReplyModel, ReplyReading, cleaned, faulty, read_reply
from audit.pipeline.llm.reply_text import (
    clean_text,
    without_fences,
)
from audit.pipeline.verdict import Verdict
from audit.release.journal_files import Reply
from audit.vocabulary import (
    DISAGREEING,
    EMPTY_WORDS,
    LABEL_SPELLINGS,
    LABELS,
    SIGNIFICANCE_SPELLINGS,
    WITHOUT_TOPIC,
    Label,
    Parse,
    Significance,
    plain,
)

# -- what is asked for --------------------------------------------------------------------------------------------------

MAX_REASONING, MAX_TOPIC = 700, 120
# Far above what the schema allows; only a reply that ignores the schema is shortened.
MAX_TEXT = 4_000
NO_LABEL, SEVERAL = "no label", "several labels"

# How a model may spell a label; the numbers are for matrices, and no prompt mentions them.
SPELLINGS = {word: label for word, label in LABEL_SPELLINGS.items() if not word.isdigit()}


def _label(value: Any) -> Label:
    """The label that a value spells. Raises ValueError if it spells none."""
    label = SPELLINGS.get(plain(value)) if isinstance(value, str) else None
    if label is None:
        raise ValueError(NO_LABEL)
    return label


def _significance(value: Any) -> Significance | None:
    return SIGNIFICANCE_SPELLINGS.get(plain(value)) if isinstance(value, str) else None


def _topic(value: Any) -> str | None:
    topic = clean_text(value, MAX_TEXT)
    return None if topic is None or plain(topic) in EMPTY_WORDS else topic


Classification = Annotated[Label, faulty(_label)]
Topic = Annotated[str, Field(max_length=MAX_TOPIC)]


class PresenceReply(ReplyModel):
    """Whether an answer addresses its question."""

    repairable = False
    addressed: Literal["YES", "NO"]


# A model writes the keys in this order, so the reasoning comes before the label that it leads to. One fixed schema for each
# template, never one for each pair: a server compiles every new schema.
class VerdictReply(ReplyModel):
    """The label with its reasons."""

    keys, repairable = ("classification",), False
    reasoning: Annotated[str, Field(max_length=MAX_REASONING), cleaned(MAX_TEXT)]
    classification: Classification
    divergence_topic: Annotated[Topic | None, faulty(_topic)]
    clinical_significance: Annotated[Significance | None, faulty(_significance)]


class LabelReply(ReplyModel):
    """The label alone."""

    classification: Classification


class DetailsReply(ReplyModel):
    """What two answers disagree on, and how much that matters; None where a reply has no usable value."""

    keys = ("divergence_topic", "clinical_significance")
    divergence_topic: Annotated[Topic, faulty(_topic)]
    clinical_significance: Annotated[Significance, faulty(_significance)]


PAIR_FIELDS = ("question", "answer_a", "answer_b")
VERDICT_SCHEMA = VerdictReply.schema_to_send()
FORMS = (
    PromptForm("absence", "absence", ("question", "answer"), PresenceReply.schema_to_send()),
    PromptForm("structured", "structured", PAIR_FIELDS, VERDICT_SCHEMA),
    PromptForm("label_only", "label", PAIR_FIELDS, LabelReply.schema_to_send()),
    PromptForm("extract", "extract", (*PAIR_FIELDS, "label"), DetailsReply.schema_to_send()),
    # Two passages of one handbook: another text, the same reply
    PromptForm("within", "structured", ("subject", "passage_a", "passage_b"), VERDICT_SCHEMA),
)


def load_prompts(folder: Path | None = None) -> dict[str, Prompt]:
    """All prompts by name; a template that `folder` has too is taken from there.

    Raises AuditError if a template of `folder` cannot be used, or the folder contains none.
    """
    return load_templates(FORMS, resources.files("audit.pipeline.judging").joinpath("templates"), folder)


# -- reading a reply ----------------------------------------------------------------------------------------------------


JSON_LABEL = re.compile(r'(?<!\\)"classification"\s*:\s*"([A-Za-z]+)"')
STATED_LABEL = re.compile(r"\b(?:classification|label|verdict)[\"'`*_\s]*(?:\bis\b|:|=)[\"'`*_\s]*([A-Za-z]+)", re.IGNORECASE)
# Capitals only: in running text "consistent", "divergent" and "absent" are ordinary words.
LABEL_IN_CAPITALS = re.compile(
    rf"(?P<negated>(?:\b(?:not|never|neither|nor|no|than)|n't)\s+(?:\w+\s+){{0,2}})?\b(?P<label>{'|'.join(LABELS)})\b"
)
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
    reading = read_reply(VerdictReply, reply, VerdictReply if template == "structured" else LabelReply)
    if reading.reason:
        return _unscored(reading.reason)
    if reading.unread:
        several = any(len(_labels_in_capitals(value["classification"])) > 1 for value in reading.unread)
        return _unscored(SEVERAL if several else NO_LABEL)
    if not reading.values:
        return _verdict_from_text(reading)
    if reading.parse is Parse.STRICT:
        return _verdict(reading.values[0], Parse.STRICT)
    # A model that answers twice is believed only if both answers agree. Text before an object prepares it; text after it may
    # take it back.
    labels = {value.classification for value in reading.values} | _labels_in_capitals(reading.after)
    return _verdict(reading.values[-1], Parse.LENIENT) if len(labels) == 1 else _unscored(SEVERAL)


def read_presence(reply: Reply) -> Presence:
    """The finding in a reply to the absence check."""
    reading = read_reply(PresenceReply, reply)
    if reading.reason:
        return Presence(None, Parse.NONE, reading.reason)
    if reading.parse is Parse.STRICT:
        return Presence(reading.values[0].addressed == "YES")
    # Also from an object that is broken elsewhere: the field itself is complete.
    quoted = {word.lower() for word in ADDRESSED.findall(reading.text)}
    if len(quoted) == 1:
        return Presence(quoted == {"yes"}, Parse.LENIENT)
    if reading.cut:
        return Presence(None, Parse.NONE, CUT)
    words = YES_NO.findall(without_fences(reading.text))
    stated = {word.lower() for word in words}
    if len(stated) == 2:
        stated = {word.lower() for word in words if word.isupper()}  # "YES: there is no need to wait" means YES
    if len(stated) == 1:
        return Presence(stated == {"yes"}, Parse.LABEL)
    return Presence(None, Parse.NONE, SEVERAL if words else NO_LABEL)


def read_details(reply: Reply) -> DisagreementDetails:
    """The details in a reply to `extract`."""
    reading = read_reply(DetailsReply, reply)
    details, reason = reading.only(SEVERAL if reading.values else NO_LABEL)
    if details is None:
        return DisagreementDetails(None, None, Parse.NONE, reason)
    significance = details.clinical_significance
    return DisagreementDetails(details.divergence_topic, significance and str(significance), reading.parse)


def is_readable(call: Call, reply: Reply) -> bool:
    """Whether a reply contains what its call asked for."""
    if call.purpose == "absence":
        return read_presence(reply).addressed is not None
    if call.purpose == "extract":
        return read_details(reply).reason is None
    return read_verdict(reply, "structured" if call.purpose == "structured" else "label_only").label is not None


def _verdict_from_text(reading: ReplyReading[VerdictReply]) -> Verdict:
    """The one label in a text without a usable object; the other fields stay empty."""
    labels = _spelled(JSON_LABEL.findall(reading.text))
    bare = without_fences(reading.text)
    if not labels and reading.cut:
        return _unscored(CUT)
    if not labels and not bare.startswith("{"):  # in a broken object, a label inside the reasoning is not a verdict
        labels = _spelled(STATED_LABEL.findall(bare)) or _spelled([bare.strip(" .*_`\"'")]) or _labels_in_capitals(bare)
    if len(labels) == 1:
        return Verdict(str(labels.pop()), parse=Parse.LABEL)
    return _unscored(SEVERAL if labels else NO_LABEL)


def _spelled(words: list[str]) -> set[Label]:
    return {SPELLINGS[plain(word)] for word in words if plain(word) in SPELLINGS}


def _labels_in_capitals(value: Any) -> set[Label]:
    """The labels that a text gives in capitals without negating them."""
    if not isinstance(value, str):
        return set()
    return {Label(match["label"]) for match in LABEL_IN_CAPITALS.finditer(value) if not match["negated"]}


def _verdict(value: VerdictReply, parse: Parse) -> Verdict:
    label = value.classification
    # Models fill in every field; a significance without a disagreement has no meaning.
    significance = value.clinical_significance if label in DISAGREEING else None
    # Where nothing differs, a topic is a formality of the model.
    topic = None if label in WITHOUT_TOPIC else value.divergence_topic
    return Verdict(str(label), significance and str(significance), topic, value.reasoning or None, parse)


def _unscored(reason: str) -> Verdict:
    return Verdict(None, parse=Parse.NONE, reason=reason)
