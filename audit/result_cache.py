"""Results of metrics that are slow on large runs, cached as files next to the store: those shown when a page opens are computed
after a run is loaded, the others when somebody first asks for them. Of a small run only the positions that the search finds are.

`python -m audit.result_cache STORE THEMES MIN_PAIRS` computes the former; `audit load` starts it and does not wait.

A page would otherwise compute them again after each restart, for seconds at the published scale. The folder is named
by the store's own stamp and a fingerprint of the code that computes, so a result of another load or of an earlier version is
never shown: it is computed again instead. The files can be deleted at any time.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from audit.atomic_io import atomic_file
from audit.errors import AuditError, ThemesError
from audit.metrics import METRICS, Metric
from audit.queries.answer_words import answer_words
from audit.queries.themes import taxonomy_of
from audit.release.taxonomy import Taxonomy
from audit.store.connection import Connection, open_store, rows
from audit.store.runs import Run, read_run

Arguments = Mapping[str, object]
AS_THEY_ARE = (
    "labels", "questions", "centers", "center_case_mix", "handbook_case_mix", "handbooks", "severity_rho", "judge_length",
    "judge_checks", "disagreement_bounds", "label_entropy", "composition", "question_sources", "routing", "source_shares",
    "systems", "composite", "system_differences", "downstream", "when_to_retrieve", "judge_calibration", "criteria_scores",
    "corrected_composite", "corrected_preference", "preferences", "bradley_terry", "preference_alignment", "preference_raters",
    "preference_effects", "disputed_share_corrected", "likely_disputed", "doubted_labels", "dispute_decisions",
)  # fmt: skip
KEPT: Mapping[str, tuple[Arguments, ...]] = {
    **dict.fromkeys(AS_THEY_ARE, ({},)),
    "organs": ({"scope": "all"}, {"scope": "matching"}),
    "disputed_questions": ({"limit": 5},),
    "topics": ({"level": "topic"}, {"level": "subtopic"}),
    "system_measures": ({}, {"by": "question_type"}),
}
"""The metrics that are computed when a large run is loaded, with the default arguments of their pages."""
QUESTION_TYPES = """
select question_type from question_types where question_type is not null
group by all order by count(*) desc, question_type limit 8
"""
"""The most frequent types of question: the figures of page *Systems* are computed for each of them when a run is loaded."""
POSITIONS = ("question_positions",)
BY_QUESTION = ("position_groups", *POSITIONS)
"""Per-question metrics that are cached for all questions, one file per metric: a page about a question shows them first."""
ON_A_THEME = ("theme_mix", "theme_places", "theme_questions", "theme_topics")
"""What page *Theme* shows of a theme: computed for the theme with which it opens, the first of metric `themes`."""
GROUP_ROWS = 1_024
"""Rows of a file that are decompressed together, so reading one question does not decompress the others."""
QUESTIONS_AT_ONCE = 32
"""Number of questions whose tables are in memory at once while they are written: a large run has thousands."""
# A run with fewer pairs is computed faster than a person notices, except for the positions on all questions; of few pairs these
# take less than a process that finds them.
MIN_PAIRS, FEW_PAIRS = 300_000, 500
SLOW_S = 0.2
"""CPU seconds above which a result is worth a file."""
MAX_FILES = 500
"""Maximum number of files per load of a run: visitors choose the arguments, so the number must be bounded."""
COUNTING = ("metrics", "queries", "stats", "evaluation", "text")


def cached_or_computed(
    metric: Callable[..., object],
    con: Connection,
    store: Path,
    arguments: Arguments,
    other: Path | None = None,
) -> object:
    """`metric(con, **arguments)`, read from its file where one is kept; a slow result is kept for the next visitor.

    store  the run's store; other  that of the run it is compared with, where `metric` compares two
    """
    file = _file(store, metric, arguments, other)
    stored = None if file is None else _read(file)
    if stored is None and isinstance(metric, Metric) and metric.name in BY_QUESTION:
        stored = _read_question(_question_results_file(store, metric.name), str(arguments["question_id"]))
    if stored is not None:
        return stored
    before = time.process_time()
    result = metric(con, **arguments)
    if file is not None and time.process_time() - before > SLOW_S:
        _write(file, result)
    return result


def stored_for_every_question(store: Path, name: str, columns: list[str]) -> pd.DataFrame | None:
    """Columns of a metric of BY_QUESTION for all questions, with `of_question`; None where they were not computed at loading."""
    return _read(_question_results_file(store, name), columns=columns)


def _read(file: Path, filters: list[tuple[str, str, str]] | None = None, columns: list[str] | None = None) -> pd.DataFrame | None:
    if not file.is_file():
        return None
    try:
        # Small files of many parts: threads and reading ahead take twice the computing time of the reading itself
        return pd.read_parquet(file, filters=filters, columns=columns, use_threads=False, pre_buffer=False)
    except (OSError, pa.ArrowException):
        # Removed or damaged since; its content can be computed again.
        return None


def prepare_in_background(run: Run, themes_dir: Path, min_pairs: int = MIN_PAIRS) -> subprocess.Popen[bytes] | None:
    """Start a process that computes what pages show first and what the search finds; of a run of few pairs, find it now.

    Until it is done, and if it fails, pages compute their own figures.
    """
    # Loading a store again leaves behind files that nobody reads.
    shutil.rmtree(_folder(run.path), ignore_errors=True)
    if run.report["totals"].get("pair", {}).get("loaded", 0) < min(min_pairs, FEW_PAIRS):
        precompute_results(run, min_pairs)
        return None
    return subprocess.Popen(  # noqa: S603 - our own module and the paths of our own data folder
        [sys.executable, "-m", "audit.result_cache", str(run.path), str(themes_dir), str(min_pairs)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def precompute_results(run: Run, min_pairs: int = MIN_PAIRS, progress: Callable[[str], None] = lambda _: None) -> list[Path]:
    """Compute and store the results that pages show first, for a run of at least `min_pairs` pairs; returns the files.

    Metrics are skipped when the run lacks their data (answers, systems) or their packages are not installed: the page explains
    it.
    """
    # Loading a store again leaves behind files that nobody reads.
    shutil.rmtree(_folder(run.path), ignore_errors=True)
    with open_store(run.path) as con:
        answer_words(con)  # kept where counting them takes long
        pairs = _pairs(con)
        if pairs < min_pairs:
            return _store_question_results(con, run.path, progress, POSITIONS) if pairs else []
        # The store is already in place; a page opened in the meantime computes its own figures
        progress("Preparing the pages; the run can already be viewed")
        load = _load_fingerprint(run.path)
        files = [
            _compute_and_store(con, run.path, METRICS[name], arguments)
            for name, arguments in _shown_first(con)
            # A store that was loaded again meanwhile is another one than that which is open here
            if _load_fingerprint(run.path) == load
        ]
        files += _store_question_results(con, run.path, progress)
    return [file for file in files if file is not None]


def _shown_first(con: Connection) -> Iterator[tuple[str, Arguments]]:
    """Each metric that pages show first, with its arguments."""
    types = [question_type for (question_type,) in rows(con, QUESTION_TYPES)]
    for name, choices in KEPT.items():
        yield from ((name, arguments) for arguments in choices)
        if "question_type" in METRICS[name].options:
            yield from ((name, {"question_type": question_type}) for question_type in types)


def _store_question_results(
    con: Connection, store: Path, progress: Callable[[str], None], names: Sequence[str] = BY_QUESTION
) -> list[Path]:
    """Compute and store the positions on every question."""
    asked = [question_id for (question_id,) in rows(con, "select question_id from questions order by question")]
    progress(f"Finding who says what on {len(asked):,} questions")
    files = {name: _question_results_file(store, name) for name in names}
    return [file for name, file in files.items() if _write_question_tables(con, file, asked, METRICS[name])]


def _write_question_tables(con: Connection, file: Path, asked: Sequence[str], metric: Metric[...]) -> bool:
    """Store the tables of all questions in one file; False if that is not possible."""
    # Imported here because a page only reads, and often does not even do that
    import pyarrow.parquet as pq

    def part(first: int) -> pd.DataFrame:
        some = asked[first : first + QUESTIONS_AT_ONCE]
        return pd.concat(
            [metric(con, question_id=question_id).assign(of_question=question_id) for question_id in some], ignore_index=True
        )

    parts = map(part, range(0, len(asked), QUESTIONS_AT_ONCE))
    opening = next(parts)
    schema = pa.Schema.from_pandas(opening, preserve_index=False)
    try:
        _prepare_folder(file.parent)
        with atomic_file(file) as draft, pq.ParquetWriter(draft, schema) as writer:
            for frame in chain([opening], parts):
                writer.write_table(pa.Table.from_pandas(frame, schema, preserve_index=False), GROUP_ROWS)
    except (OSError, pa.ArrowException):
        return False
    return True


def _question_results_file(store: Path, name: str) -> Path:
    return _folder(store) / _load_fingerprint(store) / f"{name}-of-every-question.parquet"


def _read_question(file: Path, question_id: str) -> pd.DataFrame | None:
    """The rows of one question; None if the file or the question is missing."""
    rows_of_it = _read(file, [("of_question", "==", question_id)])
    # A question that is not in the run must raise, and one without rows is computed instantly
    return None if rows_of_it is None or rows_of_it.empty else rows_of_it.drop(columns="of_question")


def precompute_themes(run: Run, taxonomy: Taxonomy, min_pairs: int = MIN_PAIRS) -> list[Path]:
    """Compute and store what the themes pages show first, once the themes of a run of at least `min_pairs` pairs are built."""
    with open_store(run.path) as con:
        if _pairs(con) < min_pairs:
            return []
        levels: tuple[Arguments, ...] = ({"taxonomy": taxonomy}, {"taxonomy": taxonomy, "level": "parent"})
        files = [_compute_and_store(con, run.path, METRICS["themes"], arguments) for arguments in levels]
        # Where files cannot be written, nothing is kept
        if files[0] and (ranked := _read(files[0])) is not None and len(ranked):
            opens_with = {"taxonomy": taxonomy, "theme_id": str(ranked["theme_id"].iloc[0])}
            files += [_compute_and_store(con, run.path, METRICS[name], opens_with) for name in ON_A_THEME]
    return [file for file in files if file is not None]


def precompute_loaded_themes(run: Run, themes_dir: Path, min_pairs: int = MIN_PAIRS) -> list[Path]:
    """Like `precompute_themes`, for a loaded run that already has themes: from its release, or built earlier."""
    try:
        taxonomy = taxonomy_of(run, themes_dir)
    except ThemesError:  # the themes pages report what is wrong with it
        return []
    return precompute_themes(run, taxonomy, min_pairs) if taxonomy else []


def _pairs(con: Connection) -> int:
    ((pairs,),) = rows(con, "select count(*) from pairs")
    return int(pairs)


def _compute_and_store(con: Connection, store: Path, metric: Metric[...], arguments: Arguments) -> Path | None:
    file = _file(store, metric, arguments)
    try:
        frame = metric(con, **arguments)
    except AuditError:
        return None
    return file if file is not None and _write(file, frame) else None


def _write(file: Path, result: Any) -> bool:
    """Store a result; False if it is not a table, does not survive a round trip, or the folder is not writable."""
    if not isinstance(result, pd.DataFrame):
        return False
    try:
        _prepare_folder(file.parent)
        if sum(1 for _ in file.parent.iterdir()) >= MAX_FILES:
            return False
        with atomic_file(file) as draft:
            result.to_parquet(draft, row_group_size=GROUP_ROWS)
            back = pd.read_parquet(draft)
            if not (back.equals(result) and back.dtypes.equals(result.dtypes)):
                raise pa.ArrowInvalid(f"{file.name} does not survive a round trip")
    except (OSError, pa.ArrowException):
        # A page that cannot store its result still shows it.
        return False
    return True


def _prepare_folder(folder: Path) -> None:
    """Make the folder of this load and version, and delete those of others."""
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        for outdated in set(folder.parent.iterdir()) - {folder}:
            shutil.rmtree(outdated, ignore_errors=True)


def _folder(store: Path) -> Path:
    return store.with_suffix(".results")


def _file(store: Path, metric: Callable[..., object], arguments: Arguments, other: Path | None = None) -> Path | None:
    """The file of a result; None for results that are not cached: look-ups, and results that depend on filters set by a user."""
    if not isinstance(metric, Metric):
        return None
    # Left out or given with its default: the same result.
    chosen = {name: value for name, value in arguments.items() if name not in metric.options or metric.options[name] != value}
    compared = [other.name, other.stat().st_mtime_ns] if other else []
    try:
        named = json.dumps([chosen, *compared], sort_keys=True, default=_argument_fingerprint)
    except TypeError:  # filters are objects: search results are not cached
        return None
    return _folder(store) / _load_fingerprint(store) / f"{metric.name}-{hashlib.sha256(named.encode()).hexdigest()[:16]}.parquet"


def _load_fingerprint(store: Path) -> str:
    """Identifies this load of the run and this version of the code."""
    return hashlib.sha256(f"{store.stat().st_mtime_ns} {_code_fingerprint()}".encode()).hexdigest()[:16]


def _argument_fingerprint(value: object) -> str:
    """JSON stand-in for an argument that is not a text or number. Raises TypeError if there is none."""
    if isinstance(value, Taxonomy):
        # By content, because every edit of the themes creates another object
        return hashlib.sha256(repr((value.themes, value.no_theme)).encode()).hexdigest()
    raise TypeError(type(value).__name__)


@cache
def _code_fingerprint() -> str:
    """A fingerprint of the code that computes the figures."""
    package, digest = Path(__file__).parent, hashlib.sha256()
    for path in sorted(path for name in COUNTING for path in (package / name).rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def main(store: str, themes_dir: str, min_pairs: str) -> None:
    """Compute and store what pages show first of the run in the file `store`."""
    run = read_run(Path(store))
    precompute_results(run, int(min_pairs))
    precompute_loaded_themes(run, Path(themes_dir), int(min_pairs))


if __name__ == "__main__":
    main(*sys.argv[1:])
