"""The checks of a load report: counts found against those declared, and against the number of combinations."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from math import comb
from typing import Any

from audit.release.report import Check, LoadReport
from audit.release.schema import TABLES
from audit.store.connection import Connection, rows
from audit.store.load_pairs import ComparisonCounts
from audit.store.record_reader import LoadState
from audit.vocabulary import concerns

COUNT_JUDGED = "select count(*) from pairs where not prescreened"
DECLARED = ("handbooks", "questions", "answers", "pairs", "pairs_judged")
COUNTED = {kind.counted.name: kind for kind in TABLES if kind.counted and kind.counted.name not in DECLARED}
DECLARED_OF_SYSTEMS = {name: kind.name for name, kind in COUNTED.items() if kind.group}
DECLARED_OF_JUDGES = {name: kind.name for name, kind in COUNTED.items() if not kind.group}
"""Counts that a manifest may declare -> kind of record. Only a release that has or declares such records is checked for them."""


def reconcile(
    con: Connection, manifest: Mapping[str, Any], state: LoadState, comparisons: Collection[ComparisonCounts], report: LoadReport
) -> list[Check]:
    """Every check of the load report; `ok` is None where there is no count to compare with."""
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
    return [*declared, *answers, *_check_pairs(comparisons, counts["pairs"], expected), *_check_conflicts(comparisons, report)]


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
        questions * handbooks, questions * comb(handbooks, 2),
        "every question asked of every handbook", f"{questions:,} questions x C({handbooks}, 2)",
    )  # fmt: skip


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
        "handbooks": len(state.handbooks), "questions": len(state.questions), "answers": loaded.get("answer", 0),
        "pairs": loaded.get("pair", 0), "pairs_judged": rows(con, COUNT_JUDGED)[0][0],
        **{name: loaded.get(kind, 0) for name, kind in (DECLARED_OF_SYSTEMS | DECLARED_OF_JUDGES).items()},
    }  # fmt: skip


def _check_declared_count(name: str, declared: Any, loaded: int) -> Check:
    words = name.replace("_", " ")
    if not isinstance(declared, int) or isinstance(declared, bool):
        return Check(f"{name}_declared", None, loaded, None, f"{words}: {loaded:,} found; the manifest declares no number.")
    message = f"{words}: {loaded:,} found, {declared:,} declared in the manifest."
    return Check(f"{name}_declared", declared, loaded, declared == loaded, message)


def _check_pairs(comparisons: Collection[ComparisonCounts], loaded: int, expected: ExpectedCounts) -> Iterator[Check]:
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


def _check_conflicts(comparisons: Collection[ComparisonCounts], report: LoadReport) -> Iterator[Check]:
    with_matrix = sum(comparison.has_matrix for comparison in comparisons)
    for code, denominator, words in (
        ("matrix_contradicts", with_matrix, "matrices that contradict their pairs, of {:,}"),
        ("label_on_absent_answer", len(comparisons), "files with a label on an absent answer, of {:,}"),
    ):
        files = len({finding.file for finding in report.findings if finding.code == code})
        expected, ok = (0, files == 0) if denominator else (None, None)
        yield Check(code, expected, files, ok, f"{files:,} {words.format(denominator)}.")
