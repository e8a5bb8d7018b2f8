"""Labels of pairs in two runs: a clickable matrix of transitions, and flows from one run to the other (a Sankey diagram)."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from audit.charts.names import axis_of_names, clipped_names
from audit.charts.style import INK, LABEL_COLOURS, LABEL_WORDS, UNSCORED, html, percent, styled
from audit.tables import Row

STATE_WORDS = {
    "PRE-SCREENED": "pre-screened",
    **{label: words for label, words in LABEL_WORDS.items() if label.isupper()},
    "UNSCORED": "unscored",
    "NOT IN THE RUN": "not in the run",
}
# Behind cells whose label stayed the same or changed; a frame shows the difference too.
SAME_COLOUR, CHANGED_COLOUR = "#cfe3f2", "#f7dcae"
ROW_HEIGHT = 44
# With more columns every second head is a line higher, because the names would touch in a narrow window.
MAX_LEVEL_HEADS = 5


def transitions_figure(cells: pd.DataFrame, first: str, second: str) -> go.Figure:
    """Rows are labels in the run called `first`, columns labels in `second`; a cell has its pairs and their share of the row.

    cells  first, second (states, both in the order to draw), pairs, share

    Rows and columns without any pair are left out. A cell's `customdata` is its two states, separated by a tab.
    """
    occurring = cells[cells["pairs"] > 0]
    rows, columns = (
        [state for state in dict.fromkeys(cells["first"]) if state in {*occurring[side]}] for side in ("first", "second")
    )
    shown = occurring.assign(row=occurring["first"].map(rows.index), column=occurring["second"].map(columns.index))
    # Plotly reports clicks on points and not on shapes, so an invisible point covers every cell.
    figure = go.Figure([_click_targets(shown, first, second)])
    figure.update_layout(shapes=[_square(cell) for cell in shown.to_dict("records")])
    return _with_axes(figure, [STATE_WORDS[state] for state in rows], [STATE_WORDS[state] for state in columns], first, second)


def _square(cell: Row) -> dict[str, object]:
    stays = cell["first"] == cell["second"]
    corners = {"x0": cell["column"] - 0.48, "x1": cell["column"] + 0.48, "y0": cell["row"] - 0.46, "y1": cell["row"] + 0.46}
    strength = 0.25 + 0.75 * float(cell["share"])
    return {
        "type": "rect", "layer": "below", **corners, "fillcolor": SAME_COLOUR if stays else CHANGED_COLOUR, "opacity": strength,
        "line": {"color": INK, "width": 1.5 if stays else 0},
    }  # fmt: skip


def _click_targets(shown: pd.DataFrame, first: str, second: str) -> go.Scatter:
    rows = shown.to_dict("records")
    return go.Scatter(
        x=shown["column"], y=shown["row"], mode="markers+text", showlegend=False,
        text=[f"{row['pairs']:,}<br><span style='font-size:11px'>{percent(row['share'])}</span>" for row in rows],
        textposition="middle center", textfont={"size": 14, "color": INK},
        marker={"symbol": "square", "size": 40, "opacity": 0},
        customdata=[f"{row['first']}\t{row['second']}" for row in rows],
        hovertext=[_hover(row, first, second) for row in rows], hovertemplate="%{hovertext}<extra></extra>",
        unselected={"textfont": {"color": INK}},
    )  # fmt: skip


def _hover(row: Row, first: str, second: str) -> str:
    states = f"{html(first)}: <b>{STATE_WORDS[row['first']]}</b><br>{html(second)}: <b>{STATE_WORDS[row['second']]}</b>"
    return f"{states}<br>{row['pairs']:,} pairs, {percent(row['share'])} of this row"


def _with_axes(figure: go.Figure, rows: list[str], columns: list[str], first: str, second: str) -> go.Figure:
    of_first, of_second = clipped_names([first, second])
    common = {"showgrid": False, "ticks": "", "tickfont": {"size": 12}, "tickangle": 0}
    broken = [word.replace(" ", "<br>", 1).replace("-", "-<br>", 1) for word in columns]
    over = [f"{word}<br> " if len(columns) > MAX_LEVEL_HEADS and position % 2 else word for position, word in enumerate(broken)]
    figure.update_xaxes(
        title={"text": f"label in {of_second}", "font": {"size": 13}}, side="top", range=[-0.5, len(columns) - 0.5],
        **axis_of_names(over), **common,
    )  # fmt: skip
    figure.update_yaxes(
        title={"text": f"label in {of_first}", "font": {"size": 13}, "standoff": 12}, range=[len(rows) - 0.5, -0.5],
        **axis_of_names(rows), ticklabelstandoff=6, **common,
    )  # fmt: skip
    return styled(figure, 110 + ROW_HEIGHT * max(len(rows), 2), margin={"l": 8, "r": 8, "t": 70, "b": 8}, hovermode="closest")


STATE_COLOURS = {
    **{state: LABEL_COLOURS[state] for state in STATE_WORDS if state in LABEL_COLOURS},
    "PRE-SCREENED": "#e9e4da",
    "UNSCORED": LABEL_COLOURS[UNSCORED],
    "NOT IN THE RUN": "#f3f4f6",
}
"""One colour per state: the labels' own, and the paper colour of the coverage map for pre-screened."""
HEIGHT, ABOVE, BELOW = 460, 48, 24
# Share of the height below each state, which leaves room for a line of text where a state is thin.
NODE_GAP = 0.052
# Share of all drawn pairs: a thinner flow would be invisible and is drawn this thick; the hover text has its number.
MIN_FLOW = 0.004


def flows_figure(cells: pd.DataFrame, first: str, second: str) -> go.Figure:
    """States of the first run on the left, of the second on the right, in label order; the width of a flow shows its pairs.

    cells  first, second (states, in the order to draw), pairs

    Pairs that are pre-screened in both runs are left out: they are the majority and would flatten all others.
    """
    occurring = cells[(cells["pairs"] > 0) & ~((cells["first"] == "PRE-SCREENED") & (cells["second"] == "PRE-SCREENED"))]
    sides = {side: [state for state in dict.fromkeys(cells[side]) if state in {*occurring[side]}] for side in ("first", "second")}
    nodes = [(side, state) for side in sides for state in sides[side]]
    thick = occurring["pairs"].clip(lower=MIN_FLOW * occurring["pairs"].sum())
    figure = go.Figure(
        go.Sankey(
            arrangement="fixed",
            node=_nodes(nodes, occurring, thick),
            textfont={"size": 14, "color": INK, "shadow": "none"},
            link={
                "source": [nodes.index(("first", state)) for state in occurring["first"]],
                "target": [nodes.index(("second", state)) for state in occurring["second"]],
                "value": thick,
                "color": [_faded(STATE_COLOURS[state]) for state in occurring["second"]],
                "customdata": [
                    f"{STATE_WORDS[a]} to {STATE_WORDS[b]}: {n:,} pairs"
                    for a, b, n in occurring[["first", "second", "pairs"]].itertuples(index=False)
                ],
                "hovertemplate": "%{customdata}<extra></extra>",
            },
        )
    )
    for x, name in enumerate(clipped_names([first, second])):
        figure.add_annotation(
            x=x, y=1, xref="paper", yref="paper", xanchor="right" if x else "left", yanchor="bottom", yshift=12, showarrow=False,
            text=f"<b>{name}</b>", font={"size": 14, "color": INK},
        )  # fmt: skip
    return styled(figure, HEIGHT, margin={"l": 8, "r": 8, "t": ABOVE, "b": BELOW})


def _nodes(nodes: list[tuple[str, str]], occurring: pd.DataFrame, thick: pd.Series) -> dict[str, object]:
    """Each state with its name and number of pairs, from top to bottom."""
    pairs = [int(occurring.loc[occurring[side] == state, "pairs"].sum()) for side, state in nodes]
    width = [float(thick[occurring[side] == state].sum()) for side, state in nodes]
    return {
        "label": [f"{STATE_WORDS[state]}, {count:,}" for (_, state), count in zip(nodes, pairs, strict=True)],
        "color": [STATE_COLOURS[state] for _, state in nodes], "line": {"color": "#9aa3ad", "width": 0.5}, "thickness": 16,
        "pad": NODE_GAP * (HEIGHT - ABOVE - BELOW),
        "x": [0.001 if side == "first" else 0.999 for side, _ in nodes], "y": _heights(nodes, width),
        "customdata": pairs, "hovertemplate": "%{customdata:,} pairs<extra></extra>",
    }  # fmt: skip


def _heights(nodes: list[tuple[str, str]], width: list[float]) -> list[float]:
    """The middle of each state on its side, from 0 at the top to 1, with a gap below each."""
    middles: list[float] = []
    for side in ("first", "second"):
        own = [w for (s, _), w in zip(nodes, width, strict=True) if s == side]
        total = sum(own) or 1
        # With many states the gaps alone would fill the height; the flows keep a fifth of it.
        scale, at = max(0.2, 1 - NODE_GAP * (len(own) - 1)) / total, 0.0
        for w in own:
            middles.append(min(0.999, max(0.001, at + w * scale / 2)))
            at += w * scale + NODE_GAP
    return middles


def _faded(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, 0.45)"
