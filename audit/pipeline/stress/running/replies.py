"""Parsing a reply to a stress test: the choice, the calls on documents, the sub-answers, and their faults.

Ambiguous replies are unreadable: an unknown letter, two different choices, two different calls on a document, or a letter with
other words than those of its option.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from audit.pipeline.llm.calls import CUT
from audit.pipeline.llm.reply_models import GOES_ON, ReplyReading
from audit.pipeline.llm.reply_models import read_reply as find_reply
from audit.pipeline.llm.reply_text import clean_text, opens_object, stated_line, unwrapped, without_fences, without_full_stop
from audit.pipeline.stress.running.forms import (
    INSUFFICIENT,
    KEY_SPELLINGS,
    MAX_ANSWER,
    MAX_SUB_ANSWER,
    StressReplyForm,
    reply_model,
)
from audit.pipeline.stress.running.medrgb_layout import in_our_layout
from audit.release.journal_files import Reply
from audit.release.stress_kinds import NO_CHOICE, UNKNOWN_OPTION
from audit.vocabulary import DOCUMENT_CALL_SPELLINGS, DocumentCall, Parse, plain

SEVERAL = "several choices"
MAX_TEXT = 2_000
# What a choice may call itself: "Answer: B", "the answer is B", "Option B".
NAMED = re.compile(
    r"(?:the\s+)?(?:final\s+|correct\s+)?(?:answer|choice|option)(?:\s+is\b\s*:?|\s*[:=]|\s)\s*(.+)", re.IGNORECASE | re.DOTALL
)
LETTER = re.compile(r"[(\[]?([A-Za-z])[)\]]?[.:)]?")
LETTER_AND_WORDS = re.compile(r"[(\[]?([A-Za-z])(?:[)\]]?\s*[.:)–—-]\s*|[)\]]?\s+)(.+)", re.DOTALL)
CHOICE_NAMES = ("answer", "final answer", "correct answer", "choice", "answer choice", "option")
SUB_ANSWER_KEYS = ("document", "answer")
NUMBER = re.compile(r"\D*(\d{1,4})\D*")


@dataclass(frozen=True)
class StressReply:
    """A parsed reply, by the numbers of documents and sub-questions, from 1.

    choice       letter, or the text of an open answer; None: insufficient, or unreadable
    reason       why no choice could be read; None where one was, or where it says insufficient
    read_from    sub-question -> the document that its answer is said to be from; no entry: none, or not stated
    faults       fault of calls and sub-answers -> how often it occurred
    """

    choice: str | None = None
    insufficient: bool = False
    reasoning: str | None = None
    calls: Mapping[int, DocumentCall] = field(default_factory=dict)
    sub_answers: Mapping[int, str] = field(default_factory=dict)
    parse: Parse = Parse.NONE
    reason: str | None = None
    faults: Mapping[str, int] = field(default_factory=dict)
    read_from: Mapping[int, int] = field(default_factory=dict)


def read_reply(reply: Reply, form: StressReplyForm, options: Mapping[str, str]) -> StressReply:
    """A server's reply, parsed. `options` are those of the instance, for a choice that is spelled out."""
    reading = find_reply(reply_model(form), reply)
    if reading.reason:
        return StressReply(reason=reading.reason)
    records = [_known_keys(value) for value in reading.found]
    if records and reading.goes_on:
        return StressReply(reason=GOES_ON)
    if not records:
        return _from_prose(reading, form, options)
    choices = {_choice(record["choice"], form, options) for record in records if "choice" in record}
    faults: Counter[str] = Counter()
    calls = _entries_by_number(records, "documents", form.documents, faults, _call_of(form))
    answers: dict[int, SourcedShortAnswer] = _entries_by_number(records, "sub_answers", form.sub_questions, faults, _sub_answer)
    places = {number: answer.document for number, answer in answers.items() if answer.document is not None}
    if wrong := sum(not 0 <= place <= form.shown for place in places.values()):
        faults["sub_answers: no such document"] = wrong
    choice, insufficient, reason = _decided(choices, reading.cut)
    as_asked = tuple(reading.found[0]) == tuple(reply_model(form).model_fields)
    return StressReply(
        choice, insufficient, clean_text(records[-1].get("reasoning"), MAX_TEXT), calls,
        {number: answer.text for number, answer in answers.items()},
        Parse.STRICT if reading.whole and as_asked and not (faults or reason) else Parse.LENIENT, reason, faults,
        {number: place for number, place in places.items() if 1 <= place <= form.shown},
    )  # fmt: skip


def _from_prose(reading: ReplyReading[Any], form: StressReplyForm, options: Mapping[str, str]) -> StressReply:
    """A reply without an object that is an option and nothing else, or has one line that states one.

    Calls and sub-answers are then missing, and counted.
    """
    if reading.cut or not form.letters or opens_object(reading.text):
        return StressReply(reason=CUT if reading.cut else NO_CHOICE)
    text = without_fences(reading.text)
    stated = _choice(text, form, options) or _choice(stated_line(text, CHOICE_NAMES, closes=True), form, options)
    choice, insufficient, _ = _decided({stated}, cut=False)
    if not (choice or insufficient):
        return StressReply(reason=NO_CHOICE)
    missing = {"documents: missing": form.documents, "sub_answers: missing": form.sub_questions}
    faults = {name: count for name, count in missing.items() if count}
    return StressReply(choice, insufficient, parse=Parse.PROSE, faults=faults)


def _known_keys(value: Mapping[str, Any]) -> dict[str, Any]:
    return {KEY_SPELLINGS[plain(key)]: part for key, part in in_our_layout(value).items() if plain(key) in KEY_SPELLINGS}


def _decided(choices: set[str], cut: bool) -> tuple[str | None, bool, str | None]:
    """Choice, insufficient, and the reason if there is neither; a choice that is not an option becomes the empty text."""
    if len(choices) != 1:
        return None, False, SEVERAL if choices else CUT if cut else NO_CHOICE
    (choice,) = choices
    if choice == INSUFFICIENT:
        return None, True, None
    return (choice, False, None) if choice else (None, False, UNKNOWN_OPTION)


def _choice(value: Any, form: StressReplyForm, options: Mapping[str, str]) -> str:
    """The letter (open question: the text), INSUFFICIENT, or an empty text for anything that is not an option."""
    text = clean_text(value, MAX_ANSWER) or ""
    text = unicodedata.normalize("NFKC", text) if form.letters else text
    if plain(text).strip(".") in (INSUFFICIENT, "insufficientinformation"):
        return INSUFFICIENT
    if not form.letters:
        return text
    letters = {letter.upper(): letter for letter in form.letters}
    if text.upper() in letters:
        return letters[text.upper()]
    named = {*_spelled_out(text, options), *_lettered(text, letters, options)}
    return named.pop() if len(named) == 1 else ""


def _lettered(text: str, letters: Mapping[str, str], options: Mapping[str, str]) -> set[str]:
    """The option whose letter a text is, alone or with the words of that very option: "E. coli" does not name option E."""
    bare = without_full_stop(unwrapped(text))
    while match := NAMED.fullmatch(bare):
        bare = without_full_stop(unwrapped(match[1]))
    if bare.upper() in letters:
        return {letters[bare.upper()]}
    if alone := LETTER.fullmatch(bare):
        return {letters[alone[1].upper()]} if alone[1].upper() in letters else set()
    match = LETTER_AND_WORDS.fullmatch(bare)
    own = letters.get(match[1].upper()) if match else None
    return _spelled_out(match[2], options) & {own} if match and own else _spelled_out(bare, options)


def _spelled_out(text: str, options: Mapping[str, str]) -> set[str]:
    """The options whose words a text is; a single letter is never the words of an option."""
    words = _words(text)
    return {letter for letter, own in options.items() if _words(own) == words and not (len(words) == 1 and words.isalpha())}


def _words(text: str) -> str:
    # Signs stay: -5 is not 5
    return " ".join(without_full_stop(unwrapped(unicodedata.normalize("NFKC", text))).casefold().split())


def _call_of(form: StressReplyForm) -> Callable[[Any], DocumentCall | None]:
    def read(value: Any) -> DocumentCall | None:
        call = DOCUMENT_CALL_SPELLINGS.get(plain(value)) if isinstance(value, str) else None
        return call if call in form.calls else None

    return read


class SourcedShortAnswer(NamedTuple):
    """The answer to a sub-question, and the number of the document that it is said to be from; 0: none, None: not stated."""

    text: str
    document: int | None


def _sub_answer(value: Any) -> SourcedShortAnswer | None:
    named = value if isinstance(value, Mapping) else {"answer": value}
    answer = named.get("answer")
    # An amount may come as a number
    number = isinstance(answer, int | float) and not isinstance(answer, bool)
    text = clean_text(str(answer) if number else answer, MAX_SUB_ANSWER)
    return SourcedShortAnswer(text, _number(named.get("document"))) if text else None


def _entries_by_number(
    records: list[dict[str, Any]], name: str, count: int, faults: Counter[str], read: Callable[[Any], Any]
) -> dict[int, Any]:
    """The entries for the numbers 1 to `count`; missing, contradictory and unknown numbers are counted."""
    by_number: dict[int, Any] = {}
    contradicted: set[int] = set()
    for number, value in (entry for record in records for entry in _entries(record.get(name))):
        content = read(value)
        if number is None or not 1 <= number <= count:
            faults[f"{name}: no such number"] += 1
        elif content is None:
            faults[f"{name}: not as asked for"] += 1
        elif by_number.setdefault(number, content) != content:
            contradicted.add(number)
    for number in contradicted:
        del by_number[number]
    missing = count - len(by_number) - len(contradicted)
    faults.update({f"{name}: given twice, differently": len(contradicted), f"{name}: missing": missing})
    for key in [key for key, times in faults.items() if not times]:
        del faults[key]
    return by_number


def _entries(value: Any) -> Iterator[tuple[int | None, Any]]:
    """(number, content) of an object with numbers as keys, or of a list of objects with a number and something else."""
    if isinstance(value, Mapping):
        yield from ((_number(key), content) for key, content in value.items())
    for entry in value if isinstance(value, list) else []:
        parts = list(entry.values()) if isinstance(entry, Mapping) else []
        others = [part for name, part in entry.items() if name not in SUB_ANSWER_KEYS] if parts else []
        if len(parts) == 2:
            yield _number(parts[0]), parts[1]
        elif len(others) == 1 and len(parts) == 1 + len(SUB_ANSWER_KEYS):
            yield _number(others[0]), entry
        else:
            yield None, entry


def _number(value: Any) -> int | None:
    match = NUMBER.fullmatch(str(value))
    return int(match[1]) if match else None
