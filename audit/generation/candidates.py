"""What can be quoted from a handbook: its statements with their leads and headings, and headings that state a fact.

They are read from the sections, never from a passage cut out of one: a passage that begins in the middle of a list still belongs
under the lead of that list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from audit.corpus.documents import Section
from audit.generation.aspects import LIMITS, LIST_HEADS, NEGATION, SPAN
from audit.generation.questions import stated_stems
from audit.text.statements import BLOCK_GAP, CELL_SEPARATOR, Statement, statements
from audit.text.tokens import plain_text

# What is longer is a table or a list without full stops
MAX_WORDS = 80
# A longer item without a lead is a paragraph with a mark in front
MAX_ITEM_WORDS = 40
# A heading without which the text below would say the opposite ("Foods to avoid"), or nothing ("When to call", "6 months after")
POLARITY = re.compile(
    rf"^(?!how to\b|avoiding\b|to avoid\b|preventing\b).*(?:\b(?:{NEGATION}|"
    rf"{LIMITS})\b|n't\b)|^{LIST_HEADS}$|^when (?:not )?to (?:call|contact)\b|{SPAN}|\bsafe\b|\ballowed\b"
)
LIST_HEAD = re.compile(rf"(?:please )?{LIST_HEADS}\W*")
# A heading that can stand alone: it tells somebody to do something, or that something is so
TELLS = re.compile(
    rf"^(?:{NEGATION}|do|always|only|call|wear|wash|take|keep|use|stay|"
    rf"limit|stop|ask|tell|drink|eat|get|start|check|talk|protect)\b"
    r"|\b(?:is|are|will|should|must|can|may|cannot|needs?|have to|it's|don't|not)\b"
)
HEADED_CELL = re.compile(r"\s*[^:]{1,80}: \S")
TORN_START = re.compile(r"[a-z]")
COMPLETE = re.compile(r"[.!?:;][\"')\]”’]*$")
# A statement that begins so says something about the one before it
LEANS = re.compile(r"(?:this|these|those|they|it|he|she|such|that|then|also|doing so|otherwise|if so|in (?:this|that) case)\b")
POINTS_FORWARD = re.compile(r"\b(?:below|the following|as follows)\b[^.]{0,80}[.:]?$")
QUALIFIES = re.compile(r"(?:but|however|except|unless|although|though|only if|until then)\b")


@dataclass(frozen=True)
class Candidate:
    """A statement that can be quoted.

    section, number   its place: the section's number in the handbook, and its own in the section; 0 is the heading
    leads             its list's leads
    block             statements of one list or paragraph have the same
    """

    section: Section
    place: int
    number: int
    statement: Statement

    @property
    def text(self) -> str:
        """Its words, without leads and headings."""
        return self.statement.text

    @property
    def leads(self) -> tuple[str, ...]:
        """The leads of its list, outermost first."""
        return self.statement.leads

    @property
    def is_heading(self) -> bool:
        """Whether it is the heading of its section."""
        return self.number == 0

    @cached_property
    def own(self) -> frozenset[str]:
        """The stems of its own words."""
        return stated_stems(self.text)

    @cached_property
    def lead_stems(self) -> frozenset[str]:
        """The stems of its leads."""
        return stated_stems(" ".join(self.leads))

    @cached_property
    def quoted(self) -> str:
        """Its words behind its leads, lower case: what tells whether it has what is asked."""
        return plain_text(self.statement.quoted)

    @cached_property
    def leans(self) -> bool:
        """Whether it begins with a word for something in the statement before it."""
        return not self.leads and LEANS.match(plain_text(self.text)) is not None

    @cached_property
    def qualifies(self) -> bool:
        """Whether it limits the statement before it."""
        return QUALIFIES.match(plain_text(self.text)) is not None

    @cached_property
    def announces_what_follows(self) -> bool:
        """Whether it only announces the list or table after it, and says nothing by itself."""
        return not self.leads and POINTS_FORWARD.search(plain_text(self.text)) is not None

    @cached_property
    def is_question(self) -> bool:
        """Whether it asks something itself."""
        return self.text.rstrip().endswith("?")


def candidates_of(section: Section, place: int) -> tuple[Candidate, ...]:
    """What can be quoted from a section, in reading order: its heading, if that states a fact, then its statements."""
    return tuple(_candidates(section, place))


def _candidates(section: Section, place: int) -> Iterator[Candidate]:
    if states_fact(section.heading):
        yield Candidate(section, place, 0, Statement(section.heading, 0, 0))
    for number, statement in enumerate(_whole(section.text), 1):
        if len(statement.text.split()) <= MAX_WORDS and not _is_torn(statement, section.heading):
            yield Candidate(section, place, number, statement)


def states_fact(heading: str) -> bool:
    """Whether a heading can be quoted as an answer: "It is OK to travel after 6 months", not "Travel" or "Can I travel?"."""
    plain = plain_text(heading.strip())
    return len(plain.split()) >= 3 and not plain.endswith("?") and TELLS.search(plain) is not None


def _whole(text: str) -> Iterator[Statement]:
    """The statements of a text: torn halves joined, and under a lead that stands apart from its list."""
    lead: Statement | None = None
    for statement in _joined(text):
        if statement.kind == "sentence" and not statement.leads and statement.text.endswith(":"):
            lead = statement
        elif lead is None or statement.leads or statement.kind == "row":
            yield statement
        elif LIST_HEAD.fullmatch(plain_text(lead.text)):
            # Nobody knows which column this was in
            continue
        elif BLOCK_GAP.search(text, lead.end, statement.start) and _belongs(text, lead, statement):
            yield statement._replace(leads=(lead.text,))
        else:
            lead = None
            yield statement


def _belongs(text: str, lead: Statement, statement: Statement) -> bool:
    """Whether a lead that stands apart introduces a statement: in the next block, or in a list after it."""
    gaps = len(BLOCK_GAP.findall(text, lead.end, statement.start))
    return gaps <= 1 or statement.kind != "sentence"


def _joined(text: str) -> Iterator[Statement]:
    """The statements of a text, with those that a line or page break tore apart joined again, and the sentences of one item.

    The torn half of "Do not drink / alcohol with it" would say the opposite.
    """
    held: Statement | None = None
    for statement in statements(text):
        if held is not None and (_continues(held, statement) or _same_item(held, statement, text)):
            held = held._replace(text=" ".join(text[held.start : statement.end].split()), end=statement.end)
            continue
        if held is not None:
            yield held
        held = statement
    if held is not None:
        yield held


def _same_item(before: Statement, after: Statement, text: str) -> bool:
    """Whether both are sentences of one item: under "Avoid:", "Sushi. You may eat cooked fish." must not be quoted in part."""
    if before.kind != "item" or after.kind != "item" or "\n" in text[before.start : after.start]:
        return False
    return bool(before.leads) or len(text[before.start : after.end].split()) <= MAX_ITEM_WORDS


def _is_torn(statement: Statement, heading: str) -> bool:
    """Whether a part of it is missing: a sentence without its beginning, or cells without the heads of their columns."""
    cells = statement.text.split(CELL_SEPARATOR.strip())
    if statement.kind == "row":
        return not all(HEADED_CELL.match(cell) for cell in cells[1:])
    # "• raw fish" without a lead may be the rest of a list of anything, but not below "Foods to avoid"
    has_front = bool(statement.leads) or (statement.kind == "item" and has_polarity(heading))
    return len(cells) > 1 or (not has_front and TORN_START.match(statement.text) is not None)


def _continues(before: Statement, after: Statement) -> bool:
    if before.kind != "sentence" or after.kind != "sentence" or before.leads != after.leads:
        return False
    return not COMPLETE.search(before.text) and TORN_START.match(after.text) is not None


def has_polarity(text: str) -> bool:
    """Whether a heading or lead decides what the text below it means: "Foods to avoid", "When not to call", "DO"."""
    return POLARITY.search(plain_text(text).strip(" :.")) is not None
