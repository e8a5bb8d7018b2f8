"""The sums of a load report: what was found against what was declared, and against what combinatorics says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import comb
from typing import Any

from audit.release.report import Check, Report
from audit.store.connection import Connection, rows
from audit.store.index import Index
from audit.store.matrix import Block
from audit.vocabulary import concerns

JUDGED = "select count(*) from pairs where not prescreened"
TABLES = ("handbooks", "questions")
DECLARED = ("handbooks", "questions", "answers", "pairs", "pairs_judged")


def sums(con: Connection, manifest: Mapping[str, Any], index: Index, blocks: Mapping[str, Block], report: Report) -> list[Check]:
    """Every check of the load report; `ok` is None where there is nothing to hold a count against."""
    found = _found(con, index, report)
    declared = [_declared(name, manifest.get(name), found[name]) for name in DECLARED]
    everything = _of_organs(con) if manifest.get("asked") == "organ" else _of_all(index)
    return [*declared, *_answers(index, found, everything), *_pairs(blocks, found, everything), *_agreement(blocks, report)]


@dataclass(frozen=True)
class Everything:
    """How many answers and pairs there are where nothing is missing, and what that rests on, in words."""

    answers: int
    pairs: int
    asked: str
    paired: str


def _of_all(index: Index) -> Everything:
    questions, handbooks = len(index.questions), len(index.handbooks)
    return Everything(
        questions * handbooks, questions * comb(handbooks, 2),
        "every question asked of every handbook", f"{questions:,} questions x C({handbooks}, 2)",
    )  # fmt: skip


def _of_organs(con: Connection) -> Everything:
    """As the manifest says: each question is put to the handbooks of its organ, and a general one, or handbook, meets all."""
    books, questions = (dict(rows(con, f"select organ, count(*) from {table} group by organ")) for table in TABLES)
    met = {organ: sum(count for other, count in books.items() if concerns(organ, other)) for organ in questions}
    return Everything(
        sum(count * met[organ] for organ, count in questions.items()),
        sum(count * comb(met[organ], 2) for organ, count in questions.items()),
        "each question asked of the handbooks of its organ, general ones of all", "N(N-1)/2 over the handbooks of its organ",
    )  # fmt: skip


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


def _answers(index: Index, found: Mapping[str, int], everything: Everything) -> Iterator[Check]:
    if index.has_answers:
        yield _sum("answers", everything.answers, found["answers"], everything.asked)


def _pairs(blocks: Mapping[str, Block], found: Mapping[str, int], everything: Everything) -> Iterator[Check]:
    listed = [block for block in blocks.values() if block.handbooks is not None]
    if listed:
        expected = sum(comb(len(set(block.handbooks or [])), 2) for block in listed)
        yield _sum(
            "pairs_per_file", expected, sum(block.pairs for block in listed), "N(N-1)/2 over the handbooks that each file lists"
        )
    yield _sum("pairs_overall", everything.pairs, found["pairs"], everything.paired)


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
