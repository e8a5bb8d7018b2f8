"""What a question asks: the words that an answer has to be about, and whether it can be answered by yes or no."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from audit.judging.baseline.statements import MEASURES, Statement
from audit.text.quantity import Quantity
from audit.text.tokens import content_words, stem

_GENERIC = """
patient people person doctor team transplant surgery hospital center medical health year day week month time long old
get take use need start begin go come keep make know help thing way right good new kind call tell ask happen mean many
"""
GENERIC = frozenset(map(stem, _GENERIC.split()))
"""Words of many questions: two statements that share only these need not be about the same thing."""
YES_OR_NO = re.compile(r"^\W*(?:and |but |so )?(?:can|may|could|should|is|are|do|does|did|will|would|must|am|has|have)\b", re.I)
MEASURED = {
    r"how long|when|how soon|how (?:many )?(?:hours|days|weeks|months|years)|what age": ("duration",),
    r"how often|how frequent\w*|how many times": ("interval",),
    r"how much|how many|how heavy|how far|how high": ("mass", "volume", "count", "length", "share", "energy", "temperature"),
    r"fever|temperature|how (?:hot|warm|cold)": ("temperature",),
    r"blood pressure": ("pressure",),
}
"""What a question says -> the dimensions of the amounts that answer it."""
SENTENCE = re.compile(r"[^.!?]*[.!?]?")


@dataclass(frozen=True)
class Asked:
    """What is asked.

    stems     words of the questioning sentences alone, since patients tell of themselves too
    closed    whether yes or no would answer it
    measures  dimensions of the amounts that would answer it
    """

    stems: frozenset[str]
    closed: bool
    measures: frozenset[str]

    def touches(self, statement: Statement) -> bool:
        """Whether a statement shares a word with the question."""
        return not self.stems.isdisjoint(statement.stems)

    def measured_by(self, amount: Quantity) -> bool:
        """Whether an amount has a dimension that is asked for."""
        return amount.dimension.split("/")[0] in self.measures


@lru_cache(maxsize=4096)
def read_question(text: str) -> Asked:
    """What a question asks."""
    sentences = [found.group().strip() for found in SENTENCE.finditer(text)]
    asking = [sentence for sentence in sentences if sentence.endswith("?")] or [text]
    stems = frozenset(word.stem for sentence in asking for word in content_words(sentence)) - MEASURES - GENERIC
    measures = {one for pattern, some in MEASURED.items() if re.search(pattern, " ".join(asking).lower()) for one in some}
    return Asked(stems, any(map(YES_OR_NO.match, asking)), frozenset(measures))
