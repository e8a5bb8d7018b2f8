"""Loading a release: everything is read into a temporary file, so a store appears complete or not at all."""

from __future__ import annotations

import gc
import json
import os
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import comb
from pathlib import Path
from typing import Any

from audit.errors import ReleaseError
from audit.formatting import printable
from audit.release.handbook_kinds import ANSWER, HANDBOOK, SEARCH_TRIAL, SECTION, TRIAL
from audit.release.layout import Layout, digest, find_layout, later_digests, open_release, readable_name
from audit.release.manifest import read_manifest
from audit.release.pair_kinds import FURTHER_VERDICT, INCONSISTENCY, SELF_COMPARISON
from audit.release.rating_kinds import HUMAN_RATING, PLANTED, POSITION
from audit.release.record_kind import RecordKind
from audit.release.records import RecordFile, UnreadableRecord
from audit.release.report import NOTED, REPAIRED, WHOLE_FILE, Check, Finding, LoadReport
from audit.release.route_kinds import ROUTE, SOURCE
from audit.release.schema import TABLES
from audit.release.stress_kinds import STRESS_INSTANCE, STRESS_REPLY
from audit.release.system_kinds import CRITERIA_SCORES, MEASURE, PREFERENCE, REFERENCE_RECORD, SYSTEM, SYSTEM_ANSWER
from audit.release.values import Repairs
from audit.settings import Settings
from audit.store.connection import Connection, append, create_store, rows
from audit.store.load_kind import load_kind
from audit.store.load_pairs import ABSENT_ON_PRESENT, OTHER_ON_ABSENT, ComparisonCounts, LabelsAndAnswers, PairLoader
from audit.store.load_stress import load_stress
from audit.store.load_tables import (
    load_answers,
    load_criteria,
    load_inconsistencies,
    load_positions,
    load_questions,
    load_ratings,
    load_references,
    load_routes,
    load_sections,
    load_sources,
    load_trials,
)
from audit.store.load_themes import load_themes
from audit.store.record_reader import LoadState, RecordReader
from audit.store.runs import Run, chosen_pairs, read_run, run_in, store_path, store_problem
from audit.store.tables import layout as tables_layout
from audit.store.tables import store_schema
from audit.vocabulary import composed, concerns

# Must never change: studies refer to the run that they were sampled from by its digest
DIGEST_SALT = "1"
# Those of Python are 700, 10, 10
GARBAGE_THRESHOLDS = (50_000, 20, 100)

FINDING_COLUMNS = ("file", "position", "outcome", "code", "message", "record")
Progress = Callable[[str], None]
Loader = Callable[[Connection, RecordReader, LoadState], None]
STEPS: tuple[tuple[Loader | None, tuple[RecordKind, ...]], ...] = (
    (load_sections, (SECTION,)),
    (load_answers, (ANSWER,)),
    (load_trials, (TRIAL,)),
    (None, (SEARCH_TRIAL,)),
    (None, (SELF_COMPARISON,)),
    (load_inconsistencies, (INCONSISTENCY,)),
    (None, (PLANTED, FURTHER_VERDICT)),
    (load_positions, (POSITION,)),
    (load_sources, (SOURCE,)),
    (None, (SYSTEM,)),
    (load_references, (REFERENCE_RECORD,)),
    (None, (SYSTEM_ANSWER,)),
    (load_criteria, (CRITERIA_SCORES,)),
    (None, (PREFERENCE, MEASURE)),
    (load_routes, (ROUTE,)),
    (load_stress, (STRESS_INSTANCE, STRESS_REPLY)),
)
"""The tables that are read while the pairs are parsed, in this order as each may name ids of those before it; None: as it is."""


@dataclass(frozen=True)
class Loaded:
    """A run that is in the store; `fresh` is False where it was there already. `findings` are those of this load."""

    run: Run
    fresh: bool
    report: LoadReport | None


def load_release(path: Path, settings: Settings, *, again: bool = False, progress: Progress = lambda _: None) -> Loaded:
    """Load the release at `path` (folder, .zip, .tar.gz) and return its run.

    The same content is loaded once: a second call finds the store by its digest and reads nothing, unless `again` is set or the
    ratings or further verdicts in the release have changed. A store that cannot be read (damage, another layout) is rebuilt.
    Raises ReleaseError, and leaves the store as it was, when the release as a whole cannot be used.
    """
    with open_release(path, settings.max_archive_bytes) as (root, refused):
        layout = find_layout(root, path)
        progress("Reading the release's digest")
        name = digest(layout, DIGEST_SALT)
        target = store_path(settings.store_dir, name)
        later = later_digests(layout, DIGEST_SALT)
        readable = target.exists() and store_problem(target) is None
        if readable and not again and all(getattr(read_run(target), name) == value for name, value in later.items()):
            return Loaded(read_run(target), False, None)
        report = LoadReport(findings=list(refused))
        with _collecting_rarely(), _replacing(target) as temporary:
            run = _fill_store(temporary, layout, report, settings, {"digest": name, **later, "name": _run_name(path)}, progress)
    return Loaded(replace(run, path=target), True, report)


def check_release(path: Path, settings: Settings, progress: Progress = lambda _: None) -> Loaded:
    """The load report of the release at `path`, without storing the run."""
    # Loaded into a store that is deleted at once, so the report is the one that loading would give.
    with tempfile.TemporaryDirectory(prefix="audit-check-") as scratch:
        return load_release(path, replace(settings, data_dir=Path(scratch)), progress=progress)


@contextmanager
def _collecting_rarely() -> Iterator[None]:
    """Python looks for unreachable objects a tenth as often: records hold none, and looking takes a sixth of reading answers."""
    usual = gc.get_threshold()
    gc.set_threshold(*GARBAGE_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*usual)


@contextmanager
def _replacing(target: Path) -> Iterator[Path]:
    """Yields a temporary file that replaces `target` when the block succeeds and is deleted otherwise."""
    target.parent.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(target.parent)
    # With the process id, so a later load can tell whether this one still runs
    temporary = target.with_name(f"{target.stem}.{os.getpid()}.building")
    try:
        yield temporary
        temporary.replace(target)
    finally:
        # DuckDB keeps its write-ahead log in a second file next to the store
        for left in target.parent.glob(f"{temporary.name}*"):
            left.unlink()


def _remove_leftovers(folder: Path) -> None:
    """Remove the files of loads that were killed."""
    for path in folder.glob("*.building*"):
        owner = path.name.split(".")[1]
        # Without /proc the running processes are unknown, so every such file is removed
        if not Path(f"/proc/{owner}").exists() or not Path("/proc/self").exists():
            path.unlink(missing_ok=True)


def _fill_store(
    target: Path, layout: Layout, report: LoadReport, settings: Settings, identity: dict[str, str], progress: Progress
) -> Run:
    con = create_store(target, store_schema(), layout.root)
    try:
        reader, state = RecordReader(layout, report, settings.max_object_bytes), LoadState()
        manifest = _read_manifest(layout, report, settings)
        progress("Reading handbooks, questions and answers")
        load_kind(con, reader, state, HANDBOOK)
        load_questions(con, reader, state)
        _require_records({"handbook": state.handbooks, "question": state.questions}, layout, report)
        pairs = PairLoader(con, reader, state)
        with pairs.parsing():
            state.allocate_answer_status()
            _load_tables(con, reader, state)
            progress(f"Reading {len(layout.parts['pair']):,} files of pairs")
        if not layout.parts["pair"]:
            _require_records({"system": state.systems}, layout, report)
        if layout.parts[HUMAN_RATING.name]:
            load_ratings(con, reader, state)
        load_themes(con, reader)
        report.checks = reconcile(con, manifest, state, pairs, report)
        _write_run(con, manifest, state, report, identity)
        # Puts the write-ahead log into the file, which alone is renamed
        con.execute("checkpoint")
        return run_in(con, target)
    finally:
        con.close()


def _load_tables(con: Connection, reader: RecordReader, state: LoadState) -> None:
    for load, kinds in STEPS:
        # Most releases have few of the tables
        present = [kind for kind in kinds if reader.layout.parts[kind.name]]
        if load and present:
            load(con, reader, state)
        elif present:
            for kind in present:
                load_kind(con, reader, state, kind)


def _require_records(numbers: dict[str, dict[str, int]], layout: Layout, report: LoadReport) -> None:
    """Raise ReleaseError where the release has files of a kind and none of their records can be used."""
    for kind, ids in numbers.items():
        if not ids and layout.parts[kind]:
            names = {layout.name(path) for path in layout.parts[kind]}
            why = next((f" {finding.sentence()}" for finding in report.findings if finding.file in names), "")
            raise ReleaseError(
                f"{layout.root}: no usable {kind} in {layout.name(layout.parts[kind][0])}.{why} Nothing was loaded."
            )


def _read_manifest(layout: Layout, report: LoadReport, settings: Settings) -> dict[str, Any]:
    """The manifest under the format's own names; empty where it is missing or unreadable, as it is optional."""
    for path in layout.parts["manifest"]:
        file = RecordFile(path, settings.max_object_bytes)
        _, raw = next(file.rows(), ("", UnreadableRecord("broken_json", "the file is empty.")))
        for repair, times in file.repairs.items():
            message = f"{repair} ({times:,} times)."
            report.findings.append(Finding(layout.name(path), WHOLE_FILE, NOTED, "read_leniently", message))
        if isinstance(raw, dict):
            repairs: Repairs = []
            manifest = read_manifest(raw, repairs)
            report.findings += [Finding(layout.name(path), WHOLE_FILE, REPAIRED, "field_cut", text) for text in repairs]
            return manifest
        why = raw.message if isinstance(raw, UnreadableRecord) else "it is not an object."
        report.findings.append(
            Finding(layout.name(path), WHOLE_FILE, NOTED, "manifest_unread", f"{why} The release was loaded without it.")
        )
    return {}


def _write_run(con: Connection, manifest: dict[str, Any], state: LoadState, report: LoadReport, identity: dict[str, str]) -> None:
    terms = manifest.get("terms")
    run_id = composed(str(manifest.get("run_id") or identity["name"]))
    title = " ".join(printable(str(manifest.get("title") or run_id)).split())
    row = {
        "layout": tables_layout(), "run_id": run_id, "title": title, "digest": identity["digest"],
        "synthetic": manifest.get("synthetic") is True, "has_answers": state.has_answers,
        "has_handbooks": bool(state.has_answers or report.totals().get("pair", {}).get("loaded")),
        "has_pairs": bool(report.totals().get("pair", {}).get("loaded")), "has_systems": bool(state.systems),
        "has_routes": state.has_routes, "has_stress": bool(state.instances),
        **{name: identity[name] for name in ("ratings_digest", "further_digest")},
        "loaded_at": datetime.now(UTC).replace(tzinfo=None), "manifest": json.dumps(manifest, default=str),
        "terms": json.dumps({str(k): str(v) for k, v in terms.items()} if isinstance(terms, dict) else {}),
        "report": json.dumps(report.as_dict()),
    }  # fmt: skip
    append(con, "run", {name: [value] for name, value in row.items()})
    append(con, "findings", {name: [getattr(finding, name) for finding in report.findings] for name in FINDING_COLUMNS})


def _run_name(path: Path) -> str:
    return readable_name(path.resolve().name).removesuffix(".gz").removesuffix(".tar").removesuffix(".zip").removesuffix(".tgz")


# -- reconciliation ------------------------------------------------------------------------------------------
# Counts found against those declared, and against the number of combinations.

COUNT_JUDGED = "select count(*) from pairs where not prescreened"
DECLARED = ("handbooks", "questions", "answers", "pairs", "pairs_judged")
COUNTED = {kind.counted.name: kind for kind in TABLES if kind.counted and kind.counted.name not in DECLARED}
DECLARED_OF_SYSTEMS = {name: kind.name for name, kind in COUNTED.items() if kind.group}
DECLARED_OF_JUDGES = {name: kind.name for name, kind in COUNTED.items() if not kind.group}
"""Counts that a manifest may declare -> kind of record. Only a release that has or declares such records is checked for them."""


def reconcile(
    con: Connection, manifest: Mapping[str, Any], state: LoadState, pairs: PairLoader, report: LoadReport
) -> list[Check]:
    """Every check of the load report; `ok` is None where there is no count to compare with."""
    comparisons = pairs.counts()
    counts = _found_counts(con, state, report)
    of_systems, of_judges = (
        [name for name in names if counts[name] or name in manifest] for names in (DECLARED_OF_SYSTEMS, DECLARED_OF_JUDGES)
    )
    # A release of answering systems alone: no handbook, answer or pair is expected
    systems_alone = bool(of_systems) and not comparisons
    names = [name for name in DECLARED if not systems_alone or counts[name] or name in manifest]
    declared = [_check_declared_count(name, manifest.get(name), counts[name]) for name in (*names, *of_systems, *of_judges)]
    if systems_alone:
        return declared
    everyone = _expect_all(state)
    expected = _expect_by_organ(con, everyone, counts["pairs"]) if manifest.get("asked") == "organ" else everyone
    answers = [_check_sum("answers", expected.answers, counts["answers"], expected.asked)] if state.has_answers else []
    if not (comparisons or counts["pairs"] or manifest.get("pairs")):  # nothing has compared the answers yet
        return [*declared, *answers]
    against_answers = _check_labels(pairs.labels_and_answers, state) if counts["pairs"] else []
    matrices = _check_matrices(comparisons, report)
    chosen = chosen_pairs(manifest)
    return [*declared, *answers, *_check_pairs(comparisons, counts["pairs"], expected, chosen), matrices, *against_answers]


@dataclass(frozen=True)
class ExpectedCounts:
    """How many answers and pairs a complete release has, with the reason in words."""

    answers: int
    pairs: int
    asked: str
    paired: str


def _expect_all(state: LoadState) -> ExpectedCounts:
    questions, handbooks = len(state.questions), len(state.handbooks)
    return ExpectedCounts(
        questions * handbooks,
        questions * comb(handbooks, 2),
        "every question asked of every handbook",
        f"{questions:,} questions x C({handbooks}, 2)",
    )


def _expect_by_organ(con: Connection, everyone: ExpectedCounts, pairs: int) -> ExpectedCounts:
    """Each question is put to the handbooks of its organ; general questions and general handbooks concern every organ.

    Pairs may run over those handbooks, or over all as in the paper: pairs of a handbook that was not asked are pre-screened.
    """
    count = "select organ, count(*) from {} group by organ"
    handbooks, questions = (dict(rows(con, count.format(table))) for table in ("handbooks", "questions"))
    asked = {organ: sum(n for other, n in handbooks.items() if concerns(organ, other)) for organ in questions}
    among_asked = sum(n * comb(asked[organ], 2) for organ, n in questions.items())
    over_all = pairs > among_asked
    return ExpectedCounts(
        sum(n * asked[organ] for organ, n in questions.items()),
        everyone.pairs if over_all else among_asked,
        "each question asked of the handbooks of its organ, general ones of all",
        everyone.paired if over_all else "N(N-1)/2 over the handbooks of its organ",
    )


def _found_counts(con: Connection, state: LoadState, report: LoadReport) -> dict[str, int]:
    loaded = {kind: row["loaded"] for kind, row in report.totals().items()}
    return {
        "handbooks": len(state.handbooks),
        "questions": len(state.questions),
        "answers": loaded.get("answer", 0),
        "pairs": loaded.get("pair", 0),
        "pairs_judged": rows(con, COUNT_JUDGED)[0][0],
        **{name: loaded.get(kind, 0) for name, kind in (DECLARED_OF_SYSTEMS | DECLARED_OF_JUDGES).items()},
    }


def _check_declared_count(name: str, declared: Any, loaded: int) -> Check:
    words = name.replace("_", " ")
    if not isinstance(declared, int) or isinstance(declared, bool):
        return Check(f"{name}_declared", None, loaded, None, f"{words}: {loaded:,} found; the manifest declares no number.")
    message = f"{words}: {loaded:,} found, {declared:,} declared in the manifest."
    return Check(f"{name}_declared", declared, loaded, declared == loaded, message)


def _check_pairs(
    comparisons: Collection[ComparisonCounts], loaded: int, expected: ExpectedCounts, chosen: str
) -> Iterator[Check]:
    # Its manifest declares how many there are, which is checked; that there are more in the run that it judges is no gap
    if chosen:
        message = (
            f"pairs: {loaded:,} loaded, chosen ({chosen}) among the {expected.pairs:,} of these questions ({expected.paired})."
        )
        yield Check("pairs_overall", None, loaded, None, message)
        return
    listed = [comparison for comparison in comparisons if comparison.n_listed is not None]
    if listed:
        per_file = sum(comb(comparison.n_listed or 0, 2) for comparison in listed)
        basis = "N(N-1)/2 over the handbooks that each file lists"
        yield _check_sum("pairs_per_file", per_file, sum(comparison.n_pairs for comparison in listed), basis)
    yield _check_sum("pairs_overall", expected.pairs, loaded, expected.paired)


def _check_sum(name: str, expected: int, loaded: int, basis: str) -> Check:
    gap = "" if expected == loaded else f": {abs(expected - loaded):,} {'missing' if loaded < expected else 'too many'}"
    message = f"{name.split('_')[0]}: {loaded:,} loaded, {expected:,} expected ({basis}){gap}."
    return Check(name, expected, loaded, expected == loaded, message)


def _check_matrices(comparisons: Collection[ComparisonCounts], report: LoadReport) -> Check:
    with_matrix = sum(comparison.has_matrix for comparison in comparisons)
    files = len({finding.file for finding in report.findings if finding.code == "matrix_contradicts"})
    expected, ok = (0, files == 0) if with_matrix else (None, None)
    return Check(
        "matrix_contradicts", expected, files, ok, f"{files:,} matrices that contradict their pairs, of {with_matrix:,}."
    )


def _check_labels(counts: LabelsAndAnswers, state: LoadState) -> Iterator[Check]:
    """The labels of pairs against their answers; what is unscored or unknown is counted apart."""
    for name, found, total, words in (
        # A judge may find that one of two texts does not address the question, so these are counted and no fault
        (ABSENT_ON_PRESENT, counts.absent_on_present, counts.both_present, "two present answers are ABSENT"),
        (OTHER_ON_ABSENT, counts.other_on_absent, counts.some_absent, "an absent answer are not ABSENT"),
    ):
        if not state.has_answers:
            yield Check(name, None, None, None, f"labels: how many pairs with {words} is unknown, as the release has no answers.")
            continue
        is_fault = name == OTHER_ON_ABSENT and total
        message = f"labels: {found:,} of {total:,} scored pairs with {words}{_examples(counts.examples[name], state)}."
        yield Check(name, 0 if is_fault else None, found, found == 0 if is_fault else None, message)
    if state.has_answers:
        unknown = f"scored pairs with an answer that is unread or was not asked for, and none that is absent: {counts.unknown:,}"
        message = f"labels not compared: unscored pairs: {counts.unscored:,}; {unknown}."
        yield Check("labels_not_compared", None, counts.unscored + counts.unknown, None, message)


def _examples(pairs: list[tuple[int, ...]], state: LoadState) -> str:
    questions, handbooks = list(state.questions), list(state.handbooks)
    listed = (f"{handbooks[a]} and {handbooks[b]} on {questions[question]}" for question, a, b in pairs)
    return f"; for example {', '.join(listed)}" if pairs else ""
