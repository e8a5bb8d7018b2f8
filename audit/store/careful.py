"""The careful road for pairs: every record on its own, for whatever the fast road would not take.

Records are validated one by one into a staging table with their positions; duplicates are then found over all of them
at once, because a pair's twin may stand in another file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from audit.release import validate
from audit.release.layout import stem
from audit.release.report import FileCount
from audit.release.schema import canonical
from audit.release.values import Reject
from audit.store.bulk import remark
from audit.store.connection import Connection, append
from audit.store.index import Index
from audit.store.judging import CHECKS, GATHERED, READING, keep_careful
from audit.store.matrix import Block
from audit.store.numbering import unknown
from audit.store.reader import Reader, shown
from audit.vocabulary import Label

CHUNK = 50_000
CREATE = f"""
create temp table careful as
select pairs.*, {READING}, []::{CHECKS} as checks, 0 as line, '' as position, '' as record
from pairs join readings using (question, handbook_a, handbook_b) limit 0
"""
PAIR = (
    "question", "handbook_a", "handbook_b", "label", "prescreened", "significance", "reasoning", "divergence_topic",
    "input_tokens", "output_tokens", "latency_s",
)  # fmt: skip
COLUMNS = (*PAIR, *validate.READING, "checks", "line", "position", "record")
ADOPT = f"""
insert into careful by name
select p.*, {READING}, checks, $lines[list_position($questions, p.question)] as line, '' as record,
       'pair ' || row_number() over (partition by p.question order by p.rowid) as position
from pairs p
left join readings using (question, handbook_a, handbook_b)
left join ({GATHERED}) using (question, handbook_a, handbook_b)
where p.question in (select question from careful)
"""
LEAVE = "delete from {} where question in (select question from careful)"
TWINS = """
with marked as (
    select *, rowid as place,
           count(*)     over pair as copies,
           row_number() over (pair order by line, rowid) as copy,
           count(distinct coalesce(label::varchar, 'UNSCORED')) over pair as verdicts
    from careful
    window pair as (partition by question, handbook_a, handbook_b)
)
select place, line, position, record, verdicts from marked
where copies > 1 and (verdicts > 1 or copy > 1)
order by place
"""
INSERT = f"""
insert into pairs by name
select {", ".join(PAIR)} from careful where rowid not in (select unnest($twins))
"""
ARRAYS = """
select handbook_a as a, handbook_b as b, coalesce(enum_code(label), -1)::tinyint as label
from careful where line = $line and rowid not in (select unnest($twins))
"""


@dataclass
class CarefulRoad:
    """Takes any file; whatever it refuses stands in the report."""

    con: Connection
    reader: Reader
    index: Index
    blocks: dict[str, Block]
    _lines: list[FileCount] = field(init=False)
    _staged: list[dict[str, Any]] = field(default_factory=list)

    def take(self, paths: list[Path]) -> None:
        """Read `paths` record by record and insert what is sound."""
        self.con.execute(CREATE)
        self._lines = [line for line in self.reader.report.files if line.kind == "pair"]
        for path in paths:
            self._file(path)
        self._flush()
        self._adopt()
        twins = self._quarantine_twins()
        self.con.execute(INSERT, {"twins": twins})
        keep_careful(self.con, twins)
        for number, line in enumerate(self._lines):
            block = self.blocks.get(line.file)
            if block and block.question >= 0 and not block.fast:
                self._remark(number, line, block, twins)

    def _adopt(self) -> None:
        """Stage what the fast road has loaded of the same questions: a twin may stand in another file."""
        numbers = {line.file: number for number, line in enumerate(self._lines)}
        taken = [(block.question, numbers[file]) for file, block in self.blocks.items() if block.fast]
        self.con.execute(ADOPT, {"questions": [q for q, _ in taken], "lines": [n for _, n in taken]})
        for table in ("pairs", "readings", "checks"):
            self.con.execute(LEAVE.format(table))

    def _file(self, path: Path) -> None:
        line = self.reader.count(path, "pair")
        self._lines.append(line)
        for position, raw in self.reader.rows(path, line):
            for place, pair, question_id in self._pairs(path, line, position, raw):
                self._pair(line, place, pair, question_id)

    def _pairs(self, path: Path, line: FileCount, position: str, raw: Any) -> Iterator[tuple[str, Any, Any]]:
        """(position, raw pair, question id) of each pair of a record: a whole comparison, or one row of a table."""
        outer = canonical(raw, "comparison") if isinstance(raw, dict) else {}
        question_id = outer.get("question_id") or stem(path)
        if "pairs" not in outer:
            yield position, raw, question_id
            return
        if not isinstance(outer["pairs"], list):
            self.reader.quarantine(line, position, "wrong_type", "its 'pairs' are no list.", raw)
            return
        self._block(line, outer, question_id)
        where = "" if position == "record 1" else f"{position}, "
        yield from ((f"{where}pair {number}", pair, question_id) for number, pair in enumerate(outer["pairs"], 1))

    def _block(self, line: FileCount, outer: dict[str, Any], question_id: Any) -> None:
        matrix = outer.get("matrix")
        block = Block.parse(outer.get("handbooks"), None if matrix is None else json.dumps(matrix))
        block.question = self.index.questions.get(str(question_id), -1)
        self.blocks[line.file] = block

    def _pair(self, line: FileCount, position: str, raw: Any, question_id: Any) -> None:
        record = self.reader.validated(line, position, raw, lambda raw, repairs: self._numbered(raw, repairs, question_id))
        if record is None:
            return
        self._staged.append({**record, "line": len(self._lines) - 1, "position": position, "record": shown(raw)})
        if len(self._staged) >= CHUNK:
            self._flush()

    def _numbered(self, raw: Any, repairs: list[str], question_id: Any) -> dict[str, Any]:
        """A validated pair with numbers for ids, the lower handbook first."""
        record = validate.pair(raw, repairs)
        question = self._number("question", str(question_id), self.index.questions)
        a, b = (self._number("handbook", record.pop(side), self.index.handbooks) for side in ("handbook_a", "handbook_b"))
        record["question"] = question
        record["handbook_a"], record["handbook_b"] = min(a, b), max(a, b)
        untouched = not record.pop("asked") and record["label"] == Label.ABSENT
        record["prescreened"] = bool(untouched and not self.index.neither_absent(question, a, b))
        return record

    def _number(self, kind: str, name: str, numbers: dict[str, int]) -> int:
        number = numbers.get(name)
        if number is None:
            raise Reject(*unknown(kind, name, numbers))
        return number

    def _flush(self) -> None:
        if self._staged:
            append(self.con, "careful", {name: [record[name] for record in self._staged] for name in COLUMNS})
        self._staged = []

    def _quarantine_twins(self) -> list[int]:
        """Of equal twins the first stays; of twins with different labels none does: nobody can say which one is meant."""
        found = self.con.execute(TWINS).fetchall()
        for _, number, position, record, verdicts in found:
            code, message = _twin(verdicts)
            self.reader.take_back(self._lines[number], position, code, message, record)
        return [place for place, *_ in found]

    def _remark(self, number: int, line: FileCount, block: Block, twins: list[int]) -> None:
        arrays = self.con.execute(ARRAYS, {"line": number, "twins": twins}).fetchnumpy()
        block.pairs = line.loaded
        remark(self.reader, line, block, self.index, {name: np.asarray(column) for name, column in arrays.items()})


def _twin(verdicts: int) -> tuple[str, str]:
    if verdicts > 1:
        return "conflicting_pair", "this pair stands more than once, with different labels; none of its copies was loaded."
    return "duplicate_pair", "this pair stands already further up, with the same label; the first copy was kept."
