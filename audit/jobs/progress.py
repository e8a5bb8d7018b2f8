"""The figures that a job shows while it works."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

STARTING, ASKING, WRITING, LOADING = "starting", "asking", "writing", "loading"
"""The phases of a judging."""
COUNTS = (
    "done", "answered", "unreadable", "cut", "refused", "failed", "busy", "in_flight", "waiting_again", "concurrency", "rate",
    "seconds", "prompt_tokens", "completion_tokens", "lost",
)  # fmt: skip
"""What is counted of a stage of calls."""


@dataclass
class Progress:
    """The latest figures of a judging; without `store` they are only collected.

    phase              starting, asking, writing, loading
    stage, calls       the stage of calls: its name, and how many calls it has; also COUNTS, which say how far it is
    pairs              while the release is written: pairs written so far
    estimate           of `--dry-run`: see audit.pipeline.cli.estimates.estimate, and pairs, without_call
    judged, prescreened, not_asked, unscored    the outcome of the pairs; unscored by reason
    message            why it stopped, if it failed
    """

    store: Callable[[Mapping[str, Any]], None] | None = None
    values: dict[str, Any] = field(default_factory=dict)

    def update(self, **values: Any) -> None:
        """Add to the figures, and store them."""
        self.values |= values
        if self.store is not None:
            self.store(self.values)
