"""Looks that were registered before a study: what each may spend, when it is taken, and that all together miss in 5 % at most."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from annotation.agreement.report import agreement_report
from annotation.label_store.engine import LabelStore
from annotation.label_store.studies import StudyState
from annotation.ratings.table import Ratings
from annotation.studies.adjudication import close_study
from annotation.studies.registered_looks import TakenLook, due_look, looks_taken, outcome_with_looks, take_look
from annotation.studies.registration import Registration, registration_of
from annotation.studies.study_tables import study_ratings
from annotation.studies.verification import verify_study
from audit.stats.spending import ERROR, spent, width_at
from benchmarks.interval_worlds_of_ratings import agreement_at_registered_looks
from tests.annotation.agreement.test_live_intervals import rated  # noqa: F401 - a fixture
from tests.annotation.tables import ratings
from tests.support.studies import NOW, rate, step

REGISTERED = Registration("annotator_agreement", 0.5, looks=(0.5, 0.9))


def test_the_spending_function_is_that_of_o_brien_and_fleming() -> None:
    # Lan and DeMets 1983: 2 - 2 Phi(1.96 / sqrt(t)), and all of it at the end
    assert [spent(share) for share in (0.2, 0.5, 1.0)] == pytest.approx([1.17e-5, 0.00557, 0.05], rel=0.01)
    assert width_at(ERROR) == pytest.approx(1)
    assert width_at(0.01) == pytest.approx(norm.isf(0.005) / norm.isf(0.025))


@pytest.mark.parametrize("name", ["kappa", "agreement"])
def test_some_look_or_the_end_misses_in_at_most_five_percent_of_studies(name: str) -> None:
    rng = np.random.default_rng(7)
    missed = [not low <= value <= high for _ in range(400) for value, low, high in agreement_at_registered_looks(name, rng)]
    assert np.mean(missed) <= 0.05 + 1.64 * np.sqrt(0.05 * 0.95 / 400)


def under_way(items: int, of: int = 40) -> Ratings:
    """`of` planned items, of which both raters have labelled so many, seven of eight alike."""
    alike = ["CONSISTENT  CONSISTENT" if n % 8 else "CONSISTENT  DIVERGENT " for n in range(items)]
    lines = [f"{pair} CONSISTENT 2 1" for pair in alike] + [f"CONSISTENT - CONSISTENT 2 {of - items}"] * (items < of)
    table = ratings("annotator_a annotator_b judge design_weight times\n" + "\n".join(lines))
    return table.as_live()


def test_a_look_is_due_once_its_share_is_rated_and_spends_for_the_items_that_are_there() -> None:
    assert due_look(REGISTERED, under_way(19), []) is None
    late = due_look(REGISTERED, under_way(24), [])
    assert late is not None
    assert (late.items, late.of, late.error) == (24, 40, pytest.approx(spent(0.6)))
    assert due_look(REGISTERED, under_way(30), [late]) is None
    last = due_look(REGISTERED, under_way(36), [late])
    assert last is not None
    assert last.error == pytest.approx(spent(0.9) - spent(0.6))
    assert due_look(REGISTERED, under_way(39), [late, last]) is None


def test_a_look_that_was_not_taken_spends_nothing_and_two_at_once_are_one() -> None:
    both = due_look(REGISTERED, under_way(38), [])
    assert both is not None
    assert both.error == pytest.approx(spent(0.95))
    assert due_look(REGISTERED, under_way(39), [both]) is None


def test_the_end_has_what_the_looks_left() -> None:
    look, done = TakenLook(20, 40, spent(0.5), 0.875, 0.42, 0.98), under_way(40).as_live(live=False)
    report = agreement_report(done)
    after = outcome_with_looks(REGISTERED, report, done, [look])
    assert after.startswith("At the registered look with 20 of 40 items it was 0.88 (99.44 % interval 0.42 to 0.98): ")
    assert "the threshold was not yet reached. At the end" in after
    assert "(95.56 % interval" in after
    assert after.endswith("the registered threshold of 0.50 is reached, also by the lower end of the interval.")
    assert outcome_with_looks(REGISTERED, report, done, []).count("95 % interval") == 1
    live = under_way(22)
    assert outcome_with_looks(REGISTERED, agreement_report(live), live, []).endswith("rating, or at a registered look.")


def test_looks_enter_the_ledger_once_with_what_they_showed(rated: LabelStore) -> None:  # noqa: F811
    own = study_ratings(rated, "s")  # nine of ten items
    taken = take_look(rated, "s", REGISTERED, own, NOW)
    assert [(look.items, look.of, look.error) for look in taken] == [(9, 10, pytest.approx(spent(0.9)))]
    assert take_look(rated, "s", REGISTERED, own, NOW) == taken == looks_taken(rated, "s")
    assert not any("study_events" in fault for fault in verify_study(rated, "s"))
    rate(rated, "ben", 10, "ABSENT")
    step(rated, StudyState.LABELLING)
    close_study(rated, "s", NOW)
    assert take_look(rated, "s", REGISTERED, study_ratings(rated, "s"), NOW) == taken


def test_looks_are_registered_with_the_figure_and_said() -> None:
    stored = {"primary": "judge_kappa", "at_least": 0.6, "statement": "", "looks": [0.5]}
    found = registration_of({"registration": stored})
    assert found == Registration("judge_kappa", 0.6, looks=(0.5,))
    assert "after 50 % of the items; they spend the error of 5 %" in found.sentence("2026-11-23T09:00:00+00:00")
    faults = [any(replace(found, looks=looks).faults().values()) for looks in ((), (0.5, 0.75), (0.75, 0.5), (1.0,), (0.0,))]
    assert faults == [False, False, True, True, True]
