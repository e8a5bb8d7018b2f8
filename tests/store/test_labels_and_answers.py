"""The load report holds the labels of pairs against their answers, and tells apart what is not known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.loading import load, spoil
from tests.support.tiny import release_from

TABLE = """
    q1 kidney   ab=DIVERGENT/high  ac=ABSENT    bc=CONSISTENT  d=absent
    q2 general  ab=UNSCORED        ac=ABSENT    bc=ABSENT      d=notasked
"""


def checks(folder: Path, data_dir: Path) -> dict[str, dict[str, Any]]:
    return {check["name"]: check for check in load(folder, data_dir).run.report["checks"]}


def figures(found: dict[str, dict[str, Any]], name: str) -> tuple[int | None, bool | None]:
    return found[name]["found"], found[name]["ok"]


def test_absent_labels_on_present_answers_are_counted_with_examples(tmp_path: Path) -> None:
    found = checks(release_from(tmp_path, TABLE), tmp_path / "data")
    assert figures(found, "absent_on_present") == (3, None), "a judge may find it, so it is no fault"
    assert found["absent_on_present"]["message"] == (
        "labels: 3 of 5 scored pairs with two present answers are ABSENT; "
        "for example a and c on q1, a and c on q2, b and c on q2."
    )
    assert figures(found, "other_on_absent") == (0, True)
    assert found["other_on_absent"]["message"] == "labels: 0 of 3 scored pairs with an absent answer are not ABSENT."
    assert "unscored pairs: 1; scored pairs with an answer that is unread" in found["labels_not_compared"]["message"]


def test_a_label_on_an_absent_answer_is_a_gap(tmp_path: Path) -> None:
    folder = release_from(tmp_path, TABLE)
    path = folder / "answers.jsonl"
    path.write_text(path.read_text().replace('"answer": "Handbook a on q1.", "absent": false', '"answer": "", "absent": null'))
    found = checks(folder, tmp_path / "data")
    assert figures(found, "other_on_absent") == (1, False)
    assert (
        "1 of 5 scored pairs with an absent answer are not ABSENT; for example a and b on q1."
        in found["other_on_absent"]["message"]
    )


def test_a_pair_with_an_answer_that_says_not_addressed_and_more_is_compared_with_nothing(tmp_path: Path) -> None:
    folder = release_from(tmp_path, TABLE)
    path = folder / "answers.jsonl"
    said = '"answer": "NOT ADDRESSED. Ask at page 3.", "absent": null'
    path.write_text(path.read_text().replace('"answer": "Handbook a on q1.", "absent": false', said))
    found = checks(folder, tmp_path / "data")
    assert figures(found, "absent_on_present") == (2, None)
    assert found["labels_not_compared"]["message"].endswith("and none that is absent: 2.")


def test_without_answers_nothing_is_known(tmp_path: Path) -> None:
    folder = release_from(tmp_path, TABLE)
    (folder / "answers.jsonl").unlink()
    found = checks(folder, tmp_path / "data")
    assert figures(found, "absent_on_present") == figures(found, "other_on_absent") == (None, None)


def test_a_table_of_pairs_and_files_of_them_give_the_same_counts(tmp_path: Path) -> None:
    folder = release_from(tmp_path, TABLE)
    nested = checks(folder, tmp_path / "nested")
    lines = [path.read_text() for path in sorted((folder / "comparisons").iterdir())]
    (folder / "comparisons.jsonl").write_text("\n".join(lines))
    for path in (folder / "comparisons").iterdir():
        path.unlink()
    assert checks(folder, tmp_path / "lines")["absent_on_present"] == nested["absent_on_present"]


def test_duplicates_that_were_quarantined_are_not_counted(tmp_path: Path) -> None:
    folder = release_from(tmp_path, TABLE)
    before = checks(folder, tmp_path / "before")
    spoil(folder, "q1", lambda record: record["pairs"].append(record["pairs"][1]))
    assert checks(folder, tmp_path / "after")["absent_on_present"] == before["absent_on_present"]
