"""A field that is given twice: which value is meant is unknown, so the record is refused or loaded without it."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.store.load import Loaded
from audit.store.other_spellings import may_have_control
from tests.support.loading import load, messages, pairs_in, quarantined
from tests.support.tiny import release_from

TABLE = """
    q1 kidney  topics=diet  ab=DIVERGENT/high  ac=COMPLEMENTARY  bc=CONSISTENT
    q2 general topics=work  ab=CONSISTENT      ac=CONSISTENT     bc=CONTRADICTORY/low
"""
Q2 = "comparisons/q2.json"


@pytest.fixture
def release(tmp_path: Path) -> Path:
    return release_from(tmp_path / "releases", TABLE)


def rewrite(path: Path, change: Callable[[str], str]) -> None:
    before = path.read_text()
    after = change(before)
    assert after != before
    path.write_text(after)


def labels(loaded: Loaded, question: str = "q2") -> dict[str, str | None]:
    return {a + b: label for question_id, a, b, label, *_ in pairs_in(loaded) if question_id == question}


def adds_up(loaded: Loaded) -> bool:
    assert loaded.report
    return all(line.read == line.loaded + line.quarantined for line in loaded.report.files)


def in_first_pair(text: str) -> Callable[[str], str]:
    """Puts `text` behind the first pair's brace."""
    return lambda raw: raw.replace('"pairs": [{', f'"pairs": [{{{text}, ', 1)


@pytest.mark.parametrize(
    ("text", "packed"),
    [
        ('"classification": "DIVERGENT"', False),
        ('"classification": "CONSISTENT"', True),
        ('"handbook_b": "c"', False),
        ('"label": "DIVERGENT"', True),
        ('"Classification": "DIVERGENT"', False),
        ('"VERDICT" : "DIVERGENT"', False),
        ('"hand book a": "c"', False),
        ('"severity": "high"', False),
    ],
)
def test_a_pair_with_a_field_given_twice_is_refused_and_the_others_are_loaded(
    text: str, packed: bool, release: Path, tmp_path: Path
) -> None:
    path = release / Q2
    if text == '"severity": "high"':  # beside the same field with another value
        rewrite(path, lambda raw: raw.replace('"clinical_significance": null', '"clinical_significance": "low"', 1))
    rewrite(path, in_first_pair(text))
    if packed:
        (release / f"{Q2}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    loaded = load(release, tmp_path)
    assert [(file.removesuffix(".gz"), where, code) for file, where, code in quarantined(loaded)] == [
        (Q2, "pair 1", "doubled_field")
    ]
    assert labels(loaded) == {"ac": "CONSISTENT", "bc": "CONTRADICTORY"}
    assert adds_up(loaded)
    key = text.split('"')[1]
    assert f"'{key}'" in messages(loaded, "quarantined")[0], "the sentence names the key"


@pytest.mark.parametrize("text", ['"label": "consistent"', '"label": null', '"verdict": ""', '"my notes": 1, "my notes": 2'])
def test_a_second_spelling_with_the_same_value_or_none_is_no_matter(text: str, release: Path, tmp_path: Path) -> None:
    rewrite(release / Q2, in_first_pair(text))
    loaded = load(release, tmp_path)
    assert quarantined(loaded) == []
    assert labels(loaded) == {"ab": "CONSISTENT", "ac": "CONSISTENT", "bc": "CONTRADICTORY"}


def test_where_the_first_of_two_spellings_is_empty_the_other_has_the_value(release: Path, tmp_path: Path) -> None:
    rewrite(
        release / Q2,
        lambda raw: raw.replace('"classification": "CONSISTENT"', '"classification": null, "verdict": "DIVERGENT"', 1),
    )
    assert labels(load(release, tmp_path))["ab"] == "DIVERGENT"


def test_a_file_that_spells_a_field_otherwise_than_the_first_loads_with_its_labels(release: Path, tmp_path: Path) -> None:
    rewrite(release / Q2, lambda raw: raw.replace('"classification"', '"verdict"'))
    loaded = load(release, tmp_path)
    assert labels(loaded) == {"ab": "CONSISTENT", "ac": "CONSISTENT", "bc": "CONTRADICTORY"}


def test_a_field_that_a_pair_can_spare_is_dropped_and_told(release: Path, tmp_path: Path) -> None:
    rewrite(release / Q2, in_first_pair('"rationale": "For another reason."'))
    loaded = load(release, tmp_path)
    assert quarantined(loaded) == []
    (told,) = messages(loaded, "repaired")
    assert "'rationale' and 'reasoning' are both the field 'reasoning'" in told


@pytest.mark.parametrize("text", ['"question_id": "q1"', '"id": "q1"', '"handbooks": ["a", "b"]', '"pairs": []'])
def test_a_comparison_with_a_field_given_twice_is_refused_whole(text: str, release: Path, tmp_path: Path) -> None:
    rewrite(release / Q2, lambda raw: raw.replace("{", f"{{{text}, ", 1))
    loaded = load(release, tmp_path)
    assert [(file, code) for file, _, code in quarantined(loaded)] == [(Q2, "doubled_field")]
    assert labels(loaded) == {}
    assert adds_up(loaded)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("answers.jsonl", '"answer": "Yes."'),
        ("answers.jsonl", '"response": "Another answer."'),
        ("answers.jsonl", '"question_id": "q2"'),
        ("questions.jsonl", '"organ": "heart"'),
        ("questions.jsonl", '"question_text": "May I swim?"'),
        ("handbooks.jsonl", '"institution": "Elm"'),
    ],
)
def test_every_table_refuses_a_record_with_a_field_given_twice(name: str, text: str, release: Path, tmp_path: Path) -> None:
    path = release / name
    first, *others = path.read_text().splitlines()
    path.write_text("\n".join([*others, first.replace("{", f"{{{text}, ", 1)]))
    loaded = load(release, tmp_path)
    assert (name, f"line {len(others) + 1}", "doubled_field") in quarantined(loaded)
    assert adds_up(loaded)


def test_a_key_given_twice_inside_an_object_is_found(release: Path, tmp_path: Path) -> None:
    path = release / "answers.jsonl"
    rewrite(path, lambda raw: raw.replace('"retrieval": null', '"retrieval": {"passages": [{"start": 1, "start": 2}]}', 1))
    loaded = load(release, tmp_path)
    assert quarantined(loaded) == []
    assert "in field 'retrieval' the key 'start' occurs twice" in messages(loaded, "repaired")[0]


@pytest.mark.slow
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    key=st.sampled_from(
        ["classification", "label", "Label", "handbook_a", "source_b", "clinical_significance", "reasoning", "other"]
    ),
    value=st.sampled_from(["DIVERGENT", "CONSISTENT", None, "a", "high"]),
    at=st.integers(0, 2),
    end=st.booleans(),
)
def test_a_file_parsed_at_once_and_one_read_by_record_agree(
    key: str, value: Any, at: int, end: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The same pairs as one file a question, which DuckDB parses, and as JSON lines, which Python reads."""
    root = tmp_path_factory.mktemp("both")
    release = release_from(root / "releases", TABLE)
    record = json.loads((release / Q2).read_text())
    texts = [json.dumps(pair) for pair in record["pairs"]]
    more = f"{json.dumps(key)}: {json.dumps(value)}"
    texts[at] = f"{texts[at][:-1]}, {more}}}" if end else f"{{{more}, {texts[at][1:]}"
    head = json.dumps({name: part for name, part in record.items() if name != "pairs"})
    text = f'{head[:-1]}, "pairs": [{", ".join(texts)}]}}'
    (release / Q2).write_text(text)
    nested = load(release, root / "nested")
    (release / "comparisons" / "q2.jsonl").write_text(text)
    (release / Q2).unlink()
    lines = load(release, root / "lines")
    assert pairs_in(nested) == pairs_in(lines)
    assert sorted(messages(nested, "quarantined")) == sorted(messages(lines, "quarantined"))
    assert adds_up(nested)


# -- tables with cells -------------------------------------------------------------------------------------------------

COLUMNS = ["question_id", "handbook_a", "handbook_b", "classification", "reasoning", "clinical_significance"]
ROWS = [
    ["q1", "a", "b", "DIVERGENT", "Weeks, not months; see 1", "high"],
    ["q1", "a", "c", "CONSISTENT", 'They say "wait"', ""],
    ["q1", "b", "c", "CONSISTENT", "Both", ""],
]


def table(release: Path, rows: list[list[str]], delimiter: str = ",", before: str = "") -> None:
    """Put the pairs into one table."""
    for path in (release / "comparisons").iterdir():
        path.unlink()
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(rows)
    (release / "comparisons.csv").write_text(before + text.getvalue(), newline="")


@pytest.mark.parametrize(
    ("before", "delimiter"),
    [("", ","), ("", ";"), ("", "\t"), ("sep={}\r\n", ";"), ("SEP={}\n", "\t"), ('"sep={}"\r\n', ","), ("\ufeffsep={}\r\n", ";")],
)
def test_a_table_saved_by_a_spreadsheet_is_read(delimiter: str, before: str, release: Path, tmp_path: Path) -> None:
    table(release, [COLUMNS, *ROWS, [""] * 6], delimiter, before.format(delimiter))
    loaded = load(release, tmp_path)
    assert quarantined(loaded) == []
    assert labels(loaded, "q1") == {"ab": "DIVERGENT", "ac": "CONSISTENT", "bc": "CONSISTENT"}
    assert pairs_in(loaded)[0][6] == "Weeks, not months; see 1"


@pytest.mark.parametrize(
    ("change", "words"), [(lambda row: row[:-1], "1 fewer cells"), (lambda row: [*row, "x"], "1 more cells")]
)
def test_a_row_of_another_length_than_the_header_is_refused_alone(change: Any, words: str, release: Path, tmp_path: Path) -> None:
    table(release, [COLUMNS, ROWS[0], change(ROWS[1]), ROWS[2]], before="sep=,\n")
    loaded = load(release, tmp_path)
    assert quarantined(loaded) == [("comparisons.csv", "line 4", "broken_csv")], "counted with the line that names the separator"
    assert words in messages(loaded, "quarantined")[0]
    assert labels(loaded, "q1") == {"ab": "DIVERGENT", "bc": "CONSISTENT"}
    assert adds_up(loaded)


@pytest.mark.parametrize("name", ["classification", "Verdict", "handbook_a"])
def test_rows_under_a_header_with_a_field_twice_are_refused_unless_both_say_the_same(
    name: str, release: Path, tmp_path: Path
) -> None:
    table(release, [[*COLUMNS, name], [*ROWS[0], "CONTRADICTORY"], [*ROWS[1], "consistent"]])
    loaded = load(release, tmp_path)
    same = name == "Verdict"  # under one name, which of two cells is meant is unknown
    assert len(quarantined(loaded)) == (1 if same else 2)
    assert {code for *_, code in quarantined(loaded)} == {"doubled_field"}
    assert adds_up(loaded)


def test_a_column_of_no_field_may_occur_twice(release: Path, tmp_path: Path) -> None:
    table(release, [[*COLUMNS, "note", "note", ""], *([*row, "x", "y", ""] for row in ROWS)])
    assert quarantined(load(release, tmp_path)) == []


# -- control characters ------------------------------------------------------------------------------------------------


CONTROLS = ("\x07", "\x0c", "\x7f", "\x85", "\x9f", "\ufffe", "\uffff")


@pytest.mark.parametrize("escaped", [True, False])
def test_control_characters_are_read_as_spaces_however_they_are_written(escaped: bool, release: Path, tmp_path: Path) -> None:
    written = [json.dumps(one)[1:-1] if escaped or one < " " else one for one in CONTROLS]
    assert [one for one in written if not may_have_control(f'{{"reasoning": "38 °C {one} fever"}}'.encode())] == []
    topic = f"38 °C {'|'.join(written)} fever"
    rewrite(release / Q2, lambda raw: raw.replace('"divergence_topic": null', f'"divergence_topic": "{topic}"', 1))
    loaded = load(release, tmp_path)
    assert {row[7] for row in pairs_in(loaded)} >= {f"38 °C {'|'.join(' ' for _ in CONTROLS)} fever"}


@pytest.mark.parametrize("text", ["38 °C – “high”", "naïve, ﬁne\u00a0and 😀", 'a "quoted" word\nand a line', "back\\slash"])
def test_a_text_without_one_is_not_read_twice(text: str) -> None:
    assert not may_have_control(json.dumps({"reasoning": text}, ensure_ascii=False).encode())
