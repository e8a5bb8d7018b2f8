"""Whether two statements that were found for one question agree, disagree, or are about different things."""

from __future__ import annotations

import pytest

from audit.pipeline.rules.marks.statement_labels import shared_beyond, statement_label

NOTICE = "How much notice must my landlord give before coming in?"
PRESSURE = "What is a normal blood pressure?"
VISIT, RENT = (
    "The landlord must give {} notice before coming into the home.",
    "The landlord must give 30 days' notice before the rent rises.",
)
SUBLET = "May I sublet my home?"
INHERITED = "Is Huntington disease inherited?"


@pytest.mark.parametrize(
    ("question", "one", "other", "label"),
    [
        (NOTICE, VISIT.format("24 hours'"), VISIT.format("48 hours'"), "DIVERGENT"),
        (NOTICE, VISIT.format("48 hours'"), "Before coming into the home, the landlord must give 2 days' notice.", "CONSISTENT"),
        (NOTICE, VISIT.format("24 hours'"), RENT, None),
        (
            PRESSURE,
            "Normal blood pressure is defined as a systolic pressure below 120 mmHg and a diastolic pressure below 80 mmHg.",
            "If your blood pressure reading is 90/60 or lower, you have low blood pressure.",
            None,
        ),
        (
            "May I sublet my home?",
            "You may sublet the home or a part of it.",
            "You may not sublet the home or any part of it.",
            "CONTRADICTORY",
        ),
        (
            INHERITED,
            "Huntington disease (HD) is inherited in an autosomal dominant manner.",
            "Huntington's disease is an inherited disease that causes certain nerve cells in the brain to waste away.",
            "CONSISTENT",
        ),
        (
            INHERITED,
            "Huntington disease is inherited in an autosomal dominant manner.",
            "In rare cases Huntington disease is not inherited.",
            "COMPLEMENTARY",
        ),
        (
            "Can I get pregnant?",
            "Wait at least 18 months after the transplant before you try to become pregnant.",
            "If you think you are pregnant, call us before you stop any pill.",
            "COMPLEMENTARY",
        ),
        (
            "What is Myasthenia Gravis?",
            "Myasthenia gravis is caused by a defect in the transmission of nerve impulses to muscles.",
            "Myasthenia gravis is disease that causes weakness in the muscles under your control.",
            "COMPLEMENTARY",
        ),
    ],
)
def test_statements_are_compared_where_they_are_about_the_same_thing(question, one, other, label):
    assert statement_label(question, one, other) == label
    assert statement_label(question, other, one) == label


def test_the_share_counts_words_beyond_the_question_by_the_shorter_statement():
    asked = "When is driving allowed?"
    # {wound} and {wound, heals}
    assert shared_beyond(asked, "Driving is allowed after the wound.", "Driving after the wound heals.") == 1
    assert shared_beyond(asked, "Driving is allowed in summer.", "Driving is allowed downtown.") == 0
    # {rain, fog} and {rain, snow, storm}
    assert shared_beyond(asked, "Driving in rain and fog.", "Driving in rain, snow and storm.") == 1 / 2
    assert shared_beyond(asked, "Driving is allowed.", "Driving is allowed downtown.") == 1
