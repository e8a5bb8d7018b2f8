"""What is done is known: only what changed is done again, one bad file costs only itself, and a kill costs one file."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from audit.errors import AuditError
from audit.pipeline.stages.build_cache import Task, digest_of_path, write_atomic
from audit.pipeline.stages.config import Config
from audit.pipeline.stages.context import RunContext, SourceDocument, TaskByTask, Workspace
from audit.pipeline.stages.runner import CLEAN, LEFT_OUT, STOPPED, run_stages
from audit.settings import Settings

BAD = "scanned"


@dataclass
class Shout(TaskByTask):
    """Writes each handbook in capitals."""

    mark: str = "!"
    worked_on: list[str] = field(default_factory=list)
    name = "shout"

    def tasks(self):
        digest = self.context.cache.digest
        return [
            Task(
                self.name,
                source.handbook_id,
                {"text": digest(source.file), "mark": self.mark},
                (self.out(source),),
                source.handbook_id,
            )
            for source in self.context.present
        ]

    def out(self, source):
        return self.context.workspace.root / f"{source.handbook_id}.loud"

    def run_task(self, task):
        self.worked_on.append(task.name)
        text = (self.context.workspace.root.parent / "in" / task.name).read_text()
        if text == BAD:
            raise AuditError(f"{task.name} is a scan.")
        if text == "kill":
            raise KeyboardInterrupt
        write_atomic(task.outputs[0], text.upper() + self.mark)
        return {"letters": len(text)}


@dataclass
class Bind(TaskByTask):
    """Binds them all together."""

    worked_on: list[str] = field(default_factory=list)
    name = "bind"

    def tasks(self):
        parts = {source.handbook_id: self.context.cache.digest(self.loud(source)) for source in self.context.present}
        return [
            Task(
                self.name,
                "all",
                {"of": parts} if None not in parts.values() else {"of": None},
                (self.context.workspace.root / "source",),
            )
        ]

    def loud(self, source):
        return self.context.workspace.root / f"{source.handbook_id}.loud"

    def run_task(self, task):
        self.worked_on.append("bound")
        write_atomic(task.outputs[0], " ".join(self.loud(source).read_text() for source in self.context.present))
        return {}


class Quiet:
    """Remembers what it was told."""

    def __init__(self):
        self.told = []

    def begin(self, stage, tasks, to_do):
        self.told.append((stage, tasks, to_do))

    def advance(self, name):
        self.told.append(name)

    def end(self, count):
        self.told.append((count.stage, count.unchanged, count.done, count.failed))


@dataclass
class Project:
    """A corpus of three small files, and runs over it."""

    folder: Path

    def write(self, **texts):
        (self.folder / "in").mkdir(exist_ok=True)
        for name, text in texts.items():
            (self.folder / "in" / name).write_text(text)

    def run(self, mark="!"):
        """The summary of one run, and what each stage worked on."""
        work = self.folder / "work"
        work.mkdir(exist_ok=True)
        sources = [SourceDocument(path.name, "general", path, path) for path in sorted((self.folder / "in").iterdir())]
        context = RunContext(Config(path=self.folder / "c.toml"), Settings(data_dir=self.folder), Workspace(work), sources)
        shout, bind = Shout(context, mark), Bind(context)
        self.summary = run_stages(context, [shout, bind], Quiet())
        return shout.worked_on, bind.worked_on

    @property
    def source(self):
        return (self.folder / "work" / "source").read_text()


@pytest.fixture
def project(tmp_path) -> Project:
    project = Project(tmp_path)
    project.write(alder="wait", birch="go", cedar="ask")
    return project


def test_a_second_run_does_nothing(project):
    assert project.run() == (["alder", "birch", "cedar"], ["bound"])
    assert (project.source, project.summary.verdict) == ("WAIT! GO! ASK!", CLEAN)
    assert project.run() == ([], [])
    assert [count.unchanged for count in project.summary.counts] == [3, 1]


def test_changing_one_file_does_that_file_again_and_what_hangs_on_it(project):
    project.run()
    project.write(birch="stop")
    assert project.run() == (["birch"], ["bound"])
    assert project.source == "WAIT! STOP! ASK!"


def test_a_change_that_leaves_the_result_as_it_was_goes_no_further(project):
    project.run()
    project.write(birch="GO")  # another file, the same in capitals
    assert project.run() == (["birch"], [])


def test_changing_a_setting_does_all_files_of_that_stage_again(project):
    project.run()
    assert project.run(mark="?") == (["alder", "birch", "cedar"], ["bound"])


def test_a_result_that_was_lost_or_damaged_is_made_again(project):
    project.run()
    (project.folder / "work" / "alder.loud").unlink()
    (project.folder / "work" / "cedar.loud").write_text("AS")
    assert project.run() == (["alder", "cedar"], [])
    assert project.run() == ([], [])


def test_a_new_handbook_costs_only_itself(project):
    project.run()
    project.write(dogwood="rest")
    assert project.run() == (["dogwood"], ["bound"])


def test_a_bad_file_does_not_lose_the_others_and_is_tried_again_once_it_is_mended(project):
    project.write(birch=BAD)
    assert project.run() == (["alder", "birch", "cedar"], ["bound"])
    assert (project.source, project.summary.verdict) == ("WAIT! ASK!", LEFT_OUT)
    assert project.summary.failed == ["shout, birch: birch is a scan."]
    assert project.run() == (["birch"], [])
    project.write(birch="go")
    assert project.run() == (["birch"], ["bound"])
    assert (project.source, project.summary.verdict) == ("WAIT! GO! ASK!", CLEAN)


def test_where_every_file_is_bad_the_run_stops_there(project):
    project.write(alder=BAD, birch=BAD, cedar=BAD)
    assert project.run() == (["alder", "birch", "cedar"], [])
    assert (project.summary.verdict, project.summary.stopped_at) == (STOPPED, "shout")


def test_whoever_stops_it_loses_at_most_the_file_at_hand(project):
    project.write(cedar="kill")
    with pytest.raises(KeyboardInterrupt):
        project.run()
    project.write(cedar="ask")
    assert project.run() == (["cedar"], ["bound"])


def test_a_state_file_that_cannot_be_read_means_not_done(project):
    project.run()
    state = project.folder / "work" / "state" / "shout" / "alder.json"
    assert json.loads(state.read_text())["figures"] == {"letters": 4}
    state.write_text("{")
    assert project.run() == (["alder"], [])


def test_what_is_not_there_yet_has_no_fingerprint(tmp_path):
    assert Task("bind", "all", {"of": None}).fingerprint is None
    assert digest_of_path(tmp_path / "none") is None


def test_names_and_bytes_of_a_folder_count(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x").write_text("1")
    before = digest_of_path(tmp_path / "a")
    (tmp_path / "a" / "x").rename(tmp_path / "a" / "y")
    assert digest_of_path(tmp_path / "a") != before
