"""The map and the treemap of themes: what they say, and how little is sent for it."""

from __future__ import annotations

import base64
import json

import numpy as np
import pandas as pd

from audit.charts.themes import MAX_UINT16, map_data, map_script, theme_treemap

THEMES = pd.DataFrame(
    {"theme_id": ["t1", "t2", "t3"], "name": ["Salt_intake", "Fluids", "Work"], "top": ["p", "p", "t3"],
     "top_name": ["Food", "Food", "Work"]}
)  # fmt: skip
POINTS = pd.DataFrame({"x": [0.0, 2.0, 1.0, 4.0], "y": [1.0, 1.0, 3.0, 2.0], "theme_id": ["t1", "t1", "t2", None]})


def numbers(text: str) -> list[int]:
    return np.frombuffer(base64.b64decode(text), dtype="<u2").tolist()


def test_points_keep_their_order_their_theme_and_their_proportions():
    data = map_data(POINTS, THEMES, "a map")
    assert numbers(data["theme"]) == [0, 0, 1, MAX_UINT16]
    x, y = numbers(data["places"])[::2], numbers(data["places"])[1::2]
    assert [round(4 * place / MAX_UINT16, 3) for place in x] == [0, 2, 1, 4]
    assert [round(1 + 4 * place / MAX_UINT16, 3) for place in y] == [1, 1, 3, 2]
    assert (data["wide"], data["high"]) == (1.0, 0.5)


def test_labels_stand_at_the_median_of_their_points_and_the_largest_come_first():
    data = map_data(POINTS, THEMES, "a map")
    assert data["themes"][0] == ["Salt intake", 0, 2, 0.25, 0.0]
    assert data["themes"][2] == ["Work", 1, 0, -1.0, -1.0]
    assert [parent[:2] for parent in data["parents"]] == [["Food", 3], ["Work", 0]]
    assert data["bySize"] == [0, 1, 2]


def test_a_map_without_a_point_is_still_a_map():
    data = map_data(POINTS[:0], THEMES[:0], "a map")
    assert (data["places"], data["themes"], data["parents"]) == ("", [], [])


def test_sixteen_thousand_points_of_a_thousand_themes_are_sent_in_300_kb():
    rng = np.random.default_rng(1)
    ids = [f"t-{n:010x}" for n in range(991)]
    names = [f"timing of something or other, kind {n}" for n in range(991)]
    tops = [f"p-{n % 31:010x}" for n in range(991)]
    themes = pd.DataFrame({"theme_id": ids, "name": names, "top": tops, "top_name": tops})
    points = pd.DataFrame({"x": rng.normal(size=16_000), "y": rng.normal(size=16_000), "theme_id": rng.choice(ids, 16_000)})
    sent = json.dumps(map_data(points, themes, "a map"))
    assert 150_000 < len(sent) < 300_000


def test_the_script_takes_no_text_of_a_release_for_html():
    assert "innerHTML" not in map_script()
    assert "insertAdjacentHTML" not in map_script()


def frame(**columns: list[object]) -> pd.DataFrame:
    table = pd.DataFrame(columns)
    return table.assign(
        name=table["theme_id"].str.upper() + " <b>",
        disagreeing=1,
        severity=1.5,
        r_div=0.5,
        share=0.25,
        share_low=0.1,
        share_high=0.4,
    )


def test_the_treemap_has_every_theme_with_a_pair_inside_its_parent():
    themes = frame(theme_id=["t1", "t2", "t3", "-1"], top=["p", "p", "p", "-1"], pairs=[3, 2, 0, 4])
    parents = frame(theme_id=["p", "-1"], pairs=[5, 4])
    (tree,) = theme_treemap(themes, parents).data
    assert list(tree.ids) == ["all", "p:p", "p:-1", "t:t1", "t:t2"]
    assert list(tree.parents) == ["", "all", "all", "p:p", "p:p"]
    assert list(tree.values) == [9, 5, 4, 3, 2]
    assert "T1 &lt;b&gt;" in tree.labels[3]
    assert "25.0 % of all disagreement (95 % interval 10.0 to 40.0 %)" in tree.hovertext[3]
