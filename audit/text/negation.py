"""What a text denies, forbids or says is unknown."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache

from audit.text.grammar import plain_text
from audit.text.words import Word, stem, words

VERBS = "do|does|did|should|shall|must|can|could|would|will|may|might|is|are|was|were|has|have|had|need"
AUXILIARY = f"(?:{VERBS})"
JUDGED = r"(?:allowed|permitted|recommended|advised|advisable|safe|known|clear|proven|necessary|needed|required|possible)"
BACKWARD = (
    rf"(?:{AUXILIARY}\s)?not\s(?:usually\s|generally\s|yet\s|been\s|be\s)?{JUDGED}|"
    r"contraindicated|prohibited|forbidden|banned|unsafe|unknown|unclear|unproven|off[-\s]limits"
)
FORWARD = (
    rf"{AUXILIARY}\s(?:\w{{1,10}}\s)?not|(?:{VERBS}|ca|wo)n't|cannot|not|never|no|nor|none|nothing|neither|nobody|nowhere|"
    r"avoid(?:s|ed|ing|ance)?|without|refrain(?:s|ing)?|abstain(?:s|ing)?|stay\saway|steer\sclear"
)
LIMIT = r"no(?:t)?\s(?:more|less|fewer|later|longer|earlier|sooner|higher|heavier|greater|older)\sthan"
HARMLESS = rf"{LIMIT}|not\sonly|not\sjust|no\smatter|no\sdoubt|no\.\s?\d|whether\sor\snot|or\snot|if\snot|why\snot"
CUE = re.compile(rf"(?<![\w-])(?:(?P<harmless>{HARMLESS})|(?P<backward>{BACKWARD})|(?P<forward>{FORWARD}))(?![\w-])")
CLAUSE_END = re.compile(r"[.;:!?\n](?:\s|$)")
BEFORE, AFTER, REACH = 4, 6, 300
"""How many words before and after a cue it may be about, and how many characters are looked at for them."""
_GENERIC = """
people person patient individual doctor team provider case take tell us use call ask make have give need year month
week day time also usual usually general generally center clinic hospital handbook thing well know known not no never
"""
GENERIC = frozenset(map(stem, _GENERIC.split()))
"""Words that two denials share without being about the same thing."""


@dataclass(frozen=True)
class Negation:
    """A denial: where its cue stands ("should not"), and the stems of the words it is about."""

    start: int
    end: int
    cue: str
    about: frozenset[str]

    def agrees(self, other: Negation) -> bool:
        """Whether both deny something of the same subject: "avoid grapefruit" and "grapefruit is not allowed" do."""
        return bool(self.about & other.about) or self.about == other.about


@lru_cache(maxsize=4096)
def negations(text: str) -> tuple[Negation, ...]:
    """Every denial of `text`, in order. Limits ("no more than 3") and turns of speech ("not only") deny nothing."""
    plain = plain_text(text)
    known = words(text)
    starts = [word.start for word in known]
    return tuple(_negation(plain, known, starts, match) for match in CUE.finditer(plain) if not match["harmless"])


def _negation(plain: str, known: tuple[Word, ...], starts: list[int], match: re.Match[str]) -> Negation:
    start, end = match.span()
    begin, stop = _clause(plain, start, end)
    first = bisect_left(starts, end)
    after = [word.stem for word in known[first : first + AFTER] if word.start < stop]
    last = bisect_left(starts, start)
    before = [word.stem for word in known[max(0, last - BEFORE) : last] if word.start >= begin]
    # What is denied follows the cue, but in "grapefruit is not allowed" it goes before.
    near = before if match["backward"] or not after else []
    return Negation(start, end, plain[start:end], frozenset([*near, *after]) - GENERIC)


def _clause(plain: str, start: int, end: int) -> tuple[int, int]:
    """Where the clause around a cue begins and stops."""
    earliest = max(0, start - REACH)
    ends = [found.end() for found in CLAUSE_END.finditer(plain, earliest, start)]
    stop = CLAUSE_END.search(plain, end, end + REACH)
    return (ends[-1] if ends else earliest), (stop.start() if stop else end + REACH)
