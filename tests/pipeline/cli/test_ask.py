"""`audit ask`: one answer of all handbooks, its evidence and routing, and input that cannot be used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit.cli.main import main
from tests.examples.tenancy import FOLDER
from tests.support.llm.fault_server import fault_server

DOCUMENTS = str(FOLDER / "documents")
DEPOSIT = "How long after I move out must my deposit be returned?"


@pytest.fixture(autouse=True)
def _data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    for name in ("URL", "MODEL", "KEY"):
        monkeypatch.delenv(f"AUDIT_JUDGE_{name}", raising=False)


def ask(*arguments: str) -> int:
    return main(["ask", *arguments, "--documents", DOCUMENTS])


def test_the_answer_says_who_says_it_and_the_trace_has_every_step(tmp_path, capsys):
    trace = tmp_path / "trace.json"
    assert ask(DEPOSIT, "--organ", "residential", "--trace", str(trace), "--budget", "7", "--alpha", "0.5") == 0
    printed = capsys.readouterr().out
    assert "supported by " in printed
    assert "Evidence (5 passages)" in printed
    assert "Sources, best first (5)" in printed
    assert "No medical advice." in printed
    record = json.loads(trace.read_text())
    assert sum(route["budget"] for route in record["routes"]) == 7
    assert record["trace"]["settings"]["graph"]["base_share"] == 0.5
    assert {statement["mark"] for statement in record["trace"]["statements"]} <= {"supported", "contradicted"}


def test_json_has_answer_evidence_and_routes(capsys):
    assert ask(DEPOSIT, "--json", "--source-by", "organ", "--require", "lodging") == 0
    record = json.loads(capsys.readouterr().out)
    assert {one["source_id"] for one in record["routes"]} == {"lodging", "residential"}
    assert "lodging" in {one["source_id"] for one in record["evidence"]}
    assert [one for one in record["citations"] if record["answer"][one["start"] : one["end"]]]


def test_what_no_handbook_addresses_is_refused_with_exit_code_1(capsys):
    assert ask("Which vaccines does my dog need abroad?") == 1
    assert "NOT ADDRESSED" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["  "], "The question is empty. Nothing was asked."),
        (
            [DEPOSIT, "--authority", "Alderia=2"],
            "--authority is 'Alderia=2': SOURCE=SHARE, and the share must be a number from 0 to 1",
        ),
        ([DEPOSIT, "--authority", "Nobody=.2"], "An authority is given for 'Nobody', which is not a source"),
        ([DEPOSIT, "--require", "Nobody"], "--require names 'Nobody', which is not a source; sources: Alderia"),
        ([DEPOSIT, "--organ", "kidney"], "has the organ 'kidney'; organs: lodging, residential"),
        ([DEPOSIT, "--entities", "missing.toml"], "is not a vocabulary of entities"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(arguments, sentence, capsys):
    assert ask(*arguments) == 2
    assert sentence in capsys.readouterr().err


def test_a_question_in_another_language_gets_a_note(capsys):
    assert ask("Wie lange ist die Frist für die Kündigung der Wohnung?") == 1
    assert "The question seems to be German, and the handbooks are English." in capsys.readouterr().out


def test_a_model_is_asked_once_and_what_it_cannot_quote_is_unsupported(capsys):
    with fault_server(models=("small",)) as server:
        for _ in range(2):
            code = ask(DEPOSIT, "--url", server.url, "--model", "small")
        asked = [body for body in server.bodies if "<passages>" in body["messages"][-1]["content"]]
    assert len({body["messages"][-1]["content"] for body in asked}) == 1
    printed = capsys.readouterr().out
    # The stand-in's quotes are made up
    assert code == 0
    assert "unsupported: no quote from the passages shows it" in printed
    assert "supported by " not in printed.replace("unsupported", "")
