"""One release in every accepted format and spelling: always the same run."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.loading import ask, load, pairs_in, quarantined

Records = list[dict[str, Any]]


def records_of(release: Path, name: str) -> Records:
    return [json.loads(line) for line in (release / f"{name}.jsonl").read_text().splitlines()]


def pair_rows(release: Path) -> Records:
    comparisons = [json.loads(path.read_text()) for path in sorted((release / "comparisons").iterdir())]
    return [{"question_id": c["question_id"], **pair} for c in comparisons for pair in c["pairs"]]


def write_json(path: Path, records: Records) -> None:
    path.with_suffix(".json").write_text(json.dumps(records))


def write_wrapped(path: Path, records: Records) -> None:
    path.with_suffix(".json").write_text(json.dumps({path.name: records}))


def write_gz(path: Path, records: Records) -> None:
    path.with_suffix(".jsonl.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, records)).encode()))


def write_csv(path: Path, records: Records) -> None:
    with path.with_suffix(".csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(records[0]))
        writer.writeheader()
        writer.writerows({key: _cell(value) for key, value in record.items()} for record in records)


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return ";".join(value)
    return json.dumps(value) if isinstance(value, dict) else value


def write_parquet(path: Path, records: Records) -> None:
    pq.write_table(pa.Table.from_pylist(records), path.with_suffix(".parquet"))


@pytest.mark.parametrize("write", [write_json, write_wrapped, write_gz, write_csv, write_parquet])
@pytest.mark.parametrize("part", ["handbooks", "questions", "answers"])
def test_every_table_may_come_in_every_format(
    release: Path, tmp_path: Path, part: str, write: Callable[[Path, Records], None]
) -> None:
    plain = load(release, tmp_path / "plain")
    records = records_of(release, part)
    (release / f"{part}.jsonl").unlink()
    write(release / part, records)
    other = load(release, tmp_path / "other")
    assert not quarantined(other)
    table = f"select * from {part} order by all"
    assert ask(other, table) == ask(plain, table)
    assert pairs_in(other) == pairs_in(plain)


@pytest.mark.parametrize("write", [write_json, write_wrapped, write_gz, write_csv, write_parquet])
def test_pairs_may_come_as_one_long_table(release: Path, tmp_path: Path, write: Callable[[Path, Records], None]) -> None:
    plain = load(release, tmp_path / "plain")
    rows = pair_rows(release)
    for path in (release / "comparisons").iterdir():
        path.unlink()
    (release / "comparisons").rmdir()
    write(release / "comparisons", rows)
    other = load(release, tmp_path / "other")
    assert not quarantined(other)
    assert pairs_in(other) == pairs_in(plain)


def test_comparison_files_may_be_packed(release: Path, tmp_path: Path) -> None:
    plain = load(release, tmp_path / "plain")
    for path in list((release / "comparisons").iterdir()):
        path.with_suffix(".json.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    packed = load(release, tmp_path / "packed")
    assert pairs_in(packed) == pairs_in(plain)
    assert packed.run.report["clean"]


def rename(release: Path, names: dict[str, str]) -> None:
    for path in release.rglob("*.json*"):
        text = path.read_text()
        for old, new in names.items():
            text = text.replace(f'"{old}":', f'"{new}":')
        path.write_text(text)


@pytest.mark.parametrize(
    "names",
    [
        {"classification": "label", "clinical_significance": "severity", "reasoning": "rationale", "judge_metadata": "usage"},
        {"question_id": "qid", "handbook_a": "Handbook-1", "handbook_b": "handbook 2", "divergence_topic": "divergenceTopic"},
        {"matrix": "label_matrix", "handbooks": "sources", "absent": "is_absent", "organ": "organ_type", "center": "centre"},
    ],
)
def test_fields_may_be_spelled_as_the_format_allows(release: Path, tmp_path: Path, names: dict[str, str]) -> None:
    plain = load(release, tmp_path / "plain")
    (release / "manifest.json").unlink()
    rename(release, names)
    other = load(release, tmp_path / "other")
    assert not quarantined(other)
    assert pairs_in(other) == pairs_in(plain)


@pytest.mark.parametrize(
    "spelled",
    [
        {"DIVERGENT": "Divergent", "ABSENT": "absent", "CONSISTENT": "consistent", "high": "High"},
        {"DIVERGENT": "divergence", "COMPLEMENTARY": " complementary ", "high": "HIGH"},
        {"DIVERGENT": "3", "COMPLEMENTARY": "2", "CONSISTENT": "1", "ABSENT": "0", "CONTRADICTORY": "4.0"},
    ],
)
def test_labels_may_be_spelled_in_any_unambiguous_way(release: Path, tmp_path: Path, spelled: dict[str, str]) -> None:
    plain = load(release, tmp_path / "plain")
    for path in (release / "comparisons").iterdir():
        text = path.read_text()
        for old, new in spelled.items():
            text = text.replace(f'": "{old}"', f'": "{new}"')
        path.write_text(text)
    other = load(release, tmp_path / "other")
    assert not quarantined(other)
    assert pairs_in(other) == pairs_in(plain)


def test_a_label_may_be_its_number(release: Path, tmp_path: Path) -> None:
    plain = load(release, tmp_path / "plain")
    for path in (release / "comparisons").iterdir():
        path.write_text(path.read_text().replace('"classification": "DIVERGENT"', '"classification": 3'))
    assert pairs_in(load(release, tmp_path / "other")) == pairs_in(plain)


def test_a_release_without_answers_says_so_and_keeps_its_pairs(release: Path, tmp_path: Path) -> None:
    plain = load(release, tmp_path / "plain")
    (release / "answers.jsonl").unlink()
    other = load(release, tmp_path / "other")
    assert (plain.run.has_answers, other.run.has_answers) == (True, False)
    assert pairs_in(other) == pairs_in(plain)


def test_a_release_without_a_matrix_has_nothing_to_hold_its_pairs_against(release: Path, tmp_path: Path) -> None:
    plain = load(release, tmp_path / "plain")
    for path in (release / "comparisons").iterdir():
        record = json.loads(path.read_text())
        del record["matrix"]
        path.write_text(json.dumps(record))
    other = load(release, tmp_path / "other")
    (check,) = [check for check in other.run.report["checks"] if check["name"] == "matrix_contradicts"]
    assert check["ok"] is None
    assert pairs_in(other) == pairs_in(plain)


def test_a_release_without_a_manifest_is_named_after_its_folder(release: Path, tmp_path: Path) -> None:
    (release / "manifest.json").unlink()
    loaded = load(release, tmp_path / "other")
    assert loaded.run.run_id == "tiny"
    assert loaded.run.report["clean"]
    assert {check["ok"] for check in loaded.run.report["checks"] if check["name"].endswith("_declared")} == {None}


def test_a_manifest_that_cannot_be_read_is_noted(release: Path, tmp_path: Path) -> None:
    (release / "manifest.json").write_text("{")
    loaded = load(release, tmp_path / "other")
    assert loaded.report
    assert [(f.code, f.outcome) for f in loaded.report.findings] == [("manifest_unread", "noted")]


def test_a_manifest_that_declares_other_counts_is_a_gap(release: Path, tmp_path: Path) -> None:
    manifest = json.loads((release / "manifest.json").read_text())
    (release / "manifest.json").write_text(json.dumps({**manifest, "pairs": 13}))
    loaded = load(release, tmp_path / "other")
    (check,) = [check for check in loaded.run.report["checks"] if check["ok"] is False]
    assert (check["expected"], check["found"]) == (13, 12)
    assert "1 of" in loaded.run.report["verdict"]
