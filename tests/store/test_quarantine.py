"""Bad records: each is refused with its place and a reason, and costs nothing but itself."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.loading import ask, load, messages, pairs_in, quarantined, spoil

ALL = 12
Q1 = "comparisons/q1.json"


def pair(record: dict[str, Any], a: str, b: str) -> dict[str, Any]:
    return next(p for p in record["pairs"] if {p["handbook_a"], p["handbook_b"]} == {a, b})


def change(a: str, b: str, **fields: Any) -> Any:
    return lambda record: pair(record, a, b).update(fields)


@pytest.mark.parametrize(
    ("fields", "code", "words"),
    [
        ({"classification": "DIVERGANT"}, "unknown_classification", "Did you mean 'DIVERGENT'? Allowed: ABSENT, CONSISTENT"),
        ({"classification": "5"}, "unknown_classification", "'5' is not in the vocabulary"),
        ({"classification": ["DIVERGENT"]}, "wrong_type", "'classification' is a list, but must be text"),
        ({"classification": True}, "wrong_type", "'classification' is true/false"),
        ({"handbook_b": "z"}, "unknown_handbook", "handbook 'z' is not in handbooks"),
        ({"handbook_b": {"id": "b"}}, "wrong_type", "'handbook_b' is an object"),
        ({"handbook_b": None}, "missing_field", "'handbook_b' is empty"),
        ({"handbook_b": "a"}, "self_pair", "a handbook is not compared with itself"),
        ({"clinical_significance": "enormous"}, "unknown_clinical_significance", "Allowed: low, medium, high"),
        (
            {"classification": None, "reasoning": None, "judge_metadata": None},
            "no_verdict",
            "nothing shows that it was ever asked",
        ),
    ],
)
def test_a_bad_pair_is_refused_and_the_others_are_loaded(
    release: Path, tmp_path: Path, fields: Any, code: str, words: str
) -> None:
    spoil(release, "q1", change("a", "b", **fields))
    loaded = load(release, tmp_path)
    assert quarantined(loaded) == [(Q1, "pair 1", code)]
    assert words in messages(loaded, "quarantined")[0]
    assert len(pairs_in(loaded)) == ALL - 1
    assert loaded.run.report["totals"]["pair"] == {"files": 2, "read": ALL, "loaded": ALL - 1, "quarantined": 1}


def test_the_refused_record_is_kept_as_it_stood(release: Path, tmp_path: Path) -> None:
    spoil(release, "q1", change("a", "b", classification="DIVERGANT"))
    loaded = load(release, tmp_path)
    (kept,) = ask(loaded, "select record from findings")[0]
    assert json.loads(kept)["classification"] == "DIVERGANT"


def test_a_pair_that_is_no_object_is_refused(release: Path, tmp_path: Path) -> None:
    spoil(release, "q1", lambda record: record["pairs"].append("a-b"))
    loaded = load(release, tmp_path)
    assert quarantined(loaded) == [(Q1, "pair 7", "wrong_type")]
    assert len(pairs_in(loaded)) == ALL


@pytest.mark.parametrize("twin", [("a", "b"), ("b", "a")], ids=["same order", "other order"])
def test_of_two_equal_twins_the_first_stays(release: Path, tmp_path: Path, twin: tuple[str, str]) -> None:
    spoil(release, "q1", lambda r: r["pairs"].append({**pair(r, "a", "b"), "handbook_a": twin[0], "handbook_b": twin[1]}))
    loaded = load(release, tmp_path)
    assert quarantined(loaded) == [(Q1, "pair 7", "duplicate_pair")]
    assert len(pairs_in(loaded)) == ALL


@pytest.mark.parametrize("twin", [("a", "b"), ("b", "a")], ids=["same order", "other order"])
def test_of_two_twins_with_different_labels_none_is_believed(release: Path, tmp_path: Path, twin: tuple[str, str]) -> None:
    other = {"handbook_a": twin[0], "handbook_b": twin[1], "classification": "CONSISTENT", "clinical_significance": None}
    spoil(release, "q1", lambda r: r["pairs"].append({**pair(r, "a", "b"), **other}))
    loaded = load(release, tmp_path)
    assert quarantined(loaded) == [(Q1, "pair 1", "conflicting_pair"), (Q1, "pair 7", "conflicting_pair")]
    assert len(pairs_in(loaded)) == ALL - 1
    assert loaded.run.report["totals"]["pair"]["read"] == ALL + 1


def test_a_twin_in_another_file_is_found_and_the_file_that_came_first_is_believed(release: Path, tmp_path: Path) -> None:
    original = json.loads((release / Q1).read_text())
    twin = {**original, "pairs": [pair(original, "b", "c")], "matrix": None}
    (release / "comparisons" / "q1-again.json").write_text(json.dumps(twin))
    loaded = load(release, tmp_path)
    assert quarantined(loaded) in (
        [("comparisons/q1.json", "pair 4", "duplicate_pair")],
        [("comparisons/q1-again.json", "pair 1", "duplicate_pair")],
    )
    assert len(pairs_in(loaded)) == ALL


def test_an_unknown_question_takes_its_own_pairs_with_it_and_no_others(release: Path, tmp_path: Path) -> None:
    spoil(release, "q1", lambda record: record.update(question_id="q99"))
    loaded = load(release, tmp_path)
    assert {code for _, _, code in quarantined(loaded)} == {"unknown_question"}
    assert loaded.run.report["totals"]["pair"]["quarantined"] == 6
    assert {row[0] for row in pairs_in(loaded)} == {"q2"}


def test_a_truncated_file_is_set_aside_whole(release: Path, tmp_path: Path) -> None:
    path = release / Q1
    path.write_text(path.read_text()[:-200])
    loaded = load(release, tmp_path)
    assert quarantined(loaded) == [(Q1, "whole file", "broken_json")]
    assert "truncated" in messages(loaded, "quarantined")[0]
    assert {row[0] for row in pairs_in(loaded)} == {"q2"}


def test_a_truncated_gzip_is_set_aside_whole(release: Path, tmp_path: Path) -> None:
    packed = gzip.compress((release / Q1).read_bytes())
    (release / Q1).unlink()
    (release / "comparisons" / "q1.json.gz").write_bytes(packed[:-20])
    loaded = load(release, tmp_path)
    assert quarantined(loaded) == [("comparisons/q1.json.gz", "whole file", "unreadable_file")]
    assert {row[0] for row in pairs_in(loaded)} == {"q2"}


def test_a_significance_where_none_belongs_is_dropped_and_the_pair_stays(release: Path, tmp_path: Path) -> None:
    spoil(release, "q1", change("b", "c", clinical_significance="high"))
    loaded = load(release, tmp_path)
    assert not quarantined(loaded)
    assert "'high' on CONSISTENT: only DIVERGENT and CONTRADICTORY have one" in messages(loaded, "repaired")[0]
    assert ("q1", "b", "c", "CONSISTENT", False, None) in [row[:6] for row in pairs_in(loaded)]


@pytest.mark.parametrize("field", ["reasoning", "divergence_topic"])
def test_a_field_of_the_wrong_type_that_can_be_spared_is_dropped(release: Path, tmp_path: Path, field: str) -> None:
    spoil(release, "q1", change("a", "b", **{field: {"text": "x"}}))
    loaded = load(release, tmp_path)
    assert f"'{field}' is an object, but must be text. It was loaded without that field." in messages(loaded, "repaired")[0]
    assert ("q1", "a", "b", "DIVERGENT", False, "high") in [row[:6] for row in pairs_in(loaded)]


def test_tokens_that_are_no_number_are_dropped_and_the_verdict_stays(release: Path, tmp_path: Path) -> None:
    spoil(release, "q1", change("a", "b", judge_metadata={"input_tokens": "many", "output_tokens": 10, "latency_s": 0.5}))
    loaded = load(release, tmp_path)
    assert "'input_tokens' is 'many', but must be a number" in messages(loaded, "repaired")[0]
    assert len(pairs_in(loaded)) == ALL


def test_an_answer_whose_flag_and_words_disagree_counts_as_its_flag_says_and_is_told(release: Path, tmp_path: Path) -> None:
    first, *others = (release / "answers.jsonl").read_text().splitlines()
    told = json.loads(first) | {"answer": "not addressed: ask the ward.", "absent": False}
    (release / "answers.jsonl").write_text("\n".join([json.dumps(told), *others]))
    loaded = load(release, tmp_path)
    assert "says 'NOT ADDRESSED'; it was loaded as present, following the flag" in messages(loaded, "repaired")[0]
    assert ask(loaded, "select absent, absence_method from answers order by rowid limit 1") == [(False, None)]


def test_nan_is_no_value_and_is_said(release: Path, tmp_path: Path) -> None:
    text = (release / Q1).read_text().replace('"latency_s": 0.5', '"latency_s": NaN')
    (release / Q1).write_text(text)
    loaded = load(release, tmp_path)
    assert not quarantined(loaded)
    assert "NaN read as no value (3 times)" in messages(loaded, "repaired")[0]
    assert {row[10] for row in pairs_in(loaded) if row[0] == "q1"} == {None}


def test_a_label_that_is_nan_is_unscored_and_never_consistent(release: Path, tmp_path: Path) -> None:
    text = (release / Q1).read_text().replace('"classification": "CONSISTENT"', '"classification": NaN')
    (release / Q1).write_text(text)
    loaded = load(release, tmp_path)
    assert ("q1", "b", "c", None, False, None) in [row[:6] for row in pairs_in(loaded)]


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(release: Path, tmp_path: Path) -> None:
    plain = load(release, tmp_path / "plain")
    for path in release.rglob("*.json*"):
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    marked = load(release, tmp_path / "marked")
    assert not quarantined(marked)
    assert "byte order mark skipped" in messages(marked, "noted")[0]
    assert pairs_in(marked) == pairs_in(plain)


def test_text_that_is_not_utf8_is_set_aside(release: Path, tmp_path: Path) -> None:
    (release / Q1).write_bytes((release / Q1).read_bytes().replace(b"a against b", b"a against \xe9"))
    loaded = load(release, tmp_path)
    assert quarantined(loaded) == [(Q1, "whole file", "not_utf8")]


def test_a_40_mb_file_is_loaded_whole(release: Path, tmp_path: Path) -> None:
    spoil(release, "q1", change("a", "b", reasoning="x" * 40_000_000))
    loaded = load(release, tmp_path)
    assert not quarantined(loaded)
    assert ask(loaded, "select max(length(reasoning)) from pairs") == [(40_000_000,)]


def test_an_object_over_the_limit_is_set_aside_with_the_setting_that_moves_it(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUDIT_MAX_OBJECT_MB", "1")
    spoil(
        release,
        "q1",
        lambda record: (
            pair(record, "a", "b").update(reasoning="x" * 2_000_000),
            pair(record, "b", "c").update(classification="?"),
        ),
    )
    loaded = load(release, tmp_path)
    assert quarantined(loaded) == [(Q1, "whole file", "too_large")]
    assert "AUDIT_MAX_OBJECT_MB" in messages(loaded, "quarantined")[0]


def test_a_matrix_that_contradicts_its_pairs_is_said_and_the_pairs_count(release: Path, tmp_path: Path) -> None:
    spoil(release, "q1", lambda record: record["matrix"][0].__setitem__(1, 1))
    loaded = load(release, tmp_path)
    assert "1 of its matrix's cells contradict the pairs" in messages(loaded, "noted")[0]
    assert ("q1", "a", "b", "DIVERGENT", False, "high") in [row[:6] for row in pairs_in(loaded)]
    (check,) = [check for check in loaded.run.report["checks"] if check["name"] == "matrix_contradicts"]
    assert (check["found"], check["ok"]) == (1, False)


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ([[1, 3, 2], [3, 1, 1], [2, 1, 1]], "not square: 3 rows of 3 cells for 4 handbooks"),
        ([[1, 3, 2, 0], [3, 1, 1, 0], [2, 1, 1, 0], [0, 0, 0]], "not square: 4 rows of 3 or 4 cells for 4 handbooks"),
        ([[1, 3, 2, 0], [3, 1, 1, 0], [2, 1, 1, 0], [0, 0, 0, 7]], "cells other than 0, 1, 2, 3, 4 and null"),
        ([[1, 3, 2, 0], [3, 1, 1, 0], [2, 1, 1, 0], [0, 0, 0, "x"]], "cells other than 0, 1, 2, 3, 4 and null"),
        ("none", "not a list of lists"),
    ],
)
def test_a_matrix_that_is_none_is_said_and_the_pairs_are_loaded(release: Path, tmp_path: Path, matrix: Any, words: str) -> None:
    spoil(release, "q1", lambda record: record.update(matrix=matrix))
    loaded = load(release, tmp_path)
    assert words in messages(loaded, "noted")[0]
    assert len(pairs_in(loaded)) == ALL
    assert not loaded.run.report["clean"]


def test_a_label_on_an_absent_answer_is_noted(release: Path, tmp_path: Path) -> None:
    spoil(
        release,
        "q1",
        lambda record: (pair(record, "a", "d").update(classification="CONSISTENT", reasoning="same"), record.update(matrix=None)),
    )
    loaded = load(release, tmp_path)
    assert "1 pairs have a label other than ABSENT although an answer is absent" in messages(loaded, "noted")[0]


def test_a_file_without_pairs_is_refused(release: Path, tmp_path: Path) -> None:
    spoil(release, "q1", lambda record: record.update(pairs="none"))
    loaded = load(release, tmp_path)
    assert quarantined(loaded) == [(Q1, "record 1", "wrong_type")]


BAD_LINES: list[tuple[str, Any, str]] = [
    ("handbooks", {"handbook_id": "a", "organ": "liver", "center": "x"}, "duplicate_handbook"),
    ("handbooks", {"handbook_id": "e", "organ": "liver"}, "missing_field"),
    ("handbooks", {"handbook_id": "e", "organ": "liver", "center": "x", "phase": "mid"}, "unknown_phase"),
    ("questions", {"question_id": "q1", "question": "?", "organ": "liver"}, "duplicate_question"),
    ("answers", {"question_id": "q1", "handbook_id": "a", "answer": "again"}, "duplicate_answer"),
    ("answers", {"question_id": "q7", "handbook_id": "a", "answer": "?"}, "unknown_question"),
    ("answers", {"question_id": "q1", "handbook_id": "z", "answer": "?"}, "unknown_handbook"),
    ("answers", {"question_id": "q1", "handbook_id": "a"}, "missing_field"),
    ("answers", {"question_id": "q1", "handbook_id": "a", "answer": "x", "absent": "perhaps"}, "wrong_type"),
    ("answers", ["q1", "a"], "wrong_type"),
]
SOUND_LINES = {"handbooks": 4, "questions": 2, "answers": 8}


@pytest.mark.parametrize(("table", "line", "code"), BAD_LINES)
def test_a_bad_line_of_a_table_is_refused_alone(release: Path, tmp_path: Path, table: str, line: Any, code: str) -> None:
    with (release / f"{table}.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")
    loaded = load(release, tmp_path)
    assert [found[2] for found in quarantined(loaded)] == [code]
    assert ask(loaded, f"select count(*) from {table}") == [(SOUND_LINES[table],)]
    assert len(pairs_in(loaded)) == ALL


def test_a_broken_line_is_refused_alone(release: Path, tmp_path: Path) -> None:
    lines = (release / "answers.jsonl").read_text().splitlines()
    (release / "answers.jsonl").write_text("\n".join([lines[0][:20], *lines[1:]]))
    loaded = load(release, tmp_path)
    assert quarantined(loaded) == [("answers.jsonl", "line 1", "broken_json")]
    assert ask(loaded, "select count(*) from answers") == [(7,)]


DEEP, LONG = "[" * 100_000 + "]" * 100_000, "9" * 5_000


@pytest.mark.parametrize(
    ("table", "field", "value", "words"),
    [
        ("handbooks", "pages", "1" + "0" * 400, "'pages' is 1000"),
        ("handbooks", "pages", "99999999999", "'pages' is 99999999999, but must be at most 2,147,483,647."),
        ("handbooks", "pages", "1e300", "'pages' is 1e+300, but must be a number."),
        ("questions", "topics", json.dumps(DEEP), "recursion"),
        ("answers", "retrieval", json.dumps('{"a":' + DEEP + "}"), "recursion"),
    ],
)
def test_a_value_beyond_all_measure_is_dropped_and_its_record_stays(
    release: Path, tmp_path: Path, table: str, field: str, value: str, words: str
) -> None:
    path = release / f"{table}.jsonl"
    first, *others = path.read_text().splitlines()
    path.write_text("\n".join([json.dumps(json.loads(first) | {field: "@"}).replace('"@"', value), *others]))
    loaded = load(release, tmp_path)
    assert words in messages(loaded, "repaired")[0]
    assert ask(loaded, f"select count(*) from {table}") == [(SOUND_LINES[table],)]


@pytest.mark.parametrize("value", [LONG, DEEP], ids=["long", "deep"])
def test_a_file_that_no_reader_of_json_takes_is_set_aside(release: Path, tmp_path: Path, value: str) -> None:
    path = release / Q1
    path.write_text(json.dumps(json.loads(path.read_text()) | {"matrix": "@"}).replace('"@"', value))
    assert quarantined(load(release, tmp_path)) == [(Q1, "whole file", "broken_json")]


def test_a_delay_that_no_clock_can_show_is_dropped(release: Path, tmp_path: Path) -> None:
    spoil(release, "q1", change("a", "b", judge_metadata={"latency_s": 1e300}))
    loaded = load(release, tmp_path)
    assert "'latency_s' is 1e+300" in messages(loaded, "repaired")[0]
    assert len(pairs_in(loaded)) == ALL


@pytest.mark.parametrize("listed", [7, [["a"], "b", "c", "d"]])
def test_a_list_of_handbooks_that_is_none_costs_no_pair(release: Path, tmp_path: Path, listed: Any) -> None:
    spoil(release, "q1", lambda record: record.update(handbooks=listed))
    assert len(pairs_in(load(release, tmp_path))) == ALL


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r"fever \ud83d", "fever \N{REPLACEMENT CHARACTER}"),
        (r"\uDE00 fever", "\N{REPLACEMENT CHARACTER} fever"),
        (r"\ud83d\ude00 fever \\ud83d", "\N{GRINNING FACE} fever \\ud83d"),
    ],
)
def test_half_a_character_is_replaced_and_said(release: Path, tmp_path: Path, written: str, read: str) -> None:
    for path, found in ((release / Q1, "a against b"), (release / "answers.jsonl", '"answer": "')):
        path.write_text(path.read_text().replace(found, found.replace("a against b", "") + written, 1))
    loaded = load(release, tmp_path)
    assert not quarantined(loaded)
    assert ask(loaded, "select answer from answers order by rowid limit 1")[0][0].startswith(read)
    assert read in {row[6] for row in pairs_in(loaded)}
    assert ("lone surrogate" in "".join(messages(loaded, "noted"))) == ("\N{REPLACEMENT CHARACTER}" in read)


@pytest.mark.parametrize("character", [r"\u0000", r"\ufffe", r"\f", "\x7f"])
def test_control_characters_are_read_as_spaces_and_counted(release: Path, tmp_path: Path, character: str) -> None:
    for path, part in (
        (release / "handbooks.jsonl", '"center": "'),
        (release / "manifest.json", '"title": "'),
        (release / Q1, "a against b"),
    ):
        path.write_text(path.read_text().replace(part, f"{part}{character}x", 1), encoding="utf-8")
    loaded = load(release, tmp_path)
    assert not quarantined(loaded)
    assert len(pairs_in(loaded)) == ALL
    assert ask(loaded, "select center from handbooks order by handbook limit 1")[0][0].startswith(("x", " x"))
    assert "a against b x" in {row[6] for row in pairs_in(loaded)}
    noted = messages(loaded, "noted")
    assert [message for message in noted if "control character read as a space (1 times)" in message] == noted
    assert len(noted) == 3


def test_control_characters_of_a_table_and_its_themes_are_read_as_spaces(release: Path, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in (release / "handbooks.jsonl").read_text().splitlines()]
    rows = "\n".join(f"{line['handbook_id']},kidney,Al\x00der {line['handbook_id']},combined" for line in lines)
    (release / "handbooks.csv").write_text(f"handbook_id,organ,center,phase\n{rows}\n")
    (release / "handbooks.jsonl").unlink()
    (release / "themes.json").write_text(r'{"themes": [{"theme_id": "t1", "name": "Be\u0007ll", "topics": []}]}')
    loaded = load(release, tmp_path)
    assert {center[:6] for (center,) in ask(loaded, "select center from handbooks")} == {"Al der"}
    assert ask(loaded, "select name from themes") == [("Be ll",)]
    noted = [message for message in messages(loaded, "noted") if "control character" in message]
    assert noted == ["control character read as a space (4 times).", "control character read as a space (1 times)."]


def test_control_characters_of_parquet_tables_and_of_the_theme_map_are_read_as_spaces(release: Path, tmp_path: Path) -> None:
    records = [json.loads(line) for line in (release / "handbooks.jsonl").read_text().splitlines()]
    nested = [{**record, "center": f"Al\x07der {record['handbook_id']}", "aliases": ["o\x1bne", "two"]} for record in records]
    pq.write_table(pa.Table.from_pylist(nested), release / "handbooks.parquet")
    (release / "handbooks.jsonl").unlink()
    (release / "themes.json").write_text('{"themes": [{"theme_id": "t1", "name": "Bell", "topics": ["topic of ab", "z"]}]}')
    phrases = pa.table({"phrase": ["topic\x07of ab", "z"], "x": [0.5, 1.0], "y": [0.25, 2.0]})
    pq.write_table(phrases, release / "themes.parquet")
    loaded = load(release, tmp_path)
    assert {center[:6] for (center,) in ask(loaded, "select center from handbooks")} == {"Al der"}
    assert {tuple(aliases) for (aliases,) in ask(loaded, "select aliases from handbooks")} == {("o ne", "two")}
    assert ask(loaded, "select topic, x, y from theme_topics order by topic") == [("topic of ab", 0.5, 0.25), ("z", 1.0, 2.0)]
    noted = [message for message in messages(loaded, "noted") if "control character" in message]
    assert noted == ["control character read as a space (8 times).", "control character read as a space (1 times)."]
