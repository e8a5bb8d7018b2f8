"""What the plan says of pairs that need a judge: counted, or expected by the published share."""

from __future__ import annotations

from audit.pipeline.stages.plan import RunPlan, plan_text


def text(pairs: int, to_judge: int, *, counted: bool) -> str:
    return plan_text(RunPlan((), 3, 2, 6, pairs, to_judge, counted, systems=0), {})


def test_without_all_answers_the_plan_says_what_the_expected_pairs_are_based_on() -> None:
    sentence = "1,000 pairs, about 690 of them ABSENT without a judge (by the published share of 69%, until all answers exist)."
    assert f"\n{sentence}" in text(1_000, 310, counted=False)


def test_once_all_answers_exist_the_pairs_are_counted() -> None:
    assert "\n4 pairs, 3 of them ABSENT without a judge." in text(4, 1, counted=True)


def test_a_run_without_pairs_says_so() -> None:
    assert "\nNo pairs: nothing compares the answers." in text(0, 0, counted=False)
