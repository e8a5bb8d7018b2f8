"""Words of any script: what is searched, compared and counted in languages with and without spaces."""

from __future__ import annotations

import pytest

from audit.text.sentences import sentence_spans
from audit.text.tokens import content_words, plain_text
from audit.text.words import PIECE, TOKEN, WORD, estimated_tokens, search_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't take 2 pills of CYP3A5 or m²", ["Don't", "take", "2", "pills", "of", "CYP3A5", "or", "m"]),
        ("藏药佐太 的功效", ["藏", "药", "佐", "太", "的", "功", "效"]),
        ("血圧は120です。", ["血", "圧", "は", "120", "で", "す"]),
        ("दवा कितनी बार लेनी है", ["दवा", "कितनी", "बार", "लेनी", "है"]),
        ("བོད་སྨན་རིག་པ།", ["བོད", "སྨན", "རིག", "པ"]),
        ("¿Cuántas pastillas tomo cada día?", ["Cuántas", "pastillas", "tomo", "cada", "día"]),
        ("cafe\u0301 ole\u0301", ["cafe\u0301", "ole\u0301"]),
        ("", []),
    ],
)
def test_words_are_whole_in_every_script(text: str, words: list[str]) -> None:
    assert TOKEN.findall(text) == words


def test_a_word_of_thai_is_its_letters_with_their_signs() -> None:
    assert TOKEN.findall("กินยา") == ["กิ", "น", "ย", "า"]
    assert [*search_words("กินยา")] == ["กิน", "นย", "ยา"]


def test_letters_without_spaces_are_searched_in_pairs_and_a_single_one_by_itself() -> None:
    assert [*search_words("藏药佐太")] == ["藏药", "药佐", "佐太"]
    assert [*search_words("药 and 佐太, 1 粒")] == ["药", "and", "佐太", "1", "粒"]
    assert [*search_words("hba1c 高")] == ["hba1c", "高"]
    assert [*search_words("plain words only")] == ["plain", "words", "only"]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("每天量体温。超过三十八度？请致电！", ["每天量体温。", "超过三十八度？", "请致电！"]),
        ("他说：「不要喝酒。」然后走了。", ["他说：「不要喝酒。」", "然后走了。"]),
        ("दवा रोज़ लें। शराब न पिएँ।", ["दवा रोज़ लें।", "शराब न पिएँ।"]),
        ("Tome su medicina. ¿Tiene fiebre? Élla debe llamar.", ["Tome su medicina.", "¿Tiene fiebre?", "Élla debe llamar."]),
        ("Принимайте лекарство. Не пейте.", ["Принимайте лекарство.", "Не пейте."]),
        ("Take e.g. two of 38.5 mg. Call us.", ["Take e.g. two of 38.5 mg.", "Call us."]),
    ],
)
def test_sentences_end_by_the_marks_of_their_script(text: str, sentences: list[str]) -> None:
    assert [text[span.start : span.end] for span in sentence_spans(text)] == sentences


def test_a_rough_number_of_tokens_counts_each_letter_without_spaces() -> None:
    assert estimated_tokens("12345678") == 2
    assert estimated_tokens("123456789") == 3
    assert estimated_tokens("每天量体温" * 4) == 20
    assert estimated_tokens("") == 0


def test_two_answers_in_chinese_are_compared_by_their_letters() -> None:
    assert [word.stem for word in content_words("不要喝酒")] == ["不", "要", "喝", "酒"]
    assert WORD.findall(plain_text("每日 2 次")) == ["每", "日", "次"]
    assert PIECE.findall("38.5 °C, 每天") == ["38.5", "°C,", "每", "天"]
