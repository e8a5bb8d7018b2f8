"""Charts of several sources: one question's way, dominance, budgets."""

from __future__ import annotations

import pandas as pd
import pytest

from audit.charts.routing import BRIDGED, SEARCHED, budget_bars, dominance_dots, route_picture, source_colours
from audit.charts.style import GENERAL_COLOUR

NAME = "<b>Long & co</b>"
ROUTES = pd.DataFrame(
    [
        {"source": NAME, "facts": "authority 0.50", "probed": 20.0, "budget": 15.0, "share": 0.75},
        {"source": "Dense", "facts": "", "probed": 20.0, "budget": 5.0, "share": 0.25},
        {"source": "Silent", "facts": "", "probed": float("nan"), "budget": float("nan"), "share": float("nan")},
    ]
)
PASSAGES = pd.DataFrame(
    [
        {"rank": 1, "source": "Dense", "bridged": False, "title": "d · s1"},
        {"rank": 2, "source": NAME, "bridged": True, "title": "l · s2"},
    ]
)
TERMS = pd.DataFrame([{"name": "spleen", "is_seed": True, "ranks": (1, 2)}])
COLOURS = source_colours(["Dense", NAME, "Silent"])


def lines_of(figure):
    return [trace for trace in figure.data if trace.type == "scatter" and trace.mode == "lines"]


def test_every_passage_is_joined_to_its_source_and_to_its_terms():
    figure = route_picture(ROUTES, PASSAGES, TERMS, COLOURS)
    lines = lines_of(figure)
    # Two passages from their sources, and the term that both name
    assert sorted(line.line.dash or "solid" for line in lines) == ["dot", "solid", "solid", "solid"]
    to_long, to_dense = [line for line in lines if line.line.color in (COLOURS[NAME], COLOURS["Dense"])]
    assert (to_long.line.color, to_long.line.dash) == (COLOURS[NAME], "dot")
    # The lane of a source is above that of the source after it, and so are their passages
    assert to_long.y[0] < to_dense.y[0]
    assert to_long.y[1] < to_dense.y[1]


def test_a_bridged_passage_is_a_diamond_and_the_legend_says_what_that_means():
    figure = route_picture(ROUTES, PASSAGES, TERMS, COLOURS)
    scatters = [trace for trace in figure.data if trace.type == "scatter"]
    marks = {trace.marker.symbol: list(trace.text) for trace in scatters if trace.mode == "markers+text"}
    assert marks == {"circle": ["1"], "diamond": ["2"]}
    assert [trace.name for trace in figure.data if trace.name] == [SEARCHED, BRIDGED]


def test_a_budget_that_is_not_stated_is_a_dash_and_no_bar_of_zero():
    whole, taken = [trace for trace in route_picture(ROUTES, PASSAGES, TERMS, COLOURS).data if trace.type == "bar"]
    assert list(whole.text) == ["15 of 20", "5 of 20", "–"]
    assert list(taken.x) == [0.75, 0.25, 0]
    assert "budget: not stated" in taken.hovertext[2]


def test_without_terms_their_column_is_not_drawn():
    figure = route_picture(ROUTES, PASSAGES, TERMS.head(0), COLOURS)
    assert len(lines_of(figure)) == 2
    assert not any("Terms" in note.text for note in figure.layout.annotations)


def test_names_of_a_release_are_never_markup():
    figure = route_picture(ROUTES, PASSAGES, TERMS, COLOURS)
    texts = [note.text for note in figure.layout.annotations] + [hover for bar in figure.data for hover in bar.hovertext or ()]
    assert any("&lt;b&gt;Long &amp; co" in text for text in texts)
    assert not any("<b>Long" in text for text in texts)


def test_sources_beyond_the_palette_are_grey():
    colours = source_colours([f"s{number}" for number in range(12)])
    assert len(set(list(colours.values())[:8])) == 8
    assert set(list(colours.values())[8:]) == {GENERAL_COLOUR}


def shares(name, source, evidence, text, **others):
    own = {
        "system_id": name,
        "name": name,
        "source_id": source,
        "evidence": evidence,
        "evidence_low": evidence - 0.1,
        "evidence_high": evidence + 0.1,
    }
    return {**own, "text": text, "routed": 10, "kind": "all", **others}


def test_the_share_of_text_is_a_bar_and_the_share_of_evidence_a_dot_with_its_interval():
    frame = pd.DataFrame([shares("m", "a", 0.6, 0.2), shares("m", "b", 0.4, 0.8), shares("n", "a", 0.3, 0.2)])
    texts, first, second = dominance_dots(frame, ["a", "b"]).data
    assert list(texts.x) == [0.2, 0.8]
    assert (list(first.x), list(second.x)) == ([0.6, 0.4], [0.3])
    assert first.error_x.array == pytest.approx([0.1, 0.1])
    assert first.y[0] < second.y[0] < 0.5
    assert "of 10 questions" in first.hovertext[0]


def test_budgets_add_up_to_a_bar_of_100_percent_and_far_sources_are_one_segment():
    sources = [f"s{number}" for number in range(10)]
    frame = pd.DataFrame([shares("m", source, 0.1, 0.1, budget=2.0) for source in sources])
    segments = [bar for bar in budget_bars(frame, source_colours(sources)).data if len(bar.x)]
    assert sum(bar.x[0] for bar in segments) == pytest.approx(1)
    assert (segments[-1].name, segments[-1].x[0]) == ("(others)", pytest.approx(0.2))


def test_a_system_without_budgets_has_no_bar():
    frame = pd.DataFrame([shares("m", "a", 0.1, 0.1, budget=2.0), shares("n", "a", 0.1, 0.1, budget=float("nan"))])
    figure = budget_bars(frame, source_colours(["a"]))
    assert list(figure.layout.yaxis.ticktext) == ["m"]
