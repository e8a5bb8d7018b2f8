"""The labelling board's pace, suggestion of a break, last five items and marked sentences, without a browser."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pages._blinded.labelling.widget import browser_ranges, sentence_ranges
from pages.studies.annotate import session as module
from pages.studies.annotate.session import LabellingSession, pace_sentence, pause_sentence
from tests.pages.studies.test_annotate import current, key
from tests.support.studies import NOW, history, study_of


@pytest.mark.parametrize(
    ("seconds", "left", "sentence"),
    [
        ([12.0] * 4, 10, ""),  # too few to say anything
        ([11.0, 12, 13, 12, 400], 70, "About 10 s an item, about 15 min left."),  # 12 s x 70 = 14 min; one pause does no harm
        ([3.4] * 5, 10, "About 3 s an item, less than a minute left."),
        ([58.0] * 5, 200, "About 1 min an item, about 3 hours left."),  # 3.2 hours
        ([90.0] * 5, 60, "About 1½ min an item, about 1½ hours left."),
        ([20.0] * 5, 100, "About 20 s an item, about 35 min left."),  # 33.3 minutes
        ([20.0] * 5, 0, "About 20 s an item."),
        ([20.0] * 5, None, "About 20 s an item."),
    ],
)
def test_the_pace_is_a_plain_rounded_sentence(seconds, left, sentence):
    assert pace_sentence(seconds, left) == sentence


def test_a_break_is_suggested_after_every_50_items_in_a_row_and_not_for_long():
    suggested = [number for number in range(120) if pause_sentence(number)]
    assert suggested == [*range(50, 55), *range(100, 105)]
    assert "50 items in a row" in pause_sentence(52)


def test_a_break_starts_the_count_again_and_the_last_five_and_the_pace_survive_a_new_session(store, monkeypatch):
    study_of(store, 60)
    clock = [NOW]
    monkeypatch.setattr(module, "now", lambda: clock[0])
    session = LabellingSession("s", "ana")
    session.refresh(store)
    labelled = []
    for number in range(51):
        clock[0] += timedelta(seconds=10)
        task = current(session, store)
        labelled.append(task["assignment"])
        session.handle(store, [key("submit", task, f"a/{number}", label="ABSENT")])
    view = session.view([])
    assert ("50 items in a row" in view["pause"], view["pace"]) == (True, "About 10 s an item, about 2 min left.")
    assert view["recent"] == labelled[:-6:-1]
    assert set(view["recent"]) <= {task["assignment"] for task in view["tasks"]}
    clock[0] += timedelta(minutes=6)
    session.handle(store, [key("submit", current(session, store), "a/51", label="ABSENT")])
    assert (session.view([])["pause"], session.in_a_row) == ("", 1)
    again = LabellingSession("s", "ana")
    again.refresh(store)
    assert (again.view([])["pace"], len(again.view([])["recent"])) == ("About 10 s an item, about 1 min left.", 5)


def test_sentences_are_counted_as_the_browser_counts_characters():
    text = "Wear a mask \U0001f637. Call at 38.5 °C!\n- Rest"
    assert [text[start:end] for start, end in sentence_ranges(text)] == ["Wear a mask \U0001f637.", "Call at 38.5 °C!", "- Rest"]
    assert browser_ranges(text)[1] == (16, 32)  # one more than in Python, for the two halves of the emoji


def test_a_sentence_that_the_item_does_not_have_is_reported_and_nothing_is_stored(store):
    study_of(store, 2)
    session = LabellingSession("s", "ana")
    session.refresh(store)
    task = current(session, store)
    assert ([len(ranges) for ranges in task["sentences"]], task["marks"]) == ([1, 1], [[], []])
    for index, marks in enumerate(([[1], []], [[-1], []], [[], [], [0]])):
        session.handle(store, [key("submit", task, f"a/{index}", label="ABSENT", marks=marks)])
        assert "not in the answers of this item" in session.handled[f"a/{index}"]
    assert history(store, task["assignment"], "ana") == []
    session.handle(store, [key("submit", task, "a/9", label="ABSENT", marks=[[0], []])])
    (again,) = (sent for sent in session.view([])["tasks"] if sent["assignment"] == task["assignment"])
    assert again["marks"] == [[0], []]
