"""`audit themes search`: which themes come nearest to some words by what they mean, with the model that built the themes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from audit.cli.command import OK, add_command
from audit.cli.themes_export import vectors_of
from audit.embedding.encoders import LEXICAL, Encoder, sentence_encoder
from audit.embedding.vectors import Vectors, no_progress
from audit.errors import ThemesError
from audit.queries.run_taxonomy import map_points, require_taxonomy
from audit.queries.theme_pairs import NO_THEME
from audit.settings import Settings
from audit.store.runs import find_run
from audit.themes.phrases import plain_phrase
from audit.themes.taxonomy import Taxonomy

MOST = 20
ABOUT = "Exit code: 0 searched, 2 not: the themes were built by words alone, or the model is not installed."


def register(parts: Any) -> None:
    """Add the part `search` to `audit themes`."""
    command = add_command(parts, "search", search, "Find the themes of a run that come nearest to some words by meaning.", ABOUT)
    command.add_argument("words", help="what to look for")
    command.add_argument("--run", metavar="RUN", help="run id or key (default: the newest whole run)")
    command.add_argument("--json", action="store_true", help="for machines")


def search(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit themes search WORDS`"""
    run = find_run(settings.store_dir, arguments.run)
    taxonomy, points = require_taxonomy(run, settings.themes_dir), map_points(run, settings.themes_dir)
    encoder = _encoder(taxonomy)
    vectors = vectors_of(taxonomy, points, settings)
    if vectors is None:
        raise ThemesError(
            f"The vectors of run {run.key} are not in {settings.themes_dir / 'vectors'}. Nothing was searched. "
            f"Build the themes here: audit themes build --run {run.key}"
        )
    asked = encoder.encode([plain_phrase(arguments.words)], no_progress)
    of = taxonomy.theme_of()
    found = nearest_themes(vectors, asked, points["phrase"].tolist(), [of.get(phrase) for phrase in points["phrase"]])
    names = {theme.theme_id: theme.name for theme in taxonomy.themes} | {NO_THEME: "no theme"}
    named = found.assign(name=found["theme_id"].map(names))
    if arguments.json:
        print(json.dumps(named.to_dict("records"), ensure_ascii=False))
    else:
        for row in named.itertuples():
            print(f"{row.similarity:.2f}  {row.name}: {row.phrase}")
    return OK


def nearest_themes(vectors: Vectors, asked: Vectors, phrases: Sequence[str], theme_ids: Sequence[str | None]) -> pd.DataFrame:
    """The 20 themes whose nearest phrase comes closest, that first: theme_id ('-1': none), similarity (cosine), phrase."""
    table = pd.DataFrame(
        {"theme_id": [theme_id or NO_THEME for theme_id in theme_ids], "similarity": np.asarray(vectors @ asked[0], dtype=float),
         "phrase": phrases}
    )  # fmt: skip
    ordered = table.sort_values("similarity", ascending=False, kind="stable")
    return ordered.drop_duplicates("theme_id").head(MOST).reset_index(drop=True)


def _encoder(taxonomy: Taxonomy) -> Encoder:
    model = taxonomy.built.get("model")
    if model in (None, LEXICAL):
        raise ThemesError("These themes were not built with a sentence model, so nothing is known of what their phrases mean.")
    encoder = sentence_encoder(str(model))
    if encoder.digest != taxonomy.built.get("model_sha256"):
        raise ThemesError(f"The model {model} that is installed is not the one that built these themes. Nothing was searched.")
    return encoder
