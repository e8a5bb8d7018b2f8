"""The metrics: each module registers its own with `@metric`, which declares how a run's counts are made and shown.

Importing this package imports no metric; the first look-up in the register imports them.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from functools import cache, update_wrapper
from typing import TYPE_CHECKING, Any, Generic, ParamSpec

from audit.tables import TableSpec

if TYPE_CHECKING:
    import pandas as pd

Parameters = ParamSpec("Parameters")
TAXONOMIES = ("taxonomy", "against")
"""Parameters that the caller fills with the themes of the first and the second run."""


class Metric(Generic[Parameters]):
    """A registered function from a connection (and options) to a frame, with its metadata. Call it like the function.

    name       of the function; command line, pages and exports find it by this name
    sql        the statement behind the counts: it runs as printed once its `$named` parameters are bound
    table      how its frame is shown
    glossary   words and their meanings, for a clinician
    compares   it compares two runs: it takes a connection to both (audit.store.connection.open_two)
    by_theme   it counts by themes: it takes the run's `taxonomy`, and that of the second run as `against`
    """

    def __init__(
        self,
        function: Callable[Parameters, pd.DataFrame],
        sql: str,
        table: TableSpec,
        glossary: Mapping[str, str],
        compares: bool,
        by_theme: bool,
    ) -> None:
        self.function, self.sql, self.table, self.glossary = function, sql, table, glossary
        self.compares, self.by_theme = compares, by_theme
        self.name: str = function.__name__
        # Pages cache a metric by its full name, so it carries the function's module and name.
        update_wrapper(self, function)

    def __call__(self, *args: Parameters.args, **kwargs: Parameters.kwargs) -> pd.DataFrame:
        """The frame that the docstring describes."""
        return self.function(*args, **kwargs)

    @property
    def docstring(self) -> str:
        """The definition, in words."""
        return inspect.getdoc(self.function) or ""

    @property
    def options(self) -> dict[str, Any]:
        """The parameters chosen by a caller, after the connection: name to default (`inspect.Parameter.empty` where required)."""
        parameters = list(inspect.signature(self.function).parameters.values())[1:]
        return {parameter.name: parameter.default for parameter in parameters if parameter.name not in TAXONOMIES}


_REGISTERED: dict[str, Metric[...]] = {}


def metric(
    *, sql: str, table: TableSpec, glossary: Mapping[str, str], compares: bool = False, by_theme: bool = False
) -> Callable[[Callable[Parameters, pd.DataFrame]], Metric[Parameters]]:
    """Register the decorated function as a metric under its own name; the arguments are those of `Metric`."""

    def register(function: Callable[Parameters, pd.DataFrame]) -> Metric[Parameters]:
        registered = Metric(function, sql, table, glossary, compares, by_theme)
        other = _REGISTERED.get(registered.name)
        if other is not None and other.__module__ != registered.__module__:
            raise ValueError(
                f"Two metrics are called '{registered.name}': one in {other.__module__}, one in {registered.__module__}."
            )
        _REGISTERED[registered.name] = registered
        return registered

    return register


class _Register(Mapping[str, Metric[...]]):
    """Every metric by name, found by importing the modules of this package when it is first asked."""

    def __getitem__(self, name: str) -> Metric[...]:
        return _discovered()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(_discovered()))

    def __len__(self) -> int:
        return len(_discovered())


@cache
def _discovered() -> dict[str, Metric[...]]:
    # Importing every metric loads pandas and scipy; a page that needs one metric imports only that module.
    # Cached: listing the folder again for each look-up took a glossary 0.1 s.
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return _REGISTERED


METRICS: Mapping[str, Metric[...]] = _Register()


def glossary() -> dict[str, str]:
    """The words that the metrics define, in alphabetical order: templates in the words of audit.terms."""
    words = {word: meaning for registered in METRICS.values() for word, meaning in registered.glossary.items()}
    return dict(sorted(words.items(), key=lambda entry: entry[0].lower()))
