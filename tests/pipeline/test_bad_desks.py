"""What a desk may hold that is wrong: it ends in one sentence, and nobody's work is lost."""

from __future__ import annotations

import csv
import errno
import json
import shutil
from pathlib import Path

import pytest

from audit.cli.main import main
from audit.pipeline.folder import taken
from audit.pipeline.shop import Work
from audit.settings import Settings
from audit.store.runs import find_run
from tests.pipeline.desk import Desk, desk_in


@pytest.fixture
def desk(tmp_path, monkeypatch) -> Desk:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    return desk_in(tmp_path)


def ask(desk: Desk, organs: dict[str, str]) -> None:
    """Let only some questions be asked, each of an organ, and take the taxonomy away."""
    path = desk.config.parent / "questions.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "organ": organs[row["question_id"]]} for row in rows if row["question_id"] in organs)
    desk.change('taxonomy = "taxonomy.toml"', "")


def records(desk: Desk, name: str) -> list[dict]:
    return [json.loads(line) for line in (desk.release / name).read_text().splitlines()]


def test_a_question_that_one_handbook_meets_keeps_its_answer_without_a_pair(desk, capsys):
    for path in (desk.config.parent / "documents").glob("lodging_[bc]*.json"):
        path.unlink()  # one code for lodgers is left, beside five for homes
    ask(desk, {"general-01": "general", "lodging-01": "lodging"})
    assert desk.run() == 0
    assert "Questions without a pair, put to one handbook only: 1." in capsys.readouterr().out
    assert {record["question_id"] for record in records(desk, "questions.jsonl")} == {"general-01", "lodging-01"}
    alone = [answer["handbook_id"] for answer in records(desk, "answers.jsonl") if answer["question_id"] == "lodging-01"]
    assert alone == ["lodging_alderia_combined"]
    assert {question for question, _, _ in desk.labels()} == {"general-01"}
    report = find_run(Settings(data_dir=desk.data).store_dir, "tenancy").report
    assert (report["clean"], report["totals"]["question"]["loaded"], report["totals"]["answer"]["loaded"]) == (True, 2, 6 + 1)


def test_a_question_that_no_handbook_meets_is_said_and_kept(desk, capsys):
    ask(desk, {"general-01": "general", "lodging-01": "houseboat"})
    assert desk.run() == 1
    assert "put to none, whose organ no handbook has (houseboat): 1." in capsys.readouterr().out
    assert len(records(desk, "questions.jsonl")) == 2


def test_questions_of_other_organs_than_the_handbooks_stop_it_before_anything_is_searched(desk, capsys):
    ask(desk, {"general-01": "kidney", "lodging-01": "heart"})
    assert desk.run() == 2
    said = capsys.readouterr().err
    assert "No question is put to any handbook: the questions are of organ heart, kidney, the handbooks of organ lodging" in said
    assert set(desk.done()) == {"questions"}


def test_a_handbook_without_a_text_is_left_out_and_not_taken_for_silent(desk, capsys):
    path = desk.config.parent / "documents" / "lodging_alderia_combined.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"sections": []}))
    assert desk.run() == 1
    assert "no section has any text" in capsys.readouterr().err
    assert "lodging_alderia_combined" not in {answer["handbook_id"] for answer in records(desk, "answers.jsonl")}


def test_a_config_does_not_write_over_the_work_of_another(desk, capsys):
    assert desk.run("--until", "retrieve") == 0
    before = desk.written()
    other = shutil.copytree(desk.config.parent, desk.folder / "other") / "config.toml"
    assert main(["run", str(other)]) == 2
    assert f"holds the work of {desk.config}" in capsys.readouterr().err
    assert desk.written() == before
    desk.config.unlink()  # it was moved, and finds its work again
    assert main(["run", str(other), "--until", "retrieve"]) == 0


def test_two_runs_at_once_do_not_work_in_one_folder(desk, capsys):
    with taken(Work(desk.work), desk.config):
        assert desk.run() == 2
    assert "Another `audit run` is at work in" in capsys.readouterr().err
    assert desk.run() == 0


def test_a_full_disk_stops_it_and_leaves_no_handbook_out(desk, capsys, monkeypatch):
    def full(path: Path, *_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    with monkeypatch.context() as patch:
        patch.setattr("audit.pipeline.stages.generate.write_lines", full)
        assert desk.run() == 2
    said = capsys.readouterr().err
    assert "No space left on device" in said
    assert "Left out" not in said
    assert desk.run() == 0
    assert len(records(desk, "handbooks.jsonl")) == 8


def test_a_work_folder_with_somebody_elses_files_is_not_written_over(desk, capsys):
    (desk.folder / "mine" / "release").mkdir(parents=True)
    (desk.folder / "mine" / "release" / "notes.txt").write_text("mine")
    desk.change("[release]", f'[release]\nwork = "{desk.folder / "mine"}"')
    assert desk.run() == 2
    assert "holds something else. Nothing was done." in capsys.readouterr().err
    assert [path.name for path in (desk.folder / "mine").rglob("*")] == ["release", "notes.txt"]


def test_a_gold_section_that_the_handbook_does_not_have_is_no_miss_but_a_mistake(desk, capsys):
    gold = desk.config.parent / "gold.jsonl"
    gold.write_text(gold.read_text().replace('"s02"', '"s99"', 1))
    assert desk.run() == 2
    assert "gold.jsonl, line 1: residential_alderia_combined has no section 's99'." in capsys.readouterr().err


def test_what_of_the_gold_file_counts_nowhere_is_said_with_an_example_of_each_kind(desk, capsys):
    lines = [
        {"question_id": "general-01", "gold_sections": {"Nowhereland": ["s77"], "Alderia": ["s88", "s89"]}},
        {"question_id": "asked-by-nobody", "gold_sections": {"lodging_alderia_combined": ["s02"]}},
    ]
    gold = desk.config.parent / "gold.jsonl"
    gold.write_text(gold.read_text() + "".join(json.dumps(line) + "\n" for line in lines))
    assert desk.run("--until", "retrieve") == 0
    said = capsys.readouterr().out
    assert "gold.jsonl: questions outside the question list: 1 (for example 'asked-by-nobody'); " in said
    assert "names that are neither a handbook nor a center: 1 (for example 'Nowhereland'); " in said
    assert "sections missing from the handbook of that name: 2 (for example 's88' of 'Alderia'). Searches without" in said
    assert desk.again("--until", "retrieve") == set()
    assert "They count nowhere" in capsys.readouterr().out


def test_a_single_handbook_is_said_before_anything_is_done_and_may_answer(desk, capsys):
    for path in (desk.config.parent / "documents").iterdir():
        if path.stem != "residential_alderia_combined":
            path.unlink()
    assert desk.run() == 2
    said = capsys.readouterr().err
    assert (
        "a pair needs two handbooks that are asked the same question, and there is only: residential_alderia_combined. " in said
    )
    assert "Nothing was compared. Add a handbook, or go as far as its answers: --until generate." in said
    assert not desk.work.exists()
    assert desk.run("--until", "generate") == 0
    assert desk.done()["generate"] == 1


def test_a_folder_that_cannot_be_written_is_said_before_anything_is_done(desk, capsys):
    desk.data.write_text("a file where the folder should be")
    assert desk.run() == 2
    assert "cannot be written" in capsys.readouterr().err


def test_without_a_taxonomy_nothing_hangs_on_the_folder_that_the_command_is_given_in(desk, tmp_path, monkeypatch):
    desk.change('taxonomy = "taxonomy.toml"', "")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert desk.run("--until", "questions") == 0
    (tmp_path / "here" / "letter.txt").write_text("to somebody")
    assert desk.again("--until", "questions") == set()


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('taxonomy = "taxonmy.toml"', "taxonmy.toml: not a readable taxonomy"),
        ('taxonomy = "taxonomy.toml"\n[judge]\ntemplates = "questions.csv"', "questions.csv does not contain a template."),
        ('taxonomy = "taxonomy.toml"\n[release]\nwork = "documents"', "documents is there and holds something else."),
    ],
)
def test_what_would_stop_it_later_stops_its_plan(desk, capsys, written, said):
    start = desk.config.read_text().partition("[retrieval]")[0]
    desk.config.write_text(start.replace('taxonomy = "taxonomy.toml"', written))
    assert desk.run("--dry-run") == 2
    assert said in capsys.readouterr().err


def test_a_question_that_is_none_is_left_out_and_said_by_the_exit_code(desk, capsys):
    path = desk.config.parent / "questions.csv"
    path.write_text(path.read_text() + "empty-01,,general,,\n")
    assert desk.run("--until", "questions") == 1
    assert "30 of 31 questions written, 0 dropped by decision, 1 left out" in capsys.readouterr().out
    assert desk.run("--until", "questions") == 1


def test_where_no_document_can_be_read_the_first_reason_is_said(desk, capsys):
    desk.change('documents = "documents"', 'documents = "questions.csv"')
    assert desk.run() == 2
    assert "questions.csv: not a readable document" in capsys.readouterr().err
