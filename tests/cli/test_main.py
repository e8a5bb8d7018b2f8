"""The one program: its commands, their help, and what a mistyped command gets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from audit.cli.main import main, parse, parser
from audit.commands import (
    ADD_ASKED,
    COMMANDS,
    CURATED_THEMES,
    DEMO_STUDIES,
    GROUPS,
    PROPOSED_RULES,
    STUDY_PAIRS,
    STUDY_TABLES,
    VERSION_CHECKED,
    VERSION_DRAFT,
    VERSION_EXAMPLES,
    Command,
    load_object,
)
from audit.errors import AuditError
from tests.support.sides import PipelineIsAbsent

HEAVY = ("duckdb", "pandas", "numpy", "sqlalchemy", "streamlit", "openai", "plotly", "scipy", "tqdm", "audit.store", "annotation")


@pytest.fixture(autouse=True)
def _data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))


def test_a_setting_that_is_not_a_number_is_reported(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDIT_PORT", "many")
    assert main(["runs"]) == 2
    assert "Setting AUDIT_PORT is 'many', but must be an integer from 1 to 65,535. Nothing was done." in capsys.readouterr().err


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    out = capsys.readouterr().out
    assert all(command in out for command in ("demo", "check", "load", "runs", "metrics", "serve", "schema", "AUDIT_DATA_DIR"))


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_has_its_function_its_options_and_its_help(command: Command) -> None:
    function, add_options = command.load()
    assert callable(function)
    assert callable(add_options)
    assert command.help.endswith(".")
    group, _, name = command.name.rpartition(" ")
    assert name
    assert not group or group in GROUPS or group in {known.name for known in COMMANDS}


ALIGNMENT = (VERSION_DRAFT, VERSION_EXAMPLES, VERSION_CHECKED, PROPOSED_RULES)


@pytest.mark.parametrize("path", [STUDY_PAIRS, STUDY_TABLES, CURATED_THEMES, DEMO_STUDIES, *ALIGNMENT])
def test_every_import_string_leads_to_a_function(path: str) -> None:
    assert callable(load_object(path))


def test_no_name_stands_for_two_commands() -> None:
    assert [name for name, count in Counter(command.name for command in COMMANDS).items() if count > 1] == []
    single = {command.name for command in COMMANDS if " " not in command.name}
    assert not single & set(GROUPS)


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["themes", "--help"]])
def test_the_version_and_the_help_import_nothing_heavy(words: list[str]) -> None:
    code = (
        "import sys\nfrom audit.cli.main import main\n"
        f"try: main({words!r})\nexcept SystemExit: pass\n"
        f"heavy = [name for name in {HEAVY!r} if name in sys.modules]\nsys.exit(str(heavy) if heavy else 0)"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (process.returncode, process.stderr) == (0, "")


def test_the_version_takes_less_than_three_tenths_of_a_second_of_processor_time() -> None:
    best = min(_cpu_seconds("--version") for _ in range(5))
    assert best < 0.3


def _cpu_seconds(option: str) -> float:
    before = os.times()
    subprocess.run([sys.executable, "-m", "audit", option], capture_output=True, check=True)
    after = os.times()
    return (after.children_user - before.children_user) + (after.children_system - before.children_system)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["judg"], "'audit judg' is not a command. Did you mean 'audit judge'? Nothing was done."),
        (["themes", "bild"], "'audit themes bild' is not a command. Did you mean 'audit themes build'?"),
        (["xyzzy"], "'audit xyzzy' is not a command. Nothing was done. `audit --help` lists the commands."),
        (["stdy", "create"], "Did you mean 'audit study'?"),
    ],
)
def test_a_mistyped_command_gets_a_suggestion(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert sentence in capsys.readouterr().err


def test_every_command_that_prints_a_result_takes_json() -> None:
    without = {"serve", "schema", "completion"}
    top = parser(complete=True)
    for command in COMMANDS:
        if command.listed and command.name not in without:
            usage = _help(top, command.name)
            assert "--json" in usage, command.name


def _help(top, name: str) -> str:
    for word in [name] if name.split()[0] in {known.name for known in COMMANDS} else name.split():
        actions = next(action for action in top._actions if action.choices and word in action.choices)
        top = actions.choices[word]
    return top.format_help()


def test_the_reference_lists_every_command_as_text_markdown_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "commands", "--json"]) == 0
    listed = {record["command"]: record for record in json.loads(capsys.readouterr().out)}
    assert set(listed) == {command.name for command in COMMANDS if command.listed}
    assert listed["judge"]["usage"] == "audit judge RUN --out RELEASE"
    assert main(["help", "commands", "--markdown"]) == 0
    table = capsys.readouterr().out.splitlines()
    assert len(table) == 2 + len(listed)
    assert r"| `audit agreement (--labels FILE \| --study ID)` |" in "\n".join(table)


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_completion_knows_commands_of_both_packages(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "themes" in script
    assert "advance" in script


def test_the_bash_completion_is_valid_bash(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["completion", "bash"])
    path = tmp_path / "audit"
    path.write_text(capsys.readouterr().out)
    subprocess.run(["bash", "-n", str(path)], check=True)


def test_an_option_means_the_same_to_the_parser_of_one_command_and_of_all() -> None:
    words = ["judge", "tiny", "--out", "x", "--swap"]
    assert vars(parse(words))["swap"] is vars(parser(complete=True).parse_args(words))["swap"] is True


def test_the_tenancy_example_is_copied_to_a_new_folder_and_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "mine"
    assert main(["example", "tenancy", str(folder), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert {path.name for path in folder.iterdir()} >= {"config.toml", "documents", "questions.csv", "templates", "README.md"}
    assert main(["run", record["config"], "--dry-run"]) == 0
    assert main(["example", "tenancy", str(folder)]) == 2
    assert "already exists and is not an empty folder. Nothing was written." in capsys.readouterr().err


def test_what_needs_the_pipeline_says_so_where_it_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "meta_path", [PipelineIsAbsent(), *sys.meta_path])
    for name in [name for name in sys.modules if name.startswith("audit.pipeline")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(AuditError, match="this installation can only read them"):
        load_object(ADD_ASKED)
