"""What an export is made of: a run, perhaps another beside it, and the frames that its tables and figures share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from audit.errors import AuditError, ThemesError
from audit.metrics import METRICS, Metric
from audit.store.connection import Connection, open_store, open_two
from audit.store.runs import Run
from audit.terms import fill
from audit.themes.taxonomy import Taxonomy


@dataclass(frozen=True)
class CurationPart:
    """What people made of a run's themes.

    taxonomy  as curated
    aside     ids of themes that are set aside: not clinically meaningful
    acts      every act, first to last: act (int), made_at, what, reason, standing (str); without authors
    facts     acts, how many of them count, how many fit no longer, the SHA-256 of all and of the curated taxonomy
    """

    taxonomy: Taxonomy
    aside: frozenset[str]
    acts: pd.DataFrame
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Material:
    """A run with a connection to its store.

    other, both  the run it is compared with, and a connection to the two
    taxonomy     its themes as they were built, where it has any
    against      those of the run it is compared with
    curation     what people made of them, where anybody changed any
    """

    run: Run
    con: Connection
    other: Run | None = None
    both: Connection | None = None
    taxonomy: Taxonomy | None = None
    curation: CurationPart | None = None
    against: Taxonomy | None = None
    _frames: dict[tuple[Any, ...], pd.DataFrame] = field(default_factory=dict, repr=False)

    def frame(self, metric: str, *, curated: bool = False, **options: Any) -> pd.DataFrame:
        """A metric of the run, or of the two, computed once; `curated`: by the themes as people made them.

        Raises AuditError as the metric does.
        """
        key = (metric, curated, *sorted(options.items()))
        if key not in self._frames:
            found = METRICS[metric]
            con = self.both if found.compares else self.con
            assert con is not None, f"{metric} compares two runs"
            by = self._themes_for(found, curated=curated) if found.by_theme else {}
            self._frames[key] = found.function(con, **options, **by)
        return self._frames[key]

    def _themes_for(self, metric: Metric[...], *, curated: bool) -> dict[str, Taxonomy | None]:
        beside = {"against": self.against} if metric.compares else {}
        return {"taxonomy": self.curated.taxonomy if curated else self.themes, **beside}

    @property
    def themes(self) -> Taxonomy:
        """The run's taxonomy. Raises ThemesError, with the command that builds one, where it has none."""
        if self.taxonomy is None:
            raise ThemesError(f"Run {self.run.key} has no themes yet. Build them with: audit themes build --run {self.run.key}")
        return self.taxonomy

    @property
    def curated(self) -> CurationPart:
        """What people made of the themes. Raises ThemesError where nobody changed any."""
        if self.curation is None:
            raise ThemesError(f"Nobody has changed the themes of run {self.run.key}: they are as they were built.")
        return self.curation

    def say(self, template: str) -> str:
        """A text of ours in the run's own words."""
        return fill(self.run, template)


@contextmanager
def gathered(
    run: Run,
    other: Run | None = None,
    taxonomy: Taxonomy | None = None,
    curation: CurationPart | None = None,
    against: Taxonomy | None = None,
) -> Iterator[Material]:
    """The material of a run, open until the block ends. Raises AuditError when a run is compared with itself."""
    if other is not None and other.path == run.path:
        raise AuditError(f"Run {run.key} was to be compared with itself. Nothing was written. `audit runs` lists the others.")
    with ExitStack() as stack:
        con = stack.enter_context(open_store(run.path))
        both = stack.enter_context(open_two(run.path, other.path)) if other is not None else None
        yield Material(run, con, other, both, taxonomy, curation, against)
