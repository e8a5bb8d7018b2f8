"""Characters that mean the same in every format, and the ends of lines of plain text."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.pipeline.corpus.extraction.characters import lowered, plain_text, raised
from audit.pipeline.corpus.extraction.formats import read_source
from audit.pipeline.corpus.extraction.losses import letters_of

SPACES = [
    " ",
    "\t",
    "\n",
    "\r",
    "\x0b",
    "\x0c",
    "\x1c",
    "\x1d",
    "\x1e",
    "\x85",
    "\xa0",
    "\u2003",
    "\u2009",
    "\u2028",
    "\u2029",
    "\u202f",
]


@pytest.mark.parametrize("space", [*SPACES, "\u3000", "\r\n"])
def test_every_white_space_keeps_words_apart_and_adds_nothing(space):
    assert plain_text(f"for 4 weeks{space}Do not lift") == "for 4 weeks Do not lift"


@pytest.mark.parametrize("mark", ["\xad", "\u200b", "\u200d", "\ufeff", "\u2060", "\ufe0f", "\U000e0041", "\x00", "\x01"])
def test_invisible_marks_within_words_are_left_out(mark):
    assert plain_text(f"immuno{mark}suppression") == "immunosuppression"


def test_ligatures_and_hyphens_are_written_alike():
    assert (
        plain_text("ﬁrst oﬃce, aﬄicted, ﬀ, ﬅ; non\u2011smokers, well\u2010known")
        == "first office, afflicted, ff, st; non-smokers, well-known"
    )


def test_what_could_not_be_read_stays():
    assert plain_text("Don\x92t\ufffd") == "Don\x92t\ufffd"


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=60))
def test_letters_are_neither_added_nor_lost(text):
    visible = "".join(character for character in text if unicodedata.category(character) not in ("Cf", "Lo", "Mn"))
    assert letters_of(plain_text(visible)) == letters_of(visible)
    assert plain_text(plain_text(text)) == plain_text(text)


@pytest.mark.parametrize(
    ("before", "text", "expected"),
    [
        ("50 x 10", "9", "⁹"),
        ("10", "-3", "⁻³"),
        ("10", "−3", "⁻³"),
        ("1.73 m", "2", "²"),
        ("above 38", "2", "²"),
        ("above 38", "²", "²"),
        ("litres", "1,3", " [1,3]"),
        ("heart", "4", " [4]"),
        ("2", "nd", "nd"),
        ("Advil", "®", "®"),
    ],
)
def test_raised_text_is_written_behind_what_it_belongs_to(before, text, expected):
    assert raised(text, before) == expected


def test_lowered_figures_are_lowered():
    assert (lowered("2"), lowered("max")) == ("₂", "max")


def sections(folder, content: bytes) -> list[tuple[str, str]]:
    file = folder / "heart_alder_post.txt"
    file.write_bytes(content)
    return [(section.heading, section.text) for section in read_source(file).sections]


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n", "\x85", "\u2028", "\x0b", "\x1e"])
def test_lines_end_in_every_way(tmp_path, end):
    lines = "WALKING", "", "Walk every day.", "Rest after it.", "", "DRIVING", "=======", "Wait 4 weeks:", "- car", "- bus"
    text = end.join(lines)
    assert sections(tmp_path, text.encode()) == [
        ("WALKING", "Walk every day. Rest after it."),
        ("DRIVING", "Wait 4 weeks:\n• car\n• bus"),
    ]


@pytest.mark.parametrize("end", ["\u2029", "\x0c", "\n\x0c", "\n\n\x0c"])
def test_a_new_page_and_a_paragraph_separator_begin_a_paragraph(tmp_path, end):
    text = f"WALKING{end}Walk every day.{end}DRIVING{end}Wait 4 weeks."
    assert sections(tmp_path, text.encode()) == [("WALKING", "Walk every day."), ("DRIVING", "Wait 4 weeks.")]


def test_a_sentence_goes_on_on_the_next_page(tmp_path):
    assert sections(tmp_path, b"Do not drive for\n\x0cfour weeks after it.") == [("", "Do not drive for four weeks after it.")]
