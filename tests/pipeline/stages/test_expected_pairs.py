"""Pairs that need a judge: counted, or expected by the published share."""

from __future__ import annotations

from audit.pipeline.stages.plan import RunPlan, plan_text


def plan(pairs: int, present_pairs: int | None) -> RunPlan:
    return RunPlan((), 3, 2, 6, pairs, present_pairs, systems=0)


def test_without_all_answers_the_published_share_of_pairs_is_absent() -> None:
    assert plan(1_000, None).pairs_to_judge == 310
    assert (
        "\n1,000 pairs, about 690 of them ABSENT without a judge (by the published share of 69%, until all answers exist)."
        in plan_text(plan(1_000, None), {})
    )


def test_once_all_answers_exist_the_pairs_are_counted() -> None:
    assert plan(4, 1).pairs_to_judge == 1
    assert "\n4 pairs, 3 of them ABSENT without a judge." in plan_text(plan(4, 1), {})


def test_a_run_without_pairs_says_so() -> None:
    assert "\n0 pairs, 0 of them ABSENT without a judge." in plan_text(plan(0, None), {})
