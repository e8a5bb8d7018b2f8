"""The tenancy example as a team would have it on its project: files of its own, a config, and the command."""

from __future__ import annotations

import json
import re
import shutil
import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from audit.cli.main import main
from audit.text.documents import Document
from tests.examples.tenancy import FOLDER, true_pairs
from tests.support.once import made_once
from tests.support.pdfs import Text, column

DISAGREE = ("DIVERGENT", "CONTRADICTORY")


@dataclass
class Project:
    """A copy of the example, and a data folder for what comes of it."""

    folder: Path

    @property
    def config(self) -> Path:
        return self.folder / "tenancy" / "config.toml"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def work(self) -> Path:
        return self.data / "pipeline" / "tenancy"

    @property
    def release(self) -> Path:
        return self.work / "release"

    def change(self, before: str, after: str) -> None:
        text = self.config.read_text()
        assert before in text
        self.config.write_text(text.replace(before, after))

    def set(self, option: str, value: str) -> None:
        """Give an option of the config another value, as TOML has it, whatever its value was."""
        text, changed = re.subn(rf"(?m)^{option} = .*$", lambda _: f"{option} = {value}", self.config.read_text())
        assert changed == 1, option
        self.config.write_text(text)

    def run(self, *options: str) -> int:
        return main(["run", str(self.config), *options])

    def done(self) -> Counter[str]:
        """Stage -> how many tasks of work are written down as done."""
        return Counter(path.parent.name for path in (self.work / "state").glob("*/*.json"))

    def written(self) -> dict[str, int]:
        """Each state file, and when it was written: what is not done again keeps its time."""
        return {
            path.relative_to(self.work).as_posix(): path.stat().st_mtime_ns for path in (self.work / "state").glob("*/*.json")
        }

    def again(self, *options: str) -> set[str]:
        """Run it, and say which tasks of work were done."""
        before = self.written()
        assert self.run(*options) == 0
        return {
            name.removeprefix("state/").removesuffix(".json") for name, at in self.written().items() if before.get(name) != at
        }

    def labels(self) -> dict[tuple[str, str, str], str]:
        """(question, handbook, handbook) -> label."""
        records = [json.loads(path.read_text()) for path in (self.release / "comparisons").glob("*.json")]
        return {
            (record["question_id"], pair["handbook_a"], pair["handbook_b"]): pair["classification"]
            for record in records
            for pair in record["pairs"]
        }

    def recall_and_precision(self) -> tuple[float, float]:
        """(recall, precision) of the pairs that disagree, by the example's own truth."""
        output = self.labels()
        told = [
            (relation in ("differ", "opposite"), output[q["question_id"], *sorted((a, b))] in DISAGREE)
            for q, a, b, relation in true_pairs()
        ]
        both = sum(true and claimed for true, claimed in told)
        return both / sum(true for true, _ in told), both / sum(claimed for _, claimed in told)


def project_in(folder: Path) -> Project:
    shutil.copytree(FOLDER, folder / "tenancy")
    return Project(folder)


def finished_project(factory: pytest.TempPathFactory) -> Project:
    """A project on which the command has run to its end, once for all tests; nobody changes it."""

    def make(folder: Path) -> None:
        project = project_in(folder)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("AUDIT_DATA_DIR", str(project.data))
            assert project.run() == 0

    return Project(made_once(factory, "tenancy-finished", make))


def lodging_project(folder: Path) -> Project:
    """One with three codes on lodging and two questions: enough for what takes its time with a model."""
    project = project_in(folder)
    for path in (project.folder / "tenancy" / "documents").glob("residential_*"):
        path.unlink()
    project.change('file = "questions.csv"', 'file = "questions.csv"\nfirst = 2')
    return project


def pages_of(document: Document, most: int = 34) -> Iterator[list[Text]]:
    """A code as it would be printed: its chapters and sections, one below the other, so many lines a page."""
    lines: list[str] = []
    chapters: tuple[str, ...] = ()
    for section in document.sections:
        if len(lines) > most:
            yield column(lines)
            lines = []
        lines += [f"# {chapter}" for chapter in section.above if chapter not in chapters]
        chapters = section.above
        lines += [f"## {section.heading}", *textwrap.wrap(section.text, 85), ""]
    yield column(lines)
