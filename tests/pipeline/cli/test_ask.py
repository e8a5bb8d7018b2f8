"""`audit ask`: each handbook's closest passages with their state, a model's answer from them, and unusable input."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from audit.cli.main import main
from audit.optional_imports import CHECKOUT
from tests.examples.tenancy import FOLDER
from tests.support.llm.fault_server import fault_server

DOCUMENTS = str(FOLDER / "documents")
DEPOSIT = "How many days after the tenancy ends must the landlord return the deposit?"


@pytest.fixture(autouse=True)
def _data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setattr("audit.pipeline.cli.ask.model_encoder", lambda: None)
    for name in ("URL", "MODEL", "KEY"):
        monkeypatch.delenv(f"AUDIT_JUDGE_{name}", raising=False)


def ask(*arguments: str) -> int:
    return main(["ask", *arguments, "--documents", DOCUMENTS])


def test_each_handbook_is_printed_under_its_state_with_heading_and_words(capsys):
    assert ask(DEPOSIT, "--organ", "residential") == 0
    printed = capsys.readouterr().out
    assert "A landlord must return the deposit within 45 days after the tenancy ends." in printed
    assert "residential_elmhaven_combined" in printed
    assert "No medical advice." in printed
    assert "Compared by: words" in printed
    assert "lodging_" not in printed


def test_the_base_install_is_enough_to_ask(capsys, monkeypatch):
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    base, *extras = (
        {Requirement(one).name for one in own} for own in (project["dependencies"], *project["optional-dependencies"].values())
    )
    for name in set().union(*extras) - base:
        monkeypatch.setitem(sys.modules, name.replace("-", "_"), None)  # what Python has for a module that is not there
    assert ask(DEPOSIT, "--organ", "residential") == 0
    assert "within 45 days" in capsys.readouterr().out


def test_json_has_every_passage_with_its_place(capsys):
    assert ask(DEPOSIT, "--json", "--source", "Elmhaven") == 0
    record = json.loads(capsys.readouterr().out)
    (book,) = record["handbooks"]
    first = book["passages"][0]
    start, end = first["statement"]
    assert first["text"][start:end].startswith("A landlord must return the deposit")
    assert record["answer"] is None


def test_of_a_handbook_that_has_the_words_and_says_nothing_near_it_is_not_found(capsys):
    assert ask("Does the desk have a garden?") == 0
    assert "Not found; the nearest passages (7)" in capsys.readouterr().out


def test_words_that_no_handbook_has_cannot_be_searched_with_exit_code_1(capsys):
    assert ask("Who won the football match in Paris?") == 1
    assert "Cannot be told (8)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["  "], "The question is empty. Nothing was asked."),
        ([DEPOSIT, "--source", "Nobody"], "There is no source 'Nobody'. Nothing was asked. Sources: Alderia"),
        ([DEPOSIT, "--organ", "kidney"], "has the organ 'kidney'; organs: lodging, residential"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(arguments, sentence, capsys):
    assert ask(*arguments) == 2
    assert sentence in capsys.readouterr().err


def test_of_a_question_in_another_language_nothing_is_claimed(capsys):
    assert ask("Wie lange ist die Frist für die Kündigung der Wohnung?") == 1
    assert "Cannot be told (8)" in capsys.readouterr().out


def test_a_model_is_asked_once_and_what_it_cannot_quote_is_said_to_be_unchecked(capsys):
    with fault_server(models=("small",)) as server:
        for _ in range(2):
            code = ask(DEPOSIT, "--url", server.url, "--model", "small")
        asked = [body for body in server.bodies if "<passages>" in body["messages"][-1]["content"]]
    assert len({body["messages"][-1]["content"] for body in asked}) == 1
    printed = capsys.readouterr().out
    # The stand-in's quotes are made up
    assert code == 0
    assert "Written by small" in printed
    assert "not checked: no quote from the passages has it" in printed
