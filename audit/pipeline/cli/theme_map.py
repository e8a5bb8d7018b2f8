"""`audit themes export | search`: the map of a run's themes as files for other tools, and a search by meaning."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np
import pandas as pd

from audit.atomic_io import write_atomic
from audit.cli.conventions import OK, add_json, add_run, print_result
from audit.errors import EmbeddingError, ThemesError
from audit.exports.theme_files import OPEN, html_page, map_table, write_parquet
from audit.pipeline.embedding.encoders import Encoder, cached_encoder, sentence_encoder
from audit.pipeline.embedding.vectors import Progress, Vectors, no_progress
from audit.pipeline.themes.assign import words_encoder_of
from audit.queries.themes import NO_THEME, map_points, require_taxonomy
from audit.release.taxonomy import LEXICAL, Taxonomy, plain_phrase
from audit.settings import Settings
from audit.store.connection import frame, open_store
from audit.store.runs import find_run

COUNTS = """
select divergence_topic as topic, count(*) as pairs,
       count(*) filter (disagrees) as disagreeing
from judged_pairs where trim(divergence_topic) <> '' and present
group by 1
"""
ABOUT_EXPORT = """The Parquet file has one row per divergence topic (phrase, theme, parent, x, y, pairs, disagreeing, neighbors).
The labels with their level are written next to it, and the command that opens both in Embedding Atlas is printed. The HTML file
is one page that opens without a network.

Exit code: 0 written, 2 nothing was written."""
ABOUT_SEARCH = "Exit code: 0 searched, 2 not searched: the themes were built from words alone, or the model is not installed."
MAX_THEMES = 20


def export_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit themes export`."""
    parser.epilog = ABOUT_EXPORT
    add_run(parser)
    parser.add_argument("--parquet", type=Path, metavar="FILE", help="Parquet file to write, for Embedding Atlas or another tool")
    parser.add_argument("--html", type=Path, metavar="FILE", help="HTML page to write, for example as a paper's supplement")
    add_json(parser)


def export(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit themes export`"""
    if arguments.parquet is None and arguments.html is None:
        raise ThemesError("No file is named. Nothing was written. Name one with --parquet FILE, --html FILE, or both.")
    run = find_run(settings.store_dir, arguments.run)
    taxonomy, points = require_taxonomy(run, settings.themes_dir), map_points(run, settings.themes_dir)
    if points.empty:
        raise ThemesError(
            f"The themes of run {run.key} have no map. Nothing was written. "
            "Themes built here have one: audit themes build --run RUN"
        )
    with open_store(run.path) as con:
        counts = frame(con, COUNTS)
    vectors = stored_vectors(taxonomy, points, settings) if arguments.parquet else None
    table = map_table(points, taxonomy, counts, vectors)
    lines, result = [], {"run": run.key, "phrases": len(table)}
    if arguments.parquet:
        labels = write_parquet(table, arguments.parquet)
        neighbours = "by meaning" if vectors is not None else "by position on the map, since the phrases' vectors are not stored"
        lines += [f"{len(table):,} phrases, neighbours {neighbours}: {arguments.parquet}", f"Labels: {labels}", "Open them with:"]
        lines.append(OPEN.format(points=quote(str(arguments.parquet)), labels=quote(str(labels))))
        result |= {"parquet": str(arguments.parquet), "labels": str(labels)}
    if arguments.html:
        write_atomic(arguments.html, html_page(run, taxonomy, table))
        size = arguments.html.stat().st_size / 1e6
        lines.append(f"One page, {size:.1f} MB, opens without a network: {arguments.html}")
        result |= {"html": str(arguments.html)}
    print_result(arguments, "\n".join(lines), result)
    return OK


def stored_vectors(taxonomy: Taxonomy, points: pd.DataFrame, settings: Settings) -> Vectors | None:
    """The vectors that the taxonomy was built from, where they are cached or need no model; else None. Loads no model."""
    plain = [plain_phrase(phrase) for phrase in points["phrase"]]
    distinct = list(dict.fromkeys(plain))
    if taxonomy.built.get("model") == LEXICAL:
        encoder = words_encoder_of(taxonomy)
    elif taxonomy.built.get("model_sha256"):
        encoder = cached_encoder(_cached_only(taxonomy), settings.themes_dir / "vectors")
    else:
        return None
    try:
        vectors = encoder.encode(distinct, no_progress)
    except EmbeddingError:  # some phrase was never embedded here
        return None
    row_of = {phrase: row for row, phrase in enumerate(distinct)}
    return vectors[[row_of[phrase] for phrase in plain]]


def _cached_only(taxonomy: Taxonomy) -> Encoder:
    # Only vectors in the cache are wanted: loading the model would take longer than the command
    def refuse(_phrases: Any, _progress: Progress) -> Vectors:
        raise EmbeddingError("a vector is not cached")

    return Encoder(str(taxonomy.built["model"]), str(taxonomy.built["model_sha256"]), refuse)


# -- search --------------------------------------------------------------------------------------------------------------


def search_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit themes search`."""
    parser.epilog = ABOUT_SEARCH
    parser.add_argument("words", help="words to search for")
    add_run(parser)
    add_json(parser)


def search(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit themes search WORDS`"""
    run = find_run(settings.store_dir, arguments.run)
    taxonomy, points = require_taxonomy(run, settings.themes_dir), map_points(run, settings.themes_dir)
    encoder = _same_encoder(taxonomy)
    vectors = stored_vectors(taxonomy, points, settings)
    if vectors is None:
        raise ThemesError(
            f"The vectors of run {run.key} are not in {settings.themes_dir / 'vectors'}. Nothing was searched. "
            f"Build the themes here: audit themes build --run {run.key}"
        )
    query = encoder.encode([plain_phrase(arguments.words)], no_progress)
    theme_of = taxonomy.theme_of()
    nearest = nearest_themes(vectors, query, points["phrase"].tolist(), [theme_of.get(phrase) for phrase in points["phrase"]])
    names = {theme.theme_id: theme.name for theme in taxonomy.themes} | {NO_THEME: "no theme"}
    named = nearest.assign(name=nearest["theme_id"].map(names))
    lines = [f"{row.similarity:.2f}  {row.name}: {row.phrase}" for row in named.itertuples()]
    print_result(arguments, "\n".join(lines), named.to_dict("records"))
    return OK


def nearest_themes(vectors: Vectors, query: Vectors, phrases: Sequence[str], theme_ids: Sequence[str | None]) -> pd.DataFrame:
    """The 20 themes with the most similar phrase, best first: theme_id ('-1': no theme), similarity (cosine), phrase."""
    similarity = np.asarray(vectors @ query[0], dtype=float)
    table = pd.DataFrame(
        {"theme_id": [theme_id or NO_THEME for theme_id in theme_ids], "similarity": similarity, "phrase": phrases}
    )
    ordered = table.sort_values("similarity", ascending=False, kind="stable")
    return ordered.drop_duplicates("theme_id").head(MAX_THEMES).reset_index(drop=True)


def _same_encoder(taxonomy: Taxonomy) -> Encoder:
    """The encoder that built the taxonomy. Raises ThemesError where it was built from words, or by another model."""
    model = taxonomy.built.get("model")
    if model in (None, LEXICAL):
        raise ThemesError(
            "These themes were built without a sentence model, so they cannot be searched by meaning. Nothing was searched."
        )
    encoder = sentence_encoder(str(model))
    # Vectors of two versions of a model cannot be compared, even if their names are the same
    if encoder.digest != taxonomy.built.get("model_sha256"):
        raise ThemesError(f"The installed model {model} is not the one that built these themes. Nothing was searched.")
    return encoder
