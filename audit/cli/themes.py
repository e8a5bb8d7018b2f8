"""`audit themes`: what the sources disagree about, as a stored taxonomy."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from audit.cli import themes_export, themes_search
from audit.cli.arguments import count, distance
from audit.cli.command import OK, add_command
from audit.cli.themes_namer import model_namer
from audit.embedding.encoders import LEXICAL, Encoder, cached_encoder, default_model, sentence_encoder, words_encoder
from audit.errors import ThemesError, describe_error
from audit.queries.run_taxonomy import release_taxonomy, taxonomy_of, taxonomy_path
from audit.settings import Settings
from audit.store.connection import open_store, rows
from audit.store.runs import Run, find_run
from audit.themes.assign import assign, words_encoder_of
from audit.themes.build import PRINCIPAL, Options, build_taxonomy
from audit.themes.clusters import METHODS
from audit.themes.phrases import by_plain_phrase
from audit.themes.taxonomy import Taxonomy, read_map, read_taxonomy, write_taxonomy

TOPICS = "select divergence_topic, count(*) from pairs where trim(divergence_topic) <> '' group by 1"
BAR = 30
ABOUT = """The taxonomy is one file, FILE.json, and its map, FILE.parquet, both with their sha256. The same phrases, options,
seed, threads and versions give the same bytes. Exit code: 0 written, 2 nothing was written."""


def register(commands: Any) -> None:
    """Add the command and its parts."""
    themes = add_command(commands, "themes", _unnamed, "Group what the sources disagree about into named themes.")
    parts = themes.add_subparsers(title="parts", required=True, metavar="build|assign|export|search")
    _build(parts)
    _assign(parts)
    themes_export.register(parts)
    themes_search.register(parts)


def _unnamed(_: argparse.Namespace, __: Settings) -> int:
    raise ThemesError("Say which: audit themes build, assign, export or search.")


def _build(parts: Any) -> None:
    command = add_command(parts, "build", build, "Make a taxonomy of the divergence topics of a run, or of a list.", ABOUT)
    _phrases(command)
    command.add_argument(
        "--method", choices=tuple(METHODS), default="average", help="average linkage on cosine (default), or UMAP and HDBSCAN"
    )
    fine = command.add_mutually_exclusive_group()
    fine.add_argument("--target-themes", type=count, metavar="N", help="come as close to N themes as can be")
    fine.add_argument(
        "--cut", type=distance, default=Options.cut, metavar="D",
        help="of average: mean cosine distance within a theme, at most (default: %(default)s)",
    )  # fmt: skip
    command.add_argument("--seed", type=int, default=Options.seed, metavar="N", help="of the map (default: %(default)s)")
    command.add_argument("--layout", choices=("umap", "principal"), help="of the map (default: umap where it is installed)")
    command.add_argument("--previous", type=Path, metavar="FILE", help="an earlier taxonomy, whose ids are kept where they can")
    command.add_argument("--llm-names", action="store_true", help="let the judge's model name the themes (AUDIT_JUDGE_URL)")


def _assign(parts: Any) -> None:
    command = add_command(parts, "assign", put, "Put divergence topics into a taxonomy that is there already.", ABOUT)
    command.add_argument("taxonomy", type=Path, metavar="TAXONOMY", help="a themes.json")
    _phrases(command)
    command.add_argument("--max-distance", type=distance, metavar="D", help="cosine; a phrase farther off gets no theme")


def _phrases(command: argparse.ArgumentParser) -> None:
    which = command.add_mutually_exclusive_group(required=True)
    which.add_argument("--run", metavar="RUN", help="run id or key")
    which.add_argument("--topics", type=Path, metavar="FILE", help="one phrase a line")
    command.add_argument("--out", type=Path, metavar="FILE.json", help="(default with --run: in the data folder, under themes)")
    command.add_argument(
        "--model", metavar="NAME|PATH", help=f"sentence model, or '{LEXICAL}': none (default: all-MiniLM-L6-v2 where installed)"
    )
    command.add_argument("--threads", type=count, default=Options.threads, metavar="N", help="(default: %(default)s)")


def build(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit themes build`"""
    counts, out = _read(arguments, settings)
    options = Options(
        arguments.method, arguments.target_themes, arguments.cut, arguments.seed, arguments.threads, arguments.layout
    )
    earlier = read_taxonomy(arguments.previous) if arguments.previous else None
    encoder = _encoder(arguments, settings, counts)
    namer, named_by = model_namer(settings) if arguments.llm_names else (None, {})
    taxonomy, points = build_taxonomy(counts, encoder, options, namer=namer, earlier=earlier, progress=show_progress)
    taxonomy = replace(taxonomy, built=taxonomy.built | named_by)
    _say(write_taxonomy(taxonomy, points, out), out)
    _say_if_unseen(arguments, settings)
    return OK


def put(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit themes assign TAXONOMY`"""
    taxonomy = read_taxonomy(arguments.taxonomy)
    points = read_map(taxonomy, arguments.taxonomy)
    counts, out = _read(arguments, settings)
    if out.exists() and out.samefile(arguments.taxonomy):
        raise ThemesError(f"{out} is the taxonomy itself. Nothing was written. Name another file with --out.")
    arguments.model = arguments.model or taxonomy.built.get("model")
    by_words = arguments.model == LEXICAL and taxonomy.built
    encoder = words_encoder_of(taxonomy) if by_words else _encoder(arguments, settings, counts)
    assigned, moved = assign(
        taxonomy, points, counts, encoder,
        max_distance=arguments.max_distance, threads=arguments.threads, progress=show_progress,
    )  # fmt: skip
    _say(write_taxonomy(assigned, moved, out), out)
    _say_if_unseen(arguments, settings)
    return OK


def _say_if_unseen(arguments: argparse.Namespace, settings: Settings) -> None:
    """A release's own themes are used as they are, so what is built beside them shows nowhere."""
    if arguments.run:
        run = find_run(settings.store_dir, arguments.run)
        with open_store(run.path) as con:
            if release_taxonomy(con, run) is not None:
                print(f"Run {run.key} brings themes of its own: the dashboard goes on showing those.")


def by_words(run: Run, settings: Settings, like: Run | None = None) -> None:
    """Build themes for a run that has none, by words alone: needs no extra, and takes half a second for the small demo.

    like  a run whose themes keep their ids where the phrases are the same, so that the two can be compared
    """
    if taxonomy_of(run, settings.themes_dir) is not None:
        return
    with open_store(run.path) as con:
        counts = dict(rows(con, TOPICS))
    if counts:
        earlier = taxonomy_of(like, settings.themes_dir) if like else None
        found = build_taxonomy(counts, words_encoder(list(by_plain_phrase(counts))), Options(layout=PRINCIPAL), earlier=earlier)
        write_taxonomy(*found, taxonomy_path(run, settings.themes_dir))


def _read(arguments: argparse.Namespace, settings: Settings) -> tuple[dict[str, int], Path]:
    """Phrase -> how often it occurs, and where the taxonomy is to be written."""
    if arguments.topics:
        if arguments.out is None:
            raise ThemesError("Where to write is not said. Nothing was done. Name a file with --out FILE.json")
        return _lines(arguments.topics), arguments.out
    run = find_run(settings.store_dir, arguments.run)
    with open_store(run.path) as con:
        return dict(rows(con, TOPICS)), arguments.out or taxonomy_path(run, settings.themes_dir)


def _lines(path: Path) -> dict[str, int]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ThemesError(f"{path} cannot be read ({describe_error(error)}). Nothing was done.") from error
    return Counter(line.strip() for line in lines if line.strip())


def _encoder(arguments: argparse.Namespace, settings: Settings, counts: Mapping[str, int]) -> Encoder:
    model = arguments.model or default_model()
    if model is None:
        print("No sentence model is installed (extras themes and minilm): phrases are compared by their words.", file=sys.stderr)
    if model in (None, LEXICAL):
        return words_encoder(list(by_plain_phrase(counts)))
    return cached_encoder(sentence_encoder(model, arguments.threads), settings.themes_dir / "vectors")


def show_progress(step: str, done: int, total: int) -> None:
    """A bar in a terminal; elsewhere one line a step."""
    if sys.stderr.isatty():
        full = BAR * done // max(total, 1)
        print(f"\r{step:<8}|{'#' * full:<{BAR}}| {done:,} of {total:,} ", end="" if done < total else "\n", file=sys.stderr)
    elif done == total:
        print(f"{step}: {total:,}", file=sys.stderr)


def _say(taxonomy: Taxonomy, out: Path) -> None:
    counts = taxonomy.counts
    print(f"Phrases: {counts['topics']:,} ({counts['phrases']:,} with repeats).")
    print(f"Themes: {counts['themes']:,}. Parents: {counts['parents']:,}.")
    print(f"No theme: {counts['no_theme_topics']:,} phrases ({counts['no_theme_phrases']:,} with repeats).")
    if "known_topics" in counts:
        print(
            f"Known: {counts['known_topics']:,} phrases. Assigned: {counts['assigned_topics']:,}. "
            f"Beyond reach: {counts['beyond_reach_topics']:,}."
        )
    print(f"Themes whose name is nearly that of another: {counts['near_duplicate_names']:.1%}.")
    print(f"Model {taxonomy.built.get('model', 'unknown')}, sha256 {taxonomy.sha256[:12]}: {out}")
