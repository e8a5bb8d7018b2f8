"""What people decided of questions that may be one: a table that is written for them, filled by them, and obeyed."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from audit.atomic_io import write_atomic
from audit.corpus.questions.likeness import Near
from audit.corpus.questions.reading import plain_text
from audit.errors import QuestionsError
from audit.release.records import RecordFile, UnreadableRecord
from audit.release.report import NOTED, Finding
from audit.spreadsheet_safety import plain_cell, safe_cell
from audit.vocabulary import nearest

KEEP_BOTH, DROP_FIRST, DROP_SECOND = "keep_both", "drop_first", "drop_second"
DECISIONS = (KEEP_BOTH, DROP_FIRST, DROP_SECOND)
TURNED = {KEEP_BOTH: KEEP_BOTH, DROP_FIRST: DROP_SECOND, DROP_SECOND: DROP_FIRST}
COLUMNS = ("question_a", "question_b", "cosine", "organ_a", "organ_b", "text_a", "text_b", "decision", "note")
NEEDED = ("question_a", "question_b", "text_a", "text_b", "decision")
Row = dict[str, str]


def default_path(out: Path) -> Path:
    """The table beside the questions: questions.jsonl -> questions.decisions.csv."""
    return out.with_name(f"{out.name.removesuffix('.jsonl')}.decisions.csv")


@dataclass
class Decided:
    """The decisions that fit a pair, by its ids, and the rows of those that fit none."""

    path: Path
    words: dict[tuple[str, str], str] = field(default_factory=dict)
    rows: dict[tuple[str, str], Row] = field(default_factory=dict)
    stray: list[Row] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def _note(self, position: str, code: str, message: str) -> None:
        self.findings.append(Finding(self.path.name, position, NOTED, code, message))


def read_decisions(path: Path, pairs: Sequence[Near], max_bytes: int) -> Decided:
    """The table at `path` held against the pairs of today; nothing decided where there is no such file.

    A row fits a pair of the same two ids, in either order, whose words are those that were decided on.

    Raises QuestionsError when the file cannot be read whole: what people decided is not guessed at.
    """
    decided = Decided(path)
    if not path.exists():
        return decided
    today = {pair.key: pair for pair in pairs}
    for position, record in RecordFile(path, max_bytes).rows():
        if isinstance(record, UnreadableRecord) or not set(NEEDED) <= set(record):
            what = (
                record.message
                if isinstance(record, UnreadableRecord)
                else f"it needs the columns {', '.join(NEEDED)}, with commas between."
            )
            raise QuestionsError(f"{path}, {position}: {what} Nothing was written, and the decisions are as they were.")
        row = {name: plain_cell(str(record.get(name) or "")).strip() for name in COLUMNS}
        _place(decided, position, row, today)
    return decided


def _place(decided: Decided, position: str, row: Row, today: Mapping[tuple[str, str], Near]) -> None:
    row = _turned(row) if (row["question_b"], row["question_a"]) in today else row
    said = row["decision"]
    key = row["question_a"], row["question_b"]
    pair = today.get(key)
    if pair is None or not _same_words(row, pair):
        if said or row["note"]:
            why = "are no longer near each other" if pair is None else "were reworded since"
            decided.stray.append(row)
            decided._note(position, "stray_decision", f"'{said}' fits no pair: {' and '.join(key)} {why}. It was not obeyed.")
        return
    if key in decided.rows:
        decided._note(position, "decided_twice", f"{' and '.join(key)} stand already further up; the later row counts.")
    decided.rows[key] = row
    decided.words.pop(key, None)
    if said in DECISIONS:
        decided.words[key] = said
    elif said:
        allowed = nearest(said, DECISIONS) or f" Allowed: {', '.join(DECISIONS)}, or nothing."
        decided._note(position, "unknown_decision", f"'{said}' is no decision.{allowed} The pair counts as undecided.")


def _turned(row: Row) -> Row:
    """The same row for the pair in the other order."""
    turned = {f"{name}_{x}": row[f"{name}_{y}"] for name in ("question", "organ", "text") for x, y in (("a", "b"), ("b", "a"))}
    return row | turned | {"decision": TURNED.get(row["decision"], row["decision"])}


def _same_words(row: Row, pair: Near) -> bool:
    both = (row["text_a"], pair.first.question), (row["text_b"], pair.second.question)
    return all(plain_text(then) == plain_text(now) for then, now in both)


def drops(pairs: Sequence[Near], decided: Decided) -> dict[str, str]:
    """Question to drop -> the one that stands for it. Decisions that would drop a whole ring of questions leave one."""
    stands: dict[str, str] = {}
    for pair in pairs:
        said = decided.words.get(pair.key, KEEP_BOTH)
        if said == KEEP_BOTH:
            continue
        gone, kept = pair.key if said == DROP_FIRST else pair.key[::-1]
        if _last(kept, stands) == gone:
            message = f"'{said}' would leave none of a group: {gone} stands for {kept} already. It was not obeyed."
            decided._note(f"{pair.key[0]}, {pair.key[1]}", "ring_of_drops", message)
        else:
            stands.setdefault(gone, kept)
    return stands


def _last(question_id: str, stands: Mapping[str, str]) -> str:
    """The question that stands in the end for the one given."""
    while question_id in stands:
        question_id = stands[question_id]
    return question_id


def write_decisions(decided: Decided, pairs: Sequence[Near]) -> None:
    """Write the table of today's pairs with what was decided of them, and below it the rows that fit none."""
    lines = [_row(pair, decided.rows.get(pair.key, {})) for pair in pairs] + decided.stray
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: safe_cell(line[name]) for name in COLUMNS} for line in lines)
    write_atomic(decided.path, text.getvalue().encode("utf-8-sig"))  # with the mark, spreadsheets see UTF-8


def _row(pair: Near, before: Mapping[str, str]) -> Row:
    one, other = pair.first, pair.second
    shown = {
        "question_a": one.question_id, "question_b": other.question_id, "cosine": f"{pair.cosine:.3f}",
        "organ_a": one.organ, "organ_b": other.organ, "text_a": one.question, "text_b": other.question,
    }  # fmt: skip
    return shown | {name: before.get(name, "") for name in ("decision", "note")}
