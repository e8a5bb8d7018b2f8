"""`audit reproduce`: the printed tables of a paper beside those of a run, release or file of questions, and the departures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from audit.charts.style import NO_VALUE
from audit.cli.main import main
from audit.papers.departures import Paper, departures
from audit.release.write import write_release
from tests.pipeline.stages.project import lodging_project
from tests.support.llm.fault_server import fault_server
from tests.support.systems import system_tables


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("URL", "MODEL", "KEY"):
        monkeypatch.delenv(f"AUDIT_JUDGE_{name}", raising=False)
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


def release(folder: Path) -> Path:
    """Two systems, of which one is Mixtral 8x7B alone, as in the paper."""
    tables: dict[str, Any] = system_tables()
    tables["systems"][0]["model"] = "Mixtral-8x7B-Instruct"
    questions = [{"question_id": f"q{n}", "question": f"What about {n}?", "organ": "general"} for n in (1, 2, 3)]
    write_release(folder, manifest={"run_id": "tiny"}, questions=questions, systems=tables)
    return folder


def stress_questions(path: Path, documents: int) -> Path:
    texts = ["Take 5 mg once a day for 3 months.", "Walk for 30 minutes twice a week.", "Do not drink more than 2 litres a day."]
    records = [
        {
            "question_id": f"p{n}", "question": f"Does treatment {n} help?", "options": {"A": "yes", "B": "no"}, "answer": "A",
            "dataset": "PubMedQA",
            "documents": [{"doc_id": f"p{n}-{d}", "text": texts[d]} for d in range(documents)],
        }
        for n in range(3)
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, records)))
    return path


def test_a_release_of_systems_stands_beside_the_printed_tables_and_stays_as_it_was(tmp_path, capsys):
    folder = release(tmp_path / "release")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert main(["reproduce", "s2", "--corpus", str(folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    rows = {row["title"]: row for table in found["tables"] for row in table["rows"]}
    # Its answers were measured in a copy
    assert rows["BLEU-1, Mixtral 8x7B alone"]["verdict"] in ("agrees", "differs")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert rows["BLEU-1, Meditron 70B alone"]["how"] == "No system of this run is 'meditron-70b/closed_book' of the paper."
    assert "audit systems score RELEASE --bertscore" in rows["BERTScore, Mixtral 8x7B alone"]["how"]
    assert sum(found["verdicts"].values()) == len(rows) == 81
    assert len(found["departures"]) == len(departures(Paper.S2))


def test_questions_with_documents_become_the_four_tests_beside_the_printed_curves(tmp_path, capsys):
    questions = stress_questions(tmp_path / "pubmedqa.jsonl", documents=3)
    assert main(["reproduce", "s3", "--corpus", str(questions)]) == 0
    output = capsys.readouterr().out
    (line,) = [line for line in output.splitlines() if line.startswith("pubmedqa, offline, robustness, accuracy, 5, 60 ")]
    assert " 51.4 " in line, "printed for Llama 3 70B"
    # The oracle knows which documents are correct
    assert "100.0" in line
    # The reader that believes every document stands in for the models, and says so
    assert "'copycat' is in its place and is named in the row" in output
    assert "It is a reader without a model." in output
    assert all(row.step in output for row in departures(Paper.S3))


def test_a_stand_in_is_compared_with_each_model_of_the_paper_under_its_own_name(tmp_path, capsys):
    questions = stress_questions(tmp_path / "pubmedqa.jsonl", documents=3)
    assert main(["reproduce", "s3", "--corpus", str(questions), "--stand-in", "insufficient", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    rows = {row["title"]: row for table in found["tables"] for row in table["rows"]}
    own = {name: row for name, row in rows.items() if row["verdict"] != "cannot be computed"}
    assert found["verdicts"]["agrees"] + found["verdicts"]["differs"] == len(own) > 0
    assert all(name.startswith("PubMedQA") and row["own"].endswith(", insufficient") for name, row in own.items())
    # The questions have three documents each
    assert "3.0 documents" in rows["PubMedQA, standard, 5 offline documents: accuracy of GPT-4o, %"]["own"]
    none = [row for name, row in rows.items() if name.startswith("MedQA")]
    assert {row["how"] for row in none} == {"The run has no such figure of 'insufficient', which stands in."}
    assert main(["reproduce", "s3", "--corpus", str(questions), "--stand-in", "parrot"]) == 2
    said = capsys.readouterr().err
    assert "System 'parrot' cannot stand in for those of s3. Nothing was computed. Allowed: oracle, copycat, closed_book" in said


def test_a_system_stands_in_only_where_it_is_asked_as_the_papers_is(tmp_path, capsys):
    assert main(["load", str(release(tmp_path / "release"))]) == 0
    capsys.readouterr()
    assert main(["reproduce", "s2", "--stand-in", "rag", "--json"]) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    own = {row["title"]: row["own"] for table in tables for row in table["rows"]}
    assert own["Composite, Meditron 70B with retrieval"].endswith(", rag")
    assert own["Composite, Meditron 70B alone"] == NO_VALUE


def test_questions_without_documents_are_refused_in_a_sentence(tmp_path, capsys):
    questions = stress_questions(tmp_path / "mirage.jsonl", documents=0)
    assert main(["reproduce", "s3", "--corpus", str(questions)]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert "questions without documents" in said
    assert "audit stress build QUESTIONS --library DIR" in said


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["s0", "--corpus", "nothing"], "Run 'nothing' is not in"),
        (["s0", "--corpus", "{questions}"], "is a file of questions, which s3 takes."),
        (["s3", "--corpus", "{config}"], "s3 puts tests to models and not questions to handbooks."),
    ],
)
def test_a_corpus_that_does_not_fit_is_refused_in_a_sentence(tmp_path, capsys, words, sentence):
    (config := tmp_path / "own.toml").touch()
    questions = stress_questions(tmp_path / "q.jsonl", documents=1)
    assert main(["reproduce", *(word.format(questions=questions, config=config) for word in words)]) == 2
    assert sentence in capsys.readouterr().err


def test_a_dry_run_says_what_it_would_cost_and_lists_the_departures(tmp_path, data, capsys):
    assert main(["reproduce", "s2", "--corpus", str(release(tmp_path / "release")), "--dry-run"]) == 0
    output = capsys.readouterr().out
    assert "No calls, no tokens" in output
    assert all(row.way_back in output for row in departures(Paper.S2))
    assert not (data / "store").exists()
    questions = stress_questions(tmp_path / "pubmedqa.jsonl", documents=3)
    assert main(["reproduce", "s3", "--corpus", str(questions), "--dry-run"]) == 0
    assert "calls" in capsys.readouterr().out
    assert not (data / "reproduce").exists()


DRY = "--dry-run"


@pytest.mark.parametrize(
    ("paper", "corpus", "more", "sentence"),
    [
        *(("s2", "empty", more, "this is not a release: it has no handbooks and no questions") for more in ([], [DRY])),
        *(("s2", "words.csv", more, "words.csv: neither a folder nor an archive.") for more in ([], [DRY])),
        *(("s2", "broken", more, "no usable system in systems.jsonl") for more in ([], [DRY])),
        *(("s1", "own.toml", more, "own.toml") for more in ([], [DRY])),
        ("s2", "nothing", [DRY], "Run 'nothing' is not in"),
        ("s0", "release", [DRY], "The run compares no handbooks, so it has no labels. Nothing was computed."),
        ("s1", "release", [DRY], "The run has no system that routes questions to sources. Nothing was computed."),
        ("s3", "release", [DRY], "The run has no stress tests. Nothing was computed."),
        ("s3", "own.toml", [DRY], "s3 puts tests to models and not questions to handbooks."),
    ],
)
def test_a_corpus_without_any_figure_of_a_paper_is_one_sentence(tmp_path, data, capsys, paper, corpus, more, sentence):
    (release(tmp_path / "broken") / "systems.jsonl").write_text('{"system_id": ')
    release(tmp_path / "release")
    (tmp_path / "empty").mkdir()
    (tmp_path / "words.csv").write_text("a,b\n")
    (tmp_path / "own.toml").touch()
    named = corpus if corpus == "nothing" else str(tmp_path / corpus)
    assert main(["reproduce", paper, "--corpus", named, *more]) == 2
    output = capsys.readouterr()
    assert sentence in output.err
    assert not output.out
    assert not (data / "reproduce").exists()


def test_a_dry_run_of_a_run_without_what_a_paper_is_about_says_what_is_missing(tmp_path, capsys):
    assert main(["load", str(release(tmp_path / "release"))]) == 0
    capsys.readouterr()
    assert main(["reproduce", "s1", "--dry-run"]) == 2
    assert "The run has no system that routes questions to sources. Nothing was computed." in capsys.readouterr().err
    assert main(["reproduce", "s2", "--dry-run"]) == 0


SOURCES = """
[[systems]]
id = "sources"
mode = "multi_source"
generator = "passages"
[systems.across]
retriever = "bm25"
"""


def test_with_an_endpoint_the_answers_of_every_method_of_s1_are_judged_for_its_first_table(tmp_path, data, capsys, monkeypatch):
    project = lodging_project(tmp_path)
    project.set("generator", '"none"')
    project.change("[retrieval]", '[retrieval]\nencoder = "words"')
    project.config.write_text(project.config.read_text() + SOURCES)
    with fault_server(models=("judge-2",)) as server:
        monkeypatch.setenv("AUDIT_JUDGE_URL", server.url)
        assert main(["reproduce", "s1", "--corpus", str(project.config), "--dry-run"]) == 0
        assert "the model at AUDIT_JUDGE_URL grades each answer" in capsys.readouterr().out
        assert not server.asked
        assert main(["reproduce", "s1", "--corpus", str(project.config), "--json"]) == 0
        assert server.asked
    rows = {row["title"]: row for table in json.loads(capsys.readouterr().out)["tables"] for row in table["rows"]}
    for measure in ("Faithfulness", "Answer relevance", "Citation correctness"):
        for method in ("merged index", "naive concatenation", "routing (DAKS)", "routing and graph fusion"):
            assert rows[f"{measure}, {method}"]["verdict"] in ("agrees", "differs"), (measure, method)
        assert rows[f"{measure}, encyclopedia alone"]["verdict"] == "cannot be computed"
    # The release of the run stays as it was
    assert not (project.release / "measures.jsonl").exists()
    assert (data / "reproduce" / "tenancy" / "measures.jsonl").is_file()


def test_with_an_endpoint_the_answers_of_both_ways_of_s2_are_judged_for_its_composite(tmp_path, data, capsys, monkeypatch):
    project = lodging_project(tmp_path)
    project.set("generator", '"none"')
    project.change("[retrieval]", '[retrieval]\nencoder = "words"')
    # Of Mixtral 8x7B, so that the rows are those of a system of the paper
    with fault_server(models=("Mixtral-8x7B-Instruct",)) as server:
        monkeypatch.setenv("AUDIT_JUDGE_URL", server.url)
        assert main(["reproduce", "s2", "--corpus", str(project.config), "--json"]) == 0
    rows = {row["title"]: row for table in json.loads(capsys.readouterr().out)["tables"] for row in table["rows"]}
    for way in ("alone", "with retrieval"):
        for figure in ("Composite", "Composite, standard deviation"):
            assert rows[f"{figure}, Mixtral 8x7B {way}"]["verdict"] in ("agrees", "differs"), rows[
                f"{figure}, Mixtral 8x7B {way}"
            ]
        assert rows[f"Composite, Meditron 70B {way}"]["verdict"] == "cannot be computed"
    judged = [json.loads(line) for line in (data / "reproduce" / "tenancy" / "criteria.jsonl").read_text().splitlines()]
    assert {one["system_id"] for one in judged} >= {"closed-book", "rag"}


def test_a_run_without_what_a_paper_is_about_says_so(tmp_path, capsys):
    assert main(["load", str(release(tmp_path / "release"))]) == 0
    capsys.readouterr()
    for paper, need in (("s0", "compares no handbooks"), ("s1", "routes questions to sources"), ("s3", "no stress tests")):
        assert main(["reproduce", paper]) == 2
        assert need in capsys.readouterr().out
