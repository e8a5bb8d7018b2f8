"""A rewritten answer has to keep every number, amount and negation, and gets none."""

from __future__ import annotations

import pytest

from audit.text.rewriting import same_facts

ORIGINAL = "Wait 3 months before you travel. You should not drink alcohol."


def test_other_words_with_the_same_facts_are_accepted() -> None:
    assert same_facts(ORIGINAL, "Travel is possible after 3 months. Do not drink any alcohol.")


@pytest.mark.parametrize(
    "changed",
    [
        "Wait 6 months before you travel. You should not drink alcohol.",
        "Wait 3 weeks before you travel. You should not drink alcohol.",
        "Wait 3 months before you travel. You may drink alcohol.",
        "Wait 3 months before you travel. You should not drink alcohol. Never swim.",
        "Wait before you travel. You should not drink alcohol.",
        "Wait 3 months before you travel, then 2 more. You should not drink alcohol.",
        "You should not wait 3 months before you travel. Drink alcohol.",
    ],
)
def test_a_changed_amount_or_negation_is_refused(changed: str) -> None:
    assert not same_facts(ORIGINAL, changed)
