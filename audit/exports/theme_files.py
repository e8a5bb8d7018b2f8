"""The map of themes as files: a table for Embedding Atlas or any other tool, and one page that opens without a network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from audit.charts.themes import map_data, map_script, map_style
from audit.errors import ThemesError
from audit.exports.html_pages import rendered, script_json, trusted
from audit.previews import preview_notice
from audit.queries.themes import NO_THEME, REST, tops
from audit.release.taxonomy import Taxonomy
from audit.store.runs import Run
from audit.terms import INTENDED_USE, fill

Vectors = npt.NDArray[np.float32]
NEIGHBOURS = 15
# Phrases whose similarity to all others is in memory at a time: 64 MB at 16,000 phrases
PHRASES_PER_CHUNK = 1024
PARENT_LEVEL, THEME_LEVEL = 0, 1
MAP_ALT = "Every divergence topic as a point, near to similar ones, coloured by the group that its theme belongs to."
OPEN = "uvx embedding-atlas {points} --text phrase --x x --y y --neighbors neighbors --labels {labels}"


def map_table(points: pd.DataFrame, taxonomy: Taxonomy, counts: pd.DataFrame, vectors: Vectors | None) -> pd.DataFrame:
    """One row per divergence topic on the map.

    points   phrase, x, y
    counts   topic, pairs, disagreeing: how often each occurs in the run
    vectors  of the phrases, each of length 1, in the order of points; None: neighbours are those on the map

    phrase, theme_id, theme, parent_id, parent  str; '-1' and 'no theme' if it has none
    x, y                                        float32
    pairs, disagreeing                          int
    neighbors                                   {"ids": the rows of the 15 nearest, nearest first, "distances": ...}
    """
    theme_of, names = taxonomy.theme_of(), {theme.theme_id: theme.name for theme in taxonomy.themes} | REST
    theme_id = points["phrase"].map(theme_of).fillna(NO_THEME)
    top = theme_id.map(tops(taxonomy) | {NO_THEME: NO_THEME})
    counted = (
        counts.set_index("topic").reindex(points["phrase"])[["pairs", "disagreeing"]].fillna(0).astype(int).reset_index(drop=True)
    )
    columns = {"phrase": points["phrase"], "theme_id": theme_id, "theme": theme_id.map(names), "parent_id": top}
    on_map = {"parent": top.map(names), "x": points["x"].astype(np.float32), "y": points["y"].astype(np.float32)}
    table = pd.concat([pd.DataFrame(columns | on_map).reset_index(drop=True), counted], axis=1)
    table["neighbors"] = pd.Series(_neighbours(points, vectors), dtype="object")
    return table


def labels_table(table: pd.DataFrame) -> pd.DataFrame:
    """Labels for the map: x, y (the median of its points), text, level (0: groups, 1: themes), priority (its points)."""
    named = table[table["theme_id"] != NO_THEME]
    labels = [
        _labels(named, "parent", PARENT_LEVEL),
        _labels(named[named["theme_id"] != named["parent_id"]], "theme", THEME_LEVEL),
    ]
    return pd.concat(labels, ignore_index=True)


def _labels(table: pd.DataFrame, name: str, level: int) -> pd.DataFrame:
    key = f"{name}_id"
    grouped = table.groupby(key, sort=True)
    labels = grouped.agg(x=("x", "median"), y=("y", "median"), text=(name, "first"), priority=("phrase", "size"))
    return labels.reset_index(drop=True).assign(level=level)[["x", "y", "text", "level", "priority"]]


def _neighbours(points: pd.DataFrame, vectors: Vectors | None) -> list[dict[str, Any]]:
    """The nearest others of each row: by the vectors of the phrases where available, else on the map."""
    rows = points[["x", "y"]].to_numpy(dtype=np.float32) if vectors is None else vectors
    count = min(NEIGHBOURS, len(rows) - 1)
    square = (rows**2).sum(axis=1)
    chunks = []
    for start in range(0, len(rows), PHRASES_PER_CHUNK):
        part = rows[start : start + PHRASES_PER_CHUNK]
        apart = square[start : start + PHRASES_PER_CHUNK, None] + square[None, :] - 2 * part @ rows.T
        apart[np.arange(len(part)), np.arange(start, start + len(part))] = np.inf
        # The nearest first without sorting all: only these few are then sorted
        near = np.argpartition(apart, count - 1, axis=1)[:, :count] if count > 0 else np.zeros((len(part), 0), dtype=int)
        order = np.take_along_axis(near, np.argsort(np.take_along_axis(apart, near, axis=1), axis=1, kind="stable"), axis=1)
        # Rounding can make a squared distance slightly negative, hence the maximum with 0 below
        far = np.take_along_axis(apart, order, axis=1)
        # Of vectors of length 1 half the square of their distance is the cosine distance.
        chunks.append((order, np.maximum(far, 0) / 2 if vectors is not None else np.sqrt(np.maximum(far, 0))))
    return [
        {"ids": ids.tolist(), "distances": [round(float(far), 5) for far in distances]}
        for order, far_ones in chunks
        for ids, distances in zip(order, far_ones, strict=True)
    ]


def write_parquet(table: pd.DataFrame, path: Path) -> Path:
    """Write the table, and its labels next to it as NAME.labels.parquet; return the latter's path."""
    labels = path.with_name(f"{path.stem}.labels.parquet")
    table.to_parquet(path, index=False)
    labels_table(table).to_parquet(labels, index=False)
    return labels


def html_page(run: Run, taxonomy: Taxonomy, table: pd.DataFrame) -> str:
    """One page with the map, the list of themes and a search; it loads nothing from any other host."""
    if table.empty:
        raise ThemesError(f"The themes of run {run.key} have no map. Nothing was written. Build them with: audit themes build")
    themes = table[table["theme_id"] != NO_THEME].groupby("theme_id", sort=False)
    listed = themes.agg(
        name=("theme", "first"),
        top=("parent_id", "first"),
        top_name=("parent", "first"),
        pairs=("pairs", "sum"),
        disagreeing=("disagreeing", "sum"),
    ).reset_index()
    data = map_data(table, listed, MAP_ALT) | {
        "phrases": table["phrase"].tolist(),
        "pairs": table["pairs"].tolist(),
        "counts": listed[["pairs", "disagreeing"]].to_numpy().tolist(),
    }
    model = taxonomy.built.get("model")
    about = (
        f"{run.title}: {len(listed):,} themes, {len(table):,} divergence topics. Run {run.key}, sha256 {run.digest[:16]}; "
        f"themes sha256 {taxonomy.sha256[:16]}{f', made with {model}' if model else ''}."
    )
    return rendered(
        "themes.html", title=f"Themes: {run.title}", about=about, synthetic=run.synthetic, use=fill(run, INTENDED_USE),
        preview=preview_notice(run.manifest),
        style=trusted(map_style()),
        script=trusted(map_script()), data=script_json(data),
    )  # fmt: skip
