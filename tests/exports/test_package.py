"""The whole package: complete, the same whenever it is made, asking nothing of any network."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from audit.charts.figure_files import NoPicturesError
from audit.cli.main import main
from audit.exports.package import MANIFEST, package
from audit.exports.package_files import Files, zipped
from audit.exports.package_request import ExportRequest
from audit.settings import Settings
from audit.store.runs import find_run
from tests.support.archives import differing_entries, differing_files
from tests.support.loading import load
from tests.support.tiny import handbook, release_from

BOOKS = [
    handbook("a", "kidney", "Alder", "pre"),
    handbook("b", "kidney", "<Birch>", "post"),
    handbook("c", "lung", "=Alder", "pre"),
]
FIRST = """
    q1 kidney  topics=diet  ab=DIVERGENT/high  ac=COMPLEMENTARY  bc=CONSISTENT
    q2 general topics=diet,work  ab=CONTRADICTORY/low  ac=ABSENT  bc=COMPLEMENTARY
    q3 lung    topics=work  ab=UNSCORED  ac=COMPLEMENTARY  c=absent
"""
SECOND = FIRST.replace("ac=COMPLEMENTARY  bc=CONSISTENT", "ac=DIVERGENT/low  bc=CONSISTENT")
URL = re.compile(r"""(?:src|href)=["'](?!#|data:)([^"']+)""")


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with two runs over the same three questions; a pair differs."""
    folder = tmp_path_factory.mktemp("loaded")
    for name, table in (("first", FIRST), ("second", SECOND)):
        load(release_from(folder / name, table, BOOKS, run_id=name), folder / "data")
    return folder / "data"


def no_chromium(_: object) -> None:
    raise NoPicturesError("SVG and PNG were not written: install a Chromium.")


@pytest.fixture
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without Chromium."""
    monkeypatch.setattr("audit.exports.package.pictures", no_chromium)


@pytest.fixture(scope="module")
def order(loaded: Path) -> ExportRequest:
    first, second = (find_run(loaded / "store", name) for name in ("first", "second"))
    return ExportRequest(first, "2031-02-03", second, paper=True)


@pytest.fixture(scope="module")
def files(order: ExportRequest) -> Files:
    """The package of `order`, on a machine without Chromium."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("audit.exports.package.pictures", no_chromium)
        return package(order)


def test_every_table_comes_in_five_forms_and_every_figure_as_a_page(files: Files):
    names = {path.split("/")[-1].removesuffix(".csv") for path in files if path.startswith("tables/csv/")}
    assert {"corpus", "labels", "organs", "handbooks", "transitions", "run_rates", "run_change", "published"} <= names
    for name in names:
        assert {f"tables/{kind}/{name}.{end}" for kind, end in KINDS.items()} <= set(files)
    assert {"figures/html/labels.html", "figures/html/transitions.html"} <= set(files)


KINDS = {"csv": "csv", "latex": "tex", "markdown": "md", "json": "json"}


def test_two_exports_of_the_same_state_differ_in_the_date_of_the_manifest_alone(
    order: ExportRequest, files: Files, without_pictures: None
):
    later = package(replace(order, date="2032-11-30"))
    assert [path for path in files if files[path] != later[path]] == [MANIFEST]
    assert files[MANIFEST].replace(b"2031-02-03", b"2032-11-30") == later[MANIFEST]
    assert list(files) == list(later)


def test_another_process_makes_the_same_bytes(order: ExportRequest, files: Files):
    script = (
        "import sys, pathlib; from audit.exports import package as p; from audit.store.runs import read_run;"
        "from audit.charts.figure_files import NoPicturesError\n"
        "def none(_): raise NoPicturesError('SVG and PNG were not written: install a Chromium.')\n"
        "p.pictures = none\n"
        "from audit.exports.package_files import Files, zipped, digest\n"
        "a, b = (read_run(pathlib.Path(x)) for x in sys.argv[1:])\n"
        "print(digest(zipped(p.package(p.ExportRequest(a, '2031-02-03', b, paper=True)))))"
    )
    other = order.other
    assert other is not None
    command = [sys.executable, "-c", script, str(order.run.path), str(other.path)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    assert said == hashlib.sha256(zipped(files)).hexdigest()


def test_the_manifest_tells_what_it_is_of_how_to_make_it_again_and_the_sum_of_every_file(order: ExportRequest, files: Files):
    told = json.loads(files[MANIFEST])
    assert told["run"]["release_sha256"] == order.run.digest
    assert told["run"]["store_sha256"] == hashlib.sha256(order.run.path.read_bytes()).hexdigest()
    assert told["command"].startswith(f"audit export --run {order.run.key} --against second@")
    assert {path: entry["sha256"] for path, entry in told["files"].items()} == {
        path: hashlib.sha256(content).hexdigest() for path, content in files.items() if path != MANIFEST
    }


def test_what_is_left_out_is_told_with_what_to_install(files: Files):
    assert "install" in json.loads(files[MANIFEST])["left_out"]["figures as SVG and PNG"]


def test_the_report_asks_nothing_of_any_network_and_takes_no_text_for_markup(files: Files):
    report = files["report.html"].decode()
    shown = re.sub(r"<script.*?</script>", "", report, flags=re.S)
    assert URL.findall(shown) == []
    assert "&lt;Birch&gt;" in shown
    assert "<Birch>" not in shown


def test_a_release_without_answers_leaves_out_what_it_cannot_say_and_a_synthetic_one_says_so_on_every_table(
    tmp_path: Path, without_pictures: None
):
    folder = release_from(tmp_path, FIRST, BOOKS, synthetic=True)
    (folder / "answers.jsonl").unlink(missing_ok=True)
    run = load(folder, tmp_path / "data").run
    files = package(ExportRequest(run, "2031-02-03", paper=True))
    assert "table handbooks" in json.loads(files[MANIFEST])["left_out"]
    assert "tables/csv/labels.csv" in files
    assert b"cannot be computed" in files["tables/csv/published.csv"]
    assert all(b"Synthetic data" in content for content in tables_of(files))


def tables_of(files: Files) -> list[bytes]:
    return [content for path, content in files.items() if path.startswith("tables/markdown/") and "all_tables" not in path]


def test_the_report_alone_has_no_files_of_tables_and_figures(order: ExportRequest, without_pictures: None):
    files = package(replace(order, contents="report"))
    assert sorted(files) == ["README.txt", "datasheet.md", "manifest.json", "report.html"]
    assert "--only report" in json.loads(files["manifest.json"])["command"]


def test_a_real_run_says_on_every_table_what_it_is_for(files: Files):
    assert all(b"Not for ranking centers, and not for decisions about a patient" in content for content in tables_of(files))


# -- the command -------------------------------------------------------------------------------------------------------


@pytest.fixture
def data_dir(loaded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the data folder, which the test may change."""
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    return Path(shutil.copytree(loaded, tmp_path / "data"))


def test_the_command_writes_the_same_as_a_folder_and_as_an_archive(
    data_dir: Path, tmp_path: Path, files: Files, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("audit.cli.export.package", lambda *_: files)
    folder, archive = tmp_path / "out", tmp_path / "out.zip"
    for out in (folder, archive):
        assert main(["export", "--run", "first", "--against", "second", "--compare", "paper", "--out", str(out)]) == 0
    assert "install a Chromium" in capsys.readouterr().err
    with zipfile.ZipFile(io.BytesIO(archive.read_bytes())) as opened:
        held = {name: opened.read(name) for name in opened.namelist()}
    written = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert differing_files(held, written) == []
    assert differing_files(written, files) == []


def test_the_command_that_the_manifest_names_makes_the_same_again(data_dir: Path, without_pictures: None, tmp_path: Path):
    assert main(["export", "--run", "first", "--out", str(tmp_path / "a.zip")]) == 0
    order = ExportRequest(find_run(Settings().store_dir, "first"), "")
    assert order.command == f"audit export --run {order.run.key} --out first_{order.run.digest[:8]}.zip"
    assert main([*order.command.split()[1:-1], str(tmp_path / "b.zip")]) == 0
    assert differing_entries((tmp_path / "a.zip").read_bytes(), (tmp_path / "b.zip").read_bytes()) == []


def test_nothing_is_written_into_a_folder_that_holds_something(
    data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("mine")
    assert main(["export", "--out", str(tmp_path / "thesis")]) == 2
    assert "Nothing was written" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "thesis").iterdir()] == ["chapter.tex"]


FILES = {"tables/labels.csv": b"label", "report.html": b"<p>", MANIFEST: b'{"left_out": {}}'}


@pytest.mark.parametrize(("name", "room"), [("out", 2), ("out.zip", 0)])
def test_a_disk_that_fills_up_leaves_nothing_behind_and_the_next_try_goes_well(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, room: int
):
    monkeypatch.setattr("audit.cli.export.package", lambda *_: FILES)
    out, written, write = tmp_path / "exports" / name, list[Path](), Path.write_bytes

    def until_full(path: Path, content: bytes) -> int:
        written.append(path)
        if len(written) > room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return write(path, content)

    with monkeypatch.context() as full:
        full.setattr(Path, "write_bytes", until_full)
        assert main(["export", "--run", "first", "--out", str(out)]) == 2
    assert f"--out {out} cannot be written: no space left on device. Nothing was written." in capsys.readouterr().err
    assert list(out.parent.iterdir()) == []
    assert main(["export", "--run", "first", "--out", str(out)]) == 0


@pytest.mark.parametrize("name", ["taken/out", "taken/deep/out.zip"])
def test_a_place_that_cannot_be_written_is_said_before_anything_is_made(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
):
    (tmp_path / "taken").write_text("a file, and no folder")
    monkeypatch.setattr("audit.cli.export.package", lambda *_: pytest.fail("it was made in vain"))
    assert main(["export", "--run", "first", "--out", str(tmp_path / name)]) == 2
    assert "cannot be written: not a directory. Nothing was written." in capsys.readouterr().err


def test_a_study_that_is_not_there_is_reported(data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["export", "--study", "s", "--out", str(tmp_path / "x")]) == 2
    assert "There is no study 's'" in capsys.readouterr().err


def test_a_run_is_not_compared_with_itself(data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["export", "--run", "first", "--against", "first", "--out", str(tmp_path / "x")]) == 2
    assert "The run and the run to compare with are both first@" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_a_run_without_themes_leaves_them_out_and_says_how_to_build_them(order: ExportRequest, files: Files):
    told = json.loads(files[MANIFEST])["left_out"]["table themes"]
    assert f"audit themes build --run {order.run.key}" in told


def test_themes_that_were_built_are_counted_and_stand_beside_the_published_number(
    data_dir: Path, without_pictures: None, tmp_path: Path
):
    assert main(["themes", "build", "--run", "first"]) == 0
    assert main(["export", "--run", "first", "--compare", "paper", "--out", str(tmp_path / "out")]) == 0
    published = (tmp_path / "out" / "tables" / "csv" / "published.csv").read_text("utf-8-sig")
    assert re.search(r"Named themes,991,\d+,differs", published)
    assert (tmp_path / "out" / "tables" / "csv" / "themes.csv").is_file()
