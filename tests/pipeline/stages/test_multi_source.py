"""[[systems]] with mode = "multi_source": questions routed to sources, evidence packed, one answer with marked statements."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audit.cli.main import main
from tests.pipeline.stages.project import Project, lodging_project
from tests.support.llm.fault_server import FaultServer, fault_server

QUOTING = '[[systems]]\nid = "sources"\nmode = "multi_source"\ngenerator = "passages"\n'
WRITING = '[[systems]]\nid = "written"\nmode = "multi_source"\nmodel = "small"\nurl = ["{url}"]\n'


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server(models=("small",)) as server:
        yield server


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    for name in ("URL", "MODEL", "KEY"):
        monkeypatch.delenv(f"AUDIT_JUDGE_{name}", raising=False)
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    project = lodging_project(tmp_path)
    project.set("generator", '"none"')
    return project


def add(project: Project, text: str) -> None:
    project.config.write_text(f"{project.config.read_text()}\n{text}")


def table(project: Project, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (project.release / f"{name}.jsonl").read_text().splitlines()]


def test_every_question_is_routed_and_answered_and_the_release_has_sources_routes_and_marks(project, capsys):
    add(project, QUOTING)
    assert project.run() == 0
    assert "all counts reconcile" in capsys.readouterr().out
    sources = {source["source_id"]: source for source in table(project, "sources")}
    assert len(sources) == 3
    assert {source["authority"] for source in sources.values()} == {0.5}
    questions = [question["question_id"] for question in table(project, "questions")]
    routes, answers = table(project, "routes"), table(project, "system_answers")
    assert [route["question_id"] for route in routes] == [answer["question_id"] for answer in answers] == questions
    for route, answer in zip(routes, answers, strict=True):
        assert {one["source_id"] for one in route["routes"]} == set(sources)
        assert sum(one["budget"] for one in route["routes"]) == 20
        statements = route["trace"]["statements"]
        assert answer["refused"] is (not statements)
        assert [answer["answer"].count(statement["text"]) for statement in statements] == [1] * len(statements)
    (system,) = table(project, "systems")
    assert (system["mode"], system["settings"]["across"]["daks"]["budget"]) == ("multi_source", 20)
    assert main(["metrics", "source_shares", "--json"]) == 0


def test_sources_settings_and_authority_are_those_of_the_config(project):
    first, *rest = handbooks(project)
    groups = f'group_by = "groups"\ngroups = {{ first = ["{first}"], rest = {json.dumps(rest)} }}\n'
    tables = "[systems.across.packing]\npassages = 3\n"
    tables += "[systems.across]\ngraph = false\n[systems.across.daks]\nbudget = 9\nminimum = 2\n"
    add(project, f'{QUOTING}{groups}authority = {{ first = 1.0 }}\nrequired = ["rest"]\n{tables}')
    assert project.run() == 0
    assert {source["source_id"]: source["authority"] for source in table(project, "sources")} == {"first": 1.0, "rest": 0.5}
    for route in table(project, "routes"):
        assert {one["source_id"]: one["authority"] for one in route["routes"]} == {"first": 1.0, "rest": 0.5}
        assert sum(one["budget"] for one in route["routes"]) == 9
        assert "rest" in {passage["source_id"] for passage in route["evidence"]}
        assert len(route["evidence"]) <= 3
        assert route["trace"]["settings"]["graph"] is None


BASELINES = {"merged": 'pool = "merged"', "concatenated": 'pool = "concatenated"', "uniform": 'pool = "uniform"'}


def test_the_methods_of_a_comparison_are_systems_of_one_config(project, capsys):
    """Baselines, DAKS with and without the graph, and DAKS learned on other questions, measured without a model."""
    first, *rest = handbooks(project)
    head = QUOTING + f'group_by = "groups"\ngroups = {{ first = ["{first}"], rest = {json.dumps(rest)} }}\n'
    rows = {**BASELINES, "single": 'pool = "single"\nonly = "first"', "daks": "graph = false", "both": ""}
    for name, options in rows.items():
        add(project, f"{head.replace('sources', name)}[systems.across]\n{options}\n")
    known = [
        {"question": "How long is the deposit kept?", "primary_source": "first"},
        {"question": "Rent?", "primary_source": "rest"},
    ]
    (project.config.parent / "known.jsonl").write_text("".join(json.dumps(line) + "\n" for line in known))
    add(project, head.replace("sources", "learned") + 'learn = "known.jsonl"\n')
    assert project.run() == 0
    by_system = {route["system_id"]: route for route in table(project, "routes")}
    assert set(by_system) == {*rows, "learned"}
    assert {passage["source_id"] for passage in by_system["single"]["evidence"]} == {"first"}
    assert set(by_system["learned"]["trace"]["routing"]["settings"]["source_weights"]) == {"first", "rest"}
    assert not by_system["daks"]["trace"]["routing"]["settings"]["source_weights"]
    assert main(["metrics", "routing", "--json"]) == 0
    (project.config.parent / "known.jsonl").write_text('{"question": "Rent?"}\n')
    assert project.run() == 2
    assert "known.jsonl, line 1: to learn from, a line needs the texts question and primary_source" in capsys.readouterr().err


def handbooks(project: Project) -> list[str]:
    return sorted(path.name.split(".")[0] for path in (project.folder / "tenancy" / "documents").glob("*.json*"))


@pytest.mark.parametrize(
    ("added", "sentence"),
    [
        ("authority = { alder = 2.0 }", "authority of 'alder' is 2; allowed: 0, the least trusted source, to 1"),
        ("authority = { nobody = 0.7 }", "An authority is given for 'nobody', which is not a source"),
        ('required = ["nobody"]', "required names 'nobody', which is not a source; sources: "),
        ('group_by = "groups"', "group_by is groups, and there are no groups"),
        ('groups = { a = ["x"] }', 'there are groups, and group_by is center: write group_by = "groups"'),
        (
            'group_by = "groups"\ngroups = { a = ["x"] }',
            "The groups of sources name 'x', which is neither a handbook nor a center",
        ),
        ("[systems.across.daks]\nbudgett = 3", "[systems.across.daks] has no option 'budgett'. Did you mean 'budget'?"),
        ("[systems.across.daks]\nbudget = 0", "a budget of 0 with at least 1 a source is not possible"),
        ('[systems.across]\nretriever = "dense2"', "retriever is 'dense2'. Did you mean 'dense'?"),
        ("[systems.across.graph]\nbase_share = 1.5", "base_share must be from 0 to 1"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_sentence_before_anything_is_routed(project, capsys, added, sentence):
    add(project, f"{QUOTING}{added}\n")
    assert project.run() == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert "Nothing was" in error
    assert not (project.work / "routed").exists()


def test_an_option_of_sources_is_refused_in_another_mode_with_its_line(project, server, capsys):
    add(project, f'[[systems]]\nid = "alone"\nmode = "closed_book"\nurl = ["{server.url}"]\ngroup_by = "organ"\n')
    assert project.run() == 2
    line = project.config.read_text().splitlines().index('group_by = "organ"') + 1
    assert (
        f"line {line}: group_by is for mode = \"multi_source\", and the mode of 'alone' is closed_book" in capsys.readouterr().err
    )


def test_a_budget_below_the_minimum_is_divided_and_the_trace_says_so(project):
    add(project, f"{QUOTING}[systems.across.daks]\nbudget = 2\n")
    assert project.run() == 0
    assert all(
        "A budget of 2 is below 1 for each of 3 sources" in route["trace"]["notes"][0] for route in table(project, "routes")
    )


def test_two_systems_must_mean_the_same_by_one_source(project, capsys):
    add(project, QUOTING + QUOTING.replace('"sources"', '"other"') + f"authority = {{ '{centers(project)[0]}' = 1.0 }}\n")
    assert project.run() == 2
    assert "has other handbooks or another authority than that of 'sources'" in capsys.readouterr().err


def centers(project: Project) -> list[str]:
    paths = sorted((project.folder / "tenancy" / "documents").glob("*.json"))
    return [str(json.loads(path.read_text())["center"]) for path in paths]


def test_a_question_that_concerns_no_handbook_and_one_without_words_are_refused_with_a_note(project):
    questions = project.folder / "tenancy" / "questions.csv"
    head, first, *_ = questions.read_text().splitlines()
    column = head.split(",").index("question")
    empty = first.split(",")
    empty[0], empty[column] = "empty", "What is it?"
    questions.write_text("\n".join([head, first, ",".join(empty)]) + "\n")
    add(project, QUOTING)
    assert project.run() in (0, 1)
    route = table(project, "routes")[-1]
    answer = table(project, "system_answers")[-1]
    assert (answer["question_id"], answer["refused"]) == ("empty", True)
    assert "no words to search for" in route["trace"]["notes"][0]


# -- with a model --------------------------------------------------------------------------------------------------------


def test_a_model_writes_once_a_question_and_a_stopped_run_goes_on_without_asking_again(project, server):
    add(project, WRITING.format(url=server.url))
    assert project.run("--until", "route") == 0
    routed = {path: path.stat().st_mtime_ns for path in (project.work / "routed").rglob("*.jsonl")}
    assert routed
    project.run()
    asked = len([body for body in server.bodies if "<passages>" in body["messages"][-1]["content"]])
    assert asked >= 2
    (project.work / "systems" / "written.jsonl").unlink()
    project.run()
    assert len([body for body in server.bodies if "<passages>" in body["messages"][-1]["content"]]) == asked
    assert {path: path.stat().st_mtime_ns for path in (project.work / "routed").rglob("*.jsonl")} == routed
    assert len(table(project, "system_answers")) == len(table(project, "routes")) == 2


def test_the_plan_counts_the_calls_of_a_model_and_none_of_one_that_quotes(project, server, capsys):
    add(project, QUOTING + WRITING.format(url=server.url))
    assert project.run("--dry-run") == 0
    plan = capsys.readouterr().out
    assert "route " in plan
    assert "systems, written, calls small at " in plan
    assert "systems, sources," not in plan
    assert project.run("--until", "route") == 0
    capsys.readouterr()
    assert project.run("--dry-run") == 0
    assert "questions and passages of the handbooks, for written" in capsys.readouterr().out


# -- many questions ------------------------------------------------------------------------------------------------------


def test_batches_that_were_done_before_a_kill_are_kept_and_a_changed_handbook_is_routed_again(project, monkeypatch):
    monkeypatch.setattr("audit.pipeline.stages.route.BATCH", 1)
    add(project, QUOTING)
    assert project.run("--until", "route") == 0
    files = sorted((project.work / "routed").rglob("*.jsonl"))
    assert len(files) == 2
    kept = files[0].stat().st_mtime_ns
    # As after a kill between the two: the second batch is neither written nor recorded
    files[1].unlink()
    assert project.again("--until", "route") == {f"route/sources {files[1].stem}"}
    assert files[0].stat().st_mtime_ns == kept
    add(project, "[systems.across.packing]\ntokens = 900\n")
    assert len(project.again("--until", "route")) == 2


@pytest.mark.slow
def test_two_processes_route_to_the_same_bytes_as_the_loop(project, monkeypatch):
    pytest.importorskip("distributed", reason="the extra cluster is not installed")
    monkeypatch.setattr("audit.pipeline.stages.route.BATCH", 1)
    add(project, QUOTING)
    assert project.run() == 0
    loop = {name: (project.release / f"{name}.jsonl").read_bytes() for name in ("routes", "system_answers", "sources")}
    for path in (project.work / "routed").rglob("*.jsonl"):
        path.unlink()
    project.change("[retrieval]", '[retrieval]\nworkers = "local:2"')
    assert project.run() == 0
    assert {name: (project.release / f"{name}.jsonl").read_bytes() for name in loop} == loop
