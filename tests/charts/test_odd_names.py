"""Every figure keeps one place for each name, whatever the name is: alike when cut, a number, a date, empty, long, in Hebrew."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

import audit.charts
from audit.charts.coverage import coverage_figure, coverage_rows
from audit.charts.criteria import criteria_bars, preference_bars
from audit.charts.decisions import decision_figure
from audit.charts.errors_in_time import cusum_figure
from audit.charts.found_states import state_bars
from audit.charts.funnel import funnel
from audit.charts.labels import matrix_figure, share_heatmap, two_step_bar
from audit.charts.names import NO_NAME, axis_of_names, clipped_names, names_of
from audit.charts.rates import Rate, rate_dots
from audit.charts.routing import budget_bars, dominance_dots, route_picture
from audit.charts.run_changes import change_dots, change_steps
from audit.charts.search import search_curves_figure
from audit.charts.stress import selective_curves, stress_curves_figure
from audit.charts.style import ELLIPSIS, html
from audit.charts.systems import difference_dots, downstream_bubbles, mean_dots, strength_dots
from audit.charts.themes import theme_bars, theme_treemap
from audit.charts.transitions import confusion_figure, transitions_figure
from audit.evaluation.criteria import CRITERIA, Criterion
from audit.terms import display_name
from audit.vocabulary import PRESENT_LABELS, Label

LONG = "a unit for people who wait and for those who have waited, " * 4
NAMES = (
    f"Paediatric {LONG}north", f"Paediatric {LONG}south", f"{LONG[:100]}1{LONG}", f"{LONG[:100]}2{LONG}", "2031", "2E4", "0x1F",
    "2031-02-03", "31/12/2031", "", "Infinity", "true", "heart_lung", "heart lung", "<i>Elm</i> & Ash", "$x^2$", "%{y}",
    "מרכז ברוש, חיפה.", "مستشفى الأرز",
)  # fmt: skip
NUMBERS = "\N{MINUS SIGN}+-0123456789. %"
COUNT = len(NAMES)
IDS = [f"id {number}" for number in range(COUNT)]
VALUES = [(number + 1) / 100 for number in range(COUNT)]
"""A value of its own for each name."""
NO_INTERVAL = float("nan")
Drawn = tuple[go.Figure, Mapping[int, float]]
"""A figure, and the value that is found in it at the place of each name."""


def named(*columns: str, **more: Any) -> pd.DataFrame:
    """One row per name, whose value is in each of these columns."""
    frame = pd.DataFrame({"id": IDS, "system_id": IDS, "name": NAMES} | dict.fromkeys(columns, VALUES))
    return frame.assign(**{f"{column}{end}": NO_INTERVAL for column in columns for end in ("_low", "_high")}, **more)


def along_rows(trace: Any) -> dict[int, float]:
    """Height -> value of a trace of bars or dots."""
    return {round(float(y)): round(float(x), 6) for y, x in zip(trace.y, trace.x, strict=True)}


def rates() -> Drawn:
    figure = rate_dots(named("r").assign(of=9), "id", [Rate("r", "A rate", "of")], overall=IDS[-1], called="name")
    return figure, along_rows(figure.data[0])


def heat_map() -> Drawn:
    counts = pd.DataFrame({"organ": NAMES, "consistent": [round(100 * value) for value in VALUES], "divergent": 100})
    figure = share_heatmap(counts.assign(complementary=0, contradictory=0), "organ", PRESENT_LABELS, "pairs")
    (cells,) = figure.data
    shares = {y: row[0] / 0.999 for y, row in zip(cells.y, cells.z, strict=True)}
    assert [line[0] for line in cells.text] == [f"{100 * n / (n + 100):.1f} %" for n in counts["consistent"]]
    return figure, {row: round(share / (1 - share), 6) for row, share in shares.items()}


def matrix() -> Drawn:
    """The first row has its own label; a value is the place of the row that the hover text of its cells names."""
    cells = pd.DataFrame([[Label.CONSISTENT.value] * COUNT] * COUNT, index=IDS, columns=IDS)
    figure = matrix_figure(cells, dict(zip(IDS, NAMES, strict=True)), pd.Series(1, index=IDS))
    targets = next(trace for trace in figure.data if trace.customdata is not None)
    rows = {int(y): name for y, name in zip(targets.y, targets.hovertext, strict=True)}
    whole = [html(display_name(name)) for name in NAMES]
    assert list(figure.layout.xaxis.ticktext) == whole
    return figure, {row: VALUES[row] for row, name in rows.items() if name == whole[row]}


def coverage() -> Drawn:
    books = pd.DataFrame({"handbook_id": IDS, "organ": "kidney", "center": NAMES, "phase": "pre", "asked": 100})
    books = books.assign(absence=VALUES, absent=[100 * value for value in VALUES], absence_low=0.0, absence_high=1.0)
    rows = coverage_rows(books, "center")
    figure = coverage_figure(rows, books.assign(question_organ="kidney"))
    places = dict(zip(rows["place"], map(IDS.index, rows["handbook_id"]), strict=True))
    return figure, {places[y]: float(text) / 100 for y, text in zip(figure.data[1].y, figure.data[1].text, strict=True)}


def columns_of_coverage() -> Drawn:
    book = pd.DataFrame({"handbook_id": ["h"], "organ": "kidney", "center": "Oak", "phase": "pre", "asked": 100, "absent": 1})
    book = book.assign(absence=0.5, absence_low=0.0, absence_high=1.0)
    cells = pd.DataFrame({"handbook_id": "h", "question_organ": NAMES, "asked": 100, "absence": VALUES})
    cells = cells.assign(absent=1, absence_low=0.0, absence_high=1.0)
    figure = coverage_figure(coverage_rows(book, "organ"), cells)
    assert len(figure.layout.xaxis.ticktext) == COUNT + 1
    return figure, {place: float(trace.text[0]) / 100 for place, trace in enumerate(figure.data[2:])}


def confusion() -> Drawn:
    """The diagonal has the values; a label may be called what the sums are called."""
    labels = [*NAMES[:-1], "total"]
    figure = confusion_figure(pd.DataFrame(np.diag(VALUES) * 100, index=labels, columns=labels), {}, "A", "B")
    cells = zip(figure.data[0].x, figure.data[0].y, figure.data[0].text, strict=True)
    return figure, {x: float(text) / 100 for x, y, text in cells if x == y < COUNT}


def criteria() -> Drawn:
    criterion = next(iter(Criterion))
    frame = named("share").assign(criterion=criterion.value, score=CRITERIA[criterion].best, answers=1, of=1)
    figure = criteria_bars(frame, [criterion])
    return figure, {place - 1: value for place, value in along_rows(figure.data[0]).items()}


def preferences() -> Drawn:
    frame = pd.DataFrame({"name": NAMES, "by": "people", "comparisons": 100, "b": 0, "tie": 0})
    frame["a"] = [round(100 * value) for value in VALUES]
    figure = preference_bars(frame.assign(both_bad=100 - frame["a"]))
    bars = figure.data[0]
    first = zip(bars.y, bars.x, bars.base, strict=True)
    return figure, {int(y - 0.5): x for y, x, base in first if base == 0}


def funnel_plot() -> Drawn:
    frame = named("ratio").assign(expected=range(1, COUNT + 1), disagreeing=5, flag="higher", dispersion=1.0)
    figure = funnel(frame, "name")
    dots = figure.data[-1]
    return figure, {int(x) - 1: y for x, y in zip(dots.x, dots.y, strict=True)}


def entries(figure: go.Figure, among: int = COUNT) -> list[Any]:
    """The traces with a legend entry of their own, which must tell different names apart."""
    shown = [trace for trace in figure.data if trace.name is not None and trace.type == "scatter"][-among:]
    assert [trace.name for trace in shown] == clipped_names(names_of(named(), "system_id", "name").values(), 30)
    return shown


def curves() -> Drawn:
    frame = named("value").assign(signal_share=50, size=5, of=1, questions=1, unread=0)
    published = pd.DataFrame({"model": NAMES[:2], "signal_share": 50, "size": 5, "value": 0.1})
    figure = stress_curves_figure(frame, published, "Accuracy", "Share")
    assert len({trace.name for trace in figure.data[:2]}) == 2
    return figure, {place: trace.y[0] for place, trace in enumerate(entries(figure))}


def selective() -> Drawn:
    frame = named("accuracy", "coverage").assign(signal_share=50, answered=1, readable=1)
    figure = selective_curves(frame, "Share")
    return figure, {place: trace.y[0] for place, trace in enumerate(entries(figure))}


def dominance_of_systems() -> Drawn:
    figure = dominance_dots(named("evidence").assign(source_id="s", text=0.5, routed=1), ["s"])
    return figure, {place: trace.x[0] for place, trace in enumerate(entries(figure))}


def dominance_of_sources() -> Drawn:
    frame = named("evidence").assign(source_id=NAMES, system_id="a", name="A", text=0.5, routed=1)
    figure = dominance_dots(frame, NAMES)
    return figure, along_rows(figure.data[1])


def budgets() -> Drawn:
    frame = named().assign(kind="one", source_id="s", budget=VALUES, routed=1)
    figure = budget_bars(pd.concat([frame, frame.assign(source_id="t", budget=1 - frame["budget"])]), {"s": "#cc79a7"})
    return figure, along_rows(figure.data[0])


def budgets_of_sources() -> Drawn:
    frame = named().assign(system_id="a", name="A", kind="one", source_id=NAMES, budget=VALUES, routed=1)
    figure = budget_bars(frame, dict.fromkeys(NAMES, "#cc79a7"))
    bars = figure.data[:COUNT]
    assert [bar.name for bar in bars] == clipped_names(NAMES, 24)
    return figure, {place: round(bar.x[0] * sum(VALUES), 6) for place, bar in enumerate(bars)}


def route() -> Drawn:
    routes = pd.DataFrame({"source": NAMES, "facts": "", "probed": 9, "budget": 1, "share": VALUES})
    passages = pd.DataFrame({"rank": [1], "source": [NAMES[0]], "bridged": [False], "title": ["Title"]})
    terms = pd.DataFrame({"name": NAMES, "is_seed": False, "ranks": [(1,)] * COUNT})
    figure = route_picture(routes, passages, terms, dict.fromkeys(NAMES, "#cc79a7"))
    own = next(trace for trace in figure.data if trace.type == "bar" and list(trace.x) == VALUES)
    return figure, along_rows(own)


def means() -> Drawn:
    figure = mean_dots(named("mean").assign(measure="m", answers=1), "system_id", {"m": "Mean"}, called="name")
    return figure, along_rows(figure.data[0])


def differences() -> Drawn:
    frame = named("change").assign(measure="m", of=1, moves="rises")
    figure = difference_dots(frame, "system_id", {"m": "Mean"}, called="name")
    return figure, along_rows(figure.data[0])


def strengths() -> Drawn:
    figure = strength_dots(named("strength").assign(comparisons=1))
    return figure, {COUNT - 1 - row: value for row, value in along_rows(figure.data[0]).items()}


def bubbles() -> Drawn:
    return downstream_bubbles(pd.DataFrame({"value": [0.5], "composite": [5.0]}), NAMES[0]), dict(enumerate(VALUES))


def changes() -> Drawn:
    frame = named("change").assign(rate="r", moves="rises", first=0.1, second=0.2)
    frame = frame.assign(count_first=1, of_first=1, count_second=1, of_second=1)
    figure = change_dots(frame, "id", [Rate("r", "A rate", "of")], IDS[0], called="name")
    return figure, along_rows(figure.data[0])


def steps() -> Drawn:
    row = {"disagreeing_first": 1, "disagreeing_second": 2, "r_div_first": 0.1, "r_div_second": 0.2, "pairs": 5}
    parts = [{"part": f"p{place}", **row, "change": round(100 * value)} for place, value in enumerate(VALUES)]
    frame = pd.DataFrame([{"part": "in all", **row, "change": 1}, *parts]).assign(change_low=NO_INTERVAL, change_high=NO_INTERVAL)
    figure = change_steps(frame, NAMES[0], NAMES[1], {f"p{place}": f"part {place}" for place in range(COUNT)})
    first, *_, last = figure.layout.yaxis.ticktext
    assert first != last
    return figure, {row - 1: x / 100 for row, x in along_rows(figure.data[0]).items() if 0 < row <= COUNT}


def moves() -> Drawn:
    cells = pd.DataFrame({"first": ["DIVERGENT"], "second": ["DIVERGENT"], "pairs": 5, "share": 1.0})
    figure = transitions_figure(cells, NAMES[0], NAMES[1])
    assert figure.layout.xaxis.title.text != figure.layout.yaxis.title.text
    return figure, dict(enumerate(VALUES))


def two_steps() -> Drawn:
    return two_step_bar(5, {"CONSISTENT": 2}, 1), dict(enumerate(VALUES))


def themes() -> pd.DataFrame:
    frame = named("share").assign(theme_id=IDS, top=IDS, disagreeing=1, severity=1.0, r_div=0.5, low=0, medium=0, unstated=0)
    return frame.assign(pairs=[round(100 * value) for value in VALUES], high=[round(100 * value) for value in VALUES])


def bars_of_themes() -> Drawn:
    figure = theme_bars(themes())
    return figure, {row: value / 100 for row, value in along_rows(figure.data[0]).items()}


def areas() -> Drawn:
    inside = themes().assign(theme_id=[f"{name} below" for name in IDS])
    figure = theme_treemap(inside, themes())
    (area,) = figure.data
    assert len(set(area.ids)) == 2 * COUNT + 1 == len(area.ids)
    assert not set(area.ids) & set(NAMES)
    assert set(area.parents) <= {"", *area.ids}
    return figure, {place: value / 100 for place, value in enumerate(area.values[1 : COUNT + 1])}


def found_states() -> Drawn:
    counts = [round(100 * value) for value in VALUES]
    frame = named("share").assign(called=NAMES, asked=100, stated=counts, perhaps=0, not_found=[100 - n for n in counts])
    figure = state_bars(frame.assign(silent=0.1, silent_low=0.05, silent_high=0.2))
    return figure, along_rows(figure.data[0])


def curves_of_a_search() -> Drawn:
    states = [{"way": way, "state": "stated", "right": round(100 * value), "wrong": 5, "missed": 3, "answered": 60}
              for way, value in zip(IDS, VALUES, strict=True)]  # fmt: skip
    figure = search_curves_figure(pd.DataFrame(states).assign(questions=100), dict(zip(IDS, NAMES, strict=True)))
    marks = [trace for trace in figure.data if trace.mode == "markers+text"]
    return figure, {place: float(trace.y[0]) for place, trace in enumerate(marks)}


MAKERS: dict[Callable[..., go.Figure], Sequence[Callable[[], Drawn]]] = {
    rate_dots: [rates], share_heatmap: [heat_map], matrix_figure: [matrix], two_step_bar: [two_steps],
    coverage_figure: [coverage, columns_of_coverage], confusion_figure: [confusion],
    criteria_bars: [criteria], preference_bars: [preferences], funnel: [funnel_plot], stress_curves_figure: [curves],
    selective_curves: [selective], dominance_dots: [dominance_of_systems, dominance_of_sources],
    budget_bars: [budgets, budgets_of_sources], route_picture: [route], mean_dots: [means], difference_dots: [differences],
    strength_dots: [strengths], downstream_bubbles: [bubbles], change_dots: [changes], change_steps: [steps],
    transitions_figure: [moves], theme_bars: [bars_of_themes], theme_treemap: [areas],
    state_bars: [found_states], search_curves_figure: [curves_of_a_search],
    decision_figure: [], cusum_figure: [],  # of numbers alone
}  # fmt: skip
CASES = [case for cases in MAKERS.values() for case in cases]


def test_every_figure_of_the_package_is_among_these():
    assert set(MAKERS) == set(_makers())


def _makers() -> list[Callable[..., go.Figure]]:
    """The public functions that make a figure; those that change one are given it."""
    modules = [importlib.import_module(f"audit.charts.{found.name}") for found in pkgutil.iter_modules(audit.charts.__path__)]
    functions = [
        (name, function)
        for module in modules
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_")
    ]
    makes_figure = {
        function: [parameter.annotation for parameter in inspect.signature(function).parameters.values()]
        for _, function in functions
        if inspect.signature(function).return_annotation in ("go.Figure", "Figure")
    }
    drawn = {function for function, given in makes_figure.items() if "go.Figure" not in given}
    return [function for function in drawn if function.__name__ != "panels"]  # empty panels, without names


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_each_name_has_its_own_place_with_its_own_value(case):
    _, found = case()
    assert [found.get(place) for place in range(COUNT)] == pytest.approx(VALUES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_no_axis_has_categories_and_what_is_drawn_is_at_a_number(case):
    figure, _ = case()
    axes = [*figure.select_xaxes(), *figure.select_yaxes()]
    of_names = [axis for axis in axes if any(text.strip(NUMBERS) for text in map(str, axis.ticktext or ()))]
    assert {axis.type for axis in of_names} <= {"linear"}
    assert all(len(axis.tickvals) == len(axis.ticktext) == len(set(axis.tickvals)) for axis in of_names)
    sides = [getattr(trace, side, None) for trace in figure.data for side in ("x", "y")]
    assert not [value for side in sides if side is not None for value in side if isinstance(value, str)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_names_are_written_as_text(case):
    figure = case()[0].to_dict()
    written = [{key: value for key, value in trace.items() if key != "customdata"} for trace in figure["data"]]
    assert "<i>Elm" not in f"{written} {figure['layout']}"


# -- the helper itself -------------------------------------------------------------------------------------------------


def test_names_with_the_same_beginning_are_cut_in_the_middle():
    first, second, third = clipped_names(["Kidney programme of Elm, adults", "Kidney programme of Elm, children", "Lung"], 20)
    assert (first, second, third) == (f"Kidney pro{ELLIPSIS}m, adults", f"Kidney pro{ELLIPSIS}children", "Lung")


def test_names_that_differ_in_the_middle_alone_are_numbered():
    name = "{}".join(["a" * 30] * 2)
    assert clipped_names([name.format(1), name.format(2), name.format(1)], 20) == [
        f"{'a' * 15}{ELLIPSIS} (1)", f"{'a' * 15}{ELLIPSIS} (2)", f"{'a' * 15}{ELLIPSIS} (1)",
    ]  # fmt: skip


def test_a_name_without_letters_says_so_and_equal_names_stay_equal():
    assert clipped_names(["", "Elm", " ", "Elm"]) == [NO_NAME, "Elm", NO_NAME, "Elm"]


def test_names_that_are_alike_without_their_underscores_keep_them():
    assert clipped_names(["heart_lung", "heart lung", "small_bowel"]) == ["heart_lung", "heart lung", "small bowel"]


def test_a_name_that_is_written_from_right_to_left_has_its_own_direction():
    assert clipped_names(["ברוש."])[0] == "\u2068ברוש.\u2069"
    assert clipped_names(["Elm."])[0] == "Elm."


def test_two_systems_of_the_same_name_are_told_apart_by_their_ids():
    frame = pd.DataFrame({"system_id": ["s1", "s2", "s3", "s1"], "name": ["GPT", "GPT", "Elm", "GPT"]})
    assert names_of(frame, "system_id", "name") == {"s1": "GPT · s1", "s2": "GPT · s2", "s3": "Elm"}


@given(st.lists(st.text(alphabet="ab (1)" + ELLIPSIS, max_size=12)), st.integers(min_value=8, max_value=10))
def test_names_that_differ_are_written_differently_and_no_longer_than_allowed(names, length):
    plain = [name.strip() or NO_NAME for name in names]
    texts = clipped_names(names, length)
    assert len(set(texts)) == len(set(plain))
    assert len(set(zip(plain, texts, strict=True))) == len(set(plain))
    assert all(len(text) <= max(length, len(NO_NAME)) for text in texts)


def test_an_axis_of_names_refuses_another_number_of_places():
    with pytest.raises(AssertionError, match="2 names for 1 places"):
        axis_of_names(["a", "b"], [0.0])
