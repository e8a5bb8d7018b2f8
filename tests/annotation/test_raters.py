"""Who rates in a study: stated when it is created or later, on record, and in the words of every figure."""

from __future__ import annotations

from datetime import timedelta

import pytest

from annotation.label_store.engine import LabelStore
from annotation.label_store.seals import raters_of, state_raters
from annotation.studies.verification import verify_study
from audit.vocabulary import Raters, stated_raters
from tests.support.studies import NOW, study_of


def test_what_nobody_states_is_unknown(store: LabelStore) -> None:
    study_of(store, 2)
    assert raters_of(store, "s") is Raters.UNKNOWN


def test_the_last_statement_counts_and_the_ledger_stays_whole(store: LabelStore) -> None:
    study_of(store, 2, raters=Raters.CLINICIANS)
    assert raters_of(store, "s") is Raters.CLINICIANS
    with store.begin() as tx:
        state_raters(tx, "s", Raters.MODELS, NOW + timedelta(days=1))
    assert raters_of(store, "s") is Raters.MODELS
    assert verify_study(store, "s") == []


@pytest.mark.parametrize(
    ("value", "words"),
    [("clinicians", "clinicians"), ("trained people", "trained people"), (None, "raters"), ("people", "raters"), (3, "raters")],
)
def test_only_what_is_stated_names_the_raters(value: object, words: str) -> None:
    assert stated_raters(value).words == words
