"""`audit run` with a model that answers and judges, behind a real server: what was paid for is not asked again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from audit.release.journal_files import count_answered_calls
from tests.pipeline.stages.project import Project, lodging_project
from tests.support.llm.fault_server import FaultServer, fault_server


@pytest.fixture
def project(tmp_path, monkeypatch, real_judge) -> Project:
    """Three codes on lodging, two questions, and a tiny random model: its texts mean nothing, the road is what is tested."""
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    project = lodging_project(tmp_path)
    project.change('generator = "passages"', f'generator = "model"\nurl = ["{real_judge}"]\ncontext = 4000')
    project.set("judge", f'"model"\nurl = ["{real_judge}/"]')
    return project


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server() as server:
        yield server


def stored(project: Project) -> dict[str, int]:
    """Stage -> how many calls have their reply in its journal."""
    return {path.name.partition("-")[0]: count_answered_calls(path) for path in (project.work / "journals").glob("*.journal")}


def answers(project: Project) -> list[dict]:
    return [json.loads(line) for line in (project.release / "answers.jsonl").read_text().splitlines()]


def forget(folder: Path) -> None:
    shutil.rmtree(folder)


def test_a_model_answers_and_judges_and_is_asked_nothing_twice(project):
    assert project.run() in (0, 1)  # a random model may give what cannot be read, and that is output
    first = stored(project)
    assert first["generate"] == 6  # two general questions, three codes
    assert first["judge"] <= 6  # C(3, 2) pairs each; equal answers share a call, absent ones need none
    manifest = json.loads((project.release / "manifest.json").read_text())
    assert (manifest["handbooks"], manifest["questions"], manifest["answers"], manifest["pairs"]) == (3, 2, 6, 6)
    assert manifest["judge"] == manifest["judge_settings"]["model"] == "tiny-judge"
    assert all(answer["usage"]["model"] for answer in answers(project))
    before = project.labels()
    forget(project.work / "state")
    forget(project.work / "answers")
    forget(project.release)
    assert project.run() in (0, 1)
    assert stored(project) == first
    assert project.labels() == before


def test_a_run_may_find_positions_with_a_call_an_answer_and_one_a_question(project, server, monkeypatch, capsys):
    monkeypatch.setenv("AUDIT_JUDGE_MODEL", "judge")
    project.change('judge = "model"\nurl = ', 'judge = "model"\nprotocol = "positions" #')
    project.change('generator = "model"\nurl = ', 'generator = "passages" #')
    project.change("templates = ", "# ")
    monkeypatch.setenv("AUDIT_JUDGE_URL", server.url)
    assert project.run("--dry-run") == 0
    assert "judge" in {words for line in capsys.readouterr().out.splitlines() for words in line.split()[:1]}
    assert project.run() == 0
    present = sum(not answer["absent"] for answer in answers(project))
    assert 0 < stored(project)["judge"] <= present + 2
    assert (project.release / "positions.jsonl").read_text().count('"judge"') > 0


def test_the_plan_tries_a_few_calls_once_the_passages_are_there(project, capsys):
    assert project.run("--until", "retrieve") == 0
    capsys.readouterr()
    assert project.run("--dry-run", "--probe") == 0
    output = capsys.readouterr().out
    assert "6 test calls" in output
    assert not (project.work / "journals").exists()
