"""The context of an export: a run, possibly a second one to compare with, and the frames that tables and figures share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import pandas as pd

from audit.errors import AuditError, ThemesError
from audit.exports.table_model import Table, table_of
from audit.metrics import METRICS, Metric
from audit.queries.search_errors import SearchErrors, search_errors
from audit.release.taxonomy import Taxonomy
from audit.store.connection import Connection, open_store, open_two
from audit.store.runs import Run
from audit.tables import TableSpec
from audit.terms import fill


@dataclass(frozen=True)
class CurationPart:
    """The themes of a run as people curated them.

    taxonomy  as curated
    aside     ids of themes that are set aside: not meaningful
    edits     every edit, first to last: act (int), made_at, what, reason, standing (str); without authors
    facts     number of edits, of those in effect and in conflict, the SHA-256 of all and of the curated taxonomy
    """

    taxonomy: Taxonomy
    aside: frozenset[str]
    edits: pd.DataFrame
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class ExportContext:
    """A run with a connection to its store.

    other, both  the run it is compared with, and a connection to the two
    taxonomy     its themes as they were built, where it has any
    against      those of the run it is compared with
    curation     the themes as people curated them, where there are edits
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
        """A metric of the run, or of the two, computed once; `curated`: by the themes as people curated them.

        Raises AuditError as the metric does.
        """
        # Several tables and figures show the same metric, and some take seconds to resample.
        key = (metric, curated, *sorted(options.items()))
        if key not in self._frames:
            registered = METRICS[metric]
            con = self.both if registered.compares else self.con
            assert con is not None, f"{metric} compares two runs"
            by = self._themes_for(registered, curated=curated) if registered.by_theme else {}
            self._frames[key] = registered(con, **options, **by)
        return self._frames[key]

    @cached_property
    def errors(self) -> SearchErrors:
        """Whether a search answered in the run without a model, and how often it errs."""
        return search_errors(self.con)

    def metrics_used(self) -> list[str]:
        """The metrics computed so far that returned rows, by name."""
        return sorted({str(key[0]) for key, frame in self._frames.items() if len(frame)})

    def _themes_for(self, metric: Metric[...], *, curated: bool) -> dict[str, Taxonomy | None]:
        comparison = {"against": self.against} if metric.compares else {}
        return {"taxonomy": self.curated.taxonomy if curated else self.themes, **comparison}

    @property
    def themes(self) -> Taxonomy:
        """The run's taxonomy. Raises ThemesError, with the command that builds one, if it has none."""
        if self.taxonomy is None:
            raise ThemesError(f"Run {self.run.key} has no themes yet. Build them with: audit themes build --run {self.run.key}")
        return self.taxonomy

    @property
    def curated(self) -> CurationPart:
        """The curated themes. Raises ThemesError where no theme was edited."""
        if self.curation is None:
            raise ThemesError(f"The themes of run {self.run.key} have no edits: they are unchanged since they were built.")
        return self.curation

    def fill(self, template: str) -> str:
        """A template in the run's own words."""
        return fill(self.run, template)

    def table(
        self,
        metric: str,
        n: str = "",
        *,
        stem: str = "",
        notes: Sequence[str] = (),
        spec: TableSpec | None = None,
        **options: Any,
    ) -> Table:
        """A metric as a table by its specification, or by another `spec` of the same frame.

        n      the sample size in the run's words
        stem   of its files; the metric's name where empty
        notes  before those of the specification
        """
        table = table_of(stem or metric, spec or METRICS[metric].table, self.frame(metric, **options), self.run)
        return replace(table, n=n, notes=(*notes, *table.notes))


@contextmanager
def open_context(
    run: Run,
    other: Run | None = None,
    taxonomy: Taxonomy | None = None,
    curation: CurationPart | None = None,
    against: Taxonomy | None = None,
) -> Iterator[ExportContext]:
    """The context of a run, open until the block ends. Raises AuditError when a run is compared with itself."""
    if other is not None and other.path == run.path:
        raise AuditError(
            f"The run and the run to compare with are both {run.key}. Nothing was written. `audit runs` lists the others."
        )
    with ExitStack() as stack:
        con = stack.enter_context(open_store(run.path))
        both = stack.enter_context(open_two(run.path, other.path)) if other is not None else None
        yield ExportContext(run, con, other, both, taxonomy, curation, against)
