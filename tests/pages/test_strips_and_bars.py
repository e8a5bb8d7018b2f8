"""Small pictures made of HTML: stacked bars of labels, the profile of a handbook, and the dots of a list of questions."""

from __future__ import annotations

import pandas as pd

from audit.vocabulary import Label
from pages._blinded.templates import rendered
from pages._shared import pair_list
from pages.handbook.profile import profile_rows
from pages.organs import label_bars


def test_a_bar_has_a_part_for_each_label_that_a_row_has_and_says_it_to_a_screen_reader(monkeypatch):
    drawn = []
    monkeypatch.setattr(label_bars.st, "html", lambda body: drawn.append(str(body)))
    frame = pd.DataFrame({"consistent": [3, 0], "divergent": [1, 0]})
    label_bars.label_bars(["older_adults", "<b>"], frame, [Label.CONSISTENT, Label.DIVERGENT], "pairs in which both answer")
    html = drawn[-1]
    assert 'aria-label="consistent 75.0 %, divergent 25.0 %"' in html
    assert html.count("flex: ") == 2  # the second row has no pairs, and so no part
    assert "older adults" in html
    assert "4 pairs" in html
    assert "0 pairs" in html
    assert "<b>" not in html.replace("<b>75", "").replace("<b>25", "")


def test_a_handbook_not_asked_about_an_organ_has_no_bar():
    table = pd.DataFrame(
        {"name": ["kidney", "lung"], "asked": [4, 0], "answered": [1, 0], "share": [0.25, None], "peers_share": 0.5}
    )
    rows = profile_rows(table)
    assert rows == [("kidney", "1 of 4", 0.25, 0.5), ("lung", "not asked", None, 0.5)]
    html = rendered("handbook/profile.html", rows=rows, peers="others")
    assert html.count('class="share" style="width: 25.0%"') == 1
    assert html.count('class="tick" style="left: 50.0%"') == 2
    assert 'aria-label="not asked; others: 50 %"' in html
    assert "others" not in rendered("handbook/profile.html", rows=[("kidney", "1 of 4", 0.25, None)], peers="others")


def test_the_dots_of_a_question_are_its_handbooks_each_in_the_first_of_its_positions(monkeypatch, run):
    held = [("q1", 1, "a"), ("q1", 1, "b"), ("q1", 1, "c"), ("q1", 2, "d"), ("q1", None, "e"), ("q1", 3, "a"), ("q2", 1, "a"),
            ("q3", None, "a"), ("q3", None, "b"), ("q3", None, "c"), ("q3", None, "d")]  # fmt: skip
    stored = pd.DataFrame(held, columns=["of_question", "position", "handbook_id"]).astype({"position": "Int64"})
    monkeypatch.setattr(pair_list, "stored_for_every_question", lambda *_: stored)
    # One handbook of q2 is no picture, and on q3 there is no position
    assert pair_list._strips.__wrapped__("", "", run) == {"q1": (3, 1, -1)}
    monkeypatch.setattr(pair_list, "stored_for_every_question", lambda *_: None)
    assert pair_list._strips.__wrapped__("", "", run) == {}
