"""The tenancy example as `audit run` leaves it: every page and every exported file names the stand-in judge behind its labels."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from audit.charts.figure_files import NoPicturesError
from audit.cli.main import main
from tests.exports.test_previews import text_of
from tests.pages.conftest import opened, words_on
from tests.pages.test_every_page import SCRIPTS
from tests.pipeline.stages.project import finished_project

pytestmark = pytest.mark.slow
JUDGE = "a stand-in judge that reads truth.csv and no text"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shutil.copytree(finished_project(tmp_path_factory).data, tmp_path_factory.mktemp("tenancy") / "data")


@pytest.fixture(autouse=True)
def tenancy(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(data))


@pytest.mark.parametrize("page", SCRIPTS)
def test_every_page_names_the_stand_in_judge(page: str) -> None:
    at = opened(page)
    assert not at.exception
    assert JUDGE in words_on(at)


def test_every_file_names_the_stand_in_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: object) -> None:
        raise NoPicturesError("SVG and PNG were not written: install a Chromium.")

    monkeypatch.setattr("audit.exports.package.pictures", none)
    assert main(["export", "--out", str(tmp_path / "export")]) == 0
    assert main(["pairs", "--out", str(tmp_path / "pairs.csv")]) == 0
    files = {path.relative_to(tmp_path).as_posix(): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    without = [name for name, content in files.items() if JUDGE not in " ".join(text_of(name, content).split())]
    # A library, and a file that only includes the others
    assert sorted(without) == ["export/figures/html/plotly.min.js", "export/tables/latex/all_tables.tex"]
    assert len(files) > 100
