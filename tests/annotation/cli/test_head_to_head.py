"""A head-to-head study from `audit study create` to its preferences and tables, as people type it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from annotation.label_store.engine import open_label_store
from audit.cli.main import main
from tests.annotation.test_head_to_head_sampling import QUESTIONS, tables
from tests.support.loading import load
from tests.support.studies import people, rate_all
from tests.support.systems import systems_release


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Type a command on a run with three systems and accounts of two annotators: (exit code, output, errors)."""
    load(systems_release(tmp_path / "release", tables(), questions=QUESTIONS), tmp_path / "data")
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    store = open_label_store(f"sqlite:///{tmp_path / 'data' / 'studies.db'}")
    people(store, "ana", "ben")
    store.close()

    def run(line: str) -> tuple[int, str, str]:
        code = main(line.split())
        return code, *capsys.readouterr()

    return run


CREATE = (
    "study create h1 --scheme head-to-head --systems found third --annotators ana,ben --questions 12 --repeats 0 --calibration 0"
)


def test_from_a_run_with_systems_to_its_preferences_and_tables(typed, tmp_path: Path) -> None:
    _, printed, _ = typed(f"{CREATE} --dry-run")
    assert ["found", "and", "third/treatment", "12", "7", "1.71"] in [line.split() for line in printed.splitlines()]
    assert "0 of 20 comparisons lack an answer that could be read" in printed
    assert typed(CREATE)[0] == 0
    store = open_label_store(f"sqlite:///{tmp_path / 'data' / 'studies.db'}")
    for name, label in (("ana", "A"), ("ben", "tie")):
        assert rate_all(store, name, label, study_id="h1") == 12
    store.close()
    assert typed("study advance h1")[0] == 0
    assert typed("study verify h1")[0] == 0
    out = tmp_path / "preferences.jsonl"
    assert typed(f"study export h1 --out {out}")[0] == 0
    records = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(records) == 24
    assert {record["preference"] for record in records if record["rater"] == "ben"} == {"tie"}
    assert typed(f"study export h1 --out {tmp_path / 'ratings.csv'}")[0] == 0
    assert "system_a" in (tmp_path / "ratings_codebook.csv").read_text()
    figures = json.loads(typed("agreement --study h1 --format json")[1])["figures"]
    assert {row["name"] for row in figures if row["second"]} == {"kappa", "agreement", "ac1", "pabak", "alpha_nominal"}
    assert "because the choices have no order" in typed("agreement --study h1 --format md")[1]
    package = tmp_path / "package"
    assert typed(f"export --study h1 --out {package}")[0] == 0
    assert json.loads((package / "manifest.json").read_text())["study"]["scheme"] == "head-to-head"
    (preferences,) = package.rglob("*study_preferences*.csv")
    assert "Model with retrieval" in preferences.read_text()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            f"{CREATE} --show-names",
            "--items, --by, --after, --primary, --design-for, --first-in-line, --show-names require --scheme pairs",
        ),
        (CREATE.replace("third", "nobody"), "has no system 'nobody'"),
        ("study create p1 --systems found third --annotators ana,ben", "--systems requires --scheme head-to-head"),
        ("prevalence --study h1", "compares systems, so no label has a prevalence"),
        ("judge systems --out judged --pairs study:h1", "compares answering systems, so it has no pairs to judge"),
        ("study export h1 --out preferences.json", "must end in .csv"),
    ],
)
def test_what_does_not_fit_the_scheme_is_refused_in_a_sentence(typed, line: str, message: str) -> None:
    if "create" not in line:
        typed(CREATE)
    code, _, errors = typed(line)
    assert (code != 0, message in " ".join(errors.split())) == (True, True), errors
