"""The curve of the search without a model."""

from __future__ import annotations

from audit.charts.search import search_curves_figure
from audit.evaluation.retrieval_measures import search_curves


def test_each_way_has_a_line_with_its_two_states_marked() -> None:
    curves = search_curves()
    figure = search_curves_figure(curves, {"minilm": "With <MiniLM>", "words": "Without"})
    line, marks, _, others = figure.data
    assert line.name == "With &lt;MiniLM&gt;"
    assert list(marks.text) == list(others.text) == ["stated", "perhaps"]
    (stated,) = curves[(curves["way"] == "minilm") & (curves["state"] == "stated")].to_dict("records")
    assert marks.y[0] == stated["right"] / stated["questions"]
    assert f"Missed: {stated['missed']} of {stated['answered']}" in marks.hovertext[0]
    assert max(line.x) <= figure.layout.xaxis.range[1]
    assert max(line.y) <= figure.layout.yaxis.range[1]
