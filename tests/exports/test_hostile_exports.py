"""One hostile release, its themes and its study through every file of an export: each holds its texts as text."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from openpyxl import load_workbook

from annotation.label_store.engine import open_label_store
from annotation.studies.sample_plan import SamplePlan
from annotation.studies.sampling import draw_study
from annotation.studies.validation import study_part
from audit.charts.figure_files import NoPicturesError
from audit.exports.package import package
from audit.exports.package_files import Files
from audit.exports.package_request import ExportRequest
from audit.formatting import printable
from audit.queries.themes import taxonomy_of
from audit.release.write import write_jsonl
from audit.store.runs import Run
from tests.metrics.test_retrieval import TRIALS
from tests.support.loading import load
from tests.support.studies import NOW, people, rate_all
from tests.support.systems import system_tables
from tests.support.tiny import handbook, release_from

RELEASE = """
    q1 kidney  topics=diet  ab=DIVERGENT/high  ac=COMPLEMENTARY  bc=CONSISTENT
    q2 kidney  topics=diet,work  ab=CONTRADICTORY/low  ac=ABSENT  bc=COMPLEMENTARY
    q3 lung    topics=work  ab=UNSCORED  ac=COMPLEMENTARY  c=absent
"""
TEXT = (
    '</script><script>evil()</script><img src=x onerror=evil()> <a href="javascript:evil()">a</a> ![p](http://evil.example/p) '
    "[l](javascript:evil()) <http://evil.example> http://evil.example/x www.evil.example `c` | $\\evil$ \\evil{x} "
    "\\input{/etc/passwd} ^^5cevil %\n# Head\n\n\x00\x1b[31m\x7f \N{RIGHT-TO-LEFT OVERRIDE}lave\N{POP DIRECTIONAL FORMATTING} "
    "\ud800"
)
BEGINNINGS = ('=HYPERLINK("http://evil.example","x")', "+1", "-1+cmd|' /C calc'!A0", "@SUM(1)", "\t=1", "\x00=1", "\r\n=1", "")
"""Each begins some text of the release, for a cell to begin with it."""
KEPT = {"question_id", "handbook_id", "handbook_a", "handbook_b", "system_id", "system_a", "system_b", "run_id", "classification",
        "clinical_significance", "mode", "absence_method", "parse", "judge", "rater_kind", "preference", "measure", "strategy",
        "section_id", "phase", "kind", "shown_first", "unread_reason", "gold_sections", "answer_kind"}  # fmt: skip
"""Fields that name a record or have few allowed values; another value of theirs sets the record aside."""
GROUPS = {"organ", "topics", "subtopics", "question_type", "divergence_topic"}
"""Free text by which records are put together, so each value has one hostile form."""


def spoilt(value: Any, beginnings: Iterator[str], length: int = 1) -> Any:
    """A record in which every text is hostile and keeps its own words, by which records belong together."""
    if isinstance(value, str):
        return f"{next(beginnings)} {value} {TEXT}" + "\N{COMBINING ACUTE ACCENT}x" * length
    if isinstance(value, list):
        return [spoilt(each, beginnings, length) for each in value]
    if isinstance(value, dict):
        groups = {key: spoilt(value[key], cycle(BEGINNINGS[:1])) for key in GROUPS & value.keys()}
        return {key: each if key in KEPT else spoilt(each, beginnings, length) for key, each in value.items()} | groups
    return value


def hostile(value: str) -> str:
    """The hostile form of a name, the same each time."""
    return str(spoilt(value, cycle(BEGINNINGS[:1])))


@pytest.fixture
def run(tmp_path: Path) -> Run:
    folder = release_from(tmp_path, RELEASE, [handbook(name, "kidney", phase="pre") for name in "abc"])
    for name, records in {**system_tables(), "trials": TRIALS}.items():
        write_jsonl(folder / f"{name}.jsonl", records)
    beginnings = cycle(BEGINNINGS)
    for path in (*folder.glob("*.jsonl"), *folder.glob("comparisons/*.json")):
        records = [spoilt(json.loads(line), beginnings) for line in path.read_text().splitlines()]
        path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    words = {key: spoilt(key, beginnings, 500) for key in ("title", "judge", "generator", "date", "motivation")}
    (folder / "manifest.json").write_text(json.dumps({"run_id": "hostile", **words, "datasheet": words}))
    theme = {name: hostile(name) for name in ("name", "medoid")} | {
        "topics": [hostile("topic of ab")],
        "terms": [hostile("term")],
    }
    (folder / "themes.json").write_text(json.dumps({"themes": [{"theme_id": "t1", **theme}]}))
    loaded = load(folder, tmp_path / "data")
    assert loaded.run.report["findings"]["quarantined"] == 0, loaded.run.report
    return loaded.run


@pytest.fixture
def files(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    """Everything that `audit export --study` writes, but for pictures, which a browser draws from the figures."""

    def none(_: object) -> None:
        raise NoPicturesError("no Chromium here")

    monkeypatch.setattr("audit.exports.package.pictures", none)
    store = open_label_store(f"sqlite:///{tmp_path / 'studies.db'}")
    annotators = people(store, "ana", "ben")
    draw_study(
        store,
        run,
        SamplePlan(calibration=0, repeats=0),
        study_id="s",
        title=printable(hostile("study")),
        annotators=annotators,
        now=NOW,
    )
    for name in annotators:
        rate_all(store, name)
    study = study_part(store, "s", [run])
    store.close()
    return package(ExportRequest(run, "2031-02-03", study=study, paper=True, taxonomy=taxonomy_of(run, tmp_path)))


MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")
ELSEWHERE = r"(xlsx|js)$|tables/markdown/(?!all_)"
"""Workbooks are asked below, the script of figures is not ours, and the file of all tables has the same Markdown again."""
LOADING = {"href", "src", "srcset", "action", "formaction", "data", "style", "srcdoc", "xlink:href"}
"""Attributes that load, lead to or draw what they name."""


class Page(HTMLParser):
    """The live parts of a page: tags with their attributes, and scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.tags and self.cdata_elem == "script":
            self.scripts.append(data)

    def live(self) -> list[str]:
        """What would load, lead to or run something of the release."""
        named = [(tag, key, str(value)) for tag, pairs in self.tags for key, value in pairs.items()]
        leads = [str(each) for each in named if each[1].startswith("on") or (each[1] in LOADING and "evil" in each[2])]
        drawn = [tag for tag, _ in self.tags if tag in ("img", "iframe", "object", "embed", "form", "base")]
        figures = [script.replace("\\u003c", "<") for script in self.scripts if "plotly.js v" not in script]
        return leads + drawn + [figure[:80] for figure in figures if re.search(r"<a |<img|^\s*evil", figure)]


def test_no_export_runs_links_or_hides_anything_of_a_hostile_release(files: Files) -> None:
    told = {path: content.decode("utf-8") for path, content in files.items() if not re.search(ELSEWHERE, path)}
    assert {path.rpartition(".")[2] for path, text in told.items() if "evil" in text} == CHECKS.keys()
    assert {path: ascii(found) for path, text in told.items() if (found := re.findall(r"[\x00\x1b\x7f]", text))} == {}
    wrong = {path: found for path, text in told.items() if (found := CHECKS[path.rpartition(".")[2]](text))}
    assert wrong == {}
    book = load_workbook(io.BytesIO(files["tables/xlsx/all_tables.xlsx"]))
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
    assert [cell.coordinate for cell in cells if cell.data_type == "f" or cell.hyperlink] == []
    assert any("evil" in str(cell.value) for cell in cells)


def formulas(text: str) -> list[str]:
    """Cells of a CSV that a spreadsheet would run."""
    cells = [cell for row in csv.reader(io.StringIO(text.removeprefix("\ufeff"))) for cell in row]
    return [cell for cell in cells if re.match(r"[=+\-@\t\r]", cell) and not re.fullmatch(r"-?[\d.e+-]+", cell)]


def commands(text: str) -> list[str]:
    """Commands of LaTeX that the release named."""
    return re.findall(r"\\evil|\\input\{/.*|\^\^5c", text)


def live_markdown(text: str) -> list[str]:
    """Live parts of a Markdown file, also where bare addresses become links, and headings of the release."""
    html = MARKDOWN.render(text)
    bare = re.findall(r"(?:https?://|www\.)evil", text)
    return Page(html).live() + bare + re.findall(r"^# Head", text, re.MULTILINE)


CHECKS = {
    "csv": formulas,
    "html": lambda text: Page(text).live(),
    "tex": commands,
    "md": live_markdown,
    "json": lambda text: [] if json.loads(text) else ["empty"],
    "txt": lambda text: [],
}
