"""Every statistic with an interval has worlds in which the interval holds the truth, and every table with intervals has one."""

from __future__ import annotations

import importlib
import pkgutil
from fnmatch import fnmatch

import pytest
from threadpoolctl import threadpool_limits

import annotation
from audit.metrics import METRICS
from audit.tables import TableSpec
from benchmarks.intervals import STATISTICS, Statistic, held

PATTERNS = [pattern for statistic in STATISTICS.values() for pattern in statistic.serves]


@pytest.fixture(autouse=True)
def one_thread():
    """Matrices this small cost four times as much on two threads that wait for each other."""
    with threadpool_limits(1):
        yield


CELLS = [(name, world) for name, statistic in STATISTICS.items() for world in statistic.worlds]


@pytest.mark.parametrize("name", STATISTICS)
def test_intervals_hold_the_truth_in_a_few_samples(name: str):
    """In the first world of each, for the fast tier; the next test takes all worlds and more samples."""
    found = held(next(iter(STATISTICS[name].worlds.values())), 8, enough=24)
    assert found.covered >= 0.7, found


@pytest.mark.slow
@pytest.mark.parametrize(("name", "world"), CELLS)
def test_intervals_hold_the_truth_in_nearly_95_of_100_samples(name: str, world: str):
    found = held(STATISTICS[name].worlds[world], 50, enough=150)
    assert found.covered >= 0.84, found  # of 50 at 95 %, fewer has a chance of 1 in 500; benchmarks/intervals.py takes more


def test_the_check_can_fail():
    assert held(lambda rng: iter([(0.0, float(rng.normal(1)), 5.0)]), 20).covered < 0.5


def tables_with_intervals() -> list[str]:
    return sorted(name for name, metric in METRICS.items() if metric.table.population)


@pytest.mark.parametrize("name", tables_with_intervals())
def test_a_registered_table_with_intervals_has_a_statistic(name: str):
    served = any(fnmatch(name, pattern.partition(".")[0]) for pattern in PATTERNS)
    assert served, f"{name}: add `{name}.column` to a statistic of benchmarks/intervals.py, or a new statistic with worlds"


def test_so_has_every_table_of_ratings():
    modules = [importlib.import_module(one.name) for one in pkgutil.walk_packages(annotation.__path__, "annotation.")]
    specs = {
        id(spec): name for one in modules for name, spec in vars(one).items() if isinstance(spec, TableSpec) and spec.population
    }
    assert not sorted(set(specs.values()) - set(PATTERNS)), "name the tables in benchmarks/intervals.py, with their statistic"


def test_every_statistic_names_what_it_serves():
    assert all(isinstance(one, Statistic) and one.worlds and one.serves for one in STATISTICS.values())
