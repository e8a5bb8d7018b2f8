"""Texts in other words: what a rewording must keep, and the file of rewordings that a study is drawn with.

A model rewrites the answers of a sample in one style (`audit study reword`), so that their style does not say whose they are.
`why_not` decides both when the file is written and when it is read: an edited file fails, and the original is shown.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from audit.closed_folder import read_plain
from audit.errors import AuditError, describe_error
from audit.text.blinding import HIDDEN_CONTACT, HIDDEN_NAME, HIDDEN_PHRASE, HIDDEN_SOURCE
from audit.text.comparison import DifferenceKind, differences

AMOUNT, NEGATION, HIDDEN = "an amount differs", "a negation differs", "a mark of what is masked differs"
EMPTY, LENGTH = "there is no text", "its length differs too much"
SHORTEST, LONGEST = 0.4, 2.0
"""Letters of a rewording, as shares of those of its original."""
MARKS = (HIDDEN_NAME, HIDDEN_CONTACT, HIDDEN_SOURCE, HIDDEN_PHRASE)
MAX_FILE_BYTES = 200 * 2**20


@dataclass(frozen=True)
class Rewording:
    """One text in other words.

    sha256  of the original, as `digest` makes it
    text    the rewording; "" where the original is kept
    reason  why it is kept
    model   whose words these are, and by which prompt
    """

    sha256: str
    text: str
    reason: str
    model: str

    def record(self) -> dict[str, Any]:
        """The entry of the file."""
        return asdict(self)


def digest(text: str) -> str:
    """The sha256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def why_not(original: str, reworded: str) -> str:
    """Why a rewording cannot stand for its original; "" where it can.

    Every amount and every negation of each must have its counterpart in the other, and so must every mark of what is masked.
    Whether it says the same besides, nothing here can tell.
    """
    if not reworded.strip():
        return EMPTY
    if not SHORTEST * len(original) <= len(reworded) <= LONGEST * len(original):
        return LENGTH
    kinds = {span.kind for spans in differences(original, reworded) for span in spans}
    if DifferenceKind.NUMBER in kinds:
        return AMOUNT
    if DifferenceKind.NEGATION in kinds:
        return NEGATION
    return HIDDEN if any(original.count(mark) != reworded.count(mark) for mark in MARKS) else ""


def read_rewordings(path: Path) -> dict[str, Rewording]:
    """The rewordings of a file, by the digest of their originals. Raises AuditError where it is not such a file."""
    try:
        lines = read_plain(path, MAX_FILE_BYTES).splitlines()
        found = [Rewording(**json.loads(line)) for line in lines if line.strip()]
    except OSError as error:
        raise AuditError(f"{path} cannot be read: {describe_error(error)}. Nothing was drawn.") from None
    except (ValueError, TypeError) as error:
        raise AuditError(f"{path} is not a file of `audit study reword` ({error}). Nothing was drawn.") from None
    return {one.sha256: one for one in found}


def reworded(texts: Iterable[str], known: Mapping[str, Rewording]) -> tuple[list[str], Counter[str]]:
    """The texts, in other words where a rewording can stand for them; and why how many others are as they were."""
    shown, kept = [], Counter[str]()
    for text in texts:
        one = known.get(digest(text))
        reason = (one.reason or why_not(text, one.text)) if one else "it was not put to the model"
        shown.append(text if one is None or reason else one.text)
        kept.update([reason] if reason else [])
    return shown, kept
