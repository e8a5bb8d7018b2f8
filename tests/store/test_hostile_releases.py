"""Releases made to cost much: names, packed bombs, thousands of damaged files, endless fields. Sound records are loaded."""

from __future__ import annotations

import gzip
import json
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audit.release import records
from audit.store import load as loading
from audit.store import record_reader
from audit.store.connection import Connection, create_store
from audit.store.runs import OTHER_LAYOUT, store_problem
from tests.support.loading import load, messages, pairs_in, quarantined, spoil
from tests.support.tiny import release_from

ALL = 12
MB = 2**20


# -- names ---------------------------------------------------------------------------------------------------------------


@pytest.fixture
def odd_name() -> str:
    return os.fsdecode(b"\xff")


def rename(path: Path, name: str) -> None:
    try:
        path.rename(path.with_name(name))
    except OSError:
        pytest.skip("this file system takes no such name")


@pytest.mark.parametrize("file", ["comparisons/q1.json", "answers.jsonl"])
def test_a_name_that_is_not_utf8_loses_no_record(release: Path, tmp_path: Path, odd_name: str, file: str) -> None:
    path = release / file
    if path.name == "answers.jsonl":  # a table may be a folder of files
        (release / "answers").mkdir()
        path = path.rename(release / "answers" / "all.jsonl")
    rename(path, f"{odd_name}{path.suffix}")
    loaded = load(release, tmp_path / "data")
    assert len(pairs_in(loaded)) == ALL
    assert loaded.run.report["clean"]
    assert path.with_name(f"\\udcff{path.suffix}").relative_to(release).as_posix() in {
        f["file"] for f in loaded.run.report["files"]
    }


def test_a_finding_names_a_file_whose_name_is_not_utf8(release: Path, tmp_path: Path, odd_name: str) -> None:
    (release / "comparisons" / "q1.json").write_text('{"question_id": "q1", "pairs": [')
    rename(release / "comparisons" / "q1.json", f"{odd_name}.json")
    assert quarantined(load(release, tmp_path / "data")) == [(r"comparisons/\udcff.json", "whole file", "broken_json")]


def test_a_folder_whose_name_is_not_utf8_is_loaded(tmp_path: Path, odd_name: str) -> None:
    folder = release_from(tmp_path, "q1 kidney ab=DIVERGENT/low", run_id="r")
    (folder / "manifest.json").unlink()
    rename(folder, odd_name)
    loaded = load(tmp_path / odd_name, tmp_path / "data")
    assert (loaded.run.run_id, len(pairs_in(loaded))) == (r"\udcff", 1)


@pytest.mark.parametrize("name", ["q*.json", "q?.json", "q[1].json", "*.json"])
def test_a_name_that_looks_like_a_pattern_is_the_name_of_one_file(release: Path, tmp_path: Path, name: str) -> None:
    rename(release / "comparisons" / "q2.json", name)
    loaded = load(release, tmp_path / "data")
    assert quarantined(loaded) == []
    assert len(pairs_in(loaded)) == ALL


# -- packed tables -------------------------------------------------------------------------------------------------------


def pack(path: Path, end: bytes) -> Path:
    """The file packed, with `end` behind its content."""
    packed = path.with_name(f"{path.name}.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()) + gzip.compress(end))
    path.unlink()
    return packed


def peak_mb(action: Callable[[], Any]) -> float:
    """Megabytes that Python allocates at most during `action`; those of DuckDB are not counted."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1] / MB
    finally:
        tracemalloc.stop()


def test_a_packed_line_over_the_limit_is_set_aside_and_the_lines_around_it_are_loaded(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUDIT_MAX_OBJECT_MB", "1")
    first, *others = (release / "answers.jsonl").read_bytes().splitlines(keepends=True)
    (release / "answers.jsonl").write_bytes(first)
    pack(release / "answers.jsonl", b"\0" * 60 * MB + b"\n" + b"".join(others))
    found: list[Any] = []
    assert peak_mb(lambda: found.append(load(release, tmp_path / "data"))) < 10
    assert quarantined(found[0]) == [("answers.jsonl.gz", "line 2", "too_large")]
    assert found[0].run.report["totals"]["answer"]["loaded"] == 8


@pytest.mark.parametrize("end", [b"\0", b" "], ids=["zeros", "spaces"])
def test_a_packed_table_that_unpacks_to_far_more_than_its_size_ends_there(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: bytes
) -> None:
    monkeypatch.setattr(records, "HARMLESS_BYTES", MB)
    monkeypatch.setenv("AUDIT_MAX_OBJECT_MB", "20")
    pack(release / "answers.jsonl", end * 60 * MB)
    found: list[Any] = []
    assert peak_mb(lambda: found.append(load(release, tmp_path / "data"))) < 40
    assert quarantined(found[0]) == [("answers.jsonl.gz", "whole file", "unreadable_file")]
    assert "unpacks to more than" in messages(found[0], "quarantined")[0]
    assert found[0].run.report["totals"]["answer"]["loaded"] == 8


def test_a_packed_comparison_file_that_unpacks_to_far_more_than_its_size_is_not_read_whole(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "HARMLESS_BYTES", MB)
    monkeypatch.setenv("AUDIT_MAX_OBJECT_MB", "100")
    pack(release / "comparisons" / "q1.json", b"\0" * 80 * MB)
    loaded = load(release, tmp_path / "data")
    assert quarantined(loaded) == [("comparisons/q1.json.gz", "whole file", "unreadable_file")]
    assert len(pairs_in(loaded)) == ALL / 2


@pytest.mark.parametrize("line", [b"\n", b"x\n", b"1\n", b"\xff\n"], ids=["blank", "no JSON", "no object", "no UTF-8"])
def test_a_table_ends_where_ten_thousand_lines_in_a_row_contain_no_record(release: Path, tmp_path: Path, line: bytes) -> None:
    path = release / "answers.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + line * 9_990 + whole.splitlines()[0] + b"\n" + line * 2_000_000)
    loaded = load(release, tmp_path / "data")
    assert quarantined(loaded)[-1] == ("answers.jsonl", "whole file", "unreadable_file")
    assert messages(loaded, "quarantined")[-1].startswith("10,000 lines in a row up to line 20,000 contain no record")
    # the ninth answer, behind fewer such lines, was read: it occurs twice
    assert ("answers.jsonl", "line 9999", "duplicate_answer") in quarantined(loaded)


def test_records_that_are_refused_without_end_are_counted_and_not_listed(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_reader, "MAX_LISTED", 50)
    (release / "answers.jsonl").write_text("{}\n" * 500)
    loaded = load(release, tmp_path / "data")
    assert loaded.run.report["totals"]["answer"] == {"files": 1, "read": 500, "loaded": 0, "quarantined": 500}
    assert len(quarantined(loaded)) == 51
    assert "only counted" in messages(loaded, "quarantined")[-1]


# -- many damaged files --------------------------------------------------------------------------------------------------


class CountingConnection:
    """A connection that counts its statements and those of its cursors."""

    def __init__(self, con: Connection, statements: list[str]) -> None:
        self._con, self._statements = con, statements

    def execute(self, sql: str, *parameters: Any) -> Any:
        self._statements.append(sql)
        return self._con.execute(sql, *parameters)

    def cursor(self) -> CountingConnection:
        return CountingConnection(self._con.cursor(), self._statements)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._con, name)


def count_statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A list to which every statement of the next load will be appended."""
    statements: list[str] = []
    monkeypatch.setattr(loading, "create_store", lambda *given: CountingConnection(create_store(*given), statements))
    return statements


def cut(folder: Path, question: str) -> None:
    path = folder / "comparisons" / f"{question}.json"
    path.write_bytes(path.read_bytes()[:60])


def not_utf8(folder: Path, question: str) -> None:
    (folder / "comparisons" / f"{question}.json").write_bytes(b'{"question_id": "\xff"')


def wrong_type(folder: Path, question: str) -> None:
    spoil(folder, question, lambda record: record["pairs"][0].update(judge_metadata={"input_tokens": "many"}))


def unknown_label(folder: Path, question: str) -> None:
    spoil(folder, question, lambda record: record["pairs"][0].update(classification="DIVERGANT"))


def duplicate(folder: Path, question: str) -> None:
    spoil(folder, question, lambda record: record["pairs"].append(record["pairs"][0]))


@pytest.mark.parametrize("damage", [cut, not_utf8, wrong_type, unknown_label, duplicate])
def test_the_number_of_statements_does_not_grow_with_the_number_of_damaged_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: Callable[[Path, str], None]
) -> None:
    counts = {}
    for number in (2, 100):
        folder = release_from(tmp_path / str(number), "\n".join(f"q{n} kidney ab=DIVERGENT/low" for n in range(number)))
        for question in range(number):
            damage(folder, f"q{question}")
        statements: list[str] = []
        monkeypatch.setattr(
            loading, "create_store", lambda *given, seen=statements: CountingConnection(create_store(*given), seen)
        )
        report = load(folder, tmp_path / f"data{number}").run.report
        assert report["findings"]["quarantined"] + report["findings"]["repaired"] >= number
        counts[number] = len(statements)
    assert counts[100] <= counts[2] + 5


def test_a_sound_release_takes_one_statement_a_batch(release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    statements = count_statements(monkeypatch)
    load(release, tmp_path / "data")
    assert sum("read_json" in sql for sql in statements) == 1


# -- the manifest --------------------------------------------------------------------------------------------------------


def test_a_manifest_is_cut_to_what_a_page_can_draw_and_that_is_reported(release: Path, tmp_path: Path) -> None:
    manifest = json.loads((release / "manifest.json").read_text())
    huge = {"generator": "g" * 10 * MB, "notes": ["n" * MB], "judge": "a judge"}
    (release / "manifest.json").write_text(json.dumps(huge | manifest | huge))
    loaded = load(release, tmp_path / "data")
    assert loaded.run.manifest["generator"] == "g" * 2_000
    assert "notes" not in loaded.run.manifest
    assert loaded.run.manifest["judge"] == "a judge"
    assert (loaded.run.title, len(pairs_in(loaded))) == ("A tiny release", ALL)
    cut_field, left_out = messages(loaded, "repaired")
    assert cut_field == "field 'generator' has 10,485,760 characters; its first 2,000 were loaded."
    assert left_out.startswith("field 'notes' has 1,048,5")


def test_a_usual_manifest_is_loaded_unchanged(release: Path, tmp_path: Path) -> None:
    manifest = json.loads((release / "manifest.json").read_text()) | {"judge_settings": {"prompt": "p" * 9_000}}
    (release / "manifest.json").write_text(json.dumps(manifest))
    loaded = load(release, tmp_path / "data")
    assert loaded.run.manifest | manifest == loaded.run.manifest
    assert messages(loaded, "repaired") == []


@pytest.mark.parametrize("kept", [100, 8_192, 12_288, 60_000])
def test_a_damaged_store_says_that_it_is_damaged(release: Path, tmp_path: Path, kept: int) -> None:
    path = load(release, tmp_path / "data").run.path
    content = path.read_bytes()
    path.write_bytes(content[:kept] + b"\xa5" * (len(content) - kept))
    problem = store_problem(path)
    assert problem is not None
    assert problem != OTHER_LAYOUT
    assert "\n" not in problem
