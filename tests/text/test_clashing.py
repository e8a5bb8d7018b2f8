"""The sentences of two answers that clash, and those that only look as if they did."""

import pytest

from audit.text.clashing import clashing_sentences


def marked(question, a, b, reasoning="", topic="", names=((), ())):
    clash = clashing_sentences(question, a, b, reasoning, topic, names)
    return (a[slice(*clash.first[:2])], b[slice(*clash.second[:2])]) if clash else None


TRAVEL = "When may I fly after my transplant?"
ONE = "Carry your medicines with you. You may fly after 3 months. Once a year has passed, most limits end."
OTHER = "Wear a mask on the plane. Do not fly for 12 months. Carry a letter from your doctor."


def test_the_sentences_with_amounts_of_one_kind_on_one_subject_clash():
    assert marked(TRAVEL, ONE, OTHER) == ("You may fly after 3 months.", "Do not fly for 12 months.")


def test_swapping_the_answers_swaps_the_sentences():
    first, second = marked(TRAVEL, ONE, OTHER, "3 months in one, 12 months in the other until flying.")
    assert marked(TRAVEL, OTHER, ONE, "3 months in one, 12 months in the other until flying.") == (second, first)


def test_a_phrase_of_time_is_no_amount_that_differs():
    a, b = "Once a year has passed, you may travel. Drink bottled water.", "Tell us before you travel. Drink bottled water."
    assert marked("May I travel?", a, b) is None


def test_a_denial_that_the_other_answer_shares_does_not_clash():
    a = "Do not stop a blood thinner on your own. You may take aspirin for a headache."
    b = "Do not stop a blood thinner on your own. Never take aspirin for a headache."
    assert marked("May I take aspirin?", a, b) == ("You may take aspirin for a headache.", "Never take aspirin for a headache.")


def test_the_judge_s_reasoning_decides_which_of_several_differences_counts():
    a = "The pain lasts 2 minutes. Fast for 9 hours and drink nothing but water."
    b = "The pain lasts 5 minutes. Fast for 9 hours; water and black coffee are fine."
    reasoning = "Drinks while fasting conflict: one allows nothing but water, the other water and black coffee."
    assert marked("How is it tested?", a, b, reasoning) == (
        "Fast for 9 hours and drink nothing but water.", "Fast for 9 hours; water and black coffee are fine."
    )  # fmt: skip


def test_amounts_in_which_answers_differ_outweigh_amounts_that_both_state_and_words():
    a = "In the first stage, the wound is dressed twice a week. Once it has closed, you may do so every 20 days."
    b = "Expect to have the wound dressed twice a week until it is dry. Later it is dressed every few days."
    reasoning = "Both start twice a week; a closed wound is dressed every 20 days in one, every few days in the other."
    assert marked("How is it treated?", a, b, reasoning, "how often a closed wound is dressed") == (
        "Once it has closed, you may do so every 20 days.", "Later it is dressed every few days."
    )  # fmt: skip


def test_what_the_judge_says_of_one_answer_is_sought_in_that_answer_alone():
    a = "The disease is rare. Symptoms usually worsen over a period of weeks."
    b = "Some symptoms follow a cold by days or weeks. The disease can develop within hours."
    reasoning = "Alder says symptoms usually worsen over weeks; Birch says it can develop within hours."
    assert marked("What is it?", a, b, reasoning, names=(["Alder"], ["Birch"])) == (
        "Symptoms usually worsen over a period of weeks.", "The disease can develop within hours."
    )  # fmt: skip


def test_what_both_say_in_the_same_words_is_no_clash_however_often_the_judge_mentions_it():
    same = "About 5 percent of cases are caused by the gene AMELX."
    a, b = f"Most cases are caused by ENAM. {same}", f"Many cases are caused by FAM83H. {same}"
    reasoning = "Both give 5 percent of cases caused by AMELX, but most cases by ENAM against many by FAM83H."
    assert marked("Which gene is the cause?", a, b, reasoning) == (
        "Most cases are caused by ENAM.", "Many cases are caused by FAM83H."
    )  # fmt: skip


@pytest.mark.parametrize(("a", "b"), [("", ""), ("Rest.", ""), ("One two.", "Three four."), ("?", "!")])
def test_answers_without_anything_that_clashes_have_no_clash(a, b):
    assert clashing_sentences("What now?", a, b) is None


def test_an_amount_that_the_judge_cites_counts_wherever_in_a_sentence_it_is():
    a = "Use no straw for 7 days. Rinse for one minute twice a day for seven days."
    b = "Rinse for 8 to 10 days. Use no straw."
    reasoning = "The first rinses for 7 days, the second for 8 to 10 days."
    assert marked("For how many days do I rinse?", a, b, reasoning) == (
        "Rinse for one minute twice a day for seven days.", "Rinse for 8 to 10 days."
    )  # fmt: skip
