"""Which runs are previews, and what is said of them."""

from __future__ import annotations

import pytest

from audit.previews import judged_by_rules, preview_notice
from audit.vocabulary import PASSAGES_GENERATOR
from audit.vocabulary import RULES_JUDGE as NAME

BOTH = "Answers extracted by rules, pairs labelled by rules: a preview, not a finding"
ANSWERS = "Answers extracted by rules: a preview, not a finding"
PAIRS = "Pairs labelled by rules: a preview, not a finding"
MODEL = "Qwen3-32B"


@pytest.mark.parametrize(
    ("generator", "judge", "notice"),
    [
        (PASSAGES_GENERATOR, NAME, BOTH),
        (PASSAGES_GENERATOR, MODEL, ANSWERS),
        (MODEL, NAME, PAIRS),
        (MODEL, MODEL, ""),
        (None, None, ""),
        ("policy simulator; no text of any hospital, not medical advice", "simulated reader of the true relations", ""),
        ({"name": MODEL}, 3, ""),
    ],
)
def test_the_notice_says_what_rules_did_and_nothing_of_models_or_the_demo(generator, judge, notice):
    assert preview_notice({"generator": generator, "judge": judge}) == notice


def test_the_notice_of_two_compared_runs_covers_both():
    assert preview_notice({"generator": MODEL, "judge": MODEL}, {"generator": PASSAGES_GENERATOR, "judge": MODEL}) == ANSWERS
    assert preview_notice({"judge": NAME}, {"generator": PASSAGES_GENERATOR}) == BOTH


def test_a_judge_of_rules_is_recognised_by_its_name():
    assert judged_by_rules({"judge": NAME})
    assert not judged_by_rules({"judge": MODEL})
