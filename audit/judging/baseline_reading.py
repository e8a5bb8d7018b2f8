"""How the baseline judge reads a question and an answer: statements with their subject, quantities and negations."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property, lru_cache

from audit.text.comparison import Negation, find_negations
from audit.text.quantity import Quantity, find_quantities
from audit.text.tokens import content_words, stem
from audit.text.units import ONES, TENS, UNITS

STATEMENT_BREAK = re.compile(r"(?<=[.!?])[\"')\]]{0,3}\s+(?=[\"'(\[]?[A-Z0-9•*-])|[;\n]")
# Thirty times those of a usual answer; every statement is compared with every other.
MAX_STATEMENTS = 300
_MEASURE_WORDS = "time time amount number least most exact approximately estimated"
# Words that accompany any quantity and do not tell what it is about.
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
    r"\d{3}-\d{4}|\?$|\b(?:about this|this (?:question|section|page|chapter)|the following|(?:hear|over) this|"
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
class Statement:
    """One sentence of an answer, or a part of it up to a semicolon.

    start, end   its characters in the answer
    text         those characters without the spaces around them
    stems        its subject: the stems of its words, without those that only measure
    quantities   the quantities that it gives
    negations    what it denies, forbids or calls unknown
    """

    start: int
    end: int
    text: str
    stems: frozenset[str]
    quantities: tuple[Quantity, ...]
    negations: tuple[Negation, ...]

    @cached_property
    def is_aside(self) -> bool:
        """Whether it gives no guidance: it is about the answer itself, or about whom to call."""
        return ASIDE.search(self.text) is not None


@dataclass(frozen=True)
class ParsedAnswer:
    """An answer as the rules read it: its text and its statements, in order."""

    text: str
    statements: tuple[Statement, ...]

    @cached_property
    def is_empty(self) -> bool:
        """Whether it contains no guidance at all."""
        return all(statement.is_aside for statement in self.statements)

    @cached_property
    def guidance(self) -> tuple[Statement, ...]:
        """The statements that give guidance, or all of them if none does."""
        return tuple(statement for statement in self.statements if not statement.is_aside) or self.statements


@dataclass(frozen=True)
class ParsedQuestion:
    """A question as the rules read it.

    stems       the words of its interrogative sentences only, because patients also tell about themselves
    is_closed   whether yes or no would answer it
    measures    the dimensions of the quantities that would answer it
    """

    stems: frozenset[str]
    is_closed: bool
    measures: frozenset[str]

    def shares_word(self, statement: Statement) -> bool:
        """Whether a statement shares a word with the question."""
        return not self.stems.isdisjoint(statement.stems)

    def asks_for(self, quantity: Quantity) -> bool:
        """Whether a quantity has a dimension that the question asks for."""
        return quantity.dimension.split("/")[0] in self.measures


@lru_cache(maxsize=4096)
def parse_question(text: str) -> ParsedQuestion:
    """The question as the rules read it."""
    sentences = [match.group().strip() for match in SENTENCE.finditer(text)]
    # A question without a question mark is read in full.
    interrogative = [sentence for sentence in sentences if sentence.endswith("?")] or [text]
    stems = frozenset(word.stem for sentence in interrogative for word in content_words(sentence))
    lower = " ".join(interrogative).lower()
    measures = {dimension for pattern, dimensions in MEASURED.items() if re.search(pattern, lower) for dimension in dimensions}
    return ParsedQuestion(stems - MEASURE_STEMS - GENERIC_STEMS, any(map(YES_OR_NO.match, interrogative)), frozenset(measures))


@lru_cache(maxsize=4096)  # each answer is compared with all other answers to its question
def parse_answer(text: str) -> ParsedAnswer:
    """The answer as the rules read it."""
    words, quantities, negations = content_words(text), find_quantities(text), find_negations(text)
    starts = [[item.start for item in items] for items in (words, quantities, negations)]
    statements = []
    for start, end in _statement_spans(text):
        # Each list is sorted by position, so the part inside a statement is a slice.
        inside = [slice(bisect_left(positions, start), bisect_left(positions, end)) for positions in starts]
        stems = frozenset(word.stem for word in words[inside[0]]) - MEASURE_STEMS
        statements.append(Statement(start, end, text[start:end].strip(), stems, quantities[inside[1]], negations[inside[2]]))
    return ParsedAnswer(text, tuple(statements))


def _statement_spans(text: str) -> list[tuple[int, int]]:
    edges = [0, *(edge for match in STATEMENT_BREAK.finditer(text) for edge in match.span()), len(text)]
    spans = zip(edges[::2], edges[1::2], strict=True)
    return [(start, end) for start, end in spans if text[start:end].strip()][:MAX_STATEMENTS]
