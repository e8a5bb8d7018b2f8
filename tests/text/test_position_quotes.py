"""The sentences of an answer that may be quoted as its position."""

from audit.text.position_quotes import sentences_of


def test_the_heading_above_a_quoted_passage_is_no_position():
    answer = "A quiet home > Pets:\nYou may keep one cat."
    assert [sentence.text for sentence in sentences_of(answer)] == ["You may keep one cat."]
