"""`audit run`: each handbook is compared with itself, by rules or by the judge's model, and the release has what was found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit.cli.main import main
from audit.release.journal_files import count_answered_calls
from tests.pipeline.stages.project import Project, lodging_project

CODE = "lodging_alderia_combined"


@pytest.fixture
def project(tmp_path, monkeypatch) -> Project:
    """Three codes, one of which states the lodger's notice in two ways, on two pages."""
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    project = lodging_project(tmp_path)
    path = project.folder / "tenancy" / "documents" / f"{CODE}.json"
    document = json.loads(path.read_text())
    document["sections"] += [
        {"section_id": "x1", "heading": "Keys", "text": "The lodger returns all brass keys within 3 days.", "pages": [90, 90]},
        {
            "section_id": "x2",
            "heading": "Keys again",
            "text": "The lodger returns all brass keys within 9 days.",
            "pages": [95, 95],
        },
    ]
    path.write_text(json.dumps(document))
    return project


def records(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_rules_find_it_and_every_handbook_was_compared(project, capsys):
    assert project.run() == 0
    (finding,) = [found for found in records(project.release / "within_handbook.jsonl") if found["handbook_id"] == CODE]
    assert [(place["page"], place["value"]) for place in finding["places"]] == [(90, "within 3 days"), (95, "within 9 days")]
    assert finding["judge"] == "baseline judge (rules, no model)"
    counts = records(project.release / "within_handbook_counts.jsonl")
    assert len(counts) == 3
    assert "Handbooks compared with themselves: 3" in capsys.readouterr().out
    assert main(["metrics", "within_handbook", "--run", "tenancy", "--set", f"handbook_id={CODE}", "--format", "json"]) == 0
    assert "within 9 days" in capsys.readouterr().out


def test_it_can_be_left_out(project):
    project.config.write_text(project.config.read_text() + "\n[within]\ncompare = false\n")
    assert project.run() == 0
    assert not (project.release / "within_handbook.jsonl").exists()


def test_a_model_is_asked_once_about_each_pair(project, real_judge, capsys):
    project.set("judge", f'"model"\nurl = ["{real_judge}"]')
    assert project.run("--dry-run") == 0
    assert "pairs of statements of 3 handbooks" in capsys.readouterr().out
    assert project.run("--until", "within") in (0, 1)  # a random model may give what cannot be read, and that is output
    (journal,) = (project.work / "journals").glob("within-*.journal")
    asked = count_answered_calls(journal)
    counts = records(project.release / "within_handbook_counts.jsonl")
    assert asked
    assert sum(record["compared"] + record["unscored"] for record in counts) >= asked
    (project.release / "within_handbook.jsonl").unlink()
    assert project.run("--until", "within") in (0, 1)
    assert count_answered_calls(journal) == asked
