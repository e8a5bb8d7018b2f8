"""Which of the amounts that a verdict cites two answers state, and which side a third answer is on."""

from audit.text.cited_amounts import cited_amounts

THREE, SIX = "Tell us early. Do not fly for 3 months.", "Flights are fine 6 months after surgery. Visits are every 3 months."


def cited(reasoning, a=THREE, b="Flights are fine 6 months after surgery."):
    return cited_amounts(a, b, reasoning, "months before the first flight")


def test_amounts_that_the_verdict_cites_and_one_answer_alone_states_differ():
    found = cited("Alder says 3 months and Birch says 6 months.")
    assert (found.amounts, found.shared) == ("3 months / 6 months", False)
    # A third answer is on the side of the amount it states where it speaks of the topic, whatever else it states
    assert [found.side(text) for text in (THREE, SIX, "Rest.", "Wait 9 months to fly.")] == [0, 1, None, None]


def test_an_amount_that_both_state_tells_nothing_apart():
    found = cited("Both mention 3 months, yet one ties it to driving.", b="Drive after 3 months a year.")
    assert (found.first, found.second, found.shared) == ((), (), True)


def test_a_verdict_without_amounts_or_with_one_side_s_amount_does_not_tell():
    assert cited("One says that the cause is unknown.")[:3] == ((), (), False)
    assert cited("Alder says 3 months.")[:3] == ((), (), False)


STAGED = "Take the drops for 4 days, then the tablets for 3 months. Most feel well within 4 weeks."
WHOLE = "Treatment lasts a year."


def test_a_stage_of_a_treatment_does_not_differ_from_all_of_it():
    reasoning = "One gives 4 days of drops and then 3 months of tablets, the other a year."
    found = cited_amounts(STAGED, WHOLE, reasoning, "length of treatment")
    assert found.amounts == "3 months / a year"
    assert cited_amounts("Drops for the first 4 days of treatment.", WHOLE, reasoning, "length of treatment").amounts == " / "


def test_two_stages_differ_and_so_do_times_after_an_operation():
    first, second = "Drops for the first 4 days of treatment.", "Drops in the first two weeks of your treatment."
    assert cited_amounts(first, second, "4 days or 2 weeks.", "drops").amounts == "4 days / two weeks"
    first, second = "No lifting in the first 6 weeks of recovery.", "Do not lift for 3 months, then ask us."
    assert cited_amounts(first, second, "6 weeks or 3 months.", "lifting").amounts == "6 weeks / 3 months"
