"""METRICS: the register by which pages, command line and exports find metrics, and what every metric must bring."""

import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import audit.metrics
from audit.metrics import METRICS, glossary
from audit.tables import IntervalNote, Population, TableSpec
from audit.terms import fill

PLAIN = SimpleNamespace(title="A run", term=lambda word, count=1: word if count == 1 else f"{word}s")
"""A run without words of its own."""
TESTS = [path.read_text("utf-8") for path in Path(__file__).parents[1].rglob("test_*.py") if path != Path(__file__)]
WITHOUT_COLUMNS = {"matrix"}
"""A square of labels, whose columns are the handbooks of the run."""


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_has_a_table_a_glossary_line_and_a_test(name):
    metric, where = METRICS[name], METRICS[name].__module__
    assert metric.table.title, f"Metric '{name}' ({where}) has no table title. Give its TableSpec one."
    has_columns = metric.table.columns or name in WITHOUT_COLUMNS
    assert has_columns, f"The table of metric '{name}' ({where}) has no columns. List them in its TableSpec."
    assert metric.glossary, f"Metric '{name}' ({where}) defines no word. Add a line for the glossary: @metric(glossary=...)."
    is_tested = any(f"{name}(" in text or f'"{name}"' in text for text in TESTS)
    assert is_tested, f"No test calls metric '{name}' ({where}). Add tests/metrics/test_{name}.py with counts done by hand."


@pytest.mark.parametrize("name", METRICS)
def test_no_two_columns_of_a_table_have_the_same_label(name):
    labels = [column.label for column in METRICS[name].table.for_run(PLAIN).columns]
    assert len(labels) == len(set(labels)), f"Metric '{name}': give columns with one heading different units."


def test_every_module_of_the_package_registers_a_metric():
    modules = {f"audit.metrics.{module.name}" for module in pkgutil.iter_modules(audit.metrics.__path__)}
    public = {name for name in modules if not name.rpartition(".")[2].startswith("_")}
    idle = sorted(public - {metric.__module__ for metric in METRICS.values()})
    assert not idle, f"{', '.join(idle)} registers no metric: add @metric, or move it to audit.queries or audit.stats."


def test_no_two_metrics_define_the_same_word():
    words = [word for metric in METRICS.values() for word in metric.glossary]
    assert sorted(words, key=str.lower) == list(glossary())
    meanings = {word: fill(PLAIN, meaning) for word, meaning in glossary().items()}
    # Whole sentences: one that lost its beginning goes on in a small letter, or without a space
    assert [
        word for word, text in meanings.items() if not text.endswith(".") or re.search(r"[a-z]\.[A-Za-z]|\. [a-z]", text)
    ] == []


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_has_a_function_a_statement_and_a_definition(name):
    metric = METRICS[name]
    assert metric.__name__ == metric.name == name
    assert metric.sql.strip().lower().startswith(("with", "select", "from"))
    assert len(metric.docstring.splitlines()) > 5


def test_the_options_of_a_metric_are_what_its_function_takes_after_the_connection():
    assert METRICS["topics"].options == {"level": "topic", "scope": "all"}
    assert list(METRICS["gaps"].options) == ["handbook_id"]
    assert METRICS["labels"].options == {}


def test_a_metric_by_themes_takes_the_taxonomy_of_its_run_beside_its_options():
    assert METRICS["themes"].by_theme
    assert METRICS["themes"].options == {"level": "theme"}
    assert METRICS["themes_moved"].options == {}
    assert not METRICS["topics"].by_theme


@pytest.mark.parametrize(
    ("name", "values"),
    [("labels", {}), ("organs", {"scope": "matching"}), ("topics", {"level": "topic", "scope": "all"}),
     ("centers", {}), ("handbooks", {"scope": "matching"}), ("coverage", {}),
     ("questions", {"question": None}), ("severity", {"level": "handbook"}), ("severity_rho", {"level": "topic"}), ("pairs", {}),
     ("gaps", {"handbook_id": "a"}), ("themes", {"phrases": [], "theme_ids": []}),
     ("systems", {"question_type": None, "organ": None}),
     *((name, {"question_type": None, "organ": None, "refusals": "exclude"}) for name in ("system_measures", "downstream")),
     ("routing", {"organ": None}), ("source_shares", {"organ": None}),
     ("system_differences", {"question_type": None, "organ": None, "refusals": "exclude"}),
     ("when_to_retrieve", {"retrieving": 0}),
     *((name, {"question_type": None, "organ": None, "judge": None}) for name in ("composite", "criteria_scores")),
     ("theme_mix", {"phrases": ["topic of ab"], "theme_ids": ["t"], "theme_id": "t"})],
)  # fmt: skip
def test_a_printed_statement_runs_as_it_stands(store, name, values):
    con = store("q1 kidney topics=diet ab=DIVERGENT/high c=absent")
    assert con.cursor().execute(METRICS[name].sql, values).description


def test_importing_the_register_loads_neither_pandas_nor_duckdb():
    code = "import sys, audit.metrics; sys.exit(any(name in sys.modules for name in ('pandas', 'duckdb', 'numpy', 'scipy')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", sorted(METRICS))
def test_a_metric_with_intervals_names_their_population_and_one_table_has_only_one(name):
    spec = METRICS[name].table
    in_a_column = any("speaks of" in column.heading for column in spec.columns)
    assert spec.population or in_a_column or "95 %" not in METRICS[name].docstring, f"{name}: give its table an IntervalNote"


def test_no_rate_by_the_judge_s_labels_alone_is_given_out_for_the_true_one():
    bare = {Population.QUESTIONS_AND_HANDBOOKS, Population.OTHERS_TO_COMPARE, Population.HANDBOOKS}
    assert not {name for name, metric in METRICS.items() if metric.table.population in bare}
    assert METRICS["organs"].table.population == Population.QUESTIONS_AND_HANDBOOKS.as_judged


def test_intervals_of_two_populations_do_not_share_a_table():
    both = IntervalNote(Population.QUESTIONS), IntervalNote(Population.QUESTIONS_AND_HANDBOOKS)
    with pytest.raises(ValueError, match="'T' mixes intervals"):
        TableSpec("T", (), both).population  # noqa: B018
