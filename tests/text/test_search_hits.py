"""Words of a search in a text."""

import pytest

from audit.text.search_hits import excerpt, find_hits, parts


def found(text, *words):
    return [text[hit.start : hit.end] for hit in find_hits(text, words)]


@pytest.mark.parametrize(
    ("text", "words", "hits"),
    [
        ("Do not fly. Flying is safe later.", ["FLY"], ["fly", "Fly"]),
        ("Café au lait", ["cafe"], ["Café"]),
        ("Cafe\u0301 au lait", ["café"], ["Cafe\u0301"]),  # the accent is a character of its own
        ("immunosuppressants", ["immuno", "nosup"], ["immunosup"]),
        ("aaaa", ["aa"], ["aaaa"]),
        ("100 % of them", ["%"], ["%"]),
        ("İstanbul and istanbul", ["istanbul"], ["İstanbul", "istanbul"]),
        ("nothing here", ["fly", ""], []),
        ("", ["fly"], []),
    ],
)
def test_a_word_is_found_anywhere_in_another_whatever_its_case_and_accents(text, words, hits):
    assert found(text, *words) == hits


def test_the_pieces_of_a_text_are_the_text():
    text = "Fly after 3 months; before that, do not fly"
    pieces = parts(text, find_hits(text, ["fly"]))
    assert "".join(piece.text for piece in pieces) == text
    assert [piece.text for piece in pieces if piece.is_hit] == ["Fly", "fly"]


def test_an_excerpt_is_one_line_around_the_first_hit_and_cuts_no_word():
    text = "Rest at home. " * 20 + "You may\nswim in a lake " + "when your team agrees. " * 20
    shown = "".join(piece.text for piece in excerpt(text, ["swim"]))
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert "You may swim in a lake" in shown
    assert len(shown) < 130
    assert set(shown.strip("…").split()) <= set(text.split())


def test_an_excerpt_of_one_endless_word_still_has_the_hit():
    shown = excerpt("x" * 5000 + "swim" + "y" * 5000, ["swim"])
    assert [piece.text for piece in shown if piece.is_hit] == ["swim"]
    assert sum(len(piece.text) for piece in shown) < 200


def test_a_text_without_the_words_has_no_excerpt():
    assert excerpt("Rest at home.", ["swim"]) == ()
