"""Candidate statements for a quotation: a handbook's statements with their leads, and headings that state a fact.

They are read from whole sections and not from passages: a passage may begin in the middle of a list, without the list's lead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from audit.pipeline.rules.answers.aspects import LIMITS, LIST_HEADS, NEGATION, SPAN
from audit.pipeline.rules.answers.questions import stated_stems
from audit.text.documents import Section
from audit.text.statements import BLOCK_GAP, CELL_SEPARATOR, Statement, statements
from audit.text.tokens import plain_text

# Longer statements are tables, or lists without full stops
MAX_WORDS = 80
# A longer item without a lead is a paragraph with a bullet
MAX_ITEM_WORDS = 40
# A heading without which the text below would say the opposite ("Foods to avoid"), or nothing ("When to call", "6 months after")
POLARITY = re.compile(
    rf"^(?!how to\b|avoiding\b|to avoid\b|preventing\b).*(?:\b(?:{NEGATION}|"
    rf"{LIMITS})\b|n't\b)|^{LIST_HEADS}$|^when (?:not )?to (?:call|contact)\b|{SPAN}|\bsafe\b|\ballowed\b"
)
LIST_HEAD = re.compile(rf"(?:please )?{LIST_HEADS}\W*")
# A heading that is a sentence: an instruction or an assertion
TELLS = re.compile(
    rf"^(?:{NEGATION}|do|always|only|call|wear|wash|take|keep|use|stay|"
    rf"limit|stop|ask|tell|drink|eat|get|start|check|talk|protect)\b"
    r"|\b(?:is|are|will|should|must|can|may|cannot|needs?|have to|it's|don't|not)\b"
)
HEADED_CELL = re.compile(r"\s*[^:]{1,80}: \S")
TORN_START = re.compile(r"[a-z]")
COMPLETE = re.compile(r"[.!?:;][\"')\]”’]*$")
# A statement that begins like this refers to the one before it
LEANS = re.compile(r"(?:this|these|those|they|it|he|she|such|that|then|also|doing so|otherwise|if so|in (?:this|that) case)\b")
POINTS_FORWARD = re.compile(r"\b(?:below|the following|as follows)\b[^.]{0,80}[.:]?$")
QUALIFIES = re.compile(r"(?:but|however|except|unless|although|though|only if|until then)\b")


@dataclass(frozen=True)
class Candidate:
    """A statement that can be quoted.

    section_number   index of its section in the handbook, from 0
    number           its number in the section, from 1; 0: the heading
    """

    section: Section
    section_number: int
    number: int
    statement: Statement

    @property
    def text(self) -> str:
        """The text of the statement, without leads and headings."""
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
    def own_stems(self) -> frozenset[str]:
        """The stems of its own words."""
        return stated_stems(self.text)

    @cached_property
    def lead_stems(self) -> frozenset[str]:
        """The stems of its leads."""
        return stated_stems(" ".join(self.leads))

    @cached_property
    def quoted(self) -> str:
        """The leads and the text in lower case, in which the requested fact is looked for."""
        return plain_text(self.statement.quoted)

    @cached_property
    def leans(self) -> bool:
        """Whether it begins with a word that refers to the statement before it."""
        return not self.leads and LEANS.match(plain_text(self.text)) is not None

    @cached_property
    def qualifies(self) -> bool:
        """Whether it limits the statement before it."""
        return QUALIFIES.match(plain_text(self.text)) is not None

    @cached_property
    def announces_what_follows(self) -> bool:
        """Whether it only announces the list or table after it."""
        return not self.leads and POINTS_FORWARD.search(plain_text(self.text)) is not None

    @cached_property
    def is_question(self) -> bool:
        """Whether it is a question."""
        return self.text.rstrip().endswith("?")


def candidates_of(section: Section, section_number: int) -> tuple[Candidate, ...]:
    """The candidates of a section in reading order: its heading, if that states a fact, then its statements."""
    return tuple(_candidates(section, section_number))


def _candidates(section: Section, section_number: int) -> Iterator[Candidate]:
    if states_fact(section.heading):
        yield Candidate(section, section_number, 0, Statement(section.heading, 0, 0))
    for number, statement in enumerate(_complete_statements(section.text), 1):
        if len(statement.text.split()) <= MAX_WORDS and not _is_torn(statement, section.heading):
            yield Candidate(section, section_number, number, statement)


def states_fact(heading: str) -> bool:
    """Whether a heading can be quoted as an answer: "It is OK to travel after 6 months", not "Travel" or "Can I travel?"."""
    plain = plain_text(heading.strip())
    return len(plain.split()) >= 3 and not plain.endswith("?") and TELLS.search(plain) is not None


def _complete_statements(text: str) -> Iterator[Statement]:
    """The statements of a text: split sentences joined, and items under a lead that a blank line separates from its list."""
    lead: Statement | None = None
    for statement in _rejoined_statements(text):
        if statement.kind == "sentence" and not statement.leads and statement.text.endswith(":"):
            lead = statement
        elif lead is None or statement.leads or statement.kind == "row":
            yield statement
        elif LIST_HEAD.fullmatch(plain_text(lead.text)):
            # The column that this item was in is not known
            continue
        elif BLOCK_GAP.search(text, lead.end, statement.start) and _belongs(text, lead, statement):
            yield statement._replace(leads=(lead.text,))
        else:
            lead = None
            yield statement


def _belongs(text: str, lead: Statement, statement: Statement) -> bool:
    """Whether a separate lead introduces a statement: one in the next block, or an item of a list after it."""
    gaps = len(BLOCK_GAP.findall(text, lead.end, statement.start))
    return gaps <= 1 or statement.kind != "sentence"


def _rejoined_statements(text: str) -> Iterator[Statement]:
    """The statements of a text. Sentences that a line or page break splits are joined, and so are the sentences of one item.

    Either half of "Do not drink / alcohol with it" would be misleading.
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
    """Whether both are sentences of one item: below "Avoid:", half of "Sushi. You may eat cooked fish." would be misleading."""
    if before.kind != "item" or after.kind != "item" or "\n" in text[before.start : after.start]:
        return False
    return bool(before.leads) or len(text[before.start : after.end].split()) <= MAX_ITEM_WORDS


def _is_torn(statement: Statement, heading: str) -> bool:
    """Whether it is incomplete: a sentence without its beginning, or cells without their column headings."""
    cells = statement.text.split(CELL_SEPARATOR.strip())
    if statement.kind == "row":
        return not all(HEADED_CELL.match(cell) for cell in cells[1:])
    # "• raw fish" without a lead may end a list of any kind, unless the heading is "Foods to avoid"
    has_front = bool(statement.leads) or (statement.kind == "item" and has_polarity(heading))
    return len(cells) > 1 or (not has_front and TORN_START.match(statement.text) is not None)


def _continues(before: Statement, after: Statement) -> bool:
    if before.kind != "sentence" or after.kind != "sentence" or before.leads != after.leads:
        return False
    return not COMPLETE.search(before.text) and TORN_START.match(after.text) is not None


def has_polarity(text: str) -> bool:
    """Whether a heading or lead decides what the text below it means: "Foods to avoid", "When not to call", "DO"."""
    return POLARITY.search(plain_text(text).strip(" :.")) is not None
