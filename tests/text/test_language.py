"""The language of a text, and text in no language."""

from __future__ import annotations

import pytest

from audit.text import language
from audit.text.language import is_gibberish, language_name, language_of

TEXTS = {
    "en": "Wash your hands before you touch the dressing, and keep the wound dry for a full day.",
    "es": "Lávese las manos antes de tocar el vendaje y mantenga la herida seca durante un día entero.",
    "de": "Waschen Sie sich die Hände, bevor Sie den Verband berühren, und halten Sie die Wunde trocken.",
}
# Every letter three places further in the alphabet, as a font without a table of its characters may give it
SHIFTED = "".join(chr((ord(letter) - 94) % 26 + 97) if letter.isalpha() else letter for letter in TEXTS["en"].lower())


@pytest.mark.parametrize("code", TEXTS)
def test_a_sentence_tells_its_language(code):
    assert language_of(TEXTS[code]) == code
    assert not is_gibberish(TEXTS[code])


def test_a_few_words_tell_no_language():
    assert language_of("Tacrolimus 5 mg") is None


def test_shifted_letters_are_gibberish_and_of_no_language():
    assert SHIFTED.startswith("zdvk brxu kdqgv")
    assert is_gibberish(SHIFTED)
    assert language_of(SHIFTED) is None


def test_without_the_library_the_language_is_unknown_and_nothing_is_gibberish(monkeypatch):
    monkeypatch.setattr(language, "_identifier", lambda: None)
    assert language_of(TEXTS["en"]) is None
    assert not is_gibberish(SHIFTED)


def test_a_language_has_its_english_name_and_a_rare_one_its_code():
    assert (language_name("es"), language_name("qu")) == ("Spanish", "qu")
