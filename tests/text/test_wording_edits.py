"""Changes to wording leave the sense of a text alone, or add to it, and are left out where that is not sure."""

from __future__ import annotations

import random

import pytest

from audit.text.edits import TextEdit
from audit.text.wording_edits import in_other_words, padded, repeated, sentence_added, sentences_swapped

CHOOSE = random.Random(1)


def words(edit: TextEdit | None) -> tuple[str, str] | None:
    return None if edit is None else (edit.before, edit.after)


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("Call your doctor.", ("doctor", "physician")),
        ("Doctors often call.", ("Doctors often", "Physicians frequently")),
        ("You cannot swim.", ("cannot", "can not")),
        ("Call us.", None),
        # Part of another word
        ("The doctorate takes years.", None),
    ],
)
def test_words_are_replaced_by_words_that_mean_the_same(text: str, change: tuple[str, str] | None) -> None:
    assert words(in_other_words(text, CHOOSE)) == change


def test_neighbouring_sentences_change_places() -> None:
    edit = sentences_swapped("Walk every day. Pets need a vet.", CHOOSE)
    assert edit is not None
    assert edit.text == "Pets need a vet. Walk every day."
    assert edit.original == "Walk every day. Pets need a vet."


@pytest.mark.parametrize(
    "text",
    [
        "Walk every day.",
        # The second sentence, or the one after both, points back
        "Tacrolimus is a medicine. It must be taken daily.",
        "First wash the wound. Then dry the wound.",
        "Walk every day. Pets need a vet. This keeps them well.",
    ],
)
def test_sentences_that_lean_on_each_other_stay(text: str) -> None:
    assert sentences_swapped(text, CHOOSE) is None


DETAIL = (
    "Wait 3 months before you travel. Mosquito nets protect against malaria in warm wet countries. Call 555-0117 with questions."
)


def test_an_added_detail_starts_from_a_text_that_lacks_it() -> None:
    edit = sentence_added(DETAIL, "When may I travel?", CHOOSE)
    assert edit is not None
    assert edit.text == DETAIL
    assert edit.after == " Mosquito nets protect against malaria in warm wet countries."
    assert edit.original == "Wait 3 months before you travel. Call 555-0117 with questions."


def test_the_sentence_that_answers_is_never_the_added_one() -> None:
    text = "Here is what we recommend. Wait 3 months after the operation before you travel to warm countries. Take nets."
    assert sentence_added(text, "When may I travel?", CHOOSE) is None


@pytest.mark.parametrize("pad", [padded, repeated])
def test_padding_doubles_a_text_and_leaves_it_in_front(pad) -> None:
    text = "Wait 3 months before you travel, and call us when you are back at home."
    edit = pad(text, CHOOSE)
    assert edit.text.startswith(text)
    assert 2 * len(text) <= len(edit.text) <= 4 * len(text)
    assert pad(" ", CHOOSE) is None
