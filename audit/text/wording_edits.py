"""Changes that leave the sense of a text alone, or only add to it: other words, another order, one sentence more, padding.

Each rule returns the edit, or None where it cannot be made safely. The rules read form and not meaning, so they skip every
sentence that could depend on the one before it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from audit.text.contacts import contacts
from audit.text.edits import TextEdit, edited
from audit.text.statements import Statement, statements
from audit.text.tokens import plain_text, stems

SYNONYMS, ORDER, DETAIL, PADDING = "synonyms", "order", "detail", "padding"

# -- other words -------------------------------------------------------------------------------------------------------

_EQUIVALENTS = """
physicians = doctors; physician = doctor; doctors = physicians; doctor = physician; medicines = medications;
medicine = medication; medications = medicines; medication = medicine; illnesses = sicknesses; for example = for instance;
for instance = for example; approximately = about; begins = starts; begin = start; purchase = buy; assists = helps; assist = help;
frequently = often; often = frequently; cannot = can not; talk to = speak with; talk with = speak with; rarely = seldom;
injections = shots; injection = shot; high blood pressure = hypertension; adolescents = teenagers; obtain = get;
performed = carried out; immediately = at once; also called = also known as; also known as = also called; such as = like
"""
EQUIVALENTS = {
    words.strip(): others.strip() for entry in " ".join(_EQUIVALENTS.split()).split(";") for words, others in [entry.split(" = ")]
}
"""Words -> others that mean the same in any sentence for patients."""
EQUIVALENT = re.compile(rf"(?<![\w-])(?:{'|'.join(sorted(EQUIVALENTS, key=len, reverse=True))})(?![\w-])")


def in_other_words(text: str, choose: random.Random) -> TextEdit | None:
    """The text with one sentence in other words: every word of it that has an equivalent. None where no sentence has one."""
    candidates = [one for one in statements(text) if EQUIVALENT.search(plain_text(text[one.start : one.end]))]
    if not candidates:
        return None
    most = max(len(_equivalents(text, one)) for one in candidates)
    statement = choose.choice([one for one in candidates if len(_equivalents(text, one)) == most])
    words = _equivalents(text, statement)
    first, last = words[0].start(), words[-1].end()
    after, position = "", first
    for match in words:
        after += text[position : match.start()] + _cased(EQUIVALENTS[match.group()], text[match.start()])
        position = match.end()
    return edited(SYNONYMS, text, first, last, after)


def _equivalents(text: str, statement: Statement) -> list[re.Match[str]]:
    return list(EQUIVALENT.finditer(plain_text(text), statement.start, statement.end))


def _cased(word: str, first: str) -> str:
    return word[0].upper() + word[1:] if first.isupper() else word


# -- sentences ---------------------------------------------------------------------------------------------------------

# A sentence with one of these may refer to the one before it
_LEANS = (
    r"this|these|those|they|them|their|it|its|such|he|she|his|her|him|former|latter|other|others|another|also|however|therefore|"
    r"then|next|first|second|third|last|finally|instead|following|below|above|previous|earlier|later|both|same|so|but|and|or|"
    r"too|thus|hence|moreover|besides|addition|additionally|similarly|likewise|otherwise|one|sometimes|here|there|example|"
    r"instance|though|result|do"
)
LEANS = re.compile(rf"\b(?:{_LEANS})\b")
OPENING = re.compile(rf"\A\W*(?:\w+\W+){{0,2}}?(?:{_LEANS})\b")
# "Here is what we recommend" has no meaning by itself
POINTS_ELSEWHERE = re.compile(r"\b(?:this|following|what)\b", re.IGNORECASE)
# A patient would not miss the source of a text or pointers to further reading
SOURCE = re.compile(r"\b(?:nih|websites?|web sites?|more information|learn more|see the|read more|contact|sources?|click)\b")
# "Lipids are fatty materials" explains a word and tells the patient nothing to do or to expect
EXPLAINS = re.compile(
    r"\A(?:an?\s|the\s)?(?:[\w()-]+\s){1,4}(?:(?:is|are)\s(?:an?\b|the\b|made\b|called\b|known\b|\w+\s(?:materials?|substances?)\b)|"
    r"means\b|involves\b|consists?\b|stands?\sfor\b)"
)
MIN_DETAIL_WORDS, MIN_NEW_SHARE = 6, 0.6


def sentences_swapped(text: str, choose: random.Random) -> TextEdit | None:
    """The text with two neighbouring sentences, or items of one list, in the other order.

    None where no two neighbours stand on their own: neither they nor the sentence after them may point back.
    """
    sentences = list(statements(text))
    following = {first.start: second for first, second in pairwise(sentences)}
    candidates = [
        (first, second)
        for first, second in pairwise(sentences)
        if _alone(first)
        and _alone(second)
        and _neighbours(text, first, second)
        and not (second.start in following and _leans(following[second.start]))
    ]
    if not candidates:
        return None
    first, second = choose.choice(candidates)
    before, between, after = text[first.start : first.end], text[first.end : second.start], text[second.start : second.end]
    return edited(ORDER, text, first.start, second.end, after.strip() + between + before.strip())


def _alone(statement: Statement) -> bool:
    # A dash in running text is an item of a list that lost its line ends
    is_complete = statement.text.endswith(".") and not statement.text.startswith("-")
    return statement.kind != "row" and is_complete and not LEANS.search(plain_text(statement.text))


def _neighbours(text: str, first: Statement, second: Statement) -> bool:
    """Whether both are sentences of one paragraph, or items below the same lead."""
    return first.kind == second.kind and first.leads == second.leads and "\n\n" not in text[first.end : second.start]


def _leans(statement: Statement) -> bool:
    return bool(OPENING.match(plain_text(statement.text)))


def sentence_added(text: str, question: str, choose: random.Random) -> TextEdit | None:
    """The text as it is, after a text that lacks one of its sentences: the added sentence is surely compatible with the rest.

    The sentence is not what answers the question. It has at least MIN_DETAIL_WORDS words with a sense of their own, most of which
    are nowhere else in the text, and nothing depends on it. None where there is no such sentence.
    """
    sentences = list(statements(text))
    kept = _answering(sentences, question)
    candidates = [
        statement
        for number, statement in enumerate(sentences)
        if number
        and statement not in kept
        and _is_detail(text, statement)
        and not (number + 1 < len(sentences) and _leans(sentences[number + 1]))
    ]
    if not kept or not candidates:
        return None
    statement = choose.choice(candidates)
    start = len(text[: statement.start].rstrip())
    return TextEdit(DETAIL, text, "", text[start : statement.end], start)


def _answering(sentences: Sequence[Statement], question: str) -> list[Statement]:
    """The first statement, and the one that shares most words with the question. Introductions do not count."""
    asked = set(stems(question))
    real = [statement for statement in sentences if not POINTS_ELSEWHERE.search(statement.text)]
    best = max(real, key=lambda statement: len(asked & set(stems(statement.quoted))), default=None)
    # The first is kept too, as it usually answers in words of its own
    return [*real[:1], best] if best and asked & set(stems(best.quoted)) else real[:2]


def _is_detail(text: str, statement: Statement) -> bool:
    plain, own = plain_text(statement.text), set(stems(statement.text))
    if statement.kind != "sentence" or not statement.text.endswith(".") or _leans(statement) or SOURCE.search(plain):
        return False
    if any(contacts(statement.text)) or EXPLAINS.match(plain):
        return False
    rest = set(stems(text[: statement.start] + " " + text[statement.end :]))
    return len(own) >= MIN_DETAIL_WORDS and len(own - rest) >= MIN_NEW_SHARE * len(own)


# -- padding -----------------------------------------------------------------------------------------------------------

GENERAL_REMARKS = (
    "This text was written for patients and for the people close to them.",
    "We hope that you find it useful.",
    "Reading it at your own pace may help you to take it in.",
    "Keep it where you can find it again.",
    "Nobody remembers everything at once, and that is all right.",
    "Many people like to read such a text together with somebody.",
    "Thank you for taking the time to read it.",
    "Writing down your own thoughts can be a good way to prepare for a conversation.",
    "The people who look after you want you to feel well informed.",
    "Words that are new to you can be looked up in a dictionary.",
)
"""Sentences without any advice or fact about health."""


def padded(text: str, choose: random.Random) -> TextEdit | None:
    """The text with general remarks behind it, until it is at least twice as long. None for an empty text."""
    if not text.strip():
        return None
    remarks = list(_remarks(len(text), choose))
    return edited(PADDING, text, len(text), len(text), "\n\n" + " ".join(remarks))


def repeated(text: str, choose: random.Random) -> TextEdit | None:
    """The text twice, one below the other: twice as long, and nothing new. None for an empty text."""
    return edited(PADDING, text, len(text), len(text), f"\n\n{text.strip()}") if text.strip() else None


def _remarks(length: int, choose: random.Random) -> Iterator[str]:
    while length > 0:
        for remark in choose.sample(GENERAL_REMARKS, len(GENERAL_REMARKS)):
            if length <= 0:
                return
            yield remark
            length -= len(remark) + 1
