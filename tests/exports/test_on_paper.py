"""LaTeX that compiles, and pictures fit for print; skipped where the programs for it are absent."""

from __future__ import annotations

import asyncio
import importlib.util
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import plotly.io as pio
import pytest

from audit.charts.figure_files import PLOTLY_FILE, NoPicturesError, figure_page, pictures, plotly_script
from audit.exports.package import package
from audit.exports.package_files import LATEX
from audit.exports.package_request import ExportRequest
from audit.exports.text_writers import latex, latex_document
from tests.exports.tables import table
from tests.support.loading import load
from tests.support.tiny import release_from

ENGINES = [engine for engine in ("pdflatex", "lualatex") if shutil.which(engine)]
FOREIGN = "\N{CJK UNIFIED IDEOGRAPH-85CF}\N{CJK UNIFIED IDEOGRAPH-91AB} \N{LATIN SMALL LETTER E WITH ACUTE} \N{SNOWMAN}"


@pytest.mark.skipif(not ENGINES, reason="no TeX: apt-get install texlive-latex-recommended")
@pytest.mark.parametrize("engine", ENGINES)
def test_every_table_compiles_whatever_text_it_holds(engine: str, tmp_path: Path):
    if engine == "lualatex" and not (_has("fontspec.sty") and _has("luaotfload.sty")):
        pytest.skip("lualatex is here without its fonts: apt-get install texlive-luatex")
    small = table("short")
    frame = small.frame.assign(organ=[FOREIGN, *small.frame["organ"][1:]])
    long = type(small)("long", small.title, frame.loc[[0, 1, 2] * 20], small.columns * 3, small.notes, small.n)
    tables = [type(small)("short", small.title, frame, small.columns, small.notes, small.n), long]
    for each in tables:
        (tmp_path / f"{each.name}.tex").write_text(latex(each), "utf-8")
    (tmp_path / "all_tables.tex").write_text(latex_document(tables), "utf-8")
    command = [engine, "-interaction=nonstopmode", "-halt-on-error", "all_tables.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stdout.decode("latin-1")[-1500:]
    assert (tmp_path / "all_tables.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.skipif("pdflatex" not in ENGINES, reason="no TeX: apt-get install texlive-latex-recommended")
def test_every_file_of_a_package_compiles_by_the_command_that_its_readme_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("audit.exports.package.pictures", lambda _: ({}, {}))
    first, second = (load(release_from(tmp_path / name, table_, run_id=name), tmp_path / "data").run for name, table_ in RUNS)
    files = package(ExportRequest(first, "2031-02-03", second, paper=True))
    for path, content in files.items():
        if path.startswith("tables/latex/") or path == "README.txt":
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_bytes(content)
    parts = sorted(Path(path).stem for path in files if path.startswith("tables/latex/") and "all_tables" not in path)
    assert sorted(re.findall(r"\\input{(\w+)\.tex}", files["tables/latex/all_tables.tex"].decode())) == parts
    assert LATEX in (tmp_path / "README.txt").read_text()
    command = LATEX.replace("pdflatex", "pdflatex -interaction=nonstopmode -halt-on-error")
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, timeout=300)
    log = done.stdout.decode("latin-1")
    assert done.returncode == 0, log[-1500:]
    assert [line for line in log.splitlines() if "Undefined control" in line or "Overfull \\hbox" in line] == []


RUNS = (
    ("first", "q1 kidney topics=diet ab=DIVERGENT/high ac=COMPLEMENTARY bc=CONSISTENT\nq2 lung topics=diet ab=ABSENT c=absent"),
    ("second", "q1 kidney topics=diet ab=DIVERGENT/high ac=DIVERGENT/low bc=CONSISTENT\nq3 lung topics=diet ab=ABSENT c=absent"),
)


def _has(package: str) -> bool:
    return bool(subprocess.run(["kpsewhich", package], capture_output=True).stdout.strip())


def figure() -> go.Figure:
    drawn = go.Figure(go.Bar(x=["a", "b"], y=[1, 2], marker={"pattern": {"shape": "/"}}))
    return drawn.update_layout(height=200, font={"family": "Nobody Has This"})


@pytest.fixture(scope="module")
def drawn() -> tuple[bytes, bytes]:
    try:
        return pictures({"bars": figure()})[0]["bars"]
    except NoPicturesError as reason:
        pytest.skip(str(reason))


def test_a_picture_is_two_columns_wide_in_a_font_that_everybody_has(drawn: tuple[bytes, bytes]):
    svg = drawn[0].decode()
    width = re.search(r'<svg[^>]* width="([\d.]+)mm"', svg)
    assert width is not None
    assert float(width[1]) == pytest.approx(180, abs=0.2)
    assert "Arial" in svg
    assert "Nobody Has This" not in svg


def test_a_png_has_300_dots_an_inch_and_says_so(drawn: tuple[bytes, bytes]):
    png = drawn[1]
    width, height = struct.unpack(">II", png[16:24])
    assert width / (180 / 25.4) == pytest.approx(300, rel=0.002)
    assert height == pytest.approx(200 * 300 / 96, abs=1)
    place = png.index(b"pHYs") + 4
    assert struct.unpack(">IIB", png[place : place + 9]) == (11811, 11811, 1)


def test_the_same_figure_is_the_same_picture(drawn: tuple[bytes, bytes]):
    assert pictures({"bars": figure()})[0]["bars"] == drawn


def test_a_picture_does_not_depend_on_those_drawn_before_it(drawn: tuple[bytes, bytes]):
    lines = go.Figure([go.Scatter(x=[1, 2], y=[3, 4], name=name) for name in "ab"]).update_layout(height=200)
    map_ = go.Figure(go.Heatmap(z=[[1, 2], [3, 4]])).update_layout(height=300)
    figures = {"lines": lines, "map": map_, "more lines": lines, "bars": figure()}
    files, _ = pictures(figures)
    assert files == pictures(dict(reversed(figures.items())))[0]  # the second legend's attributes had another order
    assert files["bars"] == drawn


def test_pictures_are_drawn_where_an_event_loop_is_running_too(drawn: tuple[bytes, bytes]):
    async def inside() -> tuple[bytes, bytes]:
        return pictures({"bars": figure()})[0]["bars"]

    assert asyncio.run(inside()) == drawn


def test_without_kaleido_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "kaleido", None)
    with pytest.raises(NoPicturesError, match=r"'\.\[figures\]'"):
        pictures({"bars": figure()})


@pytest.mark.skipif(importlib.util.find_spec("kaleido") is None, reason="Kaleido is not installed (extra `figures`)")
def test_without_a_chromium_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("BROWSER_PATH", "/nowhere/chromium")
    with pytest.raises(NoPicturesError, match="apt-get install chromium"):
        pictures({"bars": figure()})


@pytest.mark.skipif(importlib.util.find_spec("kaleido") is None, reason="Kaleido is not installed (extra `figures`)")
def test_a_browser_that_does_not_start_is_not_waited_for_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    silent = tmp_path / "chromium"
    silent.write_text("#!/bin/sh\nexec sleep 300\n")
    silent.chmod(0o755)
    monkeypatch.setenv("BROWSER_PATH", str(silent))
    monkeypatch.setattr("audit.charts.figure_files.START_TIMEOUT_S", 1)
    monkeypatch.setattr("audit.charts.figure_files.CLOSE_TIMEOUT_S", 1)
    with pytest.raises(NoPicturesError, match="it did not start within 1 seconds"):
        pictures({"bars": figure()})


def test_a_browser_that_ends_without_an_answer_is_not_waited_for_without_end(
    drawn: tuple[bytes, bytes], monkeypatch: pytest.MonkeyPatch
):
    browser = importlib.import_module("choreographer").Browser
    send = browser.send_command

    async def ends_at_once(self: Any, command: str, *arguments: Any, **named: Any) -> Any:
        if command != "Browser.close":
            return await send(self, command, *arguments, **named)
        self.subprocess.kill()
        return await asyncio.Event().wait()

    monkeypatch.setattr(browser, "send_command", ends_at_once)
    monkeypatch.setattr("audit.charts.figure_files.CLOSE_TIMEOUT_S", 1)
    assert pictures({"bars": figure()})[0]["bars"] == drawn


def test_a_figure_is_the_same_file_inside_the_dashboard_which_gives_figures_another_template(monkeypatch: pytest.MonkeyPatch):
    outside = figure_page(figure(), "bars", "A")
    monkeypatch.setattr(pio.templates, "default", "plotly_dark")
    assert figure_page(figure(), "bars", "A") == outside


def test_a_figure_needs_only_the_library_beside_it():
    page = figure_page(figure(), "bars", "A & B")
    assert "<title>A &amp; B</title>" in page
    assert re.findall(r"<(?:script|link)[^>]+(?:src|href)=\"([^\"]*)\"", page) == [PLOTLY_FILE]
    assert PLOTLY_FILE == "plotly.min.js"
    assert plotly_script().lstrip().startswith("/**")
    assert page == figure_page(figure(), "bars", "A & B")


def test_one_figure_that_cannot_be_drawn_costs_no_other_and_is_told_by_its_own_cause(drawn: tuple[bytes, bytes]):
    files, missing = pictures({"bad": figure().update_layout(title="a\ufffeb\x00c\x1b"), "bars": figure()})
    assert files["bars"] == drawn
    assert list(missing) == ["bad"]
    assert "could not be drawn" in missing["bad"]
    assert "Chromium" not in missing["bad"]
