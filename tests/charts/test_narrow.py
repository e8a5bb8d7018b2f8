import pandas as pd
import plotly.graph_objects as go

from audit.charts.criteria import preference_bars
from audit.charts.decisions import decision_figure
from audit.charts.labels import two_step_bar
from audit.charts.names import axis_of_names
from audit.charts.narrow import for_a_phone, is_rows_of_names, narrowed
from audit.charts.rates import AUDIT_RATES, rate_dots
from audit.charts.style import styled
from audit.charts.systems import mean_dots
from audit.charts.themes import theme_bars
from audit.charts.transitions import confusion_figure
from audit.vocabulary import Label


def rates(*organs: str) -> pd.DataFrame:
    numbers = {f"{rate.column}{end}": 0.2 for rate in AUDIT_RATES for end in ("", "_low", "_high")}
    counts = {rate.of: 10 for rate in AUDIT_RATES}
    return pd.DataFrame([{"organ": organ, **numbers, **counts} for organ in organs])


def themes(*names: str) -> pd.DataFrame:
    grades = {"disagreeing": 6, "high": 3, "medium": 2, "low": 1, "unstated": 0}
    return pd.DataFrame([{"theme_id": name, "name": name, **grades} for name in names])


def test_four_panels_become_two_lines_of_two_each_with_the_names_once():
    figure = for_a_phone(rate_dots(rates("heart", "kidney"), "organ", AUDIT_RATES))
    places = [(round(axis.domain[0], 2), round(axis.domain[1], 2)) for axis in figure.select_xaxes()]
    assert places == [(0.0, 0.43), (0.57, 1.0)] * 2
    heights = [axis.domain for axis in figure.select_yaxes()]
    assert (heights[0], heights[2]) == (heights[1], heights[3])
    assert heights[2][1] < heights[0][0]
    assert [axis.showticklabels is not False for axis in figure.select_yaxes()] == [True, False, True, False]


def test_a_panel_that_began_a_line_and_is_now_the_second_of_one_has_no_names_beside_it():
    wide = mean_dots(pd.DataFrame(
        [{"system": name, "measure": f"m{n}", "answers": 9, "mean": 0.5, "mean_low": 0.4, "mean_high": 0.6}
         for name in ("one index", "several sources") for n in range(4)]
    ), "system", {f"m{n}": f"Measure {n}" for n in range(4)})  # fmt: skip
    height = wide.layout.height
    figure = for_a_phone(wide)
    # Two lines of three panels became two of two, with 16 pixels for each of two names and the gap of a phone
    assert figure.layout.height - height < 2 * 2 * 16 + 84
    titles = sorted(figure.layout.annotations, key=lambda note: (-note.y, note.x))
    assert [note.text for note in titles] == [f"Measure<br>{n}" for n in range(4)]  # read line by line, as on a wide page
    shown = {axis.domain[0] == 0: rows.showticklabels is not False
             for axis, rows in zip(figure.select_xaxes(), figure.select_yaxes(), strict=True)}  # fmt: skip
    assert shown == {True: True, False: False}


def test_each_panel_keeps_its_title_above_it():
    figure = for_a_phone(rate_dots(rates("heart"), "organ", AUDIT_RATES))
    titles = {note.text.replace("<br>", " "): (round(note.x, 3), round(note.y, 3)) for note in figure.layout.annotations}
    tops = [round(axis.domain[1], 3) for axis in figure.select_yaxes()]
    assert list(titles) == [rate.title for rate in AUDIT_RATES]
    assert list(titles.values()) == [(0.215, tops[0]), (0.785, tops[1]), (0.215, tops[2]), (0.785, tops[3])]


def test_a_name_is_above_its_bar_and_takes_no_width():
    wide = theme_bars(themes("time before pregnancy", "raw fish"))
    height = wide.layout.height
    figure = for_a_phone(wide)
    assert figure.layout.yaxis.ticklabelposition == "inside top"
    assert not figure.layout.yaxis.automargin
    # 16 pixels for each of two names, and two more lines of the legend (22 pixels each).
    assert figure.layout.height == height + 2 * 16 + 2 * 22


def test_bars_of_a_width_of_their_own_keep_it_where_the_name_above_has_room():
    low = styled(go.Figure(go.Bar(y=[0, 1], x=[3, 4], orientation="h", width=0.9)), 80, yaxes=axis_of_names(["a", "b"]))
    low.update_layout(margin={"t": 8, "b": 8}, yaxis_range=[1.5, -0.5])
    figure = narrowed(low)
    # Two rows of 32 pixels and 16 more for each name, of which 20 are between the bars
    assert round(float(figure.data[0].width), 3) == round(1 - 20 / 48, 3)
    two = two_step_bar(3, dict.fromkeys(map(str, Label), 1), 0)
    assert {float(bar.width) for bar in narrowed(two).data} == {0.5}


def test_the_cells_of_a_matrix_are_below_the_names_of_their_rows_and_heads_of_columns_stand_upright():
    counts = pd.DataFrame([[3, 1], [0, 2]], index=["complementary", "divergent"], columns=["complementary", "divergent"])
    figure = narrowed(confusion_figure(counts, {}, "Ana", "the judge"))
    assert figure.layout.xaxis.tickangle == -90
    assert list(figure.layout.xaxis.ticktext) == ["complementary", "divergent", "total"]
    assert figure.layout.margin.t == 7 * len("complementary") + 4 + 2 * 18  # the heads, and above them what rows and columns are
    low = figure.layout.margin.t + (figure.layout.margin.b or 0)
    row = (figure.layout.height - low) / abs(figure.layout.yaxis.range[0] - figure.layout.yaxis.range[1])
    assert round((-figure.layout.yaxis.range[1] - 0.5) * row) == 16 - 10  # of the first name's 16 pixels, 10 are above its cells
    heights = {round(float(cell.y1 - cell.y0) * row) for cell in figure.layout.shapes}
    assert heights == {round(row - 20)}


def test_headings_above_bars_are_in_lines_as_short_as_a_phones():
    frame = pd.DataFrame([{"name": "one index against several sources, with a router", "by": "people", "comparisons": 4,
                           "a": 1, "b": 1, "tie": 1, "both_bad": 1}])  # fmt: skip
    wide = preference_bars(frame)
    height = wide.layout.height
    figure = narrowed(wide)
    lines = figure.layout.annotations[0].text.split("<br>")
    assert max(len(line.replace("<b>", "").replace("</b>", "")) for line in lines) <= 34
    assert figure.layout.height == height + 18 + 3 * 22  # a line more, and one for each further entry of the legend


def test_curves_are_as_narrow_as_a_phone_with_an_entry_of_the_legend_in_each_line():
    frame = pd.DataFrame({"threshold": [0.2, 0.8], "found": [30.0, 20.0], "false": [5.0, 1.0], "missed": [1.0, 11.0]})
    figure = decision_figure(frame)
    assert not is_rows_of_names(figure)
    above, height = figure.layout.margin.t, figure.layout.height
    narrow = narrowed(figure)
    assert (narrow.layout.margin.t - above, narrow.layout.height - height) == (44, 44)  # two lines more for three entries
