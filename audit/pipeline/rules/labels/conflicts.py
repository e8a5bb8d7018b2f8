"""Two statements that cannot both be followed, and how certain the rules are that both are about the same thing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from audit.pipeline.rules.labels.reading import StatementReading


class Sameness(IntEnum):
    """Whether two statements are about the same act, object or kind of amount, as far as rules can decide."""

    DIFFERENT = 0
    UNCLEAR = 1
    SAME = 2


@dataclass(frozen=True)
class StatementConflict:
    """One statement of each answer that cannot both be followed, and the quotations in which they differ.

    sameness  SAME, or UNCLEAR where they would conflict only if both were about the same thing
    """

    first: StatementReading
    second: StatementReading
    first_quote: str
    second_quote: str
    sameness: Sameness = Sameness.SAME

    @property
    def shared_stems(self) -> frozenset[str]:
        """The words that both statements share."""
        return self.first.stems & self.second.stems


def clearest(conflicts: Iterable[StatementConflict]) -> StatementConflict | None:
    """The most certain conflict; among equals, the one whose statements share most words. None without a conflict."""
    return max(conflicts, key=lambda conflict: (conflict.sameness, len(conflict.shared_stems)), default=None)
