r"""Details by which a person could be known, found in questions and pointed at; nothing is rewritten.

What is looked for is what the Safe Harbor rule of HIPAA names (45 CFR 164.514(b)(2)) and a question can hold: names, street
addresses, dates other than a year, telephone numbers, e-mail addresses, record and account numbers, ages over 89.

Telephone numbers are found by `phonenumbers` (Google's rules for every country, released every other week), numbers with
rules of their own by `python-stdnum`; both are plain Python without dependencies. Microsoft Presidio was tried: without
a spaCy model, which no package index carries, it finds no names and comes down to `phonenumbers` and patterns such as those
here, at 392 MB and with a request to the network on the first address. So a name is found only where words announce it ("my
name is ...", "Dr. ..."): a screening that finds nothing is no proof that there is nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from audit.optional_imports import optional

REGIONS = ("US", "GB")
"""Where a telephone number without a country's code may be from."""

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
SOCIAL = re.compile(r"(?<![\d-])\d{3}[ -]\d{2}[ -]\d{4}(?![\d-])")
GROUPS = re.compile(r"\b\d(?:[ -]?\d){8,18}\b")
ACCOUNT = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}\b")


@dataclass(frozen=True)
class Detail:
    """A place in a question's text, in characters from 0, and what it may be."""

    kind: str
    start: int
    end: int


Screen = Callable[[str], list[Detail]]


def screen(regions: tuple[str, ...] = REGIONS) -> Screen:
    """What finds identifying details in a text; each place is told once, as the first kind that it fits.

    Raises MissingLibraryError, naming the extra, where `phonenumbers` or `python-stdnum` is not installed.
    """
    phones = optional("phonenumbers", "Screening for telephone numbers", "pipeline")
    numbers = [
        (kind, optional(f"stdnum.{module}", "Screening for official numbers", "pipeline"), places)
        for kind, module, places in (
            ("social security number", "us.ssn", SOCIAL),
            ("health service number", "gb.nhs", GROUPS),
            ("card number", "luhn", GROUPS),
            ("bank account", "iban", ACCOUNT),
        )
    ]

    def details(text: str) -> list[Detail]:
        found: list[Detail] = []
        for detail in (*_patterns(text), *_phones(phones, text, regions), *_numbers(numbers, text)):
            if all(detail.end <= other.start or other.end <= detail.start for other in found):
                found.append(detail)
        return sorted(found, key=lambda detail: detail.start)

    return details


def _patterns(text: str) -> Iterator[Detail]:
    for kind, pattern in PATTERNS.items():
        yield from (Detail(kind, *found.span()) for found in pattern.finditer(text))


def _phones(library: Any, text: str, regions: tuple[str, ...]) -> Iterator[Detail]:
    for region in regions:
        yield from (Detail("telephone number", m.start, m.end) for m in library.PhoneNumberMatcher(text, region))


def _numbers(kinds: list[tuple[str, Any, re.Pattern[str]]], text: str) -> Iterator[Detail]:
    for kind, module, places in kinds:
        for found in places.finditer(text):
            number = re.sub(r"[ -]", "", found[0])
            # A card has 13 digits or more; fewer pass the same sum by chance.
            if module.is_valid(number) and (kind != "card number" or len(number) >= 13):
                yield Detail(kind, *found.span())
