"""Which runs are previews, and what is said of them."""

from __future__ import annotations

import pytest

from audit.previews import preview_notice
from audit.vocabulary import STAND_IN_JUDGE

PASSAGES, MODEL = "closest passages, no model", "Qwen3-32B"
ANSWERS = "nswers are quoted passages that no model has read"
LABELS = "abels come from a stand-in judge that reads truth.csv and no text"
VERDICT = ": a preview, not a finding"


@pytest.mark.parametrize(
    ("generator", "judge", "notice"),
    [
        (PASSAGES, STAND_IN_JUDGE, f"A{ANSWERS}; l{LABELS}{VERDICT}"),
        (PASSAGES, MODEL, f"A{ANSWERS}{VERDICT}"),
        (PASSAGES, None, f"A{ANSWERS}{VERDICT}"),
        (MODEL, STAND_IN_JUDGE, f"L{LABELS}{VERDICT}"),
        (MODEL, "some rules, no model", f"Labels come from a judge without a model{VERDICT}"),
        (MODEL, MODEL, ""),
        (None, None, ""),
        ("policy simulator; no text of any hospital, not medical advice", "simulated reader of the true relations", ""),
        ({"name": MODEL}, 3, ""),
    ],
)
def test_the_notice_says_what_no_model_has_read_and_nothing_of_models_or_the_demo(generator, judge, notice):
    assert preview_notice({"generator": generator, "judge": judge}) == notice


def test_the_notice_of_two_compared_runs_covers_both():
    own = {"generator": MODEL, "judge": MODEL}
    assert preview_notice(own, {"generator": PASSAGES, "judge": MODEL}) == f"A{ANSWERS}{VERDICT}"
    assert preview_notice({"judge": STAND_IN_JUDGE}, {"generator": PASSAGES}) == f"A{ANSWERS}; l{LABELS}{VERDICT}"
