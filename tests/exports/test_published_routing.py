"""A run that routes questions to sources next to the published figures of Chen et al."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from audit.exports.context import open_context
from audit.exports.published.comparison import AGREES, UNKNOWN
from audit.exports.published.tables import METHODS, ROUTING_SOURCE, methods_in, published_tables
from audit.store.runs import Run
from tests.support.loading import load
from tests.support.routes import route_tables, routes_release
from tests.support.systems import measured, systems_release


def loaded(tmp_path: Path, **tables: list[dict[str, Any]]) -> Run:
    return load(routes_release(tmp_path / "routes", {**route_tables(), **tables}), tmp_path / "data").run


def test_a_system_is_a_published_method_by_its_settings_or_its_id(tmp_path: Path) -> None:
    systems = [{"system_id": "all", "settings": {"method": "Merged index"}}, {"system_id": "daks"}]
    with open_context(loaded(tmp_path, systems=systems)) as context:
        assert methods_in(context) == {"all": "merged", "daks": "daks"}
    with open_context(load(systems_release(tmp_path / "systems"), tmp_path / "data").run) as context:
        assert methods_in(context) == {}
        assert not list(published_tables(context, {}))


def test_the_run_stands_beside_the_figures_of_its_methods_alone(tmp_path: Path) -> None:
    systems = [{"system_id": "all", "settings": {"method": "merged"}}, {"system_id": "daks", "settings": {"method": "daks"}}]
    values = [measured(name, "daks", "faithfulness", value) for name, value in (("q1", 1.0), ("q2", 0.5))]
    with open_context(loaded(tmp_path, systems=systems, measures=values)) as context:
        (table,) = published_tables(context, {})
    rows = table.frame.set_index("title")
    assert not any("uniform" in title or "graph" in title for title in rows.index)
    # Of q1 and q2 the merged index ranks the primary source first on none; .480 is printed
    assert rows.loc["PrimaryAcc, merged index", "own"].startswith("0.000")
    assert "2 questions" in rows.loc["PrimaryAcc, merged index", "own"]
    # Wilson's interval of 0 of 2 contains it
    assert rows.loc["PrimaryAcc, merged index", "verdict"] == AGREES
    assert rows.loc["Faithfulness, routing (DAKS)", "own"] == "0.750, 2 answers"
    other = rows.loc["CrossEv@5, merged index"]
    assert (other["verdict"], "meaning must be different" in other["how"]) == (UNKNOWN, True)


def test_every_published_figure_has_a_name_of_its_own_and_a_method_that_a_run_may_have() -> None:
    figures = ROUTING_SOURCE.published
    assert len({figure.name for figure in figures}) == len({figure.title for figure in figures}) == len(figures) == 48 + 12 + 16
    methods = {figure.name.rpartition("/")[2] for figure in figures}
    assert set(METHODS) == {method for method in methods if not method.startswith("single_")}


@pytest.mark.parametrize(
    ("name", "value"),
    [("routing/PrimaryAcc/daks", "0.560"), ("several/CrossEv@5/graph_retrieval", "0.645"), ("end/faithfulness/daks", "0.820"),
     ("end/answer_relevance/graph_fusion", "0.408")],
)  # fmt: skip
def test_figures_are_as_printed(name: str, value: str) -> None:
    assert {figure.name: figure.value for figure in ROUTING_SOURCE.published}[name] == value
