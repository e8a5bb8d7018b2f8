"""Every file of an export says that no model has read it, as far as its format can; of a run by models no file does."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path

import pytest

from audit.charts.captions import ROOM, with_notice
from audit.charts.figure_files import NoPicturesError
from audit.charts.labels import two_step_bar
from audit.cli.main import main
from audit.exports.package import package
from audit.exports.package_files import Files
from audit.exports.package_request import ExportRequest
from audit.exports.theme_files import html_page, map_table
from audit.previews import COLUMN
from audit.store.runs import Run
from audit.vocabulary import LABELS, STAND_IN_JUDGE
from tests.exports.test_package import BOOKS, FIRST
from tests.exports.test_theme_files import COUNTS, POINTS, TAXONOMY
from tests.support.loading import load
from tests.support.tiny import release_from

UNREAD = {"generator": "closest passages, no model", "judge": STAND_IN_JUDGE}
MODELS = {"generator": "Qwen3-32B", "judge": "Llama-3.3-70B"}
BOTH = (
    "Answers are quoted passages that no model has read; labels come from a stand-in judge that reads truth.csv and no text: "
    "a preview, not a finding"
)
NOTICE = "reads truth.csv and no text"


def run_with(folder: Path, manifest: dict[str, str], name: str = "run") -> Run:
    return load(release_from(folder / name, FIRST, BOOKS, run_id=name, **manifest), folder / "data").run


def none(_: object) -> None:
    raise NoPicturesError("SVG and PNG were not written: install a Chromium.")


@pytest.fixture
def no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("audit.exports.package.pictures", none)


def text_of(path: str, content: bytes) -> str:
    """What a reader of a file sees; of a workbook the texts of its cells."""
    if path.endswith(".xlsx"):
        return zipfile.ZipFile(io.BytesIO(content)).read("xl/sharedStrings.xml").decode()
    return content.decode("utf-8-sig").replace("<br>", " ").replace("\\u003cbr\\u003e", " ")


@pytest.fixture(scope="module")
def unread(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """The package of a run that no model has read."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("audit.exports.package.pictures", none)
        return package(ExportRequest(run_with(tmp_path_factory.mktemp("unread"), UNREAD), "2031-02-03"))


def test_every_file_of_a_preview_has_the_notice(unread):
    without = [path for path, content in unread.items() if NOTICE not in " ".join(text_of(path, content).split())]
    # A library, and a file that only includes the others
    assert sorted(without) == ["figures/html/plotly.min.js", "tables/latex/all_tables.tex"]


def test_no_file_of_a_run_by_models_has_it(tmp_path, no_pictures):
    files = package(ExportRequest(run_with(tmp_path, MODELS), "2031-02-03"))
    assert [path for path, content in files.items() if "a finding" in text_of(path, content)] == []
    assert [path for path, content in files.items() if "(preliminary)" in text_of(path, content)] == []


def test_a_comparison_with_a_preview_is_one(tmp_path, no_pictures):
    models, rules = run_with(tmp_path, MODELS, "models"), run_with(tmp_path, UNREAD, "rules")
    files = package(ExportRequest(models, "2031-02-03", rules))
    assert NOTICE in files["report.html"].decode()
    assert NOTICE in text_of("x.csv", files["tables/csv/transitions.csv"])


def test_figures_of_verdicts_are_preliminary_and_counts_of_files_are_not(unread):
    assert json.loads(unread["tables/json/organs.json"])["title"].endswith("(preliminary)")
    assert not json.loads(unread["tables/json/load_report.json"])["title"].endswith("(preliminary)")
    assert json.loads(unread["tables/json/organs.json"])["preview"] == BOTH
    identity = json.loads(unread["manifest.json"])["run"]
    assert identity["preview"] == BOTH


def test_the_numbers_of_a_table_stay_numbers(unread):
    rows = list(csv.DictReader(io.StringIO(text_of("x.csv", unread["tables/csv/labels.csv"]))))
    assert {row[COLUMN] for row in rows} == {BOTH}
    assert all(row["Pairs"].isdigit() for row in rows)


@pytest.mark.parametrize(("manifest", "notice"), [(UNREAD, BOTH), (MODELS, "")])
def test_a_metric_on_the_command_line_has_the_notice_in_every_format(manifest, notice, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    run_with(tmp_path, manifest)
    outputs = {}
    for form in ("json", "md", "csv"):
        assert main(["metrics", "organs", "--format", form]) == 0
        outputs[form] = capsys.readouterr().out
    assert json.loads(outputs["json"]).get("preview", "") == notice
    assert [NOTICE in output for output in outputs.values()] == [bool(notice)] * 3


def test_the_page_of_themes_has_it(tmp_path):
    for manifest, expected in ((UNREAD, True), (MODELS, False)):
        run = Run("r", "Run", "0" * 64, False, True, "2026-01-01", Path(), manifest=manifest)
        assert (NOTICE in html_page(run, TAXONOMY, map_table(POINTS, TAXONOMY, COUNTS, None))) is expected


def test_a_notice_makes_room_above_a_figure_and_changes_nothing_else():
    plain = two_step_bar(3, dict.fromkeys(map(str, LABELS), 1), 0)
    noticed = with_notice(plain, BOTH)
    assert noticed.layout.title.text == BOTH.replace(": ", ":<br>")
    assert (noticed.layout.height, noticed.layout.margin.t) == (plain.layout.height + ROOM, plain.layout.margin.t + ROOM)
    assert noticed.data == plain.data
    assert with_notice(plain, "") is plain
