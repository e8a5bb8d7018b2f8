"""Two statements that cannot both be followed."""

from __future__ import annotations

from dataclasses import dataclass

from audit.judging.baseline.statements import Statement


@dataclass(frozen=True)
class Conflict:
    """One statement of each answer that cannot both be followed, and the spans in which they differ."""

    first: Statement
    second: Statement
    one: str
    other: str

    @property
    def shared(self) -> frozenset[str]:
        """What both statements are about."""
        return self.first.stems & self.second.stems
