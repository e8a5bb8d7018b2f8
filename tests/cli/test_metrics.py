"""`audit metrics`: the same table in every format, of one run or of two."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from audit.cli.main import main
from tests.support.loading import spoil
from tests.support.routes import routes_release
from tests.support.systems import judged, system_tables, systems_release
from tests.support.tiny import release_from


@pytest.fixture(autouse=True)
def _data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))


def test_a_metric_is_the_same_in_every_format(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["load", str(release)])
    capsys.readouterr()
    main(["metrics", "organs", "--run", "tiny", "--json"])
    data = json.loads(capsys.readouterr().out)
    main(["metrics", "organs", "--format", "csv"])
    table = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    main(["metrics", "organs", "--format", "md"])
    text = capsys.readouterr().out
    assert [row["organ"] for row in data["rows"]] == [row["organ"] for row in table] == ["kidney", "general", "(all)"]
    assert [row["pairs"] for row in data["rows"]] == [int(row["pairs"]) for row in table] == [6, 6, 12]
    assert data["run"] == "tiny"
    assert "organs of A tiny release (tiny@" in text
    (kidney,) = [line for line in text.splitlines() if line.startswith("| kidney |")]
    assert "| 1 | 6 |" in kidney


def test_an_unknown_rate_is_null_and_never_zero(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for question in ("q1", "q2"):
        spoil(
            release,
            question,
            lambda record: [pair.update(classification="ABSENT", clinical_significance=None) for pair in record["pairs"]],
        )
    main(["load", str(release)])
    capsys.readouterr()
    main(["metrics", "organs", "--format", "json"])
    assert {row["r_div"] for row in json.loads(capsys.readouterr().out)["rows"]} == {None}


def test_every_metric_can_be_asked_for_and_explained(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["load", str(release)])
    capsys.readouterr()
    main(["metrics", "list"])
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert {"labels", "organs", "handbooks", "topics", "centers", "questions", "severity", "pairs"} <= set(names)
    for name in names:
        assert main(["metrics", name, "--explain"]) == 0
        assert "select" in capsys.readouterr().out
    for name in (
        "labels",
        "organs",
        "handbooks",
        "coverage",
        "topics",
        "centers",
        "questions",
        "severity",
        "severity_rho",
        "pairs",
    ):
        assert main(["metrics", name, "--format", "csv"]) == 0, name


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["organz"], "There is no metric 'organz'. Did you mean 'organs'? Nothing was computed. Allowed: "),
        (["organs", "--run", "nope"], "Run 'nope' is not in"),
        (["gaps"], "'gaps' needs --set handbook_id=VALUE"),
        (["organs", "--set", "color=red"], "has no option 'color'"),
        (["topics", "--set", "level=galaxy"], "galaxy"),
        (["gaps", "--set", "handbook_id=zz"], "zz"),
        (["composite", "--set", "shared=1"], "For shared, the value '1' is not available. Allowed: yes, no."),
    ],
)
def test_a_metric_that_cannot_be_computed_says_why(
    release: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    main(["load", str(release)])
    assert main(["metrics", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_an_option_that_is_on_or_off_is_set_by_yes_or_no(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tables = system_tables() | {"criteria": [judged("q1", "alone"), judged("q2", "alone"), judged("q1", "rag")]}
    main(["load", str(systems_release(tmp_path / "systems", tables))])
    counted = {}
    for value in ("no", "yes"):
        capsys.readouterr()
        assert main(["metrics", "composite", "--json", "--set", f"shared={value}"]) == 0
        counted[value] = [row["answers"] for row in json.loads(capsys.readouterr().out)["rows"]]
    assert counted == {"no": [2, 1], "yes": [1, 1]}


def test_cells_cannot_run_as_formulas(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = release / "questions.jsonl"
    path.write_text(path.read_text().replace("What about q1?", "=HYPERLINK(1)"))
    main(["load", str(release)])
    capsys.readouterr()
    main(["metrics", "questions", "--format", "csv"])
    assert "'=HYPERLINK(1)" in capsys.readouterr().out


def test_a_metric_of_two_runs_compares_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, label in (("before", "DIVERGENT"), ("after", "CONSISTENT")):
        main(["load", str(release_from(tmp_path / name, f"q1 kidney ab={label} ac=ABSENT", run_id=name))])
    capsys.readouterr()
    assert main(["metrics", "transitions", "--run", "before", "--against", "after", "--format", "json"]) == 0
    cells = {(row["first"], row["second"]): row["pairs"] for row in json.loads(capsys.readouterr().out)["rows"] if row["pairs"]}
    assert cells == {("DIVERGENT", "CONSISTENT"): 1, ("ABSENT", "ABSENT"): 1}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["transitions"], "'transitions' compares two runs: name the other with --against RUN. Nothing was computed."),
        (["organs", "--against", "tiny"], "'organs' takes one run, without --against. Nothing was computed."),
        (["transitions", "--against", "tiny"], "cannot be compared with itself"),
        (["transitions", "--against", "nope"], "Run 'nope' is not in"),
    ],
)
def test_a_comparison_that_cannot_be_made_says_why(
    release: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    main(["load", str(release)])
    assert main(["metrics", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_the_evidence_of_systems_is_written_as_trec_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["load", str(routes_release(tmp_path / "release"))])
    folder = tmp_path / "trec"
    assert main(["metrics", "routing", "--trec", str(folder)]) == 0
    assert (folder / "qrels").read_text().splitlines() == [
        "q1 0 long-1/s1 1", "q2 0 dense-1/s1 1", "q2 0 long-2/s2 1", "q3 0 dense-1/s3 1",
    ]  # fmt: skip
    assert (folder / "all.run").read_text().splitlines()[:3] == [
        "q1 Q0 dense-1/s1 1 1.000000 all", "q1 Q0 dense-1/s2 2 0.500000 all", "q1 Q0 long-1/s1 3 0.333333 all",
    ]  # fmt: skip
    assert len((folder / "daks.run").read_text().splitlines()) == 6
    capsys.readouterr()
    assert main(["metrics", "systems", "--trec", str(folder)]) == 2
    assert "--trec works with 'routing', not with 'systems'" in capsys.readouterr().err
