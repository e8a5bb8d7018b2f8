"""What an export is made of: a run, perhaps another beside it, and the frames that its tables and figures share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from audit.errors import AuditError
from audit.exports.words import fill
from audit.metrics import METRICS
from audit.store.connection import Connection, open_store, open_two
from audit.store.runs import Run


@dataclass(frozen=True)
class Material:
    """A run with a connection to its store; `other` and `both` where two runs are compared."""

    run: Run
    con: Connection
    other: Run | None = None
    both: Connection | None = None
    _frames: dict[tuple[Any, ...], pd.DataFrame] = field(default_factory=dict, repr=False)

    def frame(self, metric: str, **options: Any) -> pd.DataFrame:
        """A metric of the run, or of the two, computed once. Raises AuditError as the metric does."""
        key = (metric, *sorted(options.items()))
        if key not in self._frames:
            found = METRICS[metric]
            con = self.both if found.compares else self.con
            assert con is not None, f"{metric} compares two runs"
            self._frames[key] = found.function(con, **options)
        return self._frames[key]

    def say(self, template: str) -> str:
        """A text of ours in the run's own words."""
        return fill(self.run, template)


@contextmanager
def gathered(run: Run, other: Run | None = None) -> Iterator[Material]:
    """The material of a run, open until the block ends. Raises AuditError when a run is compared with itself."""
    if other is not None and other.path == run.path:
        raise AuditError(f"Run {run.key} was to be compared with itself. Nothing was written. `audit runs` lists the others.")
    with ExitStack() as stack:
        con = stack.enter_context(open_store(run.path))
        both = stack.enter_context(open_two(run.path, other.path)) if other is not None else None
        yield Material(run, con, other, both)
