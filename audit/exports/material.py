"""What an export is made of: a run, perhaps another beside it, and the frames that its tables and figures share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from audit.errors import AuditError, ThemesError
from audit.exports.words import fill
from audit.metrics import METRICS
from audit.store.connection import Connection, open_store, open_two
from audit.store.runs import Run
from audit.themes.taxonomy import Taxonomy


@dataclass(frozen=True)
class Material:
    """A run with a connection to its store.

    other, both  the run it is compared with, and a connection to the two
    taxonomy     its themes, where it has any
    """

    run: Run
    con: Connection
    other: Run | None = None
    both: Connection | None = None
    taxonomy: Taxonomy | None = None
    _frames: dict[tuple[Any, ...], pd.DataFrame] = field(default_factory=dict, repr=False)

    def frame(self, metric: str, **options: Any) -> pd.DataFrame:
        """A metric of the run, or of the two, computed once. Raises AuditError as the metric does."""
        key = (metric, *sorted(options.items()))
        if key not in self._frames:
            found = METRICS[metric]
            con = self.both if found.compares else self.con
            assert con is not None, f"{metric} compares two runs"
            self._frames[key] = found.function(con, **options, **({"taxonomy": self.themes} if found.of_themes else {}))
        return self._frames[key]

    @property
    def themes(self) -> Taxonomy:
        """The run's taxonomy. Raises ThemesError, with the command that builds one, where it has none."""
        if self.taxonomy is None:
            raise ThemesError(f"Run {self.run.key} has no themes yet. Build them with: audit themes build --run {self.run.key}")
        return self.taxonomy

    def say(self, template: str) -> str:
        """A text of ours in the run's own words."""
        return fill(self.run, template)


@contextmanager
def gathered(run: Run, other: Run | None = None, taxonomy: Taxonomy | None = None) -> Iterator[Material]:
    """The material of a run, open until the block ends. Raises AuditError when a run is compared with itself."""
    if other is not None and other.path == run.path:
        raise AuditError(f"Run {run.key} was to be compared with itself. Nothing was written. `audit runs` lists the others.")
    with ExitStack() as stack:
        con = stack.enter_context(open_store(run.path))
        both = stack.enter_context(open_two(run.path, other.path)) if other is not None else None
        yield Material(run, con, other, both, taxonomy)
