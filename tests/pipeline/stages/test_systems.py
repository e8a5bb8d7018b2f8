"""[[systems]] in `audit run`: models alone and with passages answer every question, beside the comparison or instead of it."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audit.cli.main import main
from tests.pipeline.stages.project import Project, lodging_project
from tests.support.llm.fault_server import FaultServer, fault_server

ALONE = '[[systems]]\nid = "alone"\nmode = "closed_book"\nmodel = "small"\nurl = ["{url}"]\n'
FOUND = '[[systems]]\nid = "with-passages"\nname = "Small, with passages"\nmodel = "small"\nurl = ["{url}"]\npassages = 3\n'


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server(models=("small", "large")) as server:
        yield server


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    for name in ("URL", "MODEL", "KEY"):
        monkeypatch.delenv(f"AUDIT_JUDGE_{name}", raising=False)
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    return lodging_project(tmp_path)


def add(project: Project, text: str) -> None:
    project.config.write_text(f"{project.config.read_text()}\n{text}")


def systems_alone(project: Project) -> None:
    project.set("generator", '"none"')


def table(project: Project, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (project.release / f"{name}.jsonl").read_text().splitlines()]


def prompts(server: FaultServer) -> set[str]:
    """The questions put to the model, without the tests of whether it answers at all."""
    return {text for body in server.bodies if "<question>" in (text := body["messages"][-1]["content"])}


def test_systems_answer_every_question_beside_the_comparison(project, server, capsys):
    add(project, ALONE.format(url=server.url) + FOUND.format(url=server.url))
    assert project.run() == 0
    assert "System alone: " in capsys.readouterr().out
    systems = {system["system_id"]: system for system in table(project, "systems")}
    assert [(name, system["mode"], system["retriever"]) for name, system in systems.items()] == [
        ("alone", "closed_book", None), ("with-passages", "retrieval", "closest"),
    ]  # fmt: skip
    assert systems["with-passages"]["name"] == "Small, with passages"
    answers = table(project, "system_answers")
    assert [(answer["system_id"], answer["question_id"]) for answer in answers] == [
        (system, question["question_id"]) for system in systems for question in table(project, "questions")
    ]
    assert project.labels(), "the comparison is there too"
    assert main(["metrics", "systems", "--json"]) == 0
    assert [row["asked"] for row in json.loads(capsys.readouterr().out)["rows"]] == [2, 2]


def test_only_a_system_that_retrieves_gets_passages_and_its_evidence_says_which(project, server):
    systems_alone(project)
    add(project, ALONE.format(url=server.url) + FOUND.format(url=server.url))
    assert project.run() == 0
    evidence = {answer["system_id"]: answer["evidence"] for answer in table(project, "system_answers")}
    assert evidence["alone"] == []
    passages = evidence["with-passages"]
    assert [passage["rank"] for passage in passages] == [1, 2, 3]
    assert len({passage["handbook_id"] for passage in passages}) == 3, "the best of each code comes first"
    given = [prompt for prompt in prompts(server) if "<passages>" in prompt]
    assert len(given) == 2
    assert any(passages[0]["text"].split("\n")[0] in prompt for prompt in given)


CORPUS = FOUND.replace("with-passages", "corpus") + 'search = "corpus"\nstrategy = "{strategy}"\n'


@pytest.mark.parametrize("strategy", ["bm25", "hybrid", "hero"])
def test_a_system_that_searches_one_corpus_takes_the_best_passages_wherever_they_are(project, server, strategy):
    """All that the questions ask is in one code, and the others talk of something else."""
    systems_alone(project)
    documents = sorted((project.folder / "tenancy" / "documents").glob("*.json"))
    for path in documents[1:]:
        record = json.loads(path.read_text())
        record["sections"] = [
            {**section, "heading": "Lifts", "above": [], "text": "Lifts are oiled on Mondays."} for section in record["sections"]
        ]
        path.write_text(json.dumps(record))
    add(project, FOUND.format(url=server.url) + CORPUS.format(url=server.url, strategy=strategy))
    assert project.run() == 0
    evidence = {
        (answer["system_id"], answer["question_id"]): [passage["handbook_id"] for passage in answer["evidence"]]
        for answer in table(project, "system_answers")
    }
    by_corpus = [handbooks for (system, _), handbooks in evidence.items() if system == "corpus"]
    assert all(handbooks and set(handbooks) == {documents[0].stem} for handbooks in by_corpus)
    retrievers = {system["system_id"]: system["retriever"] for system in table(project, "systems")}
    assert retrievers == {"with-passages": "hero", "corpus": f"{strategy}, one corpus"}
    assert project.again() == set(), "what was found is kept"


def test_systems_alone_need_neither_pairs_nor_a_second_handbook(project, server, capsys):
    systems_alone(project)
    for path in list((project.folder / "tenancy" / "documents").glob("*"))[1:]:
        path.unlink()
    add(project, ALONE.format(url=server.url) + FOUND.format(url=server.url))
    assert project.run("--dry-run") == 0
    plan = capsys.readouterr().out
    assert "2 answering systems, 4 answers of theirs." in plan
    assert "systems, alone, calls small at " in plan
    assert not prompts(server)
    assert project.run() == 0
    assert not (project.release / "comparisons").exists()
    manifest = json.loads((project.release / "manifest.json").read_text())
    assert (manifest["systems"], manifest["system_answers"], manifest["questions"]) == (2, 4, 2)
    assert manifest["handbooks"] == 1


def test_a_system_answers_from_what_the_strategy_hybrid_finds_and_its_calls_can_be_tried_before(project, server, capsys):
    systems_alone(project)
    project.change('compare = ["hero", "bm25"]', 'strategy = "hybrid"')
    project.change("[retrieval.options]", "[retrieval.options.hybrid]\nfinal_k = 2\n[retrieval.options]")
    add(project, FOUND.format(url=server.url))
    assert project.run("--until", "retrieve") == 0
    assert project.run("--dry-run", "--probe") == 0
    output = capsys.readouterr().out
    assert "2 test calls" in output
    assert "questions and passages of the handbooks, for with-passages" in output
    assert project.run() == 0
    assert table(project, "systems")[0]["retriever"] == "hybrid"
    assert "all counts reconcile" in capsys.readouterr().out
    assert len(table(project, "system_answers")[0]["evidence"]) == 3


def test_reference_answers_come_into_the_release_so_that_answers_can_be_measured(project, server, capsys):
    systems_alone(project)
    with (project.folder / "tenancy" / "questions.csv").open() as file:
        first = next(csv.DictReader(file))["question_id"]
    references = [{"question_id": first, "answer": "Two months."}, {"question_id": "not-asked", "answers": ["No."]}]
    (project.folder / "tenancy" / "references.jsonl").write_text("\n".join(map(json.dumps, references)))
    project.change("[questions]", '[questions]\nreferences = "references.jsonl"')
    add(project, ALONE.format(url=server.url))
    assert project.run() == 0
    assert [(record["question_id"], record["answers"]) for record in table(project, "references")] == [(first, "Two months.")]
    (project.folder / "tenancy" / "references.jsonl").write_text('{"question_id": 1\n')
    assert project.run() == 2
    assert "references.jsonl, after line 1: it cannot be read" in capsys.readouterr().err


def test_a_model_alone_needs_no_corpus(project, server):
    systems_alone(project)
    text = project.config.read_text()
    project.config.write_text(text.replace('documents = "documents"', ""))
    add(project, ALONE.format(url=server.url))
    assert project.run() == 0
    assert {answer["system_id"] for answer in table(project, "system_answers")} == {"alone"}
    assert not (project.release / "handbooks.jsonl").exists()


def test_a_new_system_is_asked_and_the_others_are_not_asked_again(project, server):
    systems_alone(project)
    add(project, ALONE.format(url=server.url))
    assert project.run() == 0
    asked = len([body for body in server.bodies if body["model"] == "small"])
    add(project, ALONE.format(url=server.url).replace("alone", "large").replace('"small"', '"large"'))
    assert project.again() == {"systems/large", "systems/tables of the release", "load/tenancy"}
    assert len([body for body in server.bodies if body["model"] == "small"]) == asked
    assert len(table(project, "system_answers")) == 4


def test_another_temperature_asks_again_and_what_came_back_stays_in_its_journal(project, server):
    systems_alone(project)
    add(project, ALONE.format(url=server.url))
    assert project.run() == 0
    project.change('id = "alone"', 'id = "alone"\ntemperature = 0.7\nmax_tokens = 64')
    assert project.run() == 0
    settings = {(body["temperature"], body["max_tokens"]) for body in server.bodies if "<question>" in str(body)}
    # The probe asks for one token
    assert settings == {(0.1, 1), (0.1, 512), (0.7, 1), (0.7, 64)}
    assert table(project, "systems")[0]["settings"]["temperature"] == 0.7
    assert len(list((project.work / "journals").glob("systems-*.journal"))) == 2


def test_refusals_and_unreadable_replies_are_told_apart(project, server, capsys):
    systems_alone(project)
    questions = project.folder / "tenancy" / "few.csv"
    # The longest question is sent first, to see whether it fits: it must not be a faulty one
    longest = "How long before I move out must I write to the landlord and what must I say in the letter?"
    asked = {"q1": "May I keep a cat? fault:declines", "q2": "And a dog? fault:prose", "q3": longest}
    lines = [f"{name},{text},general" for name, text in asked.items()]
    questions.write_text("\n".join(["question_id,question,organ", *lines]))
    project.change('file = "questions.csv"\nfirst = 2', 'file = "few.csv"')
    add(project, ALONE.format(url=server.url))
    assert project.run() == 1, "an unreadable reply is a finding"
    states = {answer["question_id"]: (answer["refused"], answer["unread_reason"]) for answer in table(project, "system_answers")}
    assert states["q1"] == (True, None)
    assert states["q2"] == (None, "no answer")
    assert "1 unread, 0 not asked." in capsys.readouterr().out


def test_an_endpoint_that_is_missing_shows_before_the_first_stage(project, capsys):
    add(project, '[[systems]]\nid = "alone"\nmode = "closed_book"\n')
    assert project.run() == 2
    message = capsys.readouterr().err
    assert "[systems]: no endpoint is set for its model." in message
    assert "No stage was started." in message


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ('[[systems]]\nmode = "closed_book"', "a system of [[systems]] needs id."),
        ('[[systems]]\nid = "a"\n[[systems]]\nid = "a"', "id is 'a', which another system has too."),
        ('[[systems]]\nid = "reference"', "id is 'reference', which is reserved for reference answers."),
        ('[[systems]]\nid = "../up"', "id is '../up'. It may contain letters, digits"),
        ('[[systems]]\nid = "a"\ntemprature = 1', "[systems] has no option 'temprature'. Did you mean 'temperature'?"),
        ('[[systems]]\nid = "a"\ntemperature = 3', "temperature must be at most 2, not 3."),
        ('[[systems]]\nid = "a"\nmode = "open_book"', "mode is 'open_book'."),
        ('[systems]\nid = "a"', "write [[systems]] above the options of each."),
    ],
)
def test_a_faulty_system_is_refused_in_a_sentence(project, capsys, written, sentence):
    lines = len(project.config.read_text().splitlines())
    add(project, written)
    assert project.run() == 2
    message = capsys.readouterr().err
    assert sentence in message
    assert int(message.partition("line ")[2].partition(":")[0]) > lines


def test_without_a_generator_there_must_be_systems(project, capsys):
    systems_alone(project)
    assert project.run() == 2
    assert "generator is 'none', so there must be [[systems]] that answer, and there are none." in capsys.readouterr().err


def test_the_type_of_a_question_reaches_a_prompt_that_asks_for_it(project, server):
    systems_alone(project)
    rows = list(csv.DictReader((project.config.parent / "questions.csv").open()))
    kinds = {row["question_id"]: f"kind {number}" for number, row in enumerate(rows)}
    references, folder = project.folder / "references.jsonl", project.folder / "own"
    records = [{"question_id": name, "answers": ["x"], "question_type": kind} for name, kind in kinds.items()]
    references.write_text("\n".join(map(json.dumps, records)))
    folder.mkdir()
    (folder / "closed_book.md").write_text(
        "---\nname: closed_book\nversion: 1\nmax_tokens: 9\n---\n# system\nAnswer.\n# user\n"
        "<question_type>{question_type}</question_type>\n<question>{question}</question>\n"
    )
    add(project, ALONE.format(url=server.url) + f'templates = "{folder}"\n')
    project.config.write_text(project.config.read_text().replace("[questions]\n", f'[questions]\nreferences = "{references}"\n'))
    assert project.run() == 0
    named = {text.partition("</question_type>")[0].rpartition(">")[2] for text in prompts(server)}
    assert len(named) == 2
    assert named <= set(kinds.values())
