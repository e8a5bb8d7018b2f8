"""The judge's replies: what is asked for, by template, and their parsing.

A reply is read as the JSON that was asked for, as JSON with faults, by the label's field of broken JSON, as prose that states
one label beyond doubt, or not at all: then the pair is unscored, with the reason. Nothing here falls back on a default label.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field

from audit.pipeline.llm.calls import CUT, Call
from audit.pipeline.llm.prompts import Prompt, PromptForm, load_templates
from audit.pipeline.llm.reply_models import FAULTY, GOES_ON, ReplyModel, ReplyReading, cleaned, faulty, read_reply, spelled
from audit.pipeline.llm.reply_text import (
    REASON_NAMES,
    clean_text,
    no_own_words,
    opens_object,
    says_more,
    stated_line,
    stated_term,
    visible,
    words_of,
)
from audit.pipeline.verdict import Verdict
from audit.release.journal_files import Reply
from audit.vocabulary import (
    ABSTAINED,
    DIFFERENCE_SPELLINGS,
    DISAGREEING,
    EMPTY_WORDS,
    FOLLOW_BOTH_SPELLINGS,
    LABEL_SPELLINGS,
    LABELS,
    SIGNIFICANCE_SPELLINGS,
    WITHOUT_TOPIC,
    Difference,
    FollowBoth,
    Label,
    Parse,
    Significance,
    plain,
)

# -- what is asked for --------------------------------------------------------------------------------------------------

MAX_REASONING, MAX_TOPIC, MAX_QUOTE = 700, 120, 300
# Far above what the schema allows; only a reply that ignores the schema is shortened.
MAX_TEXT = 4_000
NO_LABEL, SEVERAL = "no label", "several labels"
UNSURE: Literal["UNSURE"] = "UNSURE"
"""What a judge replies that cannot tell: no label, and a reason why there is none."""
CANNOT_TELL = f"{ABSTAINED}: the judge cannot tell"
IN_PROSE = "label in running text"
T = TypeVar("T")

# How a model may spell a label; the numbers are for matrices, and no prompt mentions them.
SPELLINGS: dict[str, str] = {word: label for word, label in LABEL_SPELLINGS.items() if not word.isdigit()}
SPELLINGS[plain(UNSURE)] = UNSURE


def _label(value: Any) -> str:
    """The label that a value spells, or UNSURE. Raises ValueError if it spells neither."""
    label = SPELLINGS.get(plain(visible(value))) if isinstance(value, str) else None
    if label is None:
        raise ValueError(NO_LABEL)
    return label


def _term_of(spellings: Mapping[str, T]) -> Callable[[Any], T | None]:
    return lambda value: spellings.get(plain(value)) if isinstance(value, str) else None


def _topic(value: Any) -> str | None:
    topic = clean_text(value, MAX_TEXT)
    return None if topic is None or plain(topic) in EMPTY_WORDS else topic


# What other prompts call the fields, those of a text in lines too
LABEL_NAMES = ("classification", "label", "verdict", "answer")
TOPIC_NAMES, SIGNIFICANCE_NAMES = ("topic", "divergence topic"), ("significance", "clinical significance")
OTHER_NAMES: dict[str, str] = {
    plain(name): field
    for field, names in {
        "classification": LABEL_NAMES, "divergence_topic": TOPIC_NAMES, "clinical_significance": SIGNIFICANCE_NAMES,
        "reasoning": REASON_NAMES,
    }.items()
    for name in names
}  # fmt: skip

Classification = Annotated[Label | Literal["UNSURE"], faulty(_label)]
Quote = Annotated[Annotated[str, Field(max_length=MAX_QUOTE)] | None, faulty(lambda value: clean_text(value, MAX_TEXT))]
Topic = Annotated[str, Field(max_length=MAX_TOPIC)]


class PresenceReply(ReplyModel):
    """Whether an answer addresses its question."""

    keys, other_names = ("addressed",), {"answer": "addressed", "classification": "addressed"}
    addressed: Annotated[
        Literal["YES", "NO"], spelled(lambda value: visible(value).strip().upper() if isinstance(value, str) else None)
    ]


# A model writes the keys in this order, so the reasoning comes before the label that it leads to. One fixed schema for each
# template, never one for each pair: a server compiles every new schema.
class VerdictReply(ReplyModel):
    """The label with its reasons: the words that it rests on, why advice differs, and how much that matters."""

    keys, other_names = ("classification",), OTHER_NAMES
    reasoning: Annotated[str, Field(max_length=MAX_REASONING), cleaned(MAX_TEXT)]
    quote_a: Quote
    quote_b: Quote
    classification: Classification
    divergence_topic: Annotated[Topic | None, faulty(_topic)]
    difference: Annotated[Difference | None, faulty(_term_of(DIFFERENCE_SPELLINGS))]
    follow_both: Annotated[FollowBoth | None, faulty(_term_of(FOLLOW_BOTH_SPELLINGS))]
    clinical_significance: Annotated[Significance | None, faulty(_term_of(SIGNIFICANCE_SPELLINGS))]


class PassagesReply(ReplyModel):
    """The label of two passages of one handbook, which are as short as quotes."""

    reasoning: Annotated[str, Field(max_length=MAX_REASONING), cleaned(MAX_TEXT)]
    classification: Classification
    divergence_topic: Annotated[Topic | None, faulty(_topic)]
    clinical_significance: Annotated[Significance | None, faulty(_term_of(SIGNIFICANCE_SPELLINGS))]


class LabelFirstReply(ReplyModel):
    """The label, and after it the reasons, in the order of arXiv:2605.29084, section 4."""

    classification: Classification
    reasoning: Annotated[str, Field(max_length=MAX_REASONING), cleaned(MAX_TEXT)]
    divergence_topic: Annotated[Topic | None, faulty(_topic)]
    clinical_significance: Annotated[Significance | None, faulty(_term_of(SIGNIFICANCE_SPELLINGS))]


class LabelReply(ReplyModel):
    """The label alone."""

    classification: Classification


class DetailsReply(ReplyModel):
    """What two answers disagree on, and how much that matters; None where a reply has no usable value."""

    keys, other_names = ("divergence_topic", "clinical_significance"), OTHER_NAMES
    divergence_topic: Annotated[Topic, faulty(_topic)]
    clinical_significance: Annotated[Significance, faulty(_term_of(SIGNIFICANCE_SPELLINGS))]


PAIR_FIELDS, CENTERS = ("question", "answer_a", "answer_b"), ("center_a", "center_b")
VERDICT_SCHEMA = VerdictReply.schema_to_send()
FORMS = (
    PromptForm("absence", "absence", ("question", "answer"), PresenceReply.schema_to_send()),
    PromptForm("structured", "structured", PAIR_FIELDS, VERDICT_SCHEMA, CENTERS),
    PromptForm("label_first", "structured", PAIR_FIELDS, LabelFirstReply.schema_to_send(), CENTERS),
    PromptForm("label_only", "label", PAIR_FIELDS, LabelReply.schema_to_send(), CENTERS),
    PromptForm("extract", "extract", (*PAIR_FIELDS, "label"), DetailsReply.schema_to_send()),
    # Two passages of one handbook
    PromptForm("within", "structured", ("subject", "passage_a", "passage_b"), PassagesReply.schema_to_send()),
)
ASKED: Mapping[str, type[ReplyModel]] = {
    "structured": VerdictReply, "label_first": LabelFirstReply, "label_only": LabelReply, "within": PassagesReply,
}  # fmt: skip
"""Template -> what it asks for; every reply is read as a VerdictReply, of which the others are parts."""


def load_prompts(folder: Path | None = None) -> dict[str, Prompt]:
    """All prompts by name; a template that `folder` has too is taken from there.

    Raises AuditError if a template of `folder` cannot be used, or the folder contains none.
    """
    return load_templates(FORMS, resources.files("audit.pipeline.judging").joinpath("templates"), folder)


# -- reading a reply ----------------------------------------------------------------------------------------------------


# A field of an object that is broken elsewhere: complete, and neither escaped, as in a text on it, nor followed by more words.
FIELD = r"""(?i:[{{,"]\s*"(?:{name})")\s*:\s*"([A-Za-z]+)"\s*(?=,\s*"|,?\s*\}}|,?\s*\Z)"""
LABEL_FIELD, ADDRESSED_FIELD = (re.compile(FIELD.format(name=name)) for name in ("classification|label|verdict", "addressed"))
STATEMENT_NAMES = (*LABEL_NAMES, *(f"final {name}" for name in LABEL_NAMES))
ADDRESSED_NAMES = ("addressed", "answer", "final answer")
# In prose only the words of the vocabulary: "agree" and "missing" are words of any sentence.
LABEL_WORDS: dict[str, str] = {plain(label): label for label in (*LABELS, UNSURE)}
YES_NO = {"yes": True, "no": False}


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


def read_verdict(reply: Reply, template: str, instructions: str = "") -> Verdict:
    """The verdict in a reply to `template`, a key of ASKED; unscored where its words are those of the instructions, or a loop."""
    verdict = _stated_verdict(reply, template)
    texts = (verdict.reasoning or "", verdict.topic or "")
    faults = [fault for text in texts if (fault := no_own_words(text, instructions))]
    return _unscored(faults[0]) if faults else verdict


def _stated_verdict(reply: Reply, template: str) -> Verdict:
    reading = read_reply(VerdictReply, reply, ASKED[template])
    if reading.reason:
        return _unscored(reading.reason)
    if reading.unread:
        several = any(len(_labels_in_capitals(str(value["classification"]))) > 1 for value in reading.unread)
        return _unscored(SEVERAL if several else NO_LABEL)
    if not reading.values:
        return _verdict_from_text(reading)
    if reading.parse is Parse.STRICT:
        return _verdict(reading.values[0], Parse.STRICT)
    # A model that answers twice is believed only if both answers agree. Text before an object prepares it; text after it may
    # take it back.
    labels = {value.classification for value in reading.values}
    if len(labels) > 1 or words_of(reading.after) & LABEL_WORDS.keys():
        return _unscored(SEVERAL)
    return _unscored(GOES_ON) if reading.goes_on else _verdict(reading.values[-1], Parse.LENIENT)


def read_presence(reply: Reply) -> Presence:
    """The finding in a reply to the absence check."""
    reading = read_reply(PresenceReply, reply)
    if reading.reason:
        return Presence(None, Parse.NONE, reading.reason)
    stated = {value.addressed for value in reading.values}
    if len(stated) == 1 and not (reading.unread or reading.goes_on):
        return Presence(stated == {"YES"}, reading.parse)
    if reading.found:
        return Presence(None, Parse.NONE, SEVERAL if len(stated) > 1 else GOES_ON if stated else NO_LABEL)
    addressed, parse = _from_text(reading, ADDRESSED_FIELD, YES_NO, ADDRESSED_NAMES, YES_NO)
    if addressed is not None:
        return Presence(addressed, parse)
    several = YES_NO.keys() <= words_of(reading.text)
    return Presence(None, Parse.NONE, CUT if reading.cut else SEVERAL if several else NO_LABEL)


def read_details(reply: Reply) -> DisagreementDetails:
    """The details in a reply to `extract`."""
    reading = read_reply(DetailsReply, reply)
    details, reason = reading.only_verdict(SEVERAL if reading.values else NO_LABEL)
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
    template = "structured" if call.purpose == "structured" else "label_only"
    verdict = read_verdict(reply, template, call.instructions)
    return verdict.label is not None or verdict.reason == CANNOT_TELL


def _verdict_from_text(reading: ReplyReading[VerdictReply]) -> Verdict:
    """The one label in a text without a usable object, and of a text in lines what they state: topic, significance, reasons."""
    label, parse = _from_text(reading, LABEL_FIELD, SPELLINGS, STATEMENT_NAMES, LABEL_WORDS)
    if label is not None:
        names = {"divergence_topic": TOPIC_NAMES, "clinical_significance": SIGNIFICANCE_NAMES, "reasoning": REASON_NAMES}
        stated = {field: stated_line(reading.text, own) for field, own in names.items()} if parse is Parse.PROSE else {}
        return _verdict(VerdictReply.model_validate({**stated, "classification": label}, context=FAULTY), parse)
    if reading.cut:
        return _unscored(CUT)
    named = len(_labels_in_capitals(reading.text))
    return _unscored(SEVERAL if named > 1 else IN_PROSE if named else NO_LABEL)


def _from_text(
    reading: ReplyReading[Any], field: re.Pattern[str], spellings: Mapping[str, T], names: Iterable[str], words: Mapping[str, T]
) -> tuple[T | None, Parse]:
    """The one term of a text without a usable object, and how it was read: from a field of a broken object, or from prose."""
    text = reading.text
    if opens_object(text):
        terms = {spellings.get(plain(word)) for word in field.findall(text)}
        after = text.rpartition("}")[2] if "}" in text else ""
        certain = len(terms) == 1 and not (reading.objects or says_more(after))
        return (terms.pop() if certain else None), Parse.LABEL
    # What a text that was cut off would have said next, nobody knows.
    return (None if reading.cut else stated_term(text, names, (*TOPIC_NAMES, *SIGNIFICANCE_NAMES), words)), Parse.PROSE


def _labels_in_capitals(text: str) -> set[Label]:
    """The labels that a text has in capitals: in running text "consistent" and "absent" are ordinary words."""
    return {label for label in LABELS if re.search(rf"\b{label}\b", text)}


def _verdict(value: VerdictReply, parse: Parse) -> Verdict:
    label, quotes = value.classification, (value.quote_a, value.quote_b)
    if label == UNSURE:
        return _abstained(parse, value.reasoning or None)
    # Models fill in every field; a significance without a disagreement has no meaning.
    significance = value.clinical_significance if label in DISAGREEING else None
    # Where nothing differs, a topic is a formality of the model.
    topic = None if label in WITHOUT_TOPIC else value.divergence_topic
    grounds = (value.difference, value.follow_both) if label in DISAGREEING else (None, None)
    terms = (term and str(term) for term in grounds)
    return Verdict(str(label), significance and str(significance), topic, value.reasoning or None, parse, None, quotes, *terms)


def _abstained(parse: Parse, reasoning: str | None = None) -> Verdict:
    """The judge was asked, and replied that it cannot tell: its reply was read, and there is no label."""
    return Verdict(None, reasoning=reasoning, parse=parse, reason=CANNOT_TELL)


def _unscored(reason: str) -> Verdict:
    return Verdict(None, parse=Parse.NONE, reason=reason)
