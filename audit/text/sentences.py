"""Where a sentence ends: the one rule for texts whose words are quoted. Text in, places out; standard library only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

# Marks of nothing but the end of a sentence: Chinese and Japanese, Indic, Arabic and Urdu, Tibetan, Burmese, Khmer, Ethiopic
_ENDS = "。！？｡।॥؟۔།༎။។።"
_CLOSING = "\"')\\]”’»」』"
# How a sentence may begin: a capital, a figure, a bullet, or a letter of a script without capitals
_BEGINNING = r"[A-Z0-9•*¿¡À-ÖØ-Þ\u0391-\u03ab\u0400-\u042f\u0531-\u0556\u05d0-\u109f\u1200-\u1cff\u3040-\ud7ff-]"
# A sentence ends at a mark that a new beginning follows; "e.g. two" and "38.5" do not end one
_UP_TO_A_MARK = re.compile(
    rf"\S(?:(?<![{_ENDS}])[^.!?\n{_ENDS}]|(?<![{_ENDS}])[.!?](?![{_CLOSING}]*(?:\s+[\"'“«(\[]?{_BEGINNING}|\s*$)))*"
    rf"[.!?{_ENDS}]*[{_CLOSING}]*"
)
# These two are tried at the end of what may be a whole sentence, and at the beginning of what follows it
_TITLE = re.compile(r"\b(?:Drs?|Mrs?|Ms|Prof|St|Mt|vs|[Ee]\.g|[Ii]\.e|cf|[Aa]pprox|resp|incl)\.$")
_COUNTED = re.compile(r"\b(?:[Nn]os?|[Ff]igs?|[Vv]ol|pp|[Ee]xt|Sec|Ch)\.$")
_HOUR = re.compile(r"\b[ap]\.m\.$", re.I)
_OF_THE_HOUR = re.compile(r"(?:[ECMP][SD]?T|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|Eastern|Central|Pacific)\b")
# "Hepatitis B. Take it" and "vitamin D. It" end a sentence; "J. Smith", "Dr. J. K. Smith" and "John F. Kennedy" do not
_INITIAL = re.compile(
    r"(?:^[\"'“(]?|\.\s|\b(?!(?:Hepatitis|Vitamin|Type|Group|Class|Part|Stage|Factor|Plan)s?\s)[A-Z][a-z]+\s)[A-Z]\.$"
)
_COUNTRY = re.compile(r"\bU\.S\.$")
_NAME = re.compile(r"(?!(?:The|These|This|It|In|If|You|Your|We|They|There|An?|And|But|For|When|Some|Many|Do|Take|Call)\b)[A-Z]")


NEAR = 200
"""Characters on either side of a mark that tell whether a sentence ends there."""


class SentenceSpan(NamedTuple):
    """Characters `start` to `end` of a text."""

    start: int
    end: int


def sentence_spans(text: str) -> Iterator[SentenceSpan]:
    """The sentences of a text, in order. No sentence goes on in the next line, and "St. John's wort" is in one."""
    start = None
    for match in _UP_TO_A_MARK.finditer(text):
        start = match.start() if start is None else start
        end = match.end()
        # Neighbours only: copying all of a sentence at each mark in it takes the square of its length
        if not _goes_on(text[max(start, end - NEAR) : end], text[end : end + NEAR]):
            yield SentenceSpan(start, match.end())
            start = None


def _goes_on(sentence: str, rest: str) -> bool:
    """Whether the mark at the end of `sentence` belongs to an abbreviation in its middle."""
    following = rest.lstrip(" \t")
    if not sentence.endswith(".") or not following or following[0] == "\n":
        return False
    if _TITLE.search(sentence):
        return True
    if _COUNTED.search(sentence):
        return following[0].isdigit()
    if _HOUR.search(sentence):
        return _OF_THE_HOUR.match(following) is not None
    return bool((_INITIAL.search(sentence) or _COUNTRY.search(sentence)) and _NAME.match(following))
