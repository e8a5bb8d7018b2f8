"""Curated themes: the package has what the page shows, and the original themes; the same edits give the same bytes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest
from openpyxl import load_workbook

from annotation.label_store.engine import LabelStore, open_label_store
from annotation.label_store.theme_edits import count_edits
from annotation.studies.accounts import find_account
from annotation.theme_edits.edits import EditKind, ThemeChange
from annotation.theme_edits.record import NewEdit, record_edit
from audit.charts.figure_files import NoPicturesError
from audit.cli.main import main as audit
from audit.queries.themes import require_taxonomy, taxonomy_path
from audit.release.taxonomy import write_taxonomy
from audit.settings import Settings
from audit.store.runs import Run
from tests.pages.conftest import Open, lists, words_on
from tests.pages.test_themes import POINTS, TAXONOMY
from tests.support.archives import differing_entries
from tests.support.curating import change, merge, rename, undo
from tests.support.studies import people

FORMULA = "=Salt & drink"


@pytest.fixture(autouse=True)
def _elsewhere(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: object) -> None:
        raise NoPicturesError("no Chromium here")

    monkeypatch.setattr("audit.exports.package.pictures", none)
    monkeypatch.setenv("AUDIT_BROWSING", "open")


@pytest.fixture
def themed(run: Run) -> Run:
    """The run with themes built for it: Salt and Fluids, and a phrase without a theme."""
    write_taxonomy(TAXONOMY, POINTS, taxonomy_path(run, Settings().themes_dir))
    return run


@pytest.fixture
def store(run: Run) -> Iterator[LabelStore]:
    opened = open_label_store(Settings().studies_url)
    people(opened, "vera", role="viewer")
    yield opened
    opened.close()


def curate(store: LabelStore, run: Run, *changes: ThemeChange) -> None:
    """Edits by vera, one after another."""
    vera, built = find_account(store, "vera"), require_taxonomy(run, Settings().themes_dir)
    assert vera is not None
    for change_made in changes:
        seen = count_edits(store, run.digest)
        record_edit(store, run.digest, built, vera, NewEdit(change_made, "+clearer", f"press {seen}", seen), datetime.now(UTC))


def exported(run: Run, out: Path) -> Path:
    assert audit(["export", "--run", run.key, "--out", str(out)]) == 0
    return out


def table(package: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(package / "tables" / "csv" / f"{name}.csv", keep_default_na=False)


def manifest(package: Path) -> dict:
    return json.loads((package / "manifest.json").read_text())


def test_the_package_has_the_curated_and_the_original_themes(themed: Run, store: LabelStore, open_page: Open, tmp_path: Path):
    curate(store, themed, rename("t1", FORMULA), merge("t2", "t1"))
    package = exported(themed, tmp_path / "out")
    assert table(package, "themes")["Theme"].tolist() == ["Salt", "Fluids"]
    curated = table(package, "themes_curated")
    shown = lists(open_page("themes"))[0].value
    assert curated["Theme"].tolist() == ["'" + FORMULA]
    assert shown["name"].tolist() == [FORMULA]
    for column, name in {"Pairs": "pairs", "Questions": "questions", "Disagreeing (pairs)": "disagreeing"}.items():
        assert curated[column].tolist() == shown[name].tolist()
    assert curated["Share (of all disagreement)"].tolist() == pytest.approx((shown["share"] / 100).tolist())


def test_both_tables_name_their_version_of_the_themes(themed: Run, store: LabelStore, tmp_path: Path):
    curate(store, themed, rename("t1", "Sodium"))
    package = exported(themed, tmp_path / "out")
    built, curated = ((package / "tables" / "markdown" / f"{name}.md").read_text() for name in ("themes", "themes_curated"))
    assert "as they were built" in built.splitlines()[0]
    assert "as people curated them" in curated.splitlines()[0]
    facts = manifest(package)
    assert facts["curation"]["curated_sha256"] in curated
    assert facts["themes"]["built_sha256"] in built
    report = (package / "report.html").read_text()
    assert 'id="table-themes"' in report
    assert 'id="table-themes_curated"' in report


def test_the_manifest_counts_the_edits_and_has_the_digest_of_the_exported_ledger(themed: Run, store: LabelStore, tmp_path: Path):
    curate(store, themed, rename("t1", "Sodium"), change(EditKind.SET_ASIDE, "t2"), undo(1))
    package = exported(themed, tmp_path / "out")
    assert audit(["themes", "history", "--run", themed.key, "--out", str(tmp_path / "edits.jsonl")]) == 0
    facts = manifest(package)["curation"]
    assert (facts["acts"], facts["counting"], facts["fitting_no_longer"]) == (3, 1, 0)
    assert facts["acts_sha256"] == hashlib.sha256((tmp_path / "edits.jsonl").read_bytes()).hexdigest()
    edits = table(package, "themes_acts")
    assert edits["Status"].tolist() == ["undone by edit 3", "in effect", "in effect"]
    assert "vera" not in (package / "tables" / "csv" / "themes_acts.csv").read_text()
    assert table(package, "themes_curated")["Set aside"].tolist() == ["", "yes"]


def test_no_name_or_reason_of_an_edit_runs_as_a_formula(themed: Run, store: LabelStore, tmp_path: Path):
    curate(store, themed, rename("t1", FORMULA))
    package = exported(themed, tmp_path / "out")
    assert table(package, "themes_acts")["Why"].tolist() == ["'+clearer"]
    for name in ("themes_curated", "themes_acts"):
        sheet = load_workbook(package / "tables" / "xlsx" / "all_tables.xlsx")[name]
        assert not [cell for row in sheet.iter_rows() for cell in row if cell.data_type == "f"]


def test_the_same_edits_give_the_same_bytes_and_another_edit_different_ones(themed: Run, store: LabelStore, tmp_path: Path):
    curate(store, themed, rename("t1", "Sodium"))
    once, again = (exported(themed, tmp_path / f"{name}.zip").read_bytes() for name in ("once", "again"))
    assert once == again
    curate(store, themed, rename("t2", "Water"))
    assert exported(themed, tmp_path / "later.zip").read_bytes() != once


def test_the_page_names_the_same_command_with_and_without_edits(themed: Run, store: LabelStore, open_page: Open):
    assert f"audit export --run {themed.key}" in words_on(open_page("downloads"))
    curate(store, themed, rename("t1", "Sodium"))
    at = open_page("downloads")
    assert not at.exception
    assert f"audit export --run {themed.key}" in words_on(at)
    curate(store, themed, undo(1))
    assert f"audit export --run {themed.key}" in words_on(open_page("downloads"))


def test_without_edits_the_package_is_the_same_as_with_themes_as_built(themed: Run, store: LabelStore, tmp_path: Path):
    with_edits_allowed = exported(themed, tmp_path / "with_edits_allowed.zip").read_bytes()
    assert audit(["export", "--themes-as-built", "--run", themed.key, "--out", str(tmp_path / "as-built.zip")]) == 0
    assert differing_entries((tmp_path / "as-built.zip").read_bytes(), with_edits_allowed) == []


def test_themes_as_built_can_be_exported_without_the_edits_and_say_so(themed: Run, store: LabelStore, tmp_path: Path):
    curate(store, themed, rename("t1", "Sodium"))
    assert audit(["export", "--themes-as-built", "--run", themed.key, "--out", str(tmp_path / "out")]) == 0
    assert "as it was built, without curation" in (tmp_path / "out" / "tables" / "markdown" / "themes.md").read_text()
    assert not (tmp_path / "out" / "tables" / "csv" / "themes_curated.csv").exists()
