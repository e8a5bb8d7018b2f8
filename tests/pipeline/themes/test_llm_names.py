"""Themes named by a model: asked of a real server, and what becomes of names that are none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit.cli.main import main
from audit.pipeline.cli.themes import parse_name
from audit.pipeline.llm.calls import ANSWERED, CUT
from audit.release.journal_files import Reply
from audit.release.taxonomy import Taxonomy, read_taxonomy

PHRASES = ["dental work", "dental work again", "fever threshold", "fever thresholds", "travel abroad", "travels abroad"]


@pytest.fixture
def topics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("DATA_DIR", "JUDGE_URL", "JUDGE_MODEL"):
        monkeypatch.delenv(f"AUDIT_{name}", raising=False)
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    path = tmp_path / "topics.txt"
    path.write_text("\n".join(PHRASES), encoding="utf-8")
    return path


def build(topics: Path) -> int:
    options = [
        "--topics",
        str(topics),
        "--out",
        str(topics.with_name("themes.json")),
        "--model",
        "words",
        "--layout",
        "principal",
    ]
    return main(["themes", "build", *options, "--llm-names"])


def built(topics: Path) -> Taxonomy:
    assert build(topics) == 0
    return read_taxonomy(topics.with_name("themes.json"))


def test_a_real_server_names_the_themes_and_the_artefact_says_which(topics, real_judge, monkeypatch):
    monkeypatch.setenv("AUDIT_JUDGE_URL", real_judge)
    taxonomy = built(topics)
    assert taxonomy.built["namer"] == "tiny-judge"
    assert taxonomy.built["namer_prompt"].startswith("theme_name-2@")
    assert "namer" in {theme.named_by for theme in taxonomy.leaves}
    assert all(theme.name for theme in taxonomy.leaves)


def test_without_an_endpoint_nothing_is_built_and_what_to_set_is_said(topics, capsys):
    assert build(topics) == 2
    said = capsys.readouterr().err
    assert "Set AUDIT_JUDGE_URL" in said
    assert "or leave out --llm-names" in said
    assert not topics.with_name("themes.json").exists()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('{"name": "Dental-care timing"}', "Dental-care timing"),
        ('{"name": "  Dental\\n care  "}', "Dental care"),
        ('{"name": ""}', None),
        ('{"name": null}', None),
        (json.dumps({"name": "x" * 61}), None),
        ('{"name": "Dental', None),
        ("Dental care", None),
        ("[]", None),
        (None, None),
    ],
)
def test_only_a_name_is_taken_for_one(text, name):
    assert parse_name(Reply("k", ANSWERED if text else CUT, text=text)) == name


def test_a_theme_without_a_reply_has_no_name_from_the_model():
    assert parse_name(None) is None
