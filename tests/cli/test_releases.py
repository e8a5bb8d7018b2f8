"""`audit check | load | runs`: what is printed, what programs get, and how they end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit.cli.main import main
from tests.support.loading import spoil


@pytest.fixture(autouse=True)
def _data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))


def test_loading_a_sound_release_ends_well_and_names_the_run(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["load", str(release)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("12 pairs loaded, 0 quarantined; 26 of 26 records in all; all counts reconcile.")
    assert "Run tiny@" in out


def test_loading_it_again_reads_nothing(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["load", str(release)])
    capsys.readouterr()
    assert main(["load", str(release)]) == 0
    assert "already loaded" in capsys.readouterr().out


def test_a_report_with_something_to_say_ends_with_one(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spoil(release, "q1", lambda record: record["pairs"][0].update(classification="DIVERGANT"))
    assert main(["check", str(release)]) == 1
    assert (
        "quarantined: comparisons/q1.json, pair 1: classification 'DIVERGANT' is not in the vocabulary."
        in capsys.readouterr().out
    )
    assert main(["load", str(release)]) == 1


def test_machines_get_the_whole_report(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spoil(release, "q1", lambda record: record["pairs"][0].update(classification="DIVERGANT"))
    main(["load", str(release), "--json"])
    report = json.loads(capsys.readouterr().out)
    assert report["totals"]["pair"] == {"files": 2, "read": 12, "loaded": 11, "quarantined": 1}
    assert report["details"][0]["code"] == "unknown_classification"


def test_a_path_that_is_not_there_ends_with_two_and_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["load", "nowhere"]) == 2
    assert (
        capsys.readouterr()
        .err.splitlines()[-1]
        .startswith("audit: nowhere: there is no such file or folder. Nothing was loaded.")
    )


def test_everything_is_written_below_the_data_dir(release: Path, tmp_path: Path) -> None:
    main(["load", str(release)])
    assert {path.parent.name for path in (tmp_path / "data").rglob("*.duckdb")} == {"store"}


def test_runs_are_listed_newest_first(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs"]) == 0
    assert "No run is loaded" in capsys.readouterr().out
    main(["load", str(release)])
    capsys.readouterr()
    main(["runs", "--json"])
    assert [run["title"] for run in json.loads(capsys.readouterr().out)] == ["A tiny release"]


def test_a_title_cannot_speak_to_the_terminal_or_forge_a_line(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = json.loads((release / "manifest.json").read_text())
    (release / "manifest.json").write_text(json.dumps(manifest | {"title": "A\x1b[31m\nforged@1234 title"}))
    main(["load", str(release)])
    capsys.readouterr()
    assert main(["runs"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "forged" in line]
    assert "A [31m forged@1234 title:" in line
