"""Checks of imported questions: their tags against a taxonomy, and details in the text that identify a person."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

from audit.errors import QuestionsError
from audit.optional_imports import optional
from audit.pipeline.corpus.questions.question_file import ImportedQuestion
from audit.vocabulary import GENERAL, nearest, plain

BUNDLED_TAXONOMIES = ("transplant",)
# Regions for telephone numbers without a country code
DEFAULT_REGIONS = ("US", "GB")

MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)[a-z]*\.?"
NAME = r"[A-Z][a-z]+(?:[-' ][A-Z][a-z]+)?"
RELATION = (
    r"husband|wife|partner|son|daughter|mother|father|mom|mum|dad|brother|sister|friend|neighbou?r|landlord|landlady|roommate"
    r"|surgeon|doctor|nurse|coordinator|therapist|teacher"
)
# The kinds are those of HIPAA's Safe Harbor rule (45 CFR 164.514(b)(2)) that a question can contain. Telephone numbers are found
# by `phonenumbers` (Google's rules for every country), numbers with a checksum by `python-stdnum`; both are pure Python without
# dependencies. Microsoft Presidio was tried: without a spaCy model, which no package index has, it finds no names and is reduced
# to `phonenumbers` and patterns like these, at 392 MB and with a network request at the first address. So names are found only
# after words that announce them ("my name is ...", "Dr. ..."): a text without findings may still contain a name.
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
}
# Candidates only: their checksum or table decides, so that not every long number is reported
SOCIAL_SECURITY = re.compile(r"(?<![\d-])\d{3}[ -]\d{2}[ -]\d{4}(?![\d-])")
DIGIT_GROUPS = re.compile(r"\b\d(?:[ -]?\d){8,18}\b")
MIN_CARD_DIGITS = 13
IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}\b")


# -- tags --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TagTaxonomy:
    """The tags that questions may have.

    organs  besides `general`, which is always allowed; empty: any
    topics  topic -> its subtopics
    """

    name: str
    organs: tuple[str, ...]
    topics: dict[str, tuple[str, ...]]

    @property
    def subtopics(self) -> dict[str, tuple[str, ...]]:
        """Subtopic -> the topics that have it."""
        topics_of: dict[str, tuple[str, ...]] = {}
        for topic, subtopics in self.topics.items():
            for subtopic in subtopics:
                topics_of[subtopic] = (*topics_of.get(subtopic, ()), topic)
        return topics_of


def read_tag_taxonomy(name: str | Path) -> TagTaxonomy:
    """A taxonomy from TOML: `organs = [...]` (optional) and a table `[topics]` of topic = [subtopics].

    name  a file, or one of BUNDLED_TAXONOMIES

    Raises QuestionsError where the file cannot be read or is not a taxonomy.
    """
    try:
        record = tomllib.loads(_taxonomy_text(name))
        topics = {str(topic): _tag_list(subtopics, f"topic '{topic}'") for topic, subtopics in record["topics"].items()}
        return TagTaxonomy(str(name), _tag_list(record.get("organs", []), "organs"), topics)
    except (OSError, ValueError, KeyError, AttributeError) as error:
        problem = f"it has no table [{error.args[0]}]" if isinstance(error, KeyError) else str(error)
        raise QuestionsError(
            f"{name}: not a readable taxonomy ({problem}). Nothing was written. Give a TOML file with a table [topics] "
            f"of lines such as travel = ['travel timing', 'vaccines'], or a name: {', '.join(BUNDLED_TAXONOMIES)}."
        ) from error


def _taxonomy_text(name: str | Path) -> str:
    # A file of that name in the folder takes precedence
    if str(name) in BUNDLED_TAXONOMIES and not Path(name).exists():
        return (
            resources.files("audit.pipeline.corpus.questions").joinpath("taxonomies", f"{name}.toml").read_text(encoding="utf-8")
        )
    return Path(name).read_text(encoding="utf-8-sig")


def _tag_list(value: Any, name: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(tag, str) and tag.strip() for tag in value):
        raise ValueError(f"{name} must be a list of words")
    return tuple(value)


def check_tags(question: ImportedQuestion, taxonomy: TagTaxonomy) -> tuple[ImportedQuestion, list[tuple[str, str]]]:
    """The question with its tags spelled as in the taxonomy, and (code, sentence) for each unknown tag.

    Case, spaces, hyphens and underscores are ignored. An unknown tag is kept unchanged.
    """
    organs = (GENERAL, *taxonomy.organs) if taxonomy.organs else ()
    tagged = replace(
        question,
        organ=_spelled(question.organ, organs),
        topics=tuple(_spelled(topic, tuple(taxonomy.topics)) for topic in question.topics),
        subtopics=tuple(_spelled(subtopic, tuple(taxonomy.subtopics)) for subtopic in question.subtopics),
    )
    return tagged, [*_unknown_tags(tagged, taxonomy, organs), *_misplaced_tags(tagged, taxonomy)]


def _spelled(tag: str, allowed: tuple[str, ...]) -> str:
    return next((term for term in allowed if plain(term) == plain(tag)), tag)


def _unknown_tags(question: ImportedQuestion, taxonomy: TagTaxonomy, organs: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    tags = [("topic", topic, tuple(taxonomy.topics)) for topic in question.topics]
    tags += [("subtopic", subtopic, tuple(taxonomy.subtopics)) for subtopic in question.subtopics]
    tags += [("organ", question.organ, organs)] if organs else []
    for kind, tag, allowed in tags:
        if tag not in allowed:
            hint = nearest(tag, allowed) or f" Allowed: {', '.join(allowed)}."
            yield f"unknown_{kind}", f"{kind} '{tag}' is not in the taxonomy {taxonomy.name}.{hint} It was kept as it is."


def _misplaced_tags(question: ImportedQuestion, taxonomy: TagTaxonomy) -> Iterator[tuple[str, str]]:
    """A question without a topic, and subtopics whose topic the question does not have."""
    if not question.topics:
        yield "no_topic", "it has no topic, and every question needs one."
    for subtopic in question.subtopics:
        topics = taxonomy.subtopics.get(subtopic, ())
        if topics and not set(topics) & set(question.topics):
            yield "stray_subtopic", f"subtopic '{subtopic}' belongs to '{topics[0]}', which is not among the question's topics."


# -- identifying details -----------------------------------------------------------------------------------------------


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
        # The order of `candidates` determines the kind of overlapping details
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
