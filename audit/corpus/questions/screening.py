r"""Screening: identifying details in questions are located, and nothing is rewritten.

The kinds of details are those of HIPAA's Safe Harbor rule (45 CFR 164.514(b)(2)) that a question can contain: names, street
addresses, dates other than a year, telephone numbers, e-mail addresses, record and account numbers, ages over 89.

Telephone numbers are found by `phonenumbers` (Google's rules for every country, updated every other week), numbers with a
checksum by `python-stdnum`; both are pure Python without dependencies. Microsoft Presidio was tried: without a spaCy model,
which no package index has, it finds no names and is reduced to `phonenumbers` and patterns like those below, at 392 MB and with
a network request at the first address. Names are therefore found only after words that announce them ("my name is ...",
"Dr. ..."): a screening that finds nothing does not prove that there is nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from audit.optional_imports import optional

# The regions of telephone numbers without a country code
DEFAULT_REGIONS = ("US", "GB")

MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)[a-z]*\.?"
NAME = r"[A-Z][a-z]+(?:[-' ][A-Z][a-z]+)?"
RELATION = (
    r"husband|wife|partner|son|daughter|mother|father|mom|mum|dad|brother|sister|friend|neighbou?r|landlord|landlady|roommate"
    r"|surgeon|doctor|nurse|coordinator|therapist|teacher"
)
PATTERNS: dict[str, re.Pattern[str]] = {
    "e-mail address": re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    "date": re.compile(
        rf"\b(?:\d{{1,2}}[./-]\d{{1,2}}[./-](?:\d{{4}}|\d{{2}})|\d{{4}}-\d{{2}}-\d{{2}}"
        rf"|{MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {MONTH},? \d{{4}})\b"
    ),
    "record number": re.compile(
        r"\b(?:MRN|(?i:(?:medical )?record|patient|case|policy|member|account|insurance|licen[cs]e))"
        r"(?: (?i:number|no\.?|id))?\s*[:#]?\s*(?:[A-Z]{1,3}-?)?\d[\d-]{3,}\b"
    ),
    "street address": re.compile(
        r"\b\d{1,5}\s+(?:[A-Z][\w']*\s+){1,3}(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Way)\b"
    ),
    "name": re.compile(
        rf"\b(?:Dr|Mr|Mrs|Ms|Prof)\.?\s+{NAME}|\b(?i:my name is|i am called|i'm called)\s+{NAME}"
        rf"|\b(?i:my (?:{RELATION})),?\s+{NAME}"
    ),
    "age over 89": re.compile(r"\b(?:9\d|1[01]\d)[- ]year(?:s[- ])?-?old\b|\b(?i:aged?) (?:9\d|1[01]\d)\b"),
}  # fmt: skip
# Candidates only: their checksum or table decides, so that not every long number is reported
SOCIAL_SECURITY = re.compile(r"(?<![\d-])\d{3}[ -]\d{2}[ -]\d{4}(?![\d-])")
DIGIT_GROUPS = re.compile(r"\b\d(?:[ -]?\d){8,18}\b")
MIN_CARD_DIGITS = 13
IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}\b")


@dataclass(frozen=True)
class IdentifyingDetail:
    """Characters `start` to `end` of a text, from 0, and the kind of detail that they may be."""

    kind: str
    start: int
    end: int


Screen = Callable[[str], list[IdentifyingDetail]]


def make_screen(regions: tuple[str, ...] = DEFAULT_REGIONS) -> Screen:
    """A function that finds identifying details in a text; overlapping details are reported once, as the first kind.

    Raises MissingLibraryError, naming the extra, where `phonenumbers` or `python-stdnum` is not installed.
    """
    phone_library = optional("phonenumbers", "Screening for telephone numbers", "pipeline")
    checksums = [
        (kind, optional(f"stdnum.{module}", "Screening for official numbers", "pipeline"), pattern)
        for kind, module, pattern in (
            ("social security number", "us.ssn", SOCIAL_SECURITY),
            ("health service number", "gb.nhs", DIGIT_GROUPS),
            ("card number", "luhn", DIGIT_GROUPS),
            ("bank account", "iban", IBAN),
        )
    ]

    def screen(text: str) -> list[IdentifyingDetail]:
        details: list[IdentifyingDetail] = []
        candidates = *_matching_patterns(text), *_phone_numbers(phone_library, text, regions), *_checked_numbers(checksums, text)
        # The order of `candidates` decides which kind an overlapping detail gets
        for detail in candidates:
            if all(detail.end <= other.start or other.end <= detail.start for other in details):
                details.append(detail)
        return sorted(details, key=lambda detail: detail.start)

    return screen


def _matching_patterns(text: str) -> Iterator[IdentifyingDetail]:
    for kind, pattern in PATTERNS.items():
        yield from (IdentifyingDetail(kind, *match.span()) for match in pattern.finditer(text))


def _phone_numbers(library: Any, text: str, regions: tuple[str, ...]) -> Iterator[IdentifyingDetail]:
    for region in regions:
        matches = library.PhoneNumberMatcher(text, region)
        yield from (IdentifyingDetail("telephone number", match.start, match.end) for match in matches)


def _checked_numbers(checksums: list[tuple[str, Any, re.Pattern[str]]], text: str) -> Iterator[IdentifyingDetail]:
    for kind, module, pattern in checksums:
        for match in pattern.finditer(text):
            number = re.sub(r"[ -]", "", match[0])
            # A card has at least 13 digits; one shorter number in ten passes the same checksum by chance.
            if module.is_valid(number) and (kind != "card number" or len(number) >= MIN_CARD_DIGITS):
                yield IdentifyingDetail(kind, *match.span())
