"""METRICS: what the pages and the command line find metrics by."""

import subprocess
import sys

import pytest

from audit.metrics import METRICS


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_has_a_function_a_statement_and_a_definition(name):
    metric = METRICS[name]
    assert metric.function.__name__ == name
    assert metric.sql.strip().lower().startswith(("with", "select", "from"))
    assert len(metric.docstring.splitlines()) > 5


def test_the_options_of_a_metric_are_what_its_function_takes_after_the_connection():
    assert METRICS["topics"].options == {"level": "topic"}
    assert list(METRICS["gaps"].options) == ["handbook_id"]
    assert METRICS["labels"].options == {}


def test_a_metric_by_themes_takes_the_taxonomy_of_its_run_beside_its_options():
    assert METRICS["themes"].by_theme
    assert METRICS["themes"].options == {"level": "theme"}
    assert METRICS["themes_moved"].options == {}
    assert not METRICS["topics"].by_theme


@pytest.mark.parametrize(
    ("name", "values"),
    [("labels", {}), ("organs", {}), ("topics", {"level": "topic"}), ("centers", {}), ("handbooks", {}), ("coverage", {}),
     ("questions", {}), ("severity", {"level": "handbook"}), ("severity_rho", {"level": "topic"}), ("pairs", {}),
     ("gaps", {"handbook_id": "a"}), ("themes", {"phrases": [], "theme_ids": []}),
     ("theme_mix", {"phrases": ["topic of ab"], "theme_ids": ["t"], "theme_id": "t"})],
)  # fmt: skip
def test_a_printed_statement_runs_as_it_stands(store, name, values):
    con = store("q1 kidney topics=diet ab=DIVERGENT/high c=absent")
    assert con.cursor().execute(METRICS[name].sql, values).description


def test_listing_the_metrics_loads_neither_pandas_nor_duckdb():
    code = "import sys, audit.metrics; sys.exit(any(name in sys.modules for name in ('pandas', 'duckdb', 'numpy', 'scipy')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
