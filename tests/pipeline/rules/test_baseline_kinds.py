"""The baseline judge compares like with like: the same kind of amount, one act and object; else it abstains or is silent."""

from __future__ import annotations

import pytest

from audit.pipeline.judging.verdict_sources import JudgingSummary
from audit.pipeline.rules.labels.amounts import kinds_of_temperature
from audit.pipeline.rules.labels.baseline import judge
from audit.pipeline.rules.labels.directions import direction_of
from audit.pipeline.rules.labels.reading import parse_answer
from audit.pipeline.verdict import Verdict
from audit.text.quantity import find_quantities
from audit.vocabulary import ABSTAINED

FEVER = "What temperature is a fever?"
PET = "Can I keep a cat?"


def both_ways(question: str, a: str, b: str) -> Verdict:
    verdict, swapped = judge(question, a, b), judge(question, b, a)
    assert (verdict.label, verdict.reason) == (swapped.label, swapped.reason)
    return verdict


@pytest.mark.parametrize(
    ("question", "a", "b"),
    [
        (FEVER, "Call us right away for a fever of 100.4 °F or higher.", "Store the capsules at 15 to 30 °C."),
        (FEVER, "Call us for a fever of 100.4 °F or higher.", "Cook poultry to an internal temperature of 165 °F."),
        ("How long should I exercise?", "Warm up for 5 minutes before you exercise.", "Wait 6 months before you exercise hard."),
        (
            "How long do I take the tablets?",
            "Take the tablets for 3 months.",
            "Children aged 12 years take the tablets with milk.",
        ),
        ("How much should I take?", "Take 500 mg of the tablet.", "Take 2 tablets."),
        ("When do I stop aspirin?", "Stop aspirin 7 days before surgery.", "Start aspirin again 21 days after surgery."),
        ("How many stages are there?", "The kidney disease stages are many (14).", "The kidney disease stages grew (6)."),
        ("How much potassium?", "Soy milk | Potassium: 340 mg", "Cheese, one slice | Potassium: 15 mg"),
        ("How much water a day?", "Aim to drink 2 to 3 liters of water a day.", "At least half should be water (8 oz glasses)."),
        ("How much should I drink?", "School-age children drink 1 liter of water.", "Teenagers drink 2 liters of water."),
    ],
)
def test_amounts_of_different_kinds_or_for_different_people_are_no_divergence(question, a, b):
    assert both_ways(question, a, b).label != "DIVERGENT"


@pytest.mark.parametrize(
    ("question", "a", "b"),
    [
        (FEVER, "Call us for a fever of 100.4 °F or higher.", "Call us if your fever is 101.4 °F or more."),
        ("How should I store the capsules?", "Store the capsules at 2 to 8 °C.", "Store the capsules at 15 to 30 °C."),
        (
            "What blood pressure is too high?",
            "Call if your blood pressure is over 150/90.",
            "A blood pressure over 140/90 is high.",
        ),
    ],
)
def test_amounts_of_the_same_kind_and_object_that_differ_are_a_divergence(question, a, b):
    assert both_ways(question, a, b).label == "DIVERGENT"


@pytest.mark.parametrize(
    ("question", "a", "b"),
    [
        (PET, "Do not clean the litter box of your cat.", "You may keep a cat."),
        ("Can I have pets?", "Avoid litter boxes and bird cages.", "You may walk your dog."),
        ("Can I drink alcohol?", "You can eat and drink as usual before the scan.", "Do not drink alcohol."),
        ("Can I get pregnant?", "Do not get pregnant.", "Tell us if you are or may be pregnant."),
        ("What are the symptoms of the cancer?", "Symptoms may be caused by cancer.", "Early cancers do not cause symptoms."),
    ],
)
def test_advice_on_different_acts_or_objects_is_no_contradiction(question, a, b):
    assert both_ways(question, a, b).label == "COMPLEMENTARY"


@pytest.mark.parametrize(
    ("question", "a", "b"),
    [
        (PET, "Do not keep a cat.", "You may keep a cat."),
        ("Can I smoke?", "Never smoke:\n• cigarettes\n• cigars", "You may smoke cigarettes."),
        ("Can I eat sushi?", "Avoid the following: raw eggs; sushi; soft cheese.", "You may eat sushi."),
        ("Can I eat grapefruit?", "Do not eat grapefruit or drink its juice.", "A small serving of grapefruit is fine."),
    ],
)
def test_opposite_directions_on_one_object_contradict_and_a_lead_gives_its_items_their_direction(question, a, b):
    assert both_ways(question, a, b).label == "CONTRADICTORY"


@pytest.mark.parametrize(
    ("question", "a", "b", "why"),
    [
        ("Can I swim?", "Do not swim in lakes.", "You may swim in a pool.", "opposite advice"),
        ("Can I drive?", "Do not drive until you have seen us.", "You may drive.", "opposite advice"),
        (
            "How long do I need a caregiver?",
            "You need a caregiver for 6 weeks.",
            "Somebody stays with you for 2 weeks.",
            "amounts",
        ),
    ],
)
def test_where_the_words_do_not_tell_it_abstains_with_the_reason_and_both_quotations(question, a, b, why):
    verdict = both_ways(question, a, b)
    assert (verdict.label, verdict.significance, verdict.topic, verdict.parse) == (None, None, None, "rules")
    assert verdict.reason.startswith(ABSTAINED)
    assert why in verdict.reason
    assert 'A says "' in verdict.reasoning


def test_an_answer_that_gives_both_directions_is_not_opposite_to_either():
    both = "Do not eat sushi. You may eat sushi that was frozen."
    assert both_ways("Can I eat sushi?", both, "Do not eat sushi.").label == "COMPLEMENTARY"


def test_an_item_is_read_with_its_lead():
    first, second = parse_answer("Never smoke:\n• cigarettes\n• cigars").statements
    assert (first.text, second.text) == ("Never smoke: cigarettes", "Never smoke: cigars")
    assert [part.text for part in parse_answer("Avoid: raw eggs; sushi.").statements] == ["Avoid: raw eggs", "Avoid: sushi."]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("A fever of 100.4 °F", {"body"}),
        ("38.5 °C", {"body"}),
        ("Keep the bottles in a refrigerator at 5 °C", {"storage"}),
        ("Cook meat to 165 °F", {"food"}),
        ("The room has 20 °C", set()),
    ],
)
def test_a_temperature_is_told_by_its_value_and_the_words_around_it(text, kinds):
    assert kinds_of_temperature(text, find_quantities(text)[0]) == kinds


@pytest.mark.parametrize(
    ("text", "permits"),
    [("You may swim.", True), ("Never swim.", False), ("You may not swim.", False), ("Swimming is fun.", None)],
)
def test_the_direction_of_a_statement(text, permits):
    assert direction_of(text) is permits


def test_a_summary_tells_abstentions_from_unreadable_replies():
    summary = JudgingSummary()
    for reason in (f"{ABSTAINED}: different amounts", f"{ABSTAINED}: different amounts", "no label"):
        summary.count_verdict(Verdict(None, parse="rules", reason=reason))
    assert (summary.reasons.total(), summary.abstained, summary.unread) == (3, 2, 1)
    assert "3 unscored (the judge abstained on 2)" in summary.sentence
