"""The rules that make a statement false: what they change, and what they leave alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from audit.pipeline.stress.edits.amounts import amount_replacements
from audit.pipeline.stress.edits.assertions import assertions
from audit.pipeline.stress.edits.frequencies import frequency_replacements
from audit.pipeline.stress.edits.negations import negation_replacements
from audit.pipeline.stress.edits.opposites import direction_replacements
from audit.pipeline.stress.edits.replacements import Replacement

Rule = Callable[[str, int, int], Iterator[Replacement]]


def changed(rule: Rule, text: str) -> list[str]:
    """The text after each change that a rule can make."""
    return [text[: change.start] + change.after + text[change.end :] for change in rule(text, 0, len(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Wait at least 3 months before you travel.", ["9 months", "3 weeks"]),
        ("Wait three months before you travel.", ["nine months", "three weeks"]),
        ("A total of 1,250 women took part in it.", ["2,500 women"]),
        ("It was found in 71% of them.", ["in 36% of"]),
        ("It was found in 25% of them.", ["in 75% of"]),
        ("It lasted 2 to 3 weeks in most of them.", ["6 to 9 weeks", "2 to 3 months"]),
        ("Call us for a fever of 38 °C or more.", ["40 °C or more"]),
        ("People aged 65 and older are at risk.", ["aged 45 and older"]),
        ("Children aged 5 to 12 are at risk of it.", ["aged 8 to 15"]),
        ("Exercise 5 days a week for your heart.", ["2 days a week"]),
        ("Take 500 mg in the morning with food.", ["1000 mg", "500 mcg"]),
    ],
)  # fmt: skip
def test_an_amount_gets_another_value_or_unit_of_the_same_form(text, expected):
    texts = changed(amount_replacements, text)
    assert len(texts) == len(expected)
    assert all(part in after for part, after in zip(expected, texts, strict=True))


@pytest.mark.parametrize(
    "text",
    [
        "People with type 2 diabetes need vitamin B 12 every day.",  # names
        "It was published in 2010;12(3):45-50 and cited in [12, 15-18].",
        "The hazard ratio was 2.95 (95% CI 0.81-10.70, p = 0.086).",
        "On 12 March 2019 the study began with chromosome 7.",
        "Call 911 or 1-800-555-0199 at once for help.",
        "The mean score was 12 ± 4 in the group of patients.",
        "Keep it below 38 °C (100.4 °F) at all times.",  # given twice
        "It took 3 months, and again 3 months later it came back.",
        "The median was 36·4 months in the first group.",
        "It was seen in all 4 limbs, and in 7 cases out of 8.",
        "One glass is enough for most people with it.",  # would need a plural
    ],
)
def test_names_dates_references_statistics_and_repeated_amounts_stay(text):
    assert changed(amount_replacements, text) == []


@pytest.mark.parametrize(
    ("rule", "text", "expected"),
    [
        (frequency_replacements, "Take it twice a day with food.", "Take it six times a day with food."),
        (frequency_replacements, "Have an annual check of your eyes.", "Have a monthly check of your eyes."),
        (frequency_replacements, "Test it every 2 weeks at home.", "Test it every 2 months at home."),
        (frequency_replacements, "Infants usually recover without treatment.", "Infants rarely recover without treatment."),
        (frequency_replacements, "Most people recover in a week.", "Few people recover in a week."),
        (frequency_replacements, "Never take more than one tablet.", "Always take more than one tablet."),
        (negation_replacements, "You should not take aspirin.", "You should take aspirin."),
        (negation_replacements, "Asthma is a chronic disease.", "Asthma is not a chronic disease."),
        (negation_replacements, "Scores did not differ between groups.", "Scores did differ between groups."),
        (negation_replacements, "It doesn't spread to others.", "It does spread to others."),
        (negation_replacements, "There was no difference between them.", "There was a difference between them."),
        (negation_replacements, "There were no significant differences.", "There were significant differences."),
        (negation_replacements, "Call your team at once.", "Do not call your team at once."),
        (negation_replacements, "Healing occurred without treatment.", "Healing occurred with treatment."),
        (direction_replacements, "Rates were higher in older men.", "Rates were lower in older men."),
        (direction_replacements, "It led to a reduction in pain.", "It led to an increase in pain."),
        (direction_replacements, "It helps to lower your pressure.", "It helps to raise your pressure."),
        (direction_replacements, "Take the tablet before breakfast.", "Take the tablet after breakfast."),
        (direction_replacements, "It is a rare disorder of the skin.", "It is a common disorder of the skin."),
        (direction_replacements, "It is an uncommon disorder.", "It is a common disorder."),
        (direction_replacements, "Men are more likely to get it.", "Men are less likely to get it."),
    ],
)  # fmt: skip
def test_the_smallest_change_makes_the_statement_false(rule, text, expected):
    assert changed(rule, text) == [expected]


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (frequency_replacements, "Look at aspects of your daily environment."),
        (frequency_replacements, "It shows how often the disease occurs."),
        (frequency_replacements, "It is commonly known as Lou Gehrig's disease."),
        (frequency_replacements, "Sometimes doctors use surgery to remove it."),
        (negation_replacements, "You may have no symptoms in the early stages."),  # leaves it open already
        (negation_replacements, "Some people are allergic to the tablets."),  # not all of them
        (negation_replacements, "Data were collected from all clinics."),
        (negation_replacements, "It is not clear and not known what helps."),
        (negation_replacements, "If you are pregnant, call your team."),  # a condition
        (direction_replacements, "High school students took the lower back test."),
        (direction_replacements, "Treatment may increase the risk of bleeding."),
        (direction_replacements, "Rates increased in men and decreased in women."),  # has both
        (direction_replacements, "It was no longer seen in one or more of them."),
        (direction_replacements, "The common cold is caused by many viruses."),
    ],
)  # fmt: skip
def test_a_statement_whose_opposite_need_not_be_false_stays(rule, text):
    assert changed(rule, text) == []


def test_aims_questions_and_tables_assert_nothing():
    text = (
        "To determine whether statins reduce the risk of stroke. Does it help people who have had one?\n\n"
        "We hypothesized that the risk would be lower in women.\n\nMedicine: Ibuprofen | Allowed: no | Each day: 2 tablets\n\n"
        "Statins reduced the risk of stroke in women."
    )
    assert [statement.text for statement in assertions(text)] == ["Statins reduced the risk of stroke in women."]
