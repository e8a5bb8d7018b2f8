"""The file of corrections of a handbook: what is refused, what is found, and that people who write at once lose nothing."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from audit.errors import DocumentError
from audit.text.corrections import (
    DROP,
    HEADING,
    LEAD,
    ORDER,
    Correction,
    add_correction,
    corrections_path,
    digest_of_corrections,
    find_words,
    read_corrections,
    withdraw_correction,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return corrections_path(tmp_path / "leaflet.pdf", "kidney_alder_combined")


def test_a_correction_is_read_as_it_was_written(path: Path):
    one = Correction(HEADING, "Foods to “avoid” 食", 3, (1, 2), level=2, digest="d", by="petra", at="2026-01-01")
    other = Correction(ORDER, "Call us", 4, after="If you have a fever:")
    assert add_correction(path, one)
    assert add_correction(path, other)
    assert path.name == "kidney_alder_combined.corrections.jsonl"
    assert read_corrections(path) == (one, other)


def test_the_same_correction_by_somebody_else_is_the_same(path: Path):
    add_correction(path, Correction(DROP, "Kidney care, 2024", 3, by="petra"))
    again = Correction(DROP, "  kidney-care 2024.", 3, by="paul")
    assert not add_correction(path, again)
    before = digest_of_corrections(read_corrections(path))
    path.write_text(json.dumps({"do": DROP, "words": "Kidney care, 2024", "page": 3, "by": "paul"}))
    assert digest_of_corrections(read_corrections(path)) == before
    assert withdraw_correction(path, again)
    assert read_corrections(path) == ()
    assert not withdraw_correction(path, again)
    assert digest_of_corrections(()) == ""


def test_a_line_without_an_end_gets_one_before_the_next(path: Path):
    path.write_bytes(b'\xef\xbb\xbf{"do": "drop", "words": "one"}\r\n\r\n{"do": "lead", "words": "two\xe2\x80\xa8three"}')
    add_correction(path, Correction(DROP, "four"))
    assert [one.words for one in read_corrections(path)] == ["one", "two\u2028three", "four"]


def test_people_who_correct_at_the_same_time_lose_nothing(path: Path):
    def save(number: int) -> bool:
        return add_correction(path, Correction(DROP, f"line {number // 2}", number // 2 + 1, by=f"person {number % 2}"))

    with ThreadPoolExecutor(8) as pool:
        new = sum(pool.map(save, range(40)))
    assert new == 20  # each line was dropped by both
    assert sorted(one.page or 0 for one in read_corrections(path)) == list(range(1, 21))


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('{"do": "drop", "words": "x"', "cannot be read as JSON"),
        ("[" * 100_000, "cannot be read as JSON"),
        ('["drop"]', "is not a JSON object"),
        ('{"do": "drop", "do": "keep", "words": "x"}', "a name is there twice"),
        ('{"do": "drop", "words": "x", "page": NaN}', "NaN is not a number"),
        ('{"do": "drop", "words": "\\ud800"}', "cannot be read as JSON"),
        ('{"do": "erase", "words": "x"}', 'do is “"erase"”'),
        ('{"do": ["drop"], "words": "x"}', "do is"),
        ('{"words": "x"}', "does not say what to do"),
        ('{"do": "drop"}', "words must be a text"),
        ('{"do": "drop", "words": "•"}', "words must be a text"),
        ('{"do": "drop", "words": 7}', "words must be a text"),
        (json.dumps({"do": "drop", "words": "x" * 5_000}), "words must be a text"),
        ('{"do": "drop", "words": "x", "page": 0}', "page must be"),
        ('{"do": "drop", "words": "x", "page": true}', "page must be"),
        ('{"do": "drop", "words": "x", "page": 1.0}', "page must be"),
        ('{"do": "heading", "words": "x"}', "level must be"),
        ('{"do": "heading", "words": "x", "level": 7}', "level must be"),
        ('{"do": "drop", "words": "x", "level": 1}', "level must be"),
        ('{"do": "order", "words": "x"}', "before or after"),
        ('{"do": "order", "words": "x", "before": "y", "after": "z"}', "before or after"),
        ('{"do": "lead", "words": "x", "after": "z"}', "before or after"),
        ('{"do": "drop", "words": "x", "which": [3, 2]}', "which must be"),
        ('{"do": "drop", "words": "x", "path": "/etc"}', "there is no field “path”"),
        ('{"do": "drop", "words": "x", "by": 1}', "must be texts"),
    ],
)
def test_a_line_that_is_no_correction_is_one_sentence_and_nothing_is_used(path: Path, line: str, fault: str):
    good = '{"do": "drop", "words": "good"}'
    path.write_text(f"{good}\n{line}\n")
    with pytest.raises(DocumentError) as refusal:
        read_corrections(path)
    message = str(refusal.value)
    assert message.startswith(f"{path}, line 2: ")
    assert fault in message
    assert "Allowed: one JSON object a line" in message
    assert "None of the file was used" in message
    assert message.endswith("run the same command again.")
    with pytest.raises(DocumentError):
        add_correction(path, Correction(DROP, "more"))
    assert path.read_text() == f"{good}\n{line}\n"


def test_a_file_in_another_encoding_or_of_many_megabytes_or_a_folder_is_refused(path: Path):
    path.write_bytes(b'{"do": "drop", "words": "caf\xe9"}')
    with pytest.raises(DocumentError, match="it is not UTF-8"):
        read_corrections(path)
    path.write_bytes(b"\n" * 2_000_001)
    with pytest.raises(DocumentError, match="more than 2 MB"):
        read_corrections(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(DocumentError, match="it cannot be read"):
        read_corrections(path)


@pytest.mark.parametrize("handbook_id", ["../kidney", "a/b", "", ".hidden", "c:\\x"])
def test_an_id_that_leads_out_of_the_folder_has_no_file(tmp_path: Path, handbook_id: str):
    with pytest.raises(DocumentError, match="cannot be used as a file name"):
        corrections_path(tmp_path / "a.pdf", handbook_id)


def test_words_are_found_whatever_the_line_breaks_hyphens_and_bullets():
    texts = ["• Foods to", "avoid: ba-", "nanas", "Foods to avoid", "and more"]
    assert find_words(texts, "Foods to avoid: bananas") == range(3)
    assert find_words(texts, "FOODS TO AVOID") == range(3, 4)


def test_where_words_are_missing_or_several_times_there_nothing_is_guessed():
    texts = ["Limit", "milk", "Limit", "cheese"]
    assert find_words(texts, "Limits") == "these words are not there as a line or paragraph of their own"
    assert "2 times, and the correction does not say which" in str(find_words(texts, "Limit"))
    assert find_words(texts, "Limit", (2, 2)) == range(2, 3)
    assert find_words(texts, "Limit", (2, 3)) == "these words are there 2 times, and not 3 times"
    assert isinstance(find_words(["avoid milk"], "milk"), str)  # a part of a line is not a line


def test_a_name_says_what_is_done_to_which_words():
    assert Correction(LEAD, "Never  smoke:", 1_200).name == "lead “Never smoke:” on page 1,200"
