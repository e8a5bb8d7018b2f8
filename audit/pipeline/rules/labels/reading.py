"""Parses questions and answers for the baseline judge: statements with their subject, quantities and negations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice

from audit.text.comparison import Negation, find_negations
from audit.text.quantity import Quantity, find_quantities
from audit.text.statements import statements
from audit.text.tokens import Word, content_words, stem
from audit.text.units import ONES, TENS, UNITS

# A lead in the line itself: "Avoid the following: raw fish; raw eggs"
INLINE_LEAD = re.compile(r"[^;:]*:(?=\s)")
CLAUSE_BREAK = re.compile(r"[,;:()|–—](?:\s|$)|\s(?:but|and|or|while|whereas)\s")
# Thirty times as many as in a typical answer; every statement is compared with every other.
MAX_STATEMENTS = 300
# The subject of a clause with fewer words of its own is in the rest of the sentence
MIN_CLAUSE_STEMS = 2
_MEASURE_WORDS = "time time amount number least most exact approximately estimated"
# Words that accompany any quantity, whatever its subject.
MEASURE_STEMS = frozenset(map(stem, [*(word for word in UNITS if word.isalpha()), *ONES, *TENS, *_MEASURE_WORDS.split()]))
_GENERIC_WORDS = """
patient people person doctor team transplant surgery hospital center medical health year day week month time long old
get take use need start begin go come keep make know help thing way right good new kind call tell ask happen mean many
"""
# Words of many questions: two statements that share only these need not have the same subject.
GENERIC_STEMS = frozenset(map(stem, _GENERIC_WORDS.split()))

_TEAM = r"(?:your|the|their|a) (?:\w+ )?(?:team|doctor|coordinator|nurse|provider|physician)"
# Statements without guidance: about the answer itself, telephone numbers, repeated questions, and "ask your team".
ASIDE = re.compile(
    r"\d{3}-\d{4}|\?$|\b(?:about this|this (?:question|section|page|chapter)|the following\b(?!\s*:|\s\w+:)|(?:hear|over) this|"
    rf"clear about|(?:bring up|raise|go over|discuss|talk|speak|check)\b[^,;]{{0,80}}\bwith {_TEAM}|"
    rf"{_TEAM} will (?:go over|explain|discuss|tell))\b",
    re.I,
)

YES_OR_NO = re.compile(r"^\W*(?:and |but |so )?(?:can|may|could|should|is|are|do|does|did|will|would|must|am|has|have)\b", re.I)
# Words in a question -> the dimensions of the quantities that answer it.
MEASURED = {
    r"how long|when|how soon|how (?:many )?(?:hours|days|weeks|months|years)|what age": ("duration",),
    r"how often|how frequent\w*|how many times": ("interval",),
    r"how much|how many|how heavy|how far|how high": ("mass", "volume", "count", "length", "share", "energy", "temperature"),
    r"fever|temperature|how (?:hot|warm|cold)": ("temperature",),
    r"blood pressure": ("pressure",),
}
SENTENCE = re.compile(r"[^.!?]*[.!?]?")


@dataclass(frozen=True)
class StatementReading:
    """One sentence, list item or table row of an answer, or a part of it up to a semicolon, with the leads that it depends on.

    text         the statement as it may be quoted: "Never smoke: cigarettes"
    words        its words, in order
    stems        its subject: the stems of its words, without those that only measure
    quantities   its quantities
    negations    what it negates, forbids or calls unknown
    """

    text: str
    words: tuple[Word, ...]
    stems: frozenset[str]
    quantities: tuple[Quantity, ...]
    negations: tuple[Negation, ...]

    def clause(self, start: int, end: int) -> tuple[int, int]:
        """The first and last character of the clause around characters `start` to `end`."""
        breaks = [match.span() for match in CLAUSE_BREAK.finditer(self.text)]
        first = max((after for _, after in breaks if after <= start), default=0)
        return first, min((before for before, _ in breaks if before >= end), default=len(self.text))

    def clause_stems(self, start: int, end: int) -> frozenset[str]:
        """The subject of the clause around characters `start` to `end`; of the whole statement if the clause is too short."""
        first, last = self.clause(start, end)
        stems = frozenset(word.stem for word in self.words if first <= word.start < last) - MEASURE_STEMS - GENERIC_STEMS
        return stems if len(stems) >= MIN_CLAUSE_STEMS else self.stems - GENERIC_STEMS

    @cached_property
    def is_aside(self) -> bool:
        """Whether it gives no guidance, because it is about the answer itself or about whom to call."""
        return ASIDE.search(self.text) is not None


@dataclass(frozen=True)
class ParsedAnswer:
    """A parsed answer: its text and its statements, in order."""

    text: str
    statements: tuple[StatementReading, ...]

    @cached_property
    def is_empty(self) -> bool:
        """Whether it contains no guidance at all."""
        return all(statement.is_aside for statement in self.statements)

    @cached_property
    def guidance(self) -> tuple[StatementReading, ...]:
        """The statements that give guidance, or all of them if none does."""
        return tuple(statement for statement in self.statements if not statement.is_aside) or self.statements


@dataclass(frozen=True)
class ParsedQuestion:
    """A parsed question.

    stems       the words of its interrogative sentences only, because patients also describe their situation
    all_stems   the same, including words of many questions ("patient", "take")
    is_closed   whether it is a yes-or-no question
    measures    the dimensions of the quantities that would answer it
    """

    stems: frozenset[str]
    all_stems: frozenset[str]
    is_closed: bool
    measures: frozenset[str]

    def shares_word(self, statement: StatementReading) -> bool:
        """Whether a statement shares a word with the question."""
        return not self.stems.isdisjoint(statement.stems)

    def asks_for(self, quantity: Quantity) -> bool:
        """Whether the question asks for the dimension of a quantity."""
        return quantity.dimension.split("/")[0] in self.measures


@lru_cache(maxsize=4096)
def parse_question(text: str) -> ParsedQuestion:
    """The parsed question."""
    sentences = [match.group().strip() for match in SENTENCE.finditer(text)]
    # A question without a question mark is used in full.
    interrogative = [sentence for sentence in sentences if sentence.endswith("?")] or [text]
    stems = frozenset(word.stem for sentence in interrogative for word in content_words(sentence))
    lower = " ".join(interrogative).lower()
    measures = {dimension for pattern, dimensions in MEASURED.items() if re.search(pattern, lower) for dimension in dimensions}
    return ParsedQuestion(
        stems - MEASURE_STEMS - GENERIC_STEMS, stems, any(map(YES_OR_NO.match, interrogative)), frozenset(measures)
    )


@lru_cache(maxsize=4096)  # each answer is compared with all other answers to its question
def parse_answer(text: str) -> ParsedAnswer:
    """The parsed answer."""
    parts = islice((part for statement in statements(text) for part in _semicolon_parts(statement.quoted)), MAX_STATEMENTS)
    return ParsedAnswer(text, tuple(map(_parse_statement, parts)))


def _semicolon_parts(text: str) -> Iterator[str]:
    """The parts of a statement between semicolons, each with the lead of the first one."""
    first, *others = text.split(";")
    yield first.strip()
    lead = INLINE_LEAD.match(first)
    yield from (f"{lead.group() if lead else ''} {part.strip()}".strip() for part in others if part.strip())


def _parse_statement(text: str) -> StatementReading:
    words = content_words(text)
    stems = frozenset(word.stem for word in words) - MEASURE_STEMS
    return StatementReading(text, words, stems, find_quantities(text), find_negations(text))
