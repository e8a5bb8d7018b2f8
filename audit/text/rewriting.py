"""Whether a text in another style still says the same, as far as that can be checked without reading: amounts and negations."""

from __future__ import annotations

import hashlib
import re
from collections import Counter

from audit.text.comparison import DifferenceKind, differences, find_negations
from audit.text.quantity import find_quantities

DIGITS = re.compile(r"\d+")


def digest_of(answer: str) -> str:
    """The SHA-256 by which a rewritten answer names its original."""
    return hashlib.sha256(answer.encode("utf-8", "surrogatepass")).hexdigest()


def same_facts(original: str, rewritten: str) -> bool:
    """Whether both texts have the same numbers, amounts and negations, none more and none less.

    A sentence that was left out and has none of them is not noticed, and neither is a cause turned into an effect.
    """
    counts = [(Counter(DIGITS.findall(text)), len(find_quantities(text)), len(find_negations(text))) for text in (original, rewritten)]
    kinds = {span.kind for side in differences(original, rewritten) for span in side}
    return counts[0] == counts[1] and not kinds & {DifferenceKind.NUMBER, DifferenceKind.NEGATION}
