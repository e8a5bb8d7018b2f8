"""The Alignment page: a study is divided once, and versions are shown on the part to prove on only."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from annotation.label_store.studies import StudyState
from annotation.studies.adjudication import close_study
from annotation.studies.alignment import add_version, proposal
from annotation.studies.learnt import Judged, record_judged, split_of, versions_of
from annotation.studies.study_tables import labels_table
from annotation.studies.verdict_store import SampleOrigin, StoredVerdict, Stratum, store_sample
from pages._shared import judge_story
from tests.pages.conftest import lists, words_on
from tests.pages.studies.conftest import SignIn
from tests.support.studies import NOW, rate_all, step, study_of


@pytest.fixture
def labelled(folk):
    """A study of 36 questions in which every pair is CONSISTENT; it is still open."""
    study_of(folk, 36)
    stored = [StoredVerdict(f"i{n:03}", "CONSISTENT", "CONSISTENT", None, None, None) for n in range(1, 37)]
    with folk.begin() as tx:
        strata = [Stratum("CONSISTENT", "CONSISTENT", None, 100, 36)]
        store_sample(tx, "s", SampleOrigin("run", "0" * 64, 100, 0, {}), strata, stored)
    for name in ("ana", "ben"):
        rate_all(folk, name)
    return folk


def close(store) -> None:
    step(store, StudyState.LABELLING)
    close_study(store, "s", NOW)


def pressed(at, key: str):
    return next(button for button in at.button if button.key == key).click().run()


def test_an_open_study_is_not_divided(labelled, as_user: SignIn):
    at = pressed(as_user("petra", "alignment"), "divide")
    assert not at.exception
    assert "its labels may still change. Nothing was divided." in words_on(at)
    assert split_of(labelled, "s") is None


def test_versions_are_shown_on_the_part_to_prove_on(labelled, as_user: SignIn, monkeypatch):
    close(labelled)
    at = pressed(as_user("petra", "alignment"), "divide")
    assert not at.exception
    assert "12 questions to learn from, 24 to prove on" in words_on(at)
    assert "No version has judged this study yet." in words_on(at)
    text = proposal(labels_table(labelled, "s").head(0), ["Advice with an exception is DIVERGENT."])
    add_version(labelled, "s", "stricter", text, "petra", NOW)
    items = labels_table(labelled, "s", every=True)["item_id"]
    for number, version in enumerate(versions_of(labelled, "s")):
        labels = {item: "CONSISTENT" if number or place % 3 else "DIVERGENT" for place, item in enumerate(items)}
        record_judged(labelled, "s", Judged(version.digest, "a judge", version.name, labels), NOW)
    at = as_user("petra", "alignment")
    assert not at.exception
    shown = lists(at)[0].value
    accuracy = shown[(shown["figure"] == "accuracy") & (shown["version"] == "stricter")].iloc[0]
    assert (accuracy["n"], accuracy["value"]) == (24, pytest.approx(1))
    assert accuracy["change"] > 0
    assert "12 of 36 items are left out: judge versions stricter have learnt" in words_on(at)
    monkeypatch.setattr(judge_story, "label_store", lambda: labelled)
    line = judge_story.by_version(SimpleNamespace(study_id="s"))
    assert line.state == judge_story.TOLD
    assert "On the part to prove on, judged by a judge: shipped: kappa" in line.words
    assert "stricter: kappa not defined" in line.words
    assert judge_story.by_version(None).state == judge_story.NOT_MEASURED
    at = as_user("petra", "agreement")
    assert not at.exception
    assert "12 of 36 items are left out" in words_on(at)
