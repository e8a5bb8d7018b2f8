"""The metrics, one module per question asked of a run: a constant `SQL` with named steps and a function that returns a frame.

Importing this package loads no metric; a metric's module is imported when its function, SQL or definition is asked for.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


TAXONOMIES = ("taxonomy", "against")


@dataclass(frozen=True)
class Metric:
    """One metric, by the name that its module, its function, its page and its test share."""

    name: str

    @property
    def module(self) -> ModuleType:
        """The module that defines it."""
        return importlib.import_module(f"audit.metrics.{self.name}")

    @property
    def function(self) -> Callable[..., pd.DataFrame]:
        """The function that takes a connection (and `options`) and returns a frame."""
        found: Callable[..., pd.DataFrame] = getattr(self.module, self.name)
        return found

    @property
    def sql(self) -> str:
        """The statement behind the counts, complete: it runs as it stands once its `$named` parameters are bound."""
        return str(self.module.SQL)

    @property
    def compares(self) -> bool:
        """Whether it compares two runs: its function then takes a connection to both (audit.store.connection.open_two)."""
        return bool(getattr(self.module, "COMPARES", False))

    @property
    def of_themes(self) -> bool:
        """Whether it counts by themes: its function then takes the run's `taxonomy`, and that of the second run as `against`."""
        return bool(getattr(self.module, "OF_THEMES", False))

    @property
    def docstring(self) -> str:
        """The definition, in words."""
        return inspect.getdoc(self.function) or ""

    @property
    def options(self) -> dict[str, Any]:
        """What the function takes after connection and taxonomies: name to default (`inspect.Parameter.empty` where required)."""
        parameters = list(inspect.signature(self.function).parameters.values())[1:]
        return {parameter.name: parameter.default for parameter in parameters if parameter.name not in TAXONOMIES}


NAMES = (
    "labels", "organs", "topics", "centers", "handbooks", "coverage", "questions", "severity", "severity_rho", "pairs",
    "gaps", "profile", "findings", "disagreements", "matrix", "camps",
    "judge", "judge_checks", "judge_reading", "judge_length", "transitions", "run_agreement", "shared", "moved",
    "themes", "themes_moved", "theme_mix", "theme_places", "theme_topics", "theme_search", "positions",
    "rejudged", "runs", "runs_change", "questions_moved", "handbooks_moved", "left_out",
    "retrieval", "retrieval_paired", "retrieval_missed", "retrieval_answers",
)  # fmt: skip
METRICS: dict[str, Metric] = {name: Metric(name) for name in NAMES}
