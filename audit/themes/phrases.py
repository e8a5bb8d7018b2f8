"""Phrases in the form in which they are compared: without words that any of them could have."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

DIFFERING = r"(?:differ(?:ent|ing)|diverg(?:ent|ing)|conflicting|contradict(?:ory|ing)|inconsistent|varying|opposing|opposite)"
ADVICE = r"(?:advice|guidance|recommendation|instruction|information|guideline|polic(?:y|ie)|position|statement|rule|view)s?"
ABOUT = r"(?:on|about|for|regarding|concerning|over|as to|in|of|around)"
CLASH = r"(?:difference|disagreement|divergence|discrepanc(?:y|ie)|conflict|contradiction|variation|inconsistenc(?:y|ie))s?"
FRAMES = re.compile(
    rf"^(?:(?:the )?(?:{DIFFERING} )?{ADVICE} {ABOUT} |{CLASH} {ABOUT} |{DIFFERING} "
    rf"|whether (?:the )?\w+ (?:dis)?agree {ABOUT} )(?:the )?(?=\w)",
    re.IGNORECASE,
)
"""How a judge begins whatever the subject: "different advice on", "disagreement about". Unrelated phrases would look alike."""
NUMBER = re.compile(r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|once|twice|half)\b", re.IGNORECASE)
CONTRAST = re.compile(r"\b(?:vs|versus|against|or|than|and)\b|[/;]", re.IGNORECASE)
TAIL = re.compile(r"(?::\s|,\s|;\s|\s\()(?P<tail>(?:\d,\d|[^:,;()])*)\)?\s*$")


def shown_phrase(phrase: str) -> str:
    """The phrase without the frame that only states that sources differ, and without the two values at its end.

    "Different advice on lifting limit: 5 kg vs. 10 kg" becomes "lifting limit". A phrase that would become empty is kept.
    """
    text = " ".join(unicodedata.normalize("NFKC", phrase).split()).strip(" .\"'") or phrase
    while (shorter := _shorter(text)) != text:  # "disagreement about different advice on ..."
        text = shorter
    return text


def _shorter(text: str) -> str:
    text = FRAMES.sub("", text)
    tail = TAIL.search(text)
    if tail and tail.start() and NUMBER.search(tail["tail"]) and CONTRAST.search(tail["tail"]):
        return text[: tail.start()]
    return text


def plain_phrase(phrase: str) -> str:
    """The shown phrase in lower case: what is embedded. Phrases with the same one are the same."""
    return shown_phrase(phrase).casefold()


def by_plain_phrase(phrases: Iterable[str]) -> dict[str, list[str]]:
    """Plain phrase -> the distinct phrases written so, both in alphabetical order: what is embedded once."""
    written: dict[str, list[str]] = {}
    for phrase in sorted(set(phrases)):
        written.setdefault(plain_phrase(phrase), []).append(phrase)
    return dict(sorted(written.items()))
