"""`audit pairs`: the page's filters on the command line, and every match with both answers as a file."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from openpyxl import load_workbook

from audit.cli.main import main
from audit.exports import pair_files
from tests.support.tiny import release_from

TABLE = """
    q1 kidney  topics=diet    ab=DIVERGENT/high       ac=COMPLEMENTARY  bc=CONSISTENT
    q2 general topics=travel  ab=CONTRADICTORY/low    ac=UNSCORED       bc=DIVERGENT/high  d=absent
"""


@pytest.fixture
def loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    folder = release_from(tmp_path, TABLE)
    answers = (folder / "answers.jsonl").read_text("utf-8")
    (folder / "answers.jsonl").write_text(answers.replace("Handbook a on q1.", "=1+1 =HYPERLINK(1)"), "utf-8")
    main(["load", str(folder)])
    capsys.readouterr()
    return tmp_path


def written(path: Path) -> pd.DataFrame:
    if path.suffix == ".xlsx":
        head, *rows = load_workbook(path).worksheets[0].iter_rows(values_only=True)
        return pd.DataFrame(rows, columns=head)
    return pd.read_csv(path, dtype=str) if path.suffix == ".csv" else pd.read_parquet(path)


@pytest.mark.parametrize("suffix", pair_files.FORMATS)
def test_every_match_is_written_with_both_answers_and_no_cell_is_a_formula(loaded, monkeypatch, capsys, suffix):
    monkeypatch.setattr(pair_files, "BATCH", 2)
    out = loaded / f"pairs{suffix}"
    assert main(["pairs", "--out", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pairs"] == 3
    table = written(out)
    first, last = table.iloc[0].tolist(), table.iloc[2].tolist()
    assert (first[0], first[3].lower(), last[0], last[3].lower()) == ("q1", "divergent", "q2", "contradictory")
    assert first[-1] == "Handbook b on q1."
    assert first[-2].lstrip("'\t ") == "=1+1 =HYPERLINK(1)"
    assert first[-2].startswith("=") == (suffix != ".csv")


def test_the_filters_are_those_of_the_page(loaded, capsys):
    def listed(*options):
        assert main(["pairs", *options, "--json"]) == 0
        return [
            f"{row['question_id']} {row['handbook_a']}{row['handbook_b']}" for row in json.loads(capsys.readouterr().out)["rows"]
        ]

    assert listed() == ["q2 bc", "q1 ab", "q2 ab"]  # three handbooks dispute q2
    assert listed("--order", "label") == ["q2 ab", "q2 bc", "q1 ab"]
    assert listed("--topic", "travel", "--significance", "low") == ["q2 ab"]
    assert listed("--label", "consistent", "--label", "UNSCORED") == ["q1 bc", "q2 ac"]
    assert listed("--label", "any", "--question", "q1", "--handbook", "a", "--handbook", "c") == ["q1 ac"]
    assert listed("--words", "handbook b q2", "--limit", "1") == ["q2 bc"]
    assert listed("--words", "nothing like it") == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--organ", "kidny"], "has no organ 'kidny'. Did you mean 'kidney'? Nothing was selected."),
        (["--question", "q99"], "has no question 'q99'"),
        (["--theme", "3"], "has no themes"),
        (["--out", "pairs.docx"], "must end in one of .csv, .xlsx, .parquet"),
        (["--out", "no/such/folder/pairs.csv"], "cannot be written"),
    ],
)
def test_what_cannot_be_selected_or_written_is_refused_in_a_sentence(loaded, capsys, options, words):
    assert main(["pairs", *options]) == 2
    assert words in capsys.readouterr().err


def test_a_workbook_is_not_written_where_it_would_be_too_large(loaded, monkeypatch, capsys):
    monkeypatch.setattr(pair_files, "MAX_SHEET_ROWS", 2)
    assert main(["pairs", "--out", str(loaded / "pairs.xlsx")]) == 2
    assert "too much for a workbook" in capsys.readouterr().err
    assert not list(loaded.glob("*pairs*"))
