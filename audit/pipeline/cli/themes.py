"""`audit themes build | assign`: topics of disagreement as a stored taxonomy of named themes."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd

from audit.cli.conventions import OK, add_json, count, distance, note, print_result
from audit.errors import AuditError, ThemesError
from audit.formatting import printable
from audit.jobs.processes import Progress as JobProgress
from audit.people_tables import TableSource, read_bytes, text_lines, text_of
from audit.pipeline.cli.model_calls import endpoints_of, limits_of, model_of
from audit.pipeline.embedding.encoders import Encoder, cached_encoder, default_model, sentence_encoder, words_encoder
from audit.pipeline.embedding.vectors import Progress
from audit.pipeline.llm.calls import Call
from audit.pipeline.llm.runner import run_calls
from audit.pipeline.themes.assign import assign, words_encoder_of
from audit.pipeline.themes.build import PRINCIPAL, build_taxonomy
from audit.pipeline.themes.clusters import CUT, METHODS, WORDS_CUT, ThemeBuildOptions
from audit.pipeline.themes.leftovers import MAX_LEFT
from audit.pipeline.themes.naming import Card, Namer, naming_call, naming_prompt, parse_name
from audit.queries.themes import disagreement_topics, release_taxonomy, taxonomy_of, taxonomy_path, topics_without_theme
from audit.release.journal_files import Reply
from audit.release.taxonomy import LEXICAL, Taxonomy, by_plain_phrase, read_map, read_taxonomy, write_taxonomy
from audit.result_cache import precompute_themes
from audit.settings import Settings
from audit.store.connection import open_store
from audit.store.runs import Run, find_run

BAR_WIDTH = 30
PHRASES = "a text with one phrase per line"
ABOUT = """The taxonomy is one file, FILE.json, and its map another, FILE.parquet; each has its sha256 next to it. The same
phrases, options, seed, threads and versions give the same bytes.

Exit code: 0 written, 2 nothing was written."""


def build_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit themes build`."""
    parser.epilog = ABOUT
    _add_phrase_options(parser)
    parser.add_argument(
        "--method", choices=tuple(METHODS), default="average", help="average linkage on cosine (default), or UMAP and HDBSCAN"
    )
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--target-themes", type=count, metavar="N", help="number of themes to come closest to")
    size.add_argument(
        "--cut",
        type=distance,
        metavar="D",
        help=f"for --method average: largest mean cosine distance within a theme (default: {CUT}, by words {WORDS_CUT})",
    )
    parser.add_argument(
        "--seed", type=int, default=ThemeBuildOptions.seed, metavar="N", help="seed of the map (default: %(default)s)"
    )
    parser.add_argument("--layout", choices=("umap", "principal"), help="layout of the map (default: umap if installed)")
    parser.add_argument("--previous", type=Path, metavar="FILE", help="an earlier taxonomy, whose ids are kept where possible")
    parser.add_argument("--llm-names", action="store_true", help="let the judge's model name the themes (AUDIT_JUDGE_URL)")


def assign_topics_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit themes assign`."""
    parser.epilog = ABOUT
    parser.add_argument("taxonomy", type=Path, metavar="TAXONOMY", help="a themes.json")
    _add_phrase_options(parser)
    parser.add_argument(
        "--max-distance", type=distance, metavar="D", help="maximum cosine distance; a phrase that is farther away gets no theme"
    )


def _add_phrase_options(parser: argparse.ArgumentParser) -> None:
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--run", metavar="RUN", help="run id or key")
    source.add_argument("--topics", type=Path, metavar="FILE", help="text file with one phrase per line")
    parser.add_argument(
        "--out", type=Path, metavar="FILE.json", help="file to write (default with --run: in the data folder, under themes)"
    )
    parser.add_argument(
        "--model", metavar="NAME|PATH", help=f"sentence model, or '{LEXICAL}' for no model (default: MiniLM if installed)"
    )
    parser.add_argument(
        "--threads", type=count, default=ThemeBuildOptions.threads, metavar="N", help="number of threads (default: %(default)s)"
    )
    add_json(parser)


def build(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit themes build`"""
    counts, groups, out = _read_phrases(arguments, settings)
    options = ThemeBuildOptions(
        arguments.method, arguments.target_themes, arguments.cut, arguments.seed, arguments.threads, arguments.layout
    )
    earlier = read_taxonomy(arguments.previous) if arguments.previous else None
    encoder = _encoder(arguments, settings, counts)
    namer, named_by = model_namer(settings) if arguments.llm_names else (None, {})
    progress = progress_of(arguments)
    taxonomy, points = build_taxonomy(counts, encoder, options, groups=groups, namer=namer, earlier=earlier, progress=progress)
    written = write_taxonomy(replace(taxonomy, built=taxonomy.built | named_by), points, out)
    if arguments.run:
        precompute_themes(find_run(settings.store_dir, arguments.run), written)
    return _finish(arguments, settings, written, out)


def assign_topics(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit themes assign TAXONOMY`"""
    taxonomy = read_taxonomy(arguments.taxonomy)
    points = read_map(taxonomy, arguments.taxonomy)
    counts, _, out = _read_phrases(arguments, settings)
    if out.exists() and out.samefile(arguments.taxonomy):
        raise ThemesError(f"{out} is the taxonomy itself. Nothing was written. Name another file with --out.")
    # Vectors of two models cannot be compared, so the model that built the taxonomy is the default
    arguments.model = arguments.model or taxonomy.built.get("model")
    is_lexical = arguments.model == LEXICAL and taxonomy.built
    encoder = words_encoder_of(taxonomy) if is_lexical else _encoder(arguments, settings, counts)
    assigned, moved = assign(
        taxonomy, points, counts, encoder,
        max_distance=arguments.max_distance, threads=arguments.threads, progress=show_progress,
    )  # fmt: skip
    return _finish(arguments, settings, write_taxonomy(assigned, moved, out), out)


def build_lexical_themes(run: Run, settings: Settings, like: Run | None = None, target: int | None = None) -> None:
    """Build themes from words alone for a run that has none: needs no model, and takes half a second for the small demo.

    target  how many; None: as many as the phrases form
    like    a run whose themes keep their ids where the phrases are the same, so the two can be compared
    """
    if taxonomy_of(run, settings.themes_dir) is not None:
        return
    with open_store(run.path) as con:
        counts, groups = disagreement_topics(con)
    if counts:
        earlier = taxonomy_of(like, settings.themes_dir) if like else None
        built = build_taxonomy(
            counts,
            words_encoder(list(by_plain_phrase(counts))),
            ThemeBuildOptions(target=target, layout=PRINCIPAL),
            groups=groups,
            earlier=earlier,
        )
        write_taxonomy(*built, taxonomy_path(run, settings.themes_dir))
        precompute_themes(run, built[0])


# -- input and output ----------------------------------------------------------------------------------------------------


def _read_phrases(arguments: argparse.Namespace, settings: Settings) -> tuple[dict[str, int], dict[str, str], Path]:
    """Phrase -> how often it occurs, phrase -> the topic of its questions, and the file for the taxonomy."""
    if arguments.topics:
        if arguments.out is None:
            raise ThemesError("No output file is named. Nothing was done. Name one with --out FILE.json")
        return _phrases_in(arguments.topics), {}, arguments.out
    run = find_run(settings.store_dir, arguments.run)
    with open_store(run.path) as con:
        return *disagreement_topics(con), arguments.out or taxonomy_path(run, settings.themes_dir)


def _phrases_in(path: Path) -> dict[str, int]:
    source = TableSource(str(path), "Nothing was done.", ThemesError)
    text = text_of(read_bytes(path, source, PHRASES), source, PHRASES)
    # Control characters are spaces, as in the topics of a release: a taxonomy with others could not be read back
    return Counter(printable(line).strip() for _, line in text_lines(text))


def _encoder(arguments: argparse.Namespace, settings: Settings, counts: Mapping[str, int]) -> Encoder:
    model = arguments.model or default_model()
    if model is None:
        note("No sentence model is installed, so phrases are compared by their words.")
    if model in (None, LEXICAL):
        return words_encoder(list(by_plain_phrase(counts)))
    return cached_encoder(sentence_encoder(model, arguments.threads), settings.themes_dir / "vectors")


def progress_of(arguments: argparse.Namespace) -> Progress:
    """Where progress goes: to the job that carries out the command, else to the terminal."""
    job = getattr(arguments, "progress", None)
    return show_progress if job is None else partial(_report, job)


def _report(job: JobProgress, step: str, done: int, total: int) -> None:
    job.update(phase=step, done=done, total=total)


def show_progress(step: str, done: int, total: int) -> None:
    """A bar in a terminal; elsewhere one line per step."""
    if sys.stderr.isatty():
        full = BAR_WIDTH * done // max(total, 1)
        bar = f"\r{step:<8}|{'#' * full:<{BAR_WIDTH}}| {done:,} of {total:,} "
        print(bar, end="" if done < total else "\n", file=sys.stderr)
    elif done == total:
        note(f"{step}: {total:,}")


def _finish(arguments: argparse.Namespace, settings: Settings, taxonomy: Taxonomy, out: Path) -> int:
    counts = taxonomy.counts
    left = _left_over(arguments, settings, taxonomy)
    lines = [
        f"Phrases: {counts['topics']:,} ({counts['phrases']:,} with repeats).",
        f"Themes: {counts['themes']:,}. Parents: {counts['parents']:,}.",
        *_no_theme_lines(counts, left),
    ]
    if counts.get("coarse_themes"):
        lines.append(
            f"More than {MAX_LEFT:.0%} had no theme, so {counts['coarse_themes']:,} themes also take phrases that share only a "
            "word or the topic of their question."
        )
    if "known_topics" in counts:
        lines.append(
            f"Known: {counts['known_topics']:,} phrases. Assigned: {counts['assigned_topics']:,}. "
            f"Too far from every theme: {counts['beyond_reach_topics']:,}."
        )
    lines.append(f"Themes with nearly the same name as another: {counts['near_duplicate_names']:.1%}.")
    lines.append(f"Model {taxonomy.built.get('model', 'unknown')}, sha256 {taxonomy.sha256[:12]}: {out}")
    if (warning := _own_themes_warning(arguments, settings)) is not None:
        lines.append(warning)
    record = {"out": str(out), "sha256": taxonomy.sha256, "model": taxonomy.built.get("model"), "counts": dict(counts)}
    print_result(arguments, "\n".join(lines), record | {"no_theme": left.to_dict("records")})
    return OK


def _left_over(arguments: argparse.Namespace, settings: Settings, taxonomy: Taxonomy) -> pd.DataFrame:
    """The topics without a theme, those of high significance first; without a run, nothing is known of their significance."""
    if not arguments.run:
        return pd.DataFrame({"topic": list(taxonomy.no_theme)})
    with open_store(find_run(settings.store_dir, arguments.run).path) as con:
        return topics_without_theme(con, taxonomy)


def _no_theme_lines(counts: Mapping[str, int], left: pd.DataFrame) -> list[str]:
    without, different = counts["no_theme_phrases"], counts["no_theme_topics"]
    if "high" not in left:
        return [f"No theme: {without:,} of {counts['phrases']:,} phrases ({different:,} different)."]
    stated = left[left["topic"] != ""]
    grave = stated[stated["high"] > 0]
    lines = [
        f"No theme: {without:,} of {counts['phrases']:,} disagreements ({different:,} different topics), "
        f"{grave['high'].sum():,} of them of high significance."
    ]
    lines += [f"  high significance, no theme: {topic}" for topic in grave["topic"]]
    unstated = int(left["pairs"].sum() - stated["pairs"].sum())
    return [*lines, f"No divergence topic stated: {unstated:,} further disagreements."] if unstated else lines


def _own_themes_warning(arguments: argparse.Namespace, settings: Settings) -> str | None:
    # A release's own themes are used as they are, so themes built in addition to them are not shown anywhere.
    if arguments.run:
        run = find_run(settings.store_dir, arguments.run)
        with open_store(run.path) as con:
            if release_taxonomy(con, run) is not None:
                return f"Run {run.key} has themes of its own: the dashboard continues to show those."
    return None


# -- names by a model ----------------------------------------------------------------------------------------------------


def model_namer(settings: Settings) -> tuple[Namer, dict[str, str]]:
    """A namer that calls the endpoint of the settings, and what the taxonomy records: the model, and the prompt's digest.

    A theme whose reply is unparseable keeps the name made of its own words. Raises AuditError when no endpoint is set, or it
    cannot be used.
    """
    if not settings.judge_urls:
        raise AuditError(
            "No model is set to name the themes. No model was called. Set AUDIT_JUDGE_URL to an OpenAI-compatible endpoint, or "
            "leave out --llm-names: themes are then named by their own words."
        )
    model, prompt = model_of(settings, None), naming_prompt()

    def names(cards: Sequence[Card]) -> list[str | None]:
        calls = [naming_call(prompt, model, number, card) for number, card in enumerate(cards)]
        replies = _ask_names(settings, model, calls)
        return [parse_name(replies.get(call.key)) for call in calls]

    return names, {"namer": model, "namer_prompt": prompt.title}


def _ask_names(settings: Settings, model: str, calls: Sequence[Call]) -> dict[str, Reply]:
    replies: dict[str, Reply] = {}

    def keep(reply: Reply) -> None:
        replies[reply.key] = reply

    # Equal cards make equal calls
    distinct = {call.key: call for call in calls}.values()
    asked = run_calls(
        distinct,
        endpoints_of(settings, model),
        keep,
        readable=lambda _, reply: parse_name(reply) is not None,
        limits=limits_of(settings),
    )
    asyncio.run(asked)
    return replies
