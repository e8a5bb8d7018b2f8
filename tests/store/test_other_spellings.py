"""Files of pairs are examined in pieces: what is found must not depend on where a piece ends."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.store import other_spellings
from audit.store.other_spellings import OtherSpellings
from audit.store.stage_pairs import PairFormat

# A text that begins with a colon counts as one value too many, and its file is then searched for other names
TEXT = st.text('":n\\,{ü', max_size=6).filter(lambda text: not text.startswith(":"))
LEAF = st.none() | st.integers(-9, 9) | st.booleans() | TEXT
VALUE = st.recursive(
    LEAF,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", min_size=1, max_size=3), inner, max_size=3),
    max_leaves=12,
)
FORMATS = ({}, {"separators": (",", ":")}, {"indent": 1}, {"ensure_ascii": False})


def spellings(monkeypatch: pytest.MonkeyPatch, piece_bytes: int) -> OtherSpellings:
    monkeypatch.setattr(other_spellings, "PIECE_BYTES", piece_bytes)
    return OtherSpellings(PairFormat.detect([], ()))


def n_values(value: Any) -> int:
    """The keys with a value other than null, counted in the parsed JSON."""
    if isinstance(value, list):
        return sum(map(n_values, value))
    return sum((item is not None) + n_values(item) for item in value.values()) if isinstance(value, dict) else 0


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(value=VALUE, form=st.sampled_from(FORMATS), piece_bytes=st.integers(1, 40))
def test_as_many_values_are_counted_wherever_the_pieces_end(
    value: Any, form: dict[str, Any], piece_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A file with a field under another name: only where every value was expected is it not looked for
    comparison = {"question_id": "q1", "other": value, "pairs": [{"label": "ABSENT"}]}
    path = tmp_path / "q1.json"
    path.write_text(json.dumps(comparison, **form), encoding="utf-8")
    examined, expected = spellings(monkeypatch, piece_bytes), n_values(comparison)
    named_otherwise = {step: examined.in_file(path, expected + step)[0] for step in (-1, 0, 1)}
    assert named_otherwise == {-1: True, 0: False, 1: True}


@pytest.mark.parametrize("control", ["\x01", "\x0b", "\x7f", "\x80", "\x9f", "\ufffe", "\uffff", "\\u0007", "\\f", "\\b"])
@pytest.mark.parametrize("piece_bytes", [1, 2, 3, 5, 1000])
def test_a_control_character_is_seen_wherever_the_pieces_end(
    control: str, piece_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    examined = spellings(monkeypatch, piece_bytes)
    for before in range(6):
        path = tmp_path / "q1.json"
        path.write_text(f'{{"reasoning": "{"é" * before}{control}, then go home"}}', encoding="utf-8")
        assert examined.in_file(path, 1)[1]


@pytest.mark.parametrize("piece_bytes", [1, 2, 3, 5, 1000])
def test_letters_beyond_ascii_and_line_ends_are_no_control_characters(
    piece_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "q1.json"
    path.write_text('{\r\n\t"reasoning":\n\t"Café, 38 °C, ≥ 2 \\n\\"days\\" 移植"\n}', encoding="utf-8")
    assert spellings(monkeypatch, piece_bytes).in_file(path, 1) == (False, False)


@pytest.mark.parametrize("blanks", [" ", "\n", " " * 9, "\t\r\n" * 5])
@pytest.mark.parametrize("piece_bytes", [1, 4, 7, 1000])
def test_a_name_apart_from_its_colon_is_looked_for_whatever_was_counted(
    blanks: str, piece_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "q1.json"
    path.write_text(f'{{"question_id": "q1", "pairs": [{{"label"{blanks}: "ABSENT", "handbook_a": "h1"}}]}}', encoding="utf-8")
    assert spellings(monkeypatch, piece_bytes).in_file(path, 3)[0]
