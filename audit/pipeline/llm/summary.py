"""What became of the items of a task, in words and in figures."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from audit.vocabulary import ABSTAINED

NOT_ASKED = "not_asked"


@dataclass
class Summary:
    """Counts of the items of a task.

    words    the sentence on them, with the name of an outcome where its number belongs
    counts   outcome, such as `judged` -> items; `not_asked` are those without a reply
    reasons  why something could not be read -> items; or that a judge abstained, which is a result and no fault
    parse    how replies were read -> replies
    faults   faults within replies that could be read -> how often
    """

    words: str = ""
    counts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    parse: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)

    def count(self, *, reason: str | None = None, parse: str | None = None, **outcomes: int) -> None:
        """Count one item: its outcomes, how its reply was read, or why it could not be."""
        self.counts.update(outcomes)
        self.parse.update([parse] if parse else [])
        self.reasons.update([reason] if reason else [])

    @property
    def not_asked(self) -> int:
        """Items without a reply."""
        return self.counts[NOT_ASKED]

    @property
    def abstained(self) -> int:
        """Items on which a judge could not decide."""
        return sum(number for reason, number in self.reasons.items() if reason.startswith(ABSTAINED))

    @property
    def unread(self) -> int:
        """Items whose reply could not be read."""
        return self.reasons.total() - self.abstained

    @property
    def sentence(self) -> str:
        """The counts in one sentence."""
        return self.words.format_map(self.counts)

    def lines(self, before: str = "") -> list[str]:
        """A line for each reason and fault."""
        return [f"  {before}{why}: {number:,}" for part in (self.reasons, self.faults) for why, number in part.most_common()]

    def record(self, *outcomes: str) -> dict[str, Any]:
        """The numbers of some outcomes, and of the replies."""
        counts = {name: self.counts[name] for name in (*outcomes, NOT_ASKED)}
        return {**counts, "reasons": dict(self.reasons), "parse": dict(self.parse)}
