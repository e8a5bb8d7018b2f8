"""Handbooks of several formats and languages, one mostly scanned: what could not be read is said and never NOT ADDRESSED."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit.cli.main import main
from audit.pipeline.stages.judging_input import handbook_record
from audit.text.corrections import Correction, add_correction, corrections_path
from audit.text.documents import read_document
from tests.pipeline.answers.test_unreadable import ENGLISH, SPANISH
from tests.pipeline.corpus.extraction.test_silent_pages import PICTURE, TEXT, write_scan

QUESTIONS = """question_id,question,organ
q1,When may I lift heavy things after the operation?,heart
q2,What may I eat in a restaurant when I travel to the mountains?,heart
"""
CONFIG = """[corpus]
pdfs = "handbooks"
[questions]
file = "handbooks/questions.csv"
[load]
load = false
"""


@pytest.fixture
def config(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    folder = tmp_path / "handbooks"
    folder.mkdir()
    (folder / "questions.csv").write_text(QUESTIONS)
    (folder / "heart_alder_post.md").write_text(f"# Advice\n\n{ENGLISH}\n\nCall the ward at night.")
    (folder / "heart_birch_post.html").write_text(f"<h1>Consejos</h1><p>{3 * SPANISH}</p>")
    write_scan(folder / "heart_cedar_post.pdf", [TEXT] + 3 * [PICTURE])
    (folder / "heart_dogwood_post.txt").write_text(f"ADVICE\n\n{ENGLISH}\n\nCall the ward at night!")
    (folder / "heart_elm_post.odt").write_bytes(b"PK")
    path = tmp_path / "config.toml"
    path.write_text(CONFIG)
    return path


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_what_could_not_be_read_is_said_kept_and_never_not_addressed(config, tmp_path, capsys):
    assert main(["run", str(config), "--json"]) == 1
    output = capsys.readouterr()
    result = json.loads(output.out)
    cedar = (
        "heart_cedar_post: 3 of 4 pages are pictures without text (pages 2-4): what they say is missing. "
        "Read them with --ocr (in a config: ocr = true)."
    )
    assert result["notes"] == [
        "heart_birch_post: the handbook is in Spanish, the questions in English: their texts cannot be compared. Its answers "
        "count as unread, not as NOT ADDRESSED. A model may read it.",
        cedar,
        "heart_cedar_post: so much is missing that what it does not address counts as unread, not as NOT ADDRESSED.",
        "2 handbooks have the title “Advice”: heart_alder_post, heart_dogwood_post. Give each its own in the catalog.",
        "heart_alder_post and heart_dogwood_post have the same text: if they are one handbook, leave one of them out.",
    ]
    assert f"Text: {cedar}" in output.err
    assert result["left_out"] == {
        "heart_elm_post.odt": "heart_elm_post.odt: it is a link, or its format is not supported. Save it as one of "
        ".pdf, .html, .htm, .xhtml, .docx, .md, .markdown, .txt."
    }
    work = tmp_path / "data" / "pipeline" / "config"
    answers = {(answer["handbook_id"], answer["question_id"]): answer for answer in lines(work / "release" / "answers.jsonl")}
    assert {handbook for (handbook, _), answer in answers.items() if answer["absent"]} == {
        "heart_alder_post",
        "heart_dogwood_post",
    }
    assert [answers["heart_birch_post", name]["absent"] for name in ("q1", "q2")] == [None, None]
    assert "3 of 4 pages" in answers["heart_cedar_post", "q2"]["unread_reason"]
    handbooks = {handbook["handbook_id"]: handbook for handbook in lines(work / "release" / "handbooks.jsonl")}
    assert (handbooks["heart_cedar_post"]["pages"], handbooks["heart_cedar_post"]["silent_pages"]) == (4, 3)
    assert [handbook["language"] for handbook in handbooks.values()] == ["en", "es", "en", "en"]
    assert {quality["handbook_id"] for quality in lines(work / "documents" / "quality.jsonl")} == handbooks.keys()
    # What was said once is said again: it is still true of the release
    assert main(["run", str(config), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["notes"] == result["notes"]
    # These are notes: without the file that cannot be read, the run did all it could
    (tmp_path / "handbooks" / "heart_elm_post.odt").unlink()
    assert main(["run", str(config), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["notes"] == result["notes"]


def test_a_run_follows_corrections_names_them_before_and_makes_a_text_again_when_they_change(config, tmp_path, capsys):
    folder = tmp_path / "handbooks"
    for path in folder.iterdir():
        if path.suffix not in (".md", ".csv"):
            path.unlink()
    alder = folder / "heart_alder_post.md"
    corrections = corrections_path(alder, "heart_alder_post")
    add_correction(corrections, Correction("drop", "Call the ward at night"))
    add_correction(corrections, Correction("heading", "nowhere", level=1))
    assert main(["run", str(config), "--dry-run"]) == 0
    assert "2 corrections by people to the texts of heart_alder_post." in capsys.readouterr().out
    assert main(["run", str(config), "--until", "extract", "--json"]) == 0
    missed = (
        "heart_alder_post: The correction heading “nowhere” was not applied: these words are not there as a line or paragraph of "
        "their own."
    )
    assert missed in json.loads(capsys.readouterr().out)["notes"]
    text = tmp_path / "data" / "pipeline" / "config" / "documents" / "heart_alder_post.json"
    assert "Call the ward" not in read_document(text).full_text
    assert handbook_record(read_document(text))["extraction"]["corrections"]["applied"] == 1
    corrections.write_text("")
    assert main(["run", str(config), "--until", "extract"]) == 0
    assert "Call the ward" in read_document(text).full_text
    corrections.rename(folder / "heart_alter_post.corrections.jsonl")
    assert main(["run", str(config), "--until", "extract"]) == 1
    assert "no handbook here has the id 'heart_alter_post'" in capsys.readouterr().err
