"""The sums of a load report: what was found against what was declared, and against what combinatorics says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import comb
from typing import Any

from audit.release.report import Check, Report
from audit.store.connection import Connection, rows
from audit.store.index import Index
from audit.store.matrix import Block

JUDGED = "select count(*) from pairs where not prescreened"
DECLARED = ("handbooks", "questions", "answers", "pairs", "pairs_judged")


def sums(con: Connection, manifest: Mapping[str, Any], index: Index, blocks: Mapping[str, Block], report: Report) -> list[Check]:
    """Every check of the load report; `ok` is None where there is nothing to hold a count against."""
    found = _found(con, index, report)
    declared = [_declared(name, manifest.get(name), found[name]) for name in DECLARED]
    return [*declared, *_answers(index, found), *_pairs(index, blocks, found), *_agreement(blocks, report)]


def _found(con: Connection, index: Index, report: Report) -> dict[str, int]:
    loaded = {kind: row["loaded"] for kind, row in report.totals().items()}
    judged = rows(con, JUDGED)[0][0]
    return {
        "handbooks": len(index.handbooks), "questions": len(index.questions), "answers": loaded.get("answer", 0),
        "pairs": loaded.get("pair", 0), "pairs_judged": judged,
    }  # fmt: skip


def _declared(name: str, declared: Any, found: int) -> Check:
    words = name.replace("_", " ")
    if not isinstance(declared, int) or isinstance(declared, bool):
        return Check(f"{name}_declared", None, found, None, f"{words}: {found:,} found; the manifest declares no number.")
    return Check(
        f"{name}_declared",
        declared,
        found,
        declared == found,
        f"{words}: {found:,} found, {declared:,} declared in the manifest.",
    )


def _answers(index: Index, found: Mapping[str, int]) -> Iterator[Check]:
    if index.has_answers:
        yield _sum(
            "answers", len(index.questions) * len(index.handbooks), found["answers"], "every question asked of every handbook"
        )


def _pairs(index: Index, blocks: Mapping[str, Block], found: Mapping[str, int]) -> Iterator[Check]:
    listed = [block for block in blocks.values() if block.handbooks is not None]
    if listed:
        expected = sum(comb(len(set(block.handbooks or [])), 2) for block in listed)
        yield _sum(
            "pairs_per_file", expected, sum(block.pairs for block in listed), "N(N-1)/2 over the handbooks that each file lists"
        )
    everything = len(index.questions) * comb(len(index.handbooks), 2)
    yield _sum("pairs_overall", everything, found["pairs"], f"{len(index.questions):,} questions x C({len(index.handbooks)}, 2)")


def _sum(name: str, expected: int, found: int, basis: str) -> Check:
    gap = "" if expected == found else f": {abs(expected - found):,} {'missing' if found < expected else 'too many'}"
    return Check(
        name, expected, found, expected == found, f"{name.split('_')[0]}: {found:,} loaded, {expected:,} expected ({basis}){gap}."
    )


def _agreement(blocks: Mapping[str, Block], report: Report) -> Iterator[Check]:
    with_matrix = sum(block.matrix is not None or block.problem is not None for block in blocks.values())
    for code, kept, what in (
        ("matrix_contradicts", with_matrix, "matrices that contradict their pairs, of {:,}"),
        ("label_on_absent_answer", len(blocks), "files with a label on an absent answer, of {:,}"),
    ):
        files = len({finding.file for finding in report.findings if finding.code == code})
        yield Check(code, 0 if kept else None, files, files == 0 if kept else None, f"{files:,} {what.format(kept)}.")
