"""Entries by typed words."""

import pytest

from audit.text.word_match import WordIndex, stems_of, words_of

NAMES = ["When may I drive my car?", "Is the flu vaccine safe?", "What is pregnancy?", "How long is the waiting list?"]
INDEX = WordIndex([dict.fromkeys(stems_of(name), 1.0) for name in NAMES])


def best(typed, **options):
    scores = INDEX.scores(typed, **options)
    return max(scores, key=scores.__getitem__, default=None)


@pytest.mark.parametrize(
    ("typed", "number"),
    [
        ("driving", 0),  # another form
        ("vacine", 1), ("vaccien", 1), ("vaxcine", 1),  # a letter missing, two exchanged, one wrong
        ("pregnant", 2),  # the same beginning
        ("waitinglist", 3),  # a part
        ("wait ing", 3),  # written apart
        ("DRÍVE", 0),
        ("the", 1),  # of nothing but stop words, those count
        ("fly", None), ("flue", 1), ("x", None), ("", None),
    ],
)  # fmt: skip
def test_forms_slips_and_parts_of_a_word_find_it(typed, number):
    assert best(typed) == number


def test_the_last_word_may_be_unfinished_while_it_is_typed():
    assert best("preg", unfinished=True) == 2
    assert best("is dri", unfinished=True) == 0
    assert best("pr") is None


def test_a_whole_name_scores_one_and_what_has_only_stop_words_of_it_nothing():
    assert INDEX.scores(NAMES[2]) == {2: pytest.approx(1)}
    assert INDEX.scores("How is my flu?").keys() == {1}


def test_a_known_word_is_no_slip_of_another():
    index = WordIndex([{"heart": 1.0}, {"heat": 1.0}])
    assert index.scores("heat").keys() == {1}


def test_of_two_names_with_all_words_the_shorter_is_first_and_a_word_behind_a_name_counts_less():
    index = WordIndex([{"eat": 1.0, "raw": 1.0}, {"eat": 1.0}, {"fish": 1.0, "eat": 0.4}])
    scores = index.scores("eat")
    assert sorted(scores, key=scores.__getitem__, reverse=True) == [1, 0, 2]


def test_words_are_in_lower_case_without_accents_and_numbers_are_words():
    assert words_of("Café: G6PD, 38.5° – don’t") == ["cafe", "g6pd", "38", "5", "don't"]


def test_letters_of_a_script_without_spaces_are_found_in_pairs_anywhere_in_a_name() -> None:
    index = WordIndex(
        [dict.fromkeys(stems_of(name), 1.0) for name in ("我可以喝啤酒吗？", "移植后可以游泳吗？", "Can I drink beer?")]
    )
    assert words_of("喝啤酒 now") == ["喝啤", "啤酒", "now"]
    scores = index.scores("喝啤酒")
    assert set(scores) == {0}
    assert max(index.scores("可以游泳").items(), key=lambda item: item[1])[0] == 1
