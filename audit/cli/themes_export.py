"""`audit themes export`: the map of a run's themes as files for other tools and for a paper's supplement."""

from __future__ import annotations

import argparse
from pathlib import Path
from shlex import quote
from typing import Any

import pandas as pd

from audit.atomic_io import write_atomic
from audit.cli.command import OK, add_command
from audit.embedding.encoders import LEXICAL, Encoder, cached_encoder
from audit.embedding.vectors import Progress, Vectors, no_progress
from audit.errors import EmbeddingError, ThemesError
from audit.exports.theme_files import OPEN, html_page, map_table, write_parquet
from audit.queries.run_taxonomy import map_points, require_taxonomy
from audit.settings import Settings
from audit.store.connection import frame, open_store
from audit.store.runs import find_run
from audit.themes.assign import words_encoder_of
from audit.themes.phrases import plain_phrase
from audit.themes.taxonomy import Taxonomy

COUNTS = """
select divergence_topic as topic, count(*) as pairs,
       count(*) filter (label in ('DIVERGENT', 'CONTRADICTORY')) as disagreeing
from pairs where trim(divergence_topic) <> '' and label <> 'ABSENT'
group by 1
"""
ABOUT = """The parquet file has a row per divergence topic (phrase, theme, parent, x, y, pairs, disagreeing, neighbors); beside it
stand the labels with their level, and the command that opens both in Embedding Atlas is printed. The HTML file is one page that
opens without a network. Exit code: 0 written, 2 nothing was written."""


def register(parts: Any) -> None:
    """Add the part `export` to `audit themes`."""
    command = add_command(
        parts, "export", export, "Write the map of a run's themes as parquet and as one offline HTML page.", ABOUT
    )
    command.add_argument("--run", metavar="RUN", help="run id or key (default: the newest whole run)")
    command.add_argument("--parquet", type=Path, metavar="FILE", help="for Embedding Atlas or any other tool")
    command.add_argument("--html", type=Path, metavar="FILE", help="for a paper's supplement")


def export(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit themes export`"""
    if arguments.parquet is None and arguments.html is None:
        raise ThemesError(
            "Where to write is not said. Nothing was written. Name a file with --parquet FILE, --html FILE, or both."
        )
    run = find_run(settings.store_dir, arguments.run)
    taxonomy, points = require_taxonomy(run, settings.themes_dir), map_points(run, settings.themes_dir)
    if points.empty:
        raise ThemesError(f"The themes of run {run.key} came without a map. Nothing was written. One that is built here has one.")
    with open_store(run.path) as con:
        counts = frame(con, COUNTS)
    vectors = vectors_of(taxonomy, points, settings) if arguments.parquet else None
    table = map_table(points, taxonomy, counts, vectors)
    if arguments.parquet:
        labels = write_parquet(table, arguments.parquet)
        near = "by what the phrases say" if vectors is not None else "on the map: the vectors of the phrases are not at hand"
        print(f"{len(table):,} phrases, neighbours {near}: {arguments.parquet}\nLabels: {labels}\nOpen them with:")
        print(OPEN.format(points=quote(str(arguments.parquet)), labels=quote(str(labels))))
    if arguments.html:
        write_atomic(arguments.html, html_page(run, taxonomy, table))
        print(f"One page, {arguments.html.stat().st_size / 1e6:.1f} MB, opens without a network: {arguments.html}")
    return OK


def vectors_of(taxonomy: Taxonomy, points: pd.DataFrame, settings: Settings) -> Vectors | None:
    """The vectors that the taxonomy was built from, where they are cached or need no model; else None. No model is loaded."""
    plain = [plain_phrase(phrase) for phrase in points["phrase"]]
    distinct = list(dict.fromkeys(plain))
    if taxonomy.built.get("model") == LEXICAL:
        encoder = words_encoder_of(taxonomy)
    elif taxonomy.built.get("model_sha256"):
        encoder = cached_encoder(_cached_only(taxonomy), settings.themes_dir / "vectors")
    else:
        return None
    try:
        found = encoder.encode(distinct, no_progress)
    except EmbeddingError:  # some phrase was never embedded here
        return None
    place = {phrase: row for row, phrase in enumerate(distinct)}
    return found[[place[phrase] for phrase in plain]]


def _cached_only(taxonomy: Taxonomy) -> Encoder:
    def refuse(_phrases: Any, _progress: Progress) -> Vectors:
        raise EmbeddingError("a vector is not cached")

    return Encoder(str(taxonomy.built["model"]), str(taxonomy.built["model_sha256"]), refuse)
