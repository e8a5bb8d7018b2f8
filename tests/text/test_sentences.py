"""Where sentences end, and where a mark only abbreviates."""

import pytest

from audit.text.sentences import sentence_spans


def sentences(text):
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    "whole",
    [
        "Avoid St. John's wort and grapefruit.",
        "Ask Dr. Smith or Mrs. Lee first.",
        "Call Dr. J. K. Smith.",
        "John F. Kennedy was treated here.",
        "J. Smith wrote this.",
        "Eat soft food, e.g. Greek yogurt.",
        "Your main medicine, i.e. Prograf, comes first.",
        "Press No. 5 to reach us (see Fig. 2).",
        "It compares tacrolimus vs. Sirolimus.",
        "Drink approx. 2 liters a day, 2.5 at most.",
        "We answer from 8 a.m. to 5 p.m. Monday to Friday.",
        "Call before 9 a.m. Eastern time.",
        "About 1 in 70,000 people in the U.S. Virgin Islands have it.",
    ],
)
def test_an_abbreviation_a_decimal_or_an_initial_ends_no_sentence(whole):
    assert sentences(whole) == [whole]
    assert sentences(f"Rest. {whole} Then call.") == ["Rest.", whole, "Then call."]


@pytest.mark.parametrize(
    "two",
    [
        ["Take it at 8 a.m.", "Take it again at 8 p.m."],
        ["Is it safe?", "No.", "Do not take it."],
        ["You need a shot against hepatitis B.", "Ask us."],
        ["Hepatitis B.", "Ask us."],
        ["Take vitamin D.", "Calcium helps too."],
        ["It is rare in the U.S.", "The cause is unknown."],
        ["Wait until day 3.", "Then you may go."],
    ],
)
def test_a_mark_before_a_new_beginning_ends_a_sentence(two):
    assert sentences(" ".join(two)) == two


def test_no_sentence_goes_on_in_the_next_line():
    assert sentences("See Dr.\nSmith.") == ["See Dr.", "Smith."]


def test_a_text_without_words_has_no_sentences():
    assert sentences("") == sentences(" \n ") == []
