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


def test_a_run_without_what_a_paper_is_about_says_so(tmp_path, capsys):
    assert main(["load", str(release(tmp_path / "release"))]) == 0
    capsys.readouterr()
    for paper, need in (("s0", "compares no handbooks"), ("s1", "routes questions to sources"), ("s3", "no stress tests")):
        assert main(["reproduce", paper]) == 2
        assert need in capsys.readouterr().out
