"""Phrases of one author only are found and left out; what several authors say, amounts, and the words of one answer stay."""

from __future__ import annotations

from audit.text.telling import CLOSING, INSIDE, OPENING, TellingPhrases, telling_phrases

SUBJECTS = ("travel", "alcohol", "exercise", "vaccines", "dentists", "gardening")


def texts(owner: str, pattern: str, subjects: tuple[str, ...] = SUBJECTS) -> list[tuple[str, str, str]]:
    return [(owner, subject, pattern.format(subject=subject)) for subject in subjects]


def left(phrases: TellingPhrases, text: str) -> list[tuple[str, str]]:
    return [(kind, text[start:end].strip()) for start, end, kind in phrases.spans(text)]


def test_an_opening_that_one_author_repeats_is_found_and_only_as_far_as_all_of_its_texts_have_it() -> None:
    food = ("milk", "eggs", "fish", "salt")
    alder = [*texts("alder", "Key points - {subject} may be safe."), *texts("alder", "Key points - ask about {subject}.", food)]
    phrases = telling_phrases([*alder, *texts("birch", "Most people find that {subject} may be safe; ask about it.")])
    assert left(phrases, "Key points - travel may be safe.") == [(OPENING, "Key points -")]
    assert left(phrases, "Key points - ask about milk.") == [(OPENING, "Key points -")]
    assert left(phrases, "Most people wait for travel.") == []


def test_a_closing_and_a_run_of_words_inside_are_found() -> None:
    alder = texts("alder", "About {subject}: as we like to tell everybody in the first class, {subject} is fine. See you soon.")
    birch = texts("birch", "As for {subject}, it is fine. Ask before {subject}.")
    found = left(telling_phrases([*alder, *birch]), alder[0][2])
    assert (INSIDE, "as we like to tell everybody in the first class") in found
    assert found[-1][0] == CLOSING
    assert found[-1][1].endswith("See you soon.")


def test_words_that_two_authors_have_stay() -> None:
    both = [*texts("alder", "Key points - {subject} may wait."), *texts("birch", "Key points - {subject} may wait.")]
    assert left(telling_phrases(both), "Key points - travel may wait.") == []


def test_words_of_a_single_question_stay_however_many_answers_have_them() -> None:
    same = [("alder", "travel", f"Ask your own transplant team before any trip number {word}.") for word in SUBJECTS]
    assert telling_phrases(same) == TellingPhrases()


def test_an_amount_and_a_negation_are_never_left_out() -> None:
    alder = texts("alder", "Wait 3 months after surgery before {subject} begins: you should not try any of it alone at home.")
    found = telling_phrases([*alder, *texts("birch", "Ask about {subject}.")])
    phrases = [" ".join(gram) for gram in found.openings | found.closings | found.inside]
    assert [phrase for phrase in phrases if "3" in phrase or "not" in phrase] == []
    assert any("try any of it alone" in phrase for phrase in phrases)


def test_a_text_never_loses_all_of_its_words() -> None:
    phrases = TellingPhrases(openings=frozenset({("key", "points")}), closings=frozenset({("key", "points")}))
    assert left(phrases, "Key points") == []
    assert left(phrases, "Key points now") == [(OPENING, "Key points")]
    assert phrases.spans("") == []
