"""Near-duplicates: pairs of questions that may be the same, and the table with people's decisions."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from audit.atomic_io import write_atomic
from audit.errors import QuestionsError
from audit.formatting import safe_cell
from audit.people_tables import CSV, Source, csv_table, read_bytes, visible
from audit.pipeline.corpus.questions.question_file import ImportedQuestion, normalised_text
from audit.pipeline.embedding.vectors import Vectors
from audit.release.report import NOTED, Finding
from audit.vocabulary import nearest

# Pairs of questions with a larger cosine are listed for review (arXiv:2605.29084, section 3)
DUPLICATE_THRESHOLD = 0.85
ROWS_PER_BLOCK = 1_024
KEEP_BOTH, DROP_FIRST, DROP_SECOND = "keep_both", "drop_first", "drop_second"
DECISIONS = (KEEP_BOTH, DROP_FIRST, DROP_SECOND)
MIRRORED = {KEEP_BOTH: KEEP_BOTH, DROP_FIRST: DROP_SECOND, DROP_SECOND: DROP_FIRST}
COLUMNS = ("question_a", "question_b", "cosine", "organ_a", "organ_b", "text_a", "text_b", "decision", "note")
REQUIRED_COLUMNS = ("question_a", "question_b", "text_a", "text_b", "decision")
DecisionRow = dict[str, str]
PairKey = tuple[str, str]


@dataclass(frozen=True)
class NearDuplicate:
    """Two questions that may be the same, `first` before `second` in the file; cosine 1 for exact duplicates."""

    first: ImportedQuestion
    second: ImportedQuestion
    cosine: float

    @property
    def key(self) -> PairKey:
        """The ids of the two."""
        return self.first.question_id, self.second.question_id


def find_near_duplicates(
    questions: Sequence[ImportedQuestion], vectors: Vectors | None, threshold: float = DUPLICATE_THRESHOLD
) -> list[NearDuplicate]:
    """Pairs of questions that may be the same, the most similar first.

    vectors    one row of length 1 per question; None: exact duplicates only
    threshold  cosine that a pair must exceed; exact duplicates are always listed
    """
    cosines = dict.fromkeys(_exact_duplicates(questions), 1.0)
    for pair, cosine in () if vectors is None else _similar_pairs(vectors, threshold):
        cosines.setdefault(pair, cosine)
    pairs = [NearDuplicate(questions[i], questions[j], round(cosine, 3)) for (i, j), cosine in sorted(cosines.items())]
    return sorted(pairs, key=lambda pair: -pair.cosine)


def _exact_duplicates(questions: Sequence[ImportedQuestion]) -> Iterator[tuple[int, int]]:
    rows_of: dict[str, list[int]] = {}
    for row, question in enumerate(questions):
        same = rows_of.setdefault(normalised_text(question.question), [])
        yield from ((earlier, row) for earlier in same)
        same.append(row)


def _similar_pairs(vectors: Vectors, threshold: float) -> Iterator[tuple[tuple[int, int], float]]:
    # Block by block, so that the cosines of 100,000 questions fit into memory.
    for start in range(0, len(vectors), ROWS_PER_BLOCK):
        cosines = vectors[start : start + ROWS_PER_BLOCK] @ vectors.T
        for row, column in np.argwhere(cosines > threshold).tolist():
            # Each pair once: the matrix of cosines is symmetric
            if start + row < column:
                yield (start + row, column), float(cosines[row, column])


def decisions_path(out: Path) -> Path:
    """The table next to the questions: questions.jsonl -> questions.decisions.csv."""
    return out.with_name(f"{out.name.removesuffix('.jsonl')}.decisions.csv")


@dataclass
class Decisions:
    """The table of decisions, matched with the current near-duplicates.

    by_pair    ids of a pair -> one of DECISIONS
    rows       ids of a pair -> its row in the table
    unmatched  rows that match no current pair
    """

    path: Path
    by_pair: dict[PairKey, str] = field(default_factory=dict)
    rows: dict[PairKey, DecisionRow] = field(default_factory=dict)
    unmatched: list[DecisionRow] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def note(self, position: str, code: str, message: str) -> None:
        """Add a finding at a position of the table."""
        self.findings.append(Finding(self.path.name, position, NOTED, code, message))

    def add_row(self, position: str, row: DecisionRow, pairs: Mapping[PairKey, NearDuplicate]) -> None:
        """Match a row of the table with the current pairs, by their ids in either order and their texts."""
        row = _mirrored(row) if (row["question_b"], row["question_a"]) in pairs else row
        key, decision = (row["question_a"], row["question_b"]), row["decision"]
        pair = pairs.get(key)
        if pair is None or not _same_texts(row, pair):
            if decision or row["note"]:
                self.unmatched.append(row)
                reason = "are no longer near-duplicates" if pair is None else "were reworded since"
                message = f"the decision '{decision}' matches no pair: {' and '.join(key)} {reason}. It was ignored and kept."
                self.note(position, "stray_decision", message)
            return
        if key in self.rows:
            self.note(position, "decided_twice", f"{' and '.join(key)} have an earlier row; the later row counts.")
        self.rows[key] = row
        self.by_pair.pop(key, None)
        if decision in DECISIONS:
            self.by_pair[key] = decision
        elif decision:
            allowed = nearest(decision, DECISIONS) or f" Allowed: {', '.join(DECISIONS)}, or an empty cell."
            message = f"'{decision}' is not a decision.{allowed} The pair counts as undecided."
            self.note(position, "unknown_decision", message)


def read_decisions(path: Path, pairs: Sequence[NearDuplicate], max_bytes: int) -> Decisions:
    """The table at `path` matched with the current pairs; no decisions where the file does not exist.

    A row matches a pair with the same two ids, in either order, whose texts have not changed since the decision.

    Raises QuestionsError where the file cannot be read completely, because a lost decision would bring a question back.
    """
    decisions = Decisions(path)
    if not path.exists():
        return decisions
    pair_of = {pair.key: pair for pair in pairs}
    source = Source(str(path), "Nothing was written, and the decisions are unchanged.", QuestionsError)
    table = csv_table(_content(path, max_bytes, source), source, COLUMNS.__contains__)
    if not set(REQUIRED_COLUMNS) <= set(table.columns):
        raise source.refusal("row 1", f"it needs the columns {', '.join(REQUIRED_COLUMNS)}", "Name them in the first row.")
    for row in table.rows:
        cells = {name: visible(row.cells.get(name, "")) for name in COLUMNS}
        decisions.add_row(row.place, cells, pair_of)
    return decisions


def _content(path: Path, max_bytes: int, source: Source) -> bytes:
    if path.stat().st_size > max_bytes:
        raise source.refusal("", f"the file has more than {max_bytes / 2**20:,.0f} MB")
    return read_bytes(path, source, CSV)


def _mirrored(row: DecisionRow) -> DecisionRow:
    """The same row for the pair in the other order."""
    swapped = {f"{name}_{x}": row[f"{name}_{y}"] for name in ("question", "organ", "text") for x, y in (("a", "b"), ("b", "a"))}
    return row | swapped | {"decision": MIRRORED.get(row["decision"], row["decision"])}


def _same_texts(row: DecisionRow, pair: NearDuplicate) -> bool:
    texts = (row["text_a"], pair.first.question), (row["text_b"], pair.second.question)
    return all(normalised_text(decided_on) == normalised_text(today) for decided_on, today in texts)


def questions_to_drop(pairs: Sequence[NearDuplicate], decisions: Decisions) -> dict[str, str]:
    """Question to drop -> the question kept for it. Decisions that would drop all questions of a group keep one."""
    kept_for: dict[str, str] = {}
    for pair in pairs:
        decision = decisions.by_pair.get(pair.key, KEEP_BOTH)
        if decision == KEEP_BOTH:
            continue
        dropped, survivor = pair.key if decision == DROP_FIRST else pair.key[::-1]
        if _finally_kept(survivor, kept_for) == dropped:
            message = (
                f"'{decision}' would drop every question of a group: {dropped} is already kept for {survivor}. It was ignored."
            )
            decisions.note(f"{pair.key[0]}, {pair.key[1]}", "ring_of_drops", message)
        else:
            kept_for.setdefault(dropped, survivor)
    return kept_for


def _finally_kept(question_id: str, kept_for: Mapping[str, str]) -> str:
    while question_id in kept_for:
        question_id = kept_for[question_id]
    return question_id


def write_decisions(decisions: Decisions, pairs: Sequence[NearDuplicate]) -> None:
    """Write the table of current pairs with their decisions, followed by the rows that match no pair."""
    rows = [_decision_row(pair, decisions.rows.get(pair.key, {})) for pair in pairs] + decisions.unmatched
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: safe_cell(row[name]) for name in COLUMNS} for row in rows)
    # With a byte order mark, spreadsheet programs read the file as UTF-8.
    write_atomic(decisions.path, text.getvalue().encode("utf-8-sig"))


def _decision_row(pair: NearDuplicate, before: Mapping[str, str]) -> DecisionRow:
    row = {"cosine": f"{pair.cosine:.3f}"}
    for letter, question in (("a", pair.first), ("b", pair.second)):
        row |= {
            f"question_{letter}": question.question_id,
            f"organ_{letter}": question.organ,
            f"text_{letter}": question.question,
        }
    return row | {name: before.get(name, "") for name in ("decision", "note")}
