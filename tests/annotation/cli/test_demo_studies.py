"""`audit demo --studies`: the studies it makes are read, measured and judged again from the same command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit.cli.main import main
from tests.support.llm.fault_server import fault_server

pytestmark = pytest.mark.usefixtures("in_demo")


def test_a_study_is_read_as_its_exported_labels_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agreement", "--study", "demo-finished", "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    (kappa,) = [
        row
        for row in report["figures"]
        if (row["about"], row["first"], row["second"], row["scope"]) == ("label", "annotator_a", "annotator_b", "sample")
        and row["name"] == "agreement"
    ]
    assert kappa["n"] == 200
    assert 0.6 < kappa["value"] < 0.85  # published: 0.73


def test_the_corrected_shares_of_a_study_add_up_to_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prevalence", "--study", "demo-finished", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    corrected = [row["value"] for row in rows if row["method"] == "corrected" and row["label"] != "disagrees"]
    assert sum(corrected) == pytest.approx(1)


def test_a_study_half_done_can_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agreement", "--study", "demo-running"]) == 0
    assert "items: 200" in capsys.readouterr().out


def test_the_error_on_an_unknown_study_names_the_existing_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agreement", "--study", "nope"]) == 2
    assert "There is no study 'nope'. Existing studies: demo-" in capsys.readouterr().err


def test_a_file_or_a_study_is_required_and_not_both(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["agreement"])
    with pytest.raises(SystemExit):
        main(["agreement", "--study", "x", "--labels", "y.csv"])
    assert "not allowed with" in capsys.readouterr().err


def test_the_pairs_of_a_study_are_judged_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "again"
    with fault_server() as server:
        monkeypatch.setenv("AUDIT_JUDGE_URL", server.url)
        assert main(["judge", "demo", "--pairs", "study:demo-finished", "--out", str(out)]) == 0
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["pairs"] == 200 + 10  # the study's items and those of its calibration; repeats are the same pairs
    assert manifest["judge_settings"]["pairs"] == "study:demo-finished"


def test_an_unknown_study_of_pairs_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge", "demo", "--pairs", "study:nothing", "--out", str(tmp_path / "again")]) == 2
    assert "nothing" in capsys.readouterr().err
