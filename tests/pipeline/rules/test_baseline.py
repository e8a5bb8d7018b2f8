"""The baseline judge on answers that a clinician can read."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.pipeline.rules.labels.baseline import judge
from audit.vocabulary import ABSTAINED, LABELS, SIGNIFICANCES
from audit.vocabulary import RULES_JUDGE as NAME

DRIVE = "When can I drive after my transplant?"
JUICE = "What should I drink with my medicine?"
PHRASES = (
    "Do not drive for 6 weeks.", "You may drive again after eight weeks.", "Drive when you feel well.", "Call 555-0100.",
    "Wear the seat belt over a small towel.", "Driving is not safe in the first month.", "NOT ADDRESSED:", "Ask your team.", "",
    "There are two types of seat belt; both are safe.", "There are three types of seat belt.", "Do you want to drive?",
)  # fmt: skip
QUESTIONS = (DRIVE, "Can I drive?", "What is a seat belt?", "")
answers = st.lists(st.sampled_from(PHRASES), max_size=5).map(" ".join) | st.text(max_size=60)


def label(question: str, a: str, b: str) -> str | None:
    return judge(question, a, b).label


@pytest.mark.parametrize(
    ("question", "a", "b", "wanted"),
    [
        (DRIVE, "NOT ADDRESSED: the handbook is silent on driving.", "Do not drive for 6 weeks.", "ABSENT"),
        (DRIVE, "  not addressed.", "Do not drive for 6 weeks.", "ABSENT"),
        (DRIVE, "Do not drive for 6 weeks.", "  ", "ABSENT"),
        (DRIVE, "Do not drive for 6 weeks.", "Your team will go over this with you.", "ABSENT"),
        (DRIVE, "Do not drive for 6 weeks.", "You may drive again after eight weeks.", "DIVERGENT"),
        (DRIVE, "Do not drive for 6 weeks.", "Do not drive for six weeks.", "CONSISTENT"),
        (DRIVE, "Do not drive for 6 weeks.", "Wait 42 days until you drive.", "CONSISTENT"),
        (DRIVE, "Do not drive for 6 weeks.", "Do not drive for 6 weeks. Wear the seat belt over a small towel.", "COMPLEMENTARY"),
        ("Can I eat grapefruit?", "Do not eat grapefruit.", "You may eat a little grapefruit.", "CONTRADICTORY"),
        ("Can I eat grapefruit?", "Do not eat grapefruit.", "Grapefruit is not allowed.", "CONSISTENT"),
        (JUICE, "Do not drink grapefruit juice with your medicine.", "You may drink grapefruit juice with your medicine.",
         "CONTRADICTORY"),
        (JUICE, "Grapefruit juice does not change your medicine.", "Grapefruit juice changes your medicine.", "COMPLEMENTARY"),
    ],
)  # fmt: skip
def test_each_label_has_its_rule(question, a, b, wanted):
    assert label(question, a, b) == label(question, b, a) == wanted


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        ("Wait 3 months before you drive.", "Wait 6 months before you drive.", "DIVERGENT"),
        ("Wait at least 3 months before you drive.", "Wait 6 months before you drive.", "DIVERGENT"),
        ("Wait 4 to 8 weeks before you drive.", "Wait 6 weeks before you drive.", "not"),
        ("Wait 12 weeks before you drive.", "Wait 3 months before you drive.", "not"),
        ("Wait 13 weeks before you drive.", "Wait 12 weeks before you drive.", "not"),
        ("Wait a few months before you drive.", "Wait 9 months before you drive.", "not"),
    ],
)
def test_a_figure_inside_the_other_range_or_within_rounding_is_not_a_divergence(a, b, wanted):
    assert (label(DRIVE, a, b) == "DIVERGENT") == (wanted == "DIVERGENT")


def test_a_quantity_of_something_else_is_not_a_divergence():
    walk, milk = "Walk 20 minutes in the morning.", "A gallon of milk weighs eight pounds."
    assert label("How do I get strong again?", walk, milk) == "COMPLEMENTARY"
    assert label("How do I get strong again?", walk, "Sleep 8 hours.") == "COMPLEMENTARY"


def test_a_time_of_day_is_not_rounded():
    question, ten, eleven = "From what hour is the ward quiet?", "The ward is quiet from 10 pm.", "The ward is quiet from 11 pm."
    assert label(question, ten, eleven) == "DIVERGENT"
    assert label(question, ten, "The ward is quiet from 22:00.") != "DIVERGENT"


def test_the_numbers_of_cited_passages_are_not_read():
    may, must_not = "[3] You may drive in the first month [1].", "[4] Do not drive in the first month."
    reasoning = judge("May I drive in the first month?", may, must_not).reasoning
    assert 'A says "You may drive in the first month.", B says "Do not drive in the first month."' in str(reasoning)


def test_counts_of_the_same_thing_that_differ_are_divergent():
    two, three = "There are two types of hemochromatosis.", "The disease has three types; hemochromatosis has three types."
    assert label("What is hemochromatosis?", two, three) == "DIVERGENT"


def test_what_patients_tell_about_themselves_is_not_part_of_the_question():
    question = "I have two cats and live alone. Can I eat sushi?"
    assert (
        label(question, "You may keep cats. Sushi is not allowed.", "Cats are not allowed. Sushi is not allowed.")
        != "CONTRADICTORY"
    )


def test_a_disagreement_has_a_topic_a_significance_and_the_two_spans():
    verdict = judge(DRIVE, "Do not drive for 6 weeks.", "You may drive again after eight weeks.")
    assert verdict.parse == "rules"
    assert verdict.topic == "drive"
    assert verdict.significance == "medium"
    assert verdict.reasoning == 'Amounts apart: A says "6 weeks", B says "eight weeks" (significance: by default).'


@pytest.mark.parametrize(
    ("question", "a", "b", "wanted"),
    [
        ("How long do I take the antibiotic?", "Take the antibiotic for 3 months.", "Take the antibiotic for 1 year.", "high"),
        ("When can I get a tattoo?", "Wait 6 months for a tattoo.", "Wait 2 years for a tattoo.", "low"),
        ("When can I drive?", "Wait 4 weeks to drive.", "Wait 8 weeks to drive.", "medium"),
    ],
)
def test_medicines_matter_more_than_comfort(question, a, b, wanted):
    assert judge(question, a, b).significance == wanted


def test_without_a_disagreement_there_is_no_significance_and_no_topic():
    verdict = judge(DRIVE, "Do not drive for 6 weeks.", "Do not drive for six weeks.")
    assert (verdict.significance, verdict.topic) == (None, None)


@given(st.sampled_from(QUESTIONS), answers, answers)
def test_the_order_of_the_answers_changes_only_which_one_is_called_a(question, a, b):
    one, other = judge(question, a, b), judge(question, b, a)
    assert (one.label, one.significance, one.topic) == (other.label, other.significance, other.topic)


@given(st.sampled_from(QUESTIONS), answers, answers)
def test_every_pair_gets_a_verdict_that_a_release_can_store(question, a, b):
    verdict = judge(question, a, b)
    assert verdict.label in LABELS or verdict.reason.startswith(ABSTAINED)
    assert (verdict.significance in SIGNIFICANCES) == (verdict.label in ("DIVERGENT", "CONTRADICTORY"))
    assert (verdict.topic is None) == (verdict.significance is None)
    assert verdict.reasoning
    assert judge(question, a, b) == verdict


@given(st.sampled_from(QUESTIONS), answers)
def test_an_answer_never_disagrees_with_itself(question, text):
    assert label(question, text, text) in ("ABSENT", "CONSISTENT")


@pytest.mark.parametrize("text", ["." * 50_000, "5 mg;" * 10_000, "a." + " " * 50_000, "check " * 10_000])
def test_a_text_made_to_stall_it_is_still_judged(text):
    assert label("How much?", text, text + "b") in (*LABELS, None)


def test_its_name_says_that_no_model_is_asked():
    assert NAME == "baseline judge (rules, no model)"


def test_it_needs_nothing_but_the_standard_library():
    heavy = "{'numpy', 'pandas', 'openai', 'duckdb'}"
    code = f"import sys, audit.pipeline.rules.labels.baseline; print(sorted({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
