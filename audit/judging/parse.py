"""From a reply to what it says: as the JSON asked for, as JSON with faults, as a label in the text, or not at all.

What cannot be read is unscored, with the reason; nothing here ever falls back on a label.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from audit.judging.schemas import SCHEMAS
from audit.judging.verdicts import Verdict
from audit.llm.calls import CUT, Call, Reply
from audit.llm.reply_text import clean_text, json_objects, object_obeying, unreadable_reason, without_fences, without_thinking
from audit.vocabulary import DISAGREEING, EMPTY_WORDS, LABEL_SPELLINGS, LABELS, SIGNIFICANCE_SPELLINGS, Label, Parse, plain

NO_LABEL, SEVERAL = "no label", "several labels"
LONGEST = 4_000
TOPICLESS = (Label.ABSENT, Label.CONSISTENT)

SPELLINGS = {word: str(label) for word, label in LABEL_SPELLINGS.items() if not word.isdigit()}
"""How a model may spell a label; numbers are for matrices, and no prompt speaks of them."""
KEY = re.compile(r'(?<!\\)"classification"\s*:\s*"([A-Za-z]+)"')
SAID = re.compile(r"\b(?:classification|label|verdict)[\"'`*_\s]*(?:\bis\b|:|=)[\"'`*_\s]*([A-Za-z]+)", re.IGNORECASE)
NAMED = re.compile(
    rf"(?P<denied>(?:\b(?:not|never|neither|nor|no|than)|n't)\s+(?:\w+\s+){{0,2}})?\b(?P<label>{'|'.join(LABELS)})\b"
)
YES_NO = re.compile(r"\b(yes|no)\b", re.IGNORECASE)
ADDRESSED = re.compile(r'(?<!\\)"addressed"\s*:\s*"(yes|no)"', re.IGNORECASE)


@dataclass(frozen=True)
class Presence:
    """Whether an answer addresses its question; None: it cannot be told, and `reason` says why."""

    addressed: bool | None
    parse: str = Parse.STRICT
    reason: str | None = None


@dataclass(frozen=True)
class Extract:
    """What a disagreeing pair differs on, and how much it matters; both None where the reply cannot be read."""

    topic: str | None
    significance: str | None
    parse: str = Parse.STRICT
    reason: str | None = None


def read_verdict(reply: Reply, template: str) -> Verdict:
    """What a reply to `template` (structured or label_only) says of its pair."""
    if fault := unreadable_reason(reply):
        return _unscored(fault)
    text = without_thinking(reply.text or "")
    if found := object_obeying(text, SCHEMAS[template]):
        return _verdict(found["classification"], found, Parse.STRICT)
    told = [each for each in json_objects(text) if "classification" in each.value]
    if not told:
        return _from_text(text, cut=reply.outcome == CUT)
    labels = {_label(each.value["classification"]) for each in told}
    if None in labels:
        return _unscored(SEVERAL if any(len(_named(each.value["classification"])) > 1 for each in told) else NO_LABEL)
    # What comes before an object is its preparation; what comes after may take it back.
    labels |= _named(told[-1].after)
    return _verdict(labels.pop() or "", told[-1].value, Parse.LENIENT) if len(labels) == 1 else _unscored(SEVERAL)


def read_presence(reply: Reply) -> Presence:
    """What a reply to the absence check says of its answer."""
    if fault := unreadable_reason(reply):
        return Presence(None, Parse.NONE, fault)
    text = without_thinking(reply.text or "")
    if found := object_obeying(text, SCHEMAS["absence"]):
        return Presence(found["addressed"] == "YES")
    quoted = {word.lower() for word in ADDRESSED.findall(text)}
    if len(quoted) == 1:
        return Presence(quoted == {"yes"}, Parse.LENIENT)
    if reply.outcome == CUT:
        return Presence(None, Parse.NONE, CUT)
    words = YES_NO.findall(without_fences(text))
    said = {word.lower() for word in words}
    if len(said) == 2:
        said = {word.lower() for word in words if word.isupper()}  # "YES: there is no need to wait" says YES
    if len(said) == 1:
        return Presence(said == {"yes"}, Parse.LABEL)
    return Presence(None, Parse.NONE, SEVERAL if words else NO_LABEL)


def read_extract(reply: Reply) -> Extract:
    """What a reply to `extract` says of its pair."""
    if fault := unreadable_reason(reply):
        return Extract(None, None, Parse.NONE, fault)
    text = without_thinking(reply.text or "")
    found = object_obeying(text, SCHEMAS["extract"])
    if found:
        return Extract(_topic(found), _significance(found))
    told = [each.value for each in json_objects(text) if {"divergence_topic", "clinical_significance"} & set(each.value)]
    if len(told) != 1:
        return Extract(None, None, Parse.NONE, CUT if reply.outcome == CUT else SEVERAL if told else NO_LABEL)
    return Extract(_topic(told[0]), _significance(told[0]), Parse.LENIENT)


def readable(call: Call, reply: Reply) -> bool:
    """Whether the reply says what its call asked for."""
    if call.purpose == "absence":
        return read_presence(reply).addressed is not None
    if call.purpose == "extract":
        return read_extract(reply).reason is None
    return read_verdict(reply, "structured" if call.purpose == "structured" else "label_only").label is not None


def _from_text(text: str, *, cut: bool) -> Verdict:
    """The one label that a text without a usable object gives; its other fields stay empty."""
    quoted = _spelled(KEY.findall(text))
    bare = without_fences(text)
    if not quoted and cut:
        return _unscored(CUT)
    if not quoted and not bare.startswith("{"):  # in a broken object, a label inside the reasoning is no verdict
        quoted = _spelled(SAID.findall(bare)) or _spelled([bare.strip(" .*_`\"'")]) or _named(bare)
    if len(quoted) == 1:
        return Verdict(quoted.pop(), parse=Parse.LABEL)
    return _unscored(SEVERAL if quoted else NO_LABEL)


def _spelled(words: list[str]) -> set[str | None]:
    return {SPELLINGS[plain(word)] for word in words if plain(word) in SPELLINGS}


def _label(value: Any) -> str | None:
    return SPELLINGS.get(plain(value)) if isinstance(value, str) else None


def _named(value: Any) -> set[str | None]:
    """The labels that a text names in capitals without denying them."""
    return {each["label"] for each in NAMED.finditer(value) if not each["denied"]} if isinstance(value, str) else set()


def _verdict(label: str, fields: Mapping[str, Any], parse: str) -> Verdict:
    significance = _significance(fields) if label in DISAGREEING else None
    topic = None if label in TOPICLESS else _topic(fields)
    return Verdict(label, significance, topic, clean_text(fields.get("reasoning"), LONGEST), parse)


def _unscored(reason: str) -> Verdict:
    return Verdict(None, parse=Parse.NONE, reason=reason)


def _significance(fields: Mapping[str, Any]) -> str | None:
    value = fields.get("clinical_significance")
    found = SIGNIFICANCE_SPELLINGS.get(plain(value)) if isinstance(value, str) else None
    return None if found is None else str(found)


def _topic(fields: Mapping[str, Any]) -> str | None:
    topic = clean_text(fields.get("divergence_topic"), LONGEST)
    return None if topic is None or plain(topic) in EMPTY_WORDS else topic
