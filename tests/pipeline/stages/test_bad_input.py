"""What a project may hold that is wrong: it ends in one sentence, and nobody's work is lost."""

from __future__ import annotations

import csv
import errno
import json
import shutil
from pathlib import Path

import pytest

from audit.cli.main import main
from audit.pipeline.stages.context import Workspace, taken
from audit.settings import Settings
from audit.store.runs import find_run
from tests.pipeline.stages.project import Project, lodging_project, project_in


@pytest.fixture
def project(tmp_path, monkeypatch) -> Project:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    return project_in(tmp_path)


@pytest.fixture
def small(tmp_path, monkeypatch) -> Project:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    return lodging_project(tmp_path)


def ask(project: Project, organs: dict[str, str]) -> None:
    """Let only some questions be asked, each of an organ, and take the taxonomy away."""
    path = project.config.parent / "questions.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "organ": organs[row["question_id"]]} for row in rows if row["question_id"] in organs)
    project.change('taxonomy = "taxonomy.toml"', "")


def records(project: Project, name: str) -> list[dict]:
    return [json.loads(line) for line in (project.release / name).read_text().splitlines()]


def test_a_question_that_one_handbook_meets_keeps_its_answer_without_a_pair(project, capsys):
    for path in (project.config.parent / "documents").glob("lodging_[bc]*.json"):
        path.unlink()  # one code for lodgers is left, beside five for homes
    ask(project, {"general-01": "general", "lodging-01": "lodging"})
    assert project.run() == 0
    assert "Questions without a pair, asked of one handbook only: 1." in capsys.readouterr().out
    assert {record["question_id"] for record in records(project, "questions.jsonl")} == {"general-01", "lodging-01"}
    alone = [answer["handbook_id"] for answer in records(project, "answers.jsonl") if answer["question_id"] == "lodging-01"]
    assert alone == ["lodging_alderia_combined"]
    assert {question for question, _, _ in project.labels()} == {"general-01"}
    report = find_run(Settings(data_dir=project.data).store_dir, "tenancy").report
    assert (report["clean"], report["totals"]["question"]["loaded"], report["totals"]["answer"]["loaded"]) == (True, 2, 6 + 1)


def test_a_question_that_no_handbook_meets_is_said_and_kept(project, capsys):
    ask(project, {"general-01": "general", "lodging-01": "houseboat"})
    assert project.run() == 1
    assert "asked of none, because no handbook has the organ (houseboat): 1." in capsys.readouterr().out
    assert len(records(project, "questions.jsonl")) == 2


def test_questions_of_other_organs_than_the_handbooks_stop_it_before_anything_is_searched(project, capsys):
    ask(project, {"general-01": "kidney", "lodging-01": "heart"})
    assert project.run() == 2
    output = capsys.readouterr().err
    assert "No question concerns any handbook: the questions have the organ heart, kidney, the handbooks lodging" in output
    assert set(project.done()) == {"questions"}


def test_a_handbook_without_a_text_is_left_out_and_not_taken_for_silent(project, capsys):
    path = project.config.parent / "documents" / "lodging_alderia_combined.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"sections": []}))
    assert project.run() == 1
    assert "no section has any text" in capsys.readouterr().err
    assert "lodging_alderia_combined" not in {answer["handbook_id"] for answer in records(project, "answers.jsonl")}


def test_a_config_does_not_write_over_the_work_of_another(project, capsys):
    assert project.run("--until", "retrieve") == 0
    before = project.written()
    other = shutil.copytree(project.config.parent, project.folder / "other") / "config.toml"
    assert main(["run", str(other)]) == 2
    assert f"belongs to {project.config}" in capsys.readouterr().err
    assert project.written() == before
    project.config.unlink()  # it was moved, and finds its work again
    assert main(["run", str(other), "--until", "retrieve"]) == 0


def test_two_runs_at_once_do_not_work_in_one_folder(small, capsys):
    with taken(Workspace(small.work), small.config):
        assert small.run() == 2
    assert "Another `audit run` is working in" in capsys.readouterr().err
    assert small.run() == 0


def test_a_full_disk_stops_it_and_leaves_no_handbook_out(small, capsys, monkeypatch):
    def full(path: Path, *_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    with monkeypatch.context() as patch:
        patch.setattr("audit.pipeline.stages.generate.write_lines", full)
        assert small.run() == 2
    output = capsys.readouterr().err
    assert "No space left on device" in output
    assert "Left out" not in output
    assert small.run() == 0
    assert len(records(small, "handbooks.jsonl")) == 3


def test_a_work_folder_with_somebody_elses_files_is_not_written_over(project, capsys):
    (project.folder / "mine" / "release").mkdir(parents=True)
    (project.folder / "mine" / "release" / "notes.txt").write_text("mine")
    project.change("[release]", f'[release]\nwork = "{project.folder / "mine"}"')
    assert project.run() == 2
    assert "contains other files. Nothing was done." in capsys.readouterr().err
    assert [path.name for path in (project.folder / "mine").rglob("*")] == ["release", "notes.txt"]


def test_a_gold_section_that_the_handbook_does_not_have_is_no_miss_but_a_mistake(project, capsys):
    gold = project.config.parent / "gold.jsonl"
    gold.write_text(gold.read_text().replace('"s02"', '"s99"', 1))
    assert project.run() == 2
    assert "gold.jsonl, line 1: residential_alderia_combined has no section 's99'." in capsys.readouterr().err


def test_what_of_the_gold_file_counts_nowhere_is_said_with_an_example_of_each_kind(project, capsys):
    lines = [
        {"question_id": "general-01", "gold_sections": {"Nowhereland": ["s77"], "Alderia": ["s88", "s89"]}},
        {"question_id": "asked-by-nobody", "gold_sections": {"lodging_alderia_combined": ["s02"]}},
    ]
    gold = project.config.parent / "gold.jsonl"
    gold.write_text(gold.read_text() + "".join(json.dumps(line) + "\n" for line in lines))
    assert project.run("--until", "retrieve") == 0
    output = capsys.readouterr().out
    assert "gold.jsonl: questions outside the question list: 1 (for example 'asked-by-nobody'); " in output
    assert "names that are neither a handbook nor a center: 1 (for example 'Nowhereland'); " in output
    assert "sections missing from the handbook of that name: 2 (for example 's88' of 'Alderia'). Searches without" in output
    assert project.again("--until", "retrieve") == set()
    assert "Searches without a known section" in capsys.readouterr().out


def test_a_single_handbook_answers_and_has_nothing_to_be_compared_with(project, capsys):
    for path in (project.config.parent / "documents").iterdir():
        if path.stem != "residential_alderia_combined":
            path.unlink()
    questions = project.config.parent / "questions.csv"
    questions.write_text("".join(line for line in questions.read_text().splitlines(True) if not line.startswith("lodging-")))
    for judge in ('"stand-in"', '"none"'):
        project.set("judge", judge)
        assert project.run() == 0
        assert "No question is asked of two handbooks, so there is nothing to compare" in capsys.readouterr().out
        manifest = json.loads((project.release / "manifest.json").read_text())
        assert (manifest["answers"], "judge" in manifest, "pairs" in manifest) == (23, False, False)
        assert not (project.release / "comparisons").exists()
        assert project.again() == set()


def test_a_folder_that_cannot_be_written_is_said_before_anything_is_done(project, capsys):
    project.data.write_text("a file where the folder should be")
    assert project.run() == 2
    assert "cannot be written" in capsys.readouterr().err


def test_without_a_taxonomy_nothing_hangs_on_the_folder_that_the_command_is_given_in(project, tmp_path, monkeypatch):
    project.change('taxonomy = "taxonomy.toml"', "")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert project.run("--until", "questions") == 0
    (tmp_path / "here" / "letter.txt").write_text("to somebody")
    assert project.again("--until", "questions") == set()


@pytest.mark.parametrize(
    ("written", "output"),
    [
        ('taxonomy = "taxonmy.toml"', "taxonmy.toml: not a readable taxonomy"),
        ('taxonomy = "taxonomy.toml"\n[judge]\ntemplates = "questions.csv"', "questions.csv does not contain a template."),
        ('taxonomy = "taxonomy.toml"\n[release]\nwork = "documents"', "documents already exists and contains other files."),
    ],
)
def test_what_would_stop_it_later_stops_its_plan(project, capsys, written, output):
    start = project.config.read_text().partition("[retrieval]")[0]
    project.config.write_text(start.replace('taxonomy = "taxonomy.toml"', written))
    assert project.run("--dry-run") == 2
    assert output in capsys.readouterr().err


def test_a_question_that_is_none_is_left_out_and_said_by_the_exit_code(project, capsys):
    path = project.config.parent / "questions.csv"
    path.write_text(path.read_text() + "empty-01,,general,,,,\n")
    assert project.run("--until", "questions") == 1
    assert "30 of 31 questions written, 0 dropped by decision, 1 left out" in capsys.readouterr().out
    assert project.run("--until", "questions") == 1


def test_where_no_document_can_be_read_the_first_reason_is_said(project, capsys):
    project.change('documents = "documents"', 'documents = "questions.csv"')
    assert project.run() == 2
    assert "questions.csv: not a readable document" in capsys.readouterr().err
