"""The statements of a document that are assertions: only an assertion can be made false."""

from __future__ import annotations

import re
from collections.abc import Iterator

from audit.text.statements import Statement, statements

MIN_WORDS, MAX_CHARACTERS = 6, 420
# Aims, questions and suppositions are not assertions
NOT_ASSERTED = re.compile(
    r"\?\s*$|^\s*(?:to|in order to)\s+\w+|\b(?:whether|aims?|aimed|purposes?|objectives?|goals?|hypothes\w+|sought|wished|"
    r"wondered|"
    r"intended|attempt(?:s|ed)?\sto|designed\sto|intent|in the hope|determined the (?:association|effect|relation\w*)|"
    r"(?:to|we)\s(?:also\s)?(?:investigate|evaluate|determine|assess|examine|explore|compare|study|test|analyze|analyse|establish|ascertain|identify)d?|unclear|unknown|controvers\w+|not\sknown|debate\w*)\b",
    re.I,
)
# By itself, "This is very important" can be true of anything
POINTS_BACK = re.compile(r"\W*(?:this|these|it|they|those|such|he|she|that|here|both|its|their|his|her)\b", re.I)
CUT = re.compile(r"\b(?:vs|e\.g|i\.e|cf|approx|fig|no|dr|resp)\.$", re.I)
# Text that is not prose: a table row, a list of names, a footnote
NOT_PROSE = re.compile(r"\s\|\s|https?://|www\.|©|\bet al\b")


def assertions(text: str) -> Iterator[Statement]:
    """The assertions in `text` that are full sentences or list items, in order."""
    for statement in statements(text):
        words = statement.text.split()
        is_long_enough = len(words) >= MIN_WORDS and len(statement.text) <= MAX_CHARACTERS
        # A sentence that is cut at "vs." or inside brackets is incomplete
        is_whole = statement.text.count("(") == statement.text.count(")") and not CUT.search(statement.text)
        if is_long_enough and is_whole and not NOT_ASSERTED.search(statement.text) and not NOT_PROSE.search(statement.text):
            yield statement
