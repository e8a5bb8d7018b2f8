"""Names in both Unicode forms are one: `ü` as one character, and as `u` with a mark, as macOS writes names of files."""

from __future__ import annotations

import json
from pathlib import Path
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.cli.main import parse
from audit.queries.lookup import handbook_number, question_number
from audit.settings import Settings
from audit.store.connection import open_store
from audit.store.runs import find_run
from audit.vocabulary import composed, nearest, same_name
from tests.support.loading import load, messages, pairs_in, quarantined
from tests.support.tiny import release_from

FORMS = ("NFC", "NFD")
NAMES = {"a": "Málaga", "b": "Łódź", "c": "Århus"}
TABLE = """
    qé kidney  ab=DIVERGENT/high  ac=COMPLEMENTARY  bc=CONSISTENT
    q2 general ab=CONSISTENT      ac=CONSISTENT     bc=CONTRADICTORY/low
"""


def release_in(root: Path, forms: dict[str, str]) -> Path:
    """A release whose files have their names in a form each: name of the file -> NFC or NFD."""
    folder = release_from(root, TABLE, run_id="run-ñ")
    for path in [*folder.glob("*.json*"), *(folder / "comparisons").iterdir()]:
        kind = path.parent.name if path.parent.name == "comparisons" else path.name
        text = json.dumps(
            [json.loads(line) for line in path.read_text().splitlines()]
            if path.suffix == ".jsonl"
            else json.loads(path.read_text()),
            ensure_ascii=False,
        )
        for letter, name in NAMES.items():
            for field in ("handbook_id", "handbook_a", "handbook_b"):
                text = text.replace(f'"{field}": "{letter}"', f'"{field}": "{name}"')
        text = normalize(
            forms.get(kind, "NFC"), text.replace('"handbooks": ["a", "b", "c"]', '"handbooks": ["Málaga", "Łódź", "Århus"]')
        )
        records = json.loads(text)
        path.write_text("\n".join(json.dumps(record) for record in records) if path.suffix == ".jsonl" else json.dumps(records))
    return folder


@pytest.mark.parametrize("kind", ["handbooks.jsonl", "questions.jsonl", "answers.jsonl", "comparisons", "manifest.json"])
@pytest.mark.parametrize("form", FORMS)
def test_a_release_loads_whatever_form_each_of_its_files_has(kind: str, form: str, tmp_path: Path) -> None:
    other = next(one for one in FORMS if one != form)
    names = ("handbooks.jsonl", "questions.jsonl", "answers.jsonl", "comparisons", "manifest.json")
    loaded = load(release_in(tmp_path / "release", {name: form if name == kind else other for name in names}), tmp_path)
    assert quarantined(loaded) == []
    assert len(pairs_in(loaded)) == 6
    assert {row[1] for row in pairs_in(loaded)} == {"Málaga", "Łódź"}
    assert loaded.run.key.startswith("run-ñ@")


def test_the_name_of_a_file_is_the_question_in_either_form(tmp_path: Path) -> None:
    folder = release_in(tmp_path / "release", {})
    for path in (folder / "comparisons").iterdir():
        record = json.loads(path.read_text())
        question_id = record.pop("question_id")
        path.unlink()
        path.with_name(normalize("NFD", f"{question_id}.json")).write_text(json.dumps(record))
    loaded = load(folder, tmp_path)
    assert quarantined(loaded) == []
    assert len(pairs_in(loaded)) == 6


def test_two_handbooks_whose_ids_are_one_are_a_duplicate_by_name(tmp_path: Path) -> None:
    folder = release_in(tmp_path / "release", {})
    path = folder / "handbooks.jsonl"
    first = json.loads(path.read_text().splitlines()[0])
    path.write_text(
        path.read_text() + "\n" + json.dumps(first | {"handbook_id": normalize("NFD", "Málaga"), "center": "Another"})
    )
    loaded = load(folder, tmp_path)
    assert [code for *_, code in quarantined(loaded)] == ["duplicate_handbook"]
    assert "handbook_id 'Málaga' occurs earlier" in messages(loaded, "quarantined")[0]


def test_a_run_a_handbook_and_a_question_are_found_in_either_form(tmp_path: Path) -> None:
    run = load(release_in(tmp_path / "release", {}), tmp_path).run
    assert find_run(Settings(data_dir=tmp_path).store_dir, normalize("NFD", "run-ñ")).digest == run.digest
    with open_store(run.path) as con:
        assert handbook_number(con, normalize("NFD", "Łódź")) == handbook_number(con, "Łódź")
        assert question_number(con, normalize("NFD", "qé")) == 0


def test_arguments_are_composed_and_paths_are_left_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = normalize("NFD", "Ausgänge")
    Path(folder).mkdir()
    chosen = parse(["pairs", "--run", normalize("NFD", "run-ñ"), "--handbook", normalize("NFD", "Łódź")])
    assert (chosen.run, list(chosen.handbook)) == ("run-ñ", ["Łódź"])
    assert str(parse(["load", folder]).path) == folder


@given(st.text(min_size=1), st.sampled_from(FORMS))
def test_both_forms_of_any_name_are_one_and_neither_is_suggested_for_the_other(name: str, form: str) -> None:
    other = normalize(form, name)
    assert composed(other) == composed(name)
    assert same_name(other, [name]) == name
    assert nearest(other, (name,)) == ""
