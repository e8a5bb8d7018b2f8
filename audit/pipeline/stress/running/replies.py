"""Parsing a reply to a stress test: the choice, the calls on documents, the sub-answers, and their faults.

Ambiguous replies are unreadable: an unknown letter, two different choices, or two different calls on a document.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from audit.pipeline.llm.calls import CUT
from audit.pipeline.llm.reply_models import read_reply as find_reply
from audit.pipeline.llm.reply_text import clean_text
from audit.pipeline.stress.running.forms import (
    INSUFFICIENT,
    KEY_SPELLINGS,
    MAX_ANSWER,
    MAX_SUB_ANSWER,
    StressReplyForm,
    reply_model,
)
from audit.release.journal_files import Reply
from audit.release.stress_kinds import NO_CHOICE, UNKNOWN_OPTION
from audit.vocabulary import DOCUMENT_CALL_SPELLINGS, DocumentCall, Parse, plain

SEVERAL = "several choices"
MAX_TEXT = 2_000
LETTER = re.compile(r"\(?([A-Za-z])(?:[).:]|\Z)")
NUMBER = re.compile(r"\D*(\d{1,4})\D*")


@dataclass(frozen=True)
class StressReply:
    """A parsed reply, by the numbers of documents and sub-questions, from 1.

    choice       letter, or the text of an open answer; None: insufficient, or unreadable
    reason       why no choice could be read; None where one was, or where it says insufficient
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


def read_reply(reply: Reply, form: StressReplyForm, options: Mapping[str, str]) -> StressReply:
    """A server's reply, parsed. `options` are those of the instance, for a choice that is spelled out."""
    reading = find_reply(reply_model(form), reply)
    if reading.reason:
        return StressReply(reason=reading.reason)
    records = [_known_keys(value) for value in reading.found]
    if not records:
        return StressReply(reason=CUT if reading.cut else NO_CHOICE)
    choices = {_choice(record["choice"], form, options) for record in records if "choice" in record}
    faults: Counter[str] = Counter()
    calls = _entries_by_number(records, "documents", form.documents, faults, _call_of(form))
    sub_answers = _entries_by_number(records, "sub_answers", form.sub_questions, faults, _short_answer)
    choice, insufficient, reason = _decided(choices, reading.cut)
    as_asked = tuple(reading.found[0]) == tuple(reply_model(form).model_fields)
    return StressReply(
        choice, insufficient, clean_text(records[-1].get("reasoning"), MAX_TEXT), calls, sub_answers,
        Parse.STRICT if reading.whole and as_asked and not (faults or reason) else Parse.LENIENT, reason, faults,
    )  # fmt: skip


def _known_keys(value: Mapping[str, Any]) -> dict[str, Any]:
    return {KEY_SPELLINGS[plain(key)]: part for key, part in value.items() if plain(key) in KEY_SPELLINGS}


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
    if plain(text).strip(".") in (INSUFFICIENT, "insufficientinformation"):
        return INSUFFICIENT
    if not form.letters:
        return text
    letters = {letter.upper(): letter for letter in form.letters}
    if text.upper() in letters:
        return letters[text.upper()]
    spelled = [letter for letter, words in options.items() if plain(words) == plain(text)]
    match = LETTER.match(text)
    named = letters.get(match[1].upper(), "") if match else ""
    return spelled[0] if len(spelled) == 1 else named


def _call_of(form: StressReplyForm) -> Callable[[Any], DocumentCall | None]:
    def read(value: Any) -> DocumentCall | None:
        call = DOCUMENT_CALL_SPELLINGS.get(plain(value)) if isinstance(value, str) else None
        return call if call in form.calls else None

    return read


def _short_answer(value: Any) -> str | None:
    # An amount may come as a number
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return clean_text(str(value) if number else value, MAX_SUB_ANSWER)


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
        if len(parts) == 2:
            yield _number(parts[0]), parts[1]
        else:
            yield None, entry


def _number(value: Any) -> int | None:
    match = NUMBER.fullmatch(str(value))
    return int(match[1]) if match else None
