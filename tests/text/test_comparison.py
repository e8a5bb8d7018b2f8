"""Quantities, negations and words: where two answers differ."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.text.comparison import DifferenceKind, differences, find_negations
from audit.text.quantity import find_quantities
from audit.text.tokens import plain_text

SAME = [
    ("wait three months", "wait 3 months"),
    ("wait 3 months", "a 3-month wait"),
    ("wait 12 months", "wait one year"),
    ("wait a year", "wait 1 year"),
    ("90 days", "3 months"),
    ("4 weeks", "1 month"),
    ("48 hours", "two days"),
    # PDF files lose dashes
    ("at least 1 to 2 years", "1 to 2 yearsto cure it"),
    ("one and a half years", "18 months"),
    ("12 to 24 hours", "12–24 hours"),
    ("12 to 24 hours", "between 12 and 24 hours"),
    ("6 or more months", "6+ months"),
    ("at least 6 months", "6 months or more"),
    ("at least 6 months", "6 months"),
    ("fever of 100.4°F", "fever of 38 °C"),
    ("38.3 °C", "101 degrees"),
    # Signs that PDF files have for a degree: a superscript zero, a ring
    ("100.4⁰F", "38 ˚C"),
    ("twice a day", "every 12 hours"),
    ("2 times daily", "twice per day"),
    ("once a week", "weekly"),
    ("twice a year", "every six months"),
    ("10 pounds", "4.5 kg"),
    ("8 cups a day", "two liters daily"),
    ("200 mg/dL", "200 mg per dl"),
    ("1 in 70,000 newborns", "one of every 70,000 births"),
    ("1 in 4", "25 percent"),
    ("half of patients", "50%"),
    ("two types", "two main types"),
    ("over age 65", "older than 65 years"),
    ("in their 40s", "in their forties"),
    ("no more than 10 pounds", "up to 10 lb"),
    ("Do not lift more than 10 pounds", "lift no more than 10 pounds"),
    ("1½ cups", "1 1/2 cups"),
    ("a pint of blood", "1 pint of blood"),
    ("140/90 mmHg", "140/90 mm Hg"),
    ("8:30 a.m.", "8:30 am"),
]
DIFFERENT = [
    ("wait 3 months", "wait 12 months"),
    ("6 weeks", "2 months"),
    ("5 weeks", "1 month"),
    ("13 months", "1 year"),
    ("every 24 months", "every few months"),
    ("every 3 months", "3 months"),
    ("2-4 months", "24 months"),
    ("at least 3 months", "at most 3 months"),
    ("100.4°F", "101°F"),
    ("38 °C", "100 °F"),
    ("10 pounds", "10 kg"),
    ("1 in 70,000", "1 in 30,000"),
    ("30 percent", "30 minutes"),
    ("twice a day", "twice a week"),
    ("two types", "three types"),
    ("two types", "two brothers"),
    ("5 mg/kg/day", "5 mg/day"),
    ("140/90", "130/80"),
    ("8 a.m.", "8 p.m."),
]
NOT_A_QUANTITY = """
    type 2 diabetes
    types 1 and 2
    chromosome 7
    stage three
    vitamin B12
    alpha-1 antitrypsin
    A1C
    COVID-19
    the 7th cranial nerve
    In May 2006, the
    in 1997
    the 1990s
    June 5, 2020
    5 June 2020
    2020-06-05
    6/5/2020
    Call 911
    9-1-1
    Call 555-123-4567
    (800) 555-1212
    Call 555-0113 at any hour
    live births.3 The
    are limited.[9440] Treatment
    2003;24(9):577-584.
    1. Wash your hands
    required: 1. Cognitive
    1) diet and 2) exercise
    no one knows
    one of the causes
    one or more
    see www.example.org/3/months
    daily life
    24/7
    costs $20
"""


def test_digits_of_other_scripts_and_lowered_ones_are_digits_at_their_places():
    assert plain_text("SpO₂ über ٩٢ %, 10⁹, 5₂") == "spo2 über 92 %, 10⁹, 5₂"


def pairs_agree(a, b):
    (left,), (right,) = find_quantities(a), find_quantities(b)
    assert left.agrees(right) == right.agrees(left)
    return left.agrees(right)


@pytest.mark.parametrize(("a", "b"), SAME)
def test_the_same_quantity_in_other_words_agrees(a, b):
    assert pairs_agree(a, b)


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_different_quantities_do_not_agree(a, b):
    assert not pairs_agree(a, b)


@pytest.mark.parametrize("text", NOT_A_QUANTITY.strip().splitlines())
def test_dates_telephone_numbers_markers_and_names_are_not_quantities(text):
    assert find_quantities(text.strip()) == ()


def test_a_quantity_has_its_position_its_value_and_its_bound():
    (quantity,) = find_quantities("Wait at least 12 to 24\u00a0hours.")
    assert (quantity.start, quantity.end, quantity.text) == (5, 28, "at least 12 to 24 hours")
    assert (quantity.dimension, quantity.low, quantity.high, quantity.bound) == ("duration", 12, 24, "at least")


def test_each_quantity_in_a_sentence_is_found_once():
    quantities = find_quantities("Take 500 mg every 8 hours for 2 weeks; 1 in 10 patients stops before age 65.")
    assert [quantity.text for quantity in quantities] == ["500 mg", "every 8 hours", "2 weeks", "1 in 10", "age 65"]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Do not eat grapefruit.", "Avoid grapefruit."),
        ("Grapefruit is not allowed.", "You should not eat grapefruit."),
        ("The cause is unknown.", "There is no known cause."),
        ("You can't swim in lakes.", "Never swim in a lake."),
        ("Live vaccines are contraindicated.", "Do not get live vaccines."),
    ],
)
def test_two_negations_of_the_same_subject_agree(a, b):
    (left,), (right,) = find_negations(a), find_negations(b)
    assert left.agrees(right)
    assert right.agrees(left)


@pytest.mark.parametrize(
    "text", ["Lift no more than 10 pounds.", "not only fruit", "whether or not it rains", 'a "no-no" motion', "a knot"]
)
def test_limits_and_fixed_phrases_are_not_negations(text):
    assert find_negations(text) == ()


def test_negations_of_different_subjects_do_not_agree():
    (left,), (right,) = find_negations("Do not take aspirin."), find_negations("Do not take ibuprofen.")
    assert not left.agrees(right)


def marked(text, spans):
    return [(str(span.kind), text[span.start : span.end]) for span in spans]


CLINICAL = [
    # answer A, answer B, what is marked in A, what is marked in B
    (
        "Wait at least three months before you travel abroad.",
        "Wait 12 months before you travel abroad.",
        [("number", "at least three months")],
        [("number", "12 months")],
    ),
    (
        "Call us if your temperature is above 100.4°F (38 °C).",
        "Call us when your temperature rises above 38°C.",
        [],
        [("word", "rises")],
    ),
    (
        "Do not eat grapefruit while you take tacrolimus.",
        "You may eat grapefruit while you take tacrolimus.",
        [("negation", "Do not")],
        [],
    ),
    (
        "You can drink alcohol in moderation.",
        "Never drink alcohol.",
        [("word", "moderation")],
        [("negation", "Never")],
    ),
    (
        "Blood is taken every 24 months.",
        "Blood is taken every few months.",
        [("number", "every 24 months")],
        [("number", "every few months")],
    ),
    (
        "Avoid lifting more than 10 pounds for six weeks.",
        "For 6 weeks, avoid lifting anything over 4.5 kg.",
        [],
        [("word", "anything")],
    ),
    (
        "The prevalence is 1 in 70,000 newborns.",
        "It occurs in one of every 30,000 live births.",
        [("word", "prevalence"), ("number", "1 in 70,000"), ("word", "newborns")],
        [("word", "occurs"), ("number", "one of every 30,000"), ("word", "live"), ("word", "births")],
    ),
    (
        "See the dentist twice a year; type 2 diabetes matters.",
        "See the dentist every 6 months; type 2 diabetes matters.",
        [],
        [],
    ),
]


@pytest.mark.parametrize(("a", "b", "in_a", "in_b"), CLINICAL)
def test_only_what_differs_between_two_answers_is_marked(a, b, in_a, in_b):
    left, right = differences(a, b)
    assert marked(a, left) == in_a
    assert marked(b, right) == in_b


FRAGMENTS = """
    wait three months 3-month 12 to 24 hours no not avoid more than 10 lb at least every few days 100.4°F twice a
    week 1 in 4 % . , ; İstanbul ½ 2½ cups type 2 — “grapefruit” don’t 5/6/2020 1/0 half of between and ages 40s teens 7. 8) [9]
    one million + ≥
"""
TEXTS = st.one_of(st.lists(st.sampled_from([*FRAGMENTS.split(), "\n"]), max_size=40).map(" ".join), st.text(max_size=200))


@given(TEXTS, TEXTS)
def test_spans_are_in_order_do_not_overlap_and_lie_inside_the_text(a, b):
    for text, spans in zip((a, b), differences(a, b), strict=True):
        edges = [edge for span in spans for edge in (span.start, span.end)]
        assert edges == sorted(edges)
        assert all(0 <= span.start < span.end <= len(text) for span in spans)


@given(TEXTS)
def test_a_text_does_not_differ_from_itself(text):
    assert differences(text, text) == ([], [])


@given(TEXTS, TEXTS)
def test_swapping_the_texts_swaps_the_spans(a, b):
    assert differences(b, a) == differences(a, b)[::-1]


@given(TEXTS)
def test_quantities_lie_inside_the_text_and_are_ranges(text):
    for quantity in find_quantities(text):
        assert 0 <= quantity.start < quantity.end <= len(text)
        assert quantity.low <= quantity.high


def test_long_and_hostile_texts_are_read_in_little_time():
    for unit in ("1 ", "between ", "1,000", "not ", "a", "1/", "twenty-", "at least ", "type 2 "):
        text = unit * (100_000 // len(unit))
        started = time.process_time()
        find_quantities(text), find_negations(text)
        assert time.process_time() - started < 3, unit


def test_the_difference_kinds_have_stable_names():
    assert [str(kind) for kind in DifferenceKind] == ["number", "negation", "word"]


def test_positions_stay_the_same_if_a_capital_has_a_lower_case_of_two_characters() -> None:
    assert plain_text("İn 3\u2013Months") == "İn 3-months"
