"""Loading sources and routes: what a release brings is in the store, and bad records are set aside one by one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from audit.release.layout import PARTS, ROUTE_PARTS
from audit.release.schema import json_schema
from audit.store.load import Loaded
from audit.store.runs import read_run
from tests.support.loading import ask, load, messages, quarantined
from tests.support.routes import TEXT, passage, reference, route_tables, routed, routed_source, routes_release
from tests.support.systems import systems_release

TABLES = ("sources", "source_handbooks", "question_sources", "routes", "routed_evidence", "route_traces")
WHOLE = (2, 3, 4, 10, 11, 5)
"""Rows of each table of the sound release."""


def counts(loaded: Loaded) -> tuple[int, ...]:
    return tuple(ask(loaded, f"select count(*) from {table}")[0][0] for table in TABLES)


def load_with(tmp_path: Path, change: Callable[[dict[str, list[dict[str, Any]]]], Any]) -> Loaded:
    tables = route_tables()
    change(tables)
    return load(routes_release(tmp_path / "release", tables), tmp_path / "data")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    folder = tmp_path_factory.mktemp("routes")
    return load(routes_release(folder / "release"), folder / "data")


def test_sources_and_routes_arrive_as_written(sound: Loaded) -> None:
    assert counts(sound) == WHOLE
    assert sound.run.report["clean"], messages(sound, "repaired")
    assert sound.run.has_routes
    assert read_run(sound.run.path) == sound.run
    assert ask(sound, "select source, source_id, authority, description from sources order by all") == [
        (0, "Dense", 0.2, "An encyclopedia"), (1, "Long", 0.5, None),
    ]  # fmt: skip
    assert ask(sound, "select source, handbook from source_handbooks order by all") == [(0, 0), (1, 1), (1, 2)]
    routes = "select source, rank, probed, share, budget from routes where question = 0 and system = 0 order by rank"
    assert ask(sound, routes) == [(0, 1, 20, 0.7, 14), (1, 2, 20, 0.3, 6)]
    evidence = 'select rank, source, handbook, section_id, start, "end", base, bridged from routed_evidence'
    assert ask(sound, f"{evidence} where question = 1 and system = 1 order by rank") == [
        (1, 1, 2, "s2", 0, 26, 0.8, False), (2, 0, 0, "s1", 0, 26, 0.8, False),
    ]  # fmt: skip
    assert json.loads(ask(sound, "select trace from route_traces limit 1")[0][0])["settings"] == {"probe": 20}


def test_the_primary_source_of_a_question_is_one_of_those_it_needs(sound: Loaded) -> None:
    assert ask(sound, "select question, source, is_primary from question_sources order by all") == [
        (0, 1, True), (1, 0, False), (1, 1, True), (2, 0, True),
    ]  # fmt: skip


def test_a_primary_source_that_is_not_listed_is_needed_all_the_same(tmp_path: Path) -> None:
    loaded = load_with(tmp_path, lambda tables: tables["references"][0].update(required_sources=["Dense"]))
    assert ask(loaded, "select source, is_primary from question_sources where question = 0 order by all") == [
        (0, False), (1, True),
    ]  # fmt: skip


def test_declared_counts_of_sources_and_routes_are_compared_with_those_found(tmp_path: Path) -> None:
    loaded = load_with(tmp_path, lambda tables: tables["routes"].append(routed("q9", "all", ["Long"], [])))
    (check,) = [check for check in loaded.run.report["checks"] if check["ok"] is False]
    assert check["message"] == "routes: 5 found, 6 declared in the manifest."


def test_a_run_of_systems_without_sources_has_no_routes(tmp_path: Path) -> None:
    loaded = load(systems_release(tmp_path / "release"), tmp_path / "data")
    assert (loaded.run.has_systems, loaded.run.has_routes) == (True, False)
    assert not any("sources" in check["message"] for check in loaded.run.report["checks"])


@pytest.mark.parametrize("kind", ROUTE_PARTS)
def test_what_the_writer_writes_is_valid(tmp_path: Path, kind: str) -> None:
    schema = json_schema()
    validator = Draft202012Validator({"$defs": schema["$defs"], "$ref": f"#/$defs/{kind}"})
    lines = (routes_release(tmp_path / "r") / f"{PARTS[kind][0]}.jsonl").read_text().splitlines()
    assert lines
    assert all(validator.is_valid(json.loads(line)) for line in lines)


def test_without_systems_a_file_called_sources_contains_the_handbooks(release: Path, tmp_path: Path) -> None:
    before = load(release, tmp_path / "before")
    (release / "handbooks.jsonl").rename(release / "sources.jsonl")
    loaded = load(release, tmp_path / "data")
    count = "select count(*) from handbooks"
    assert ask(loaded, count) == ask(before, count) != [(0,)]
    assert ask(loaded, "select count(*) from sources") == [(0,)]


def one_route(question: str = "q3", system: str = "all", **changes: Any) -> dict[str, Any]:
    """A record that is sound but for `changes`: `all` has not routed q3."""
    return routed(question, system, ["Long", "Dense"], ["long-1/s1"]) | changes


BAD: tuple[tuple[str, dict[str, Any], str, str], ...] = (
    ("sources", {"source_id": "Long", "handbook_ids": ["x"]}, "duplicate_source", "source_id 'Long' occurs earlier"),
    ("sources", {"source_id": "New", "handbook_ids": ["long-3"]}, "unknown_handbook", "Did you mean 'long-"),
    ("sources", {"source_id": "New", "handbook_ids": ["long-1"]}, "handbook_in_two_sources", "is in source 'Long' already"),
    ("sources", {"source_id": "New", "handbook_ids": []}, "missing_field", "a source needs at least one handbook"),
    ("sources", {"source_id": "New", "handbook_ids": ["x"], "authority": 1.2}, "out_of_range", "is 1.2, but must be from 0 to"),
    ("sources", {"source_id": "New", "handbook_ids": ["x"], "authority": "high"}, "wrong_type", "'high', but must be a number"),
    ("references", reference("q1", "Lon", [], []), "unknown_source", "source 'Lon' is not in sources. Did you mean 'Long'?"),
    ("references", reference("q1", "Long", ["Brief"], []), "unknown_source", "source 'Brief' is not in sources."),
    ("routes", one_route("q9"), "unknown_question", "question 'q9' is not in questions."),
    ("routes", one_route(system="dak"), "unknown_system", "Did you mean 'daks'?"),
    ("routes", one_route("q1"), "duplicate_route", "a routing of question 'q1' by 'all' occurs earlier"),
    ("routes", one_route(routes=[routed_source("Brief", 1, 3)]), "unknown_source", "source 'Brief' is not in sources."),
    ("routes", one_route(routes=[routed_source("Long", 1, -3)]), "out_of_range", "'budget' is -3, but must be at least 0."),
    ("routes", one_route(routes=[routed_source("Long", 1, 2, authority=-1)]), "out_of_range", "'authority' is -1, but must be"),
    (
        "routes", one_route(routes=[routed_source("Long", 0.5, 3), routed_source("Dense", 0.4, 2)]), "shares_do_not_sum",
        "the shares of its 2 sources add up to 0.9, but must add up to 1.",
    ),
    (
        "routes", one_route(routes=[routed_source("Long", 0.5, 3), routed_source("Long", 0.5, 2)]), "duplicate_source",
        "source 'Long' of the routes occurs twice.",
    ),
    ("routes", one_route(routes=["Long"]), "wrong_type", "entry 1 of 'routes' is text, but must be an object."),
    ("routes", one_route(evidence=[passage("brief/s1")]), "unknown_handbook", "handbook 'brief' is not in handbooks."),
    ("routes", one_route(evidence=[passage("long-1/s9")]), "unknown_section", "section 's9' of handbook 'long-1' is not in"),
    ("routes", one_route(evidence=[passage("long-1/s1", source_id="Dense")]), "wrong_source", "is not in source 'Dense'."),
    ("routes", one_route(evidence=[passage("long-1/s1", end=99)]), "passage_outside", f"at 99, but its section has {len(TEXT)}"),
    ("routes", one_route(evidence=[passage("long-1/s1", start=30)]), "bad_place", "it is from 30 to 26, but a position needs"),
    (
        "routes", one_route(evidence=[passage("long-1/s1", rank=2), passage("long-1/s2")]), "duplicate_rank",
        "rank 2 of the evidence occurs twice.",
    ),
    ("routes", one_route(routes=[], evidence=[], trace=None), "empty_route", "neither routes nor evidence nor a trace"),
)  # fmt: skip
"""Table, bad record, code and words of its sentence."""


def test_a_bad_record_is_quarantined_with_a_sentence_and_affects_nothing_else(tmp_path: Path) -> None:
    loaded = load_with(tmp_path, lambda tables: [tables[table].append(record) for table, record, *_ in BAD])
    order = ("sources", "references", "routes")
    expected = sorted(BAD, key=lambda row: order.index(row[0]))
    assert [(file, code) for file, _, code in quarantined(loaded)] == [(f"{table}.jsonl", code) for table, _, code, _ in expected]
    for (*_, words), message in zip(expected, messages(loaded, "quarantined"), strict=True):
        assert words in message
    assert counts(loaded) == WHOLE


def test_shares_written_with_two_decimals_and_shares_left_out_are_accepted(tmp_path: Path) -> None:
    rounded = one_route(routes=[routed_source("Long", 0.67, 3), routed_source("Dense", 0.335, 2)])
    left_out = one_route(
        "q1", "daks", routes=[routed_source("Long", 0.5, 3) | {"share": None}], evidence=[], trace={"notes": ["x"]}
    )

    def change(tables: dict[str, list[dict[str, Any]]]) -> None:
        tables["routes"] = [*tables["routes"][2:], rounded, left_out]

    loaded = load_with(tmp_path, change)
    assert loaded.run.report["clean"]
    assert ask(loaded, "select share, budget from routes where question = 0 and system = 1") == [(None, 3)]


def test_a_passage_of_a_handbook_in_no_source_has_none(tmp_path: Path) -> None:
    def change(tables: dict[str, list[dict[str, Any]]]) -> None:
        tables["sources"][1]["handbook_ids"] = ["long-2"]

    loaded = load_with(tmp_path, change)
    assert ask(loaded, "select distinct source from routed_evidence where handbook = 1") == [(None,)]
