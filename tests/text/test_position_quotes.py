"""The sentences of an answer that may be quoted as its position."""

from audit.text.position_quotes import sentences_of


def test_the_heading_above_a_quoted_passage_is_no_position():
    answer = "A quiet home > Pets:\nYou may keep one cat."
    assert [sentence.text for sentence in sentences_of(answer)] == ["You may keep one cat."]


def test_an_item_that_replies_to_a_question_is_quoted_with_it():
    answer = "Can I...?\n• Exercise? No - wait 48 hours\n• Smoke? No. Never.\n\nDo you drink alcohol? Wait a day."
    assert [sentence.text for sentence in sentences_of(answer)] == [
        "Exercise? No - wait 48 hours", "Smoke? No.", "Do you drink alcohol?", "Wait a day.",
    ]  # fmt: skip
    assert all(answer[one.start : one.end] == one.text for one in sentences_of(answer))
