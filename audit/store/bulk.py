"""The fast road for pairs: DuckDB's own JSON reader, a few files at a time, for files with nothing to report.

Each batch is read into a staging table and tallied per file. A file whose tally is spotless goes into `pairs` as it is;
any other is left for `audit.store.careful`, which reads it again record by record and says what is wrong. The two roads
give the same rows (tests/store/test_roads.py), so this one may only ever accept.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from audit.release.layout import ending
from audit.release.report import NOTED, FileCount
from audit.release.schema import spelling
from audit.store.connection import Connection, DuckDBError
from audit.store.index import Index
from audit.store.judging import (
    ODD,
    READING_TYPES,
    keep_checks,
    keep_readings,
    odd_readings,
    staged_checks,
    staged_reading,
    tells_readings,
)
from audit.store.matrix import Block, contradictions
from audit.store.reader import Reader
from audit.vocabulary import LABELS, SIGNIFICANCES

BATCH_BYTES = 64 * 2**20
GZ_OBJECT_BYTES = 64 * 2**20
OBJECT_SLACK = 2**20

STAGE = """
create or replace temp table stage as
with files as (
    select list_position($files, filename) - 1 as file, {question_id} as question_id, {pairs} as pairs
    from read_json($files, columns = {columns}, format = 'unstructured', maximum_object_size = {size}, filename = true)
),
numbered as (
    select file, question, unnest(pairs) as p
    from files left join question_numbers using (question_id)
)
select file, question,
       enum_code(try_cast(p.{handbook_a} as handbook))::smallint as a,
       enum_code(try_cast(p.{handbook_b} as handbook))::smallint as b,
       try_cast({upper}(p.{classification}) as label)             as label,
       p.{classification} is null                                 as unscored,
       p.{judge_metadata} is null and p.{reasoning} is null       as untouched,
       try_cast({lower}(p.{clinical_significance}) as significance) as significance,
       p.{clinical_significance} is null                          as unstated,
       p.{reasoning}                    as reasoning,
       p.{divergence_topic}             as divergence_topic,
       p.{judge_metadata}.input_tokens  as input_tokens,
       p.{judge_metadata}.output_tokens as output_tokens,
       p.{judge_metadata}.latency_s     as latency_s,
       p.{checks}                       as checks{reading}
from numbered
"""
TALLY = f"""
-- spotless: nothing unknown or compared with itself, no significance where there is none to give, and no
-- list, object or NaN where a text is expected (DuckDB would hand it over as its JSON text) nor where a number is.
select file, any_value(question) as question, count(*) as pairs,
       count(question) = count(*)
       and count(a) = count(*) and count(b) = count(*)
       and not bool_or(a = b)
       and bool_and(label is not null or (unscored and not untouched))
       and bool_and(significance is not null or unstated)
       and bool_and(significance is null or coalesce(label in ('DIVERGENT', 'CONTRADICTORY'), false))
       and not bool_or({ODD.format("reasoning")}) and not bool_or({ODD.format("divergence_topic")})
       and not bool_or(coalesce(abs(latency_s) > 3.4e38, false)) as spotless  -- NaN is the largest of all
from stage group by file order by file
"""
ARRAYS = """
select file, a, b, coalesce(enum_code(label), -1)::tinyint as label, untouched
from stage where file not in (select unnest($left))
"""
INSERT = """
insert into pairs
select question, least(a, b), greatest(a, b), label, coalesce(label = 'ABSENT', false) and untouched, significance,
       reasoning, divergence_topic, input_tokens, output_tokens, latency_s
from stage where file not in (select unnest($left))
"""
PAIR_FIELDS = (
    "handbook_a",
    "handbook_b",
    "classification",
    "reasoning",
    "divergence_topic",
    "clinical_significance",
    "judge_metadata",
    "checks",
)
USAGE = {"input_tokens": "INTEGER", "output_tokens": "INTEGER", "latency_s": "DOUBLE"}


@dataclass
class BulkRoad:
    """Takes the files it can and returns the others."""

    con: Connection
    reader: Reader
    index: Index
    blocks: dict[str, Block]
    """Per file taken or careful: the handbooks it lists and its matrix, for the sums of audit.store.sums."""
    folding: dict[str, str] = field(init=False)
    told: bool = field(init=False)
    """Whether the release says how the judge's replies were read."""

    def take(self, paths: Iterable[Path]) -> list[Path]:
        """Load every spotless file of `paths`; the rest, in order, for the careful road."""
        nested = [path for path in paths if ending(path) == ".json"]
        left = [path for path in paths if path not in set(nested)]
        if nested:
            prepare(self.con, self.index)
            comparison, pairs = _pairs_of_first(nested[0])
            names = _spellings(comparison, pairs)
            self.folding, self.told = _folding(pairs, names), tells_readings(nested)
            for batch in _batches(nested):
                left += self._batch(batch, names)
        return left

    def _batch(self, batch: list[Path], names: dict[str, str]) -> list[Path]:
        """One batch, or, where a file in it stops DuckDB, each of its files alone."""
        try:
            self._stage(batch, names)
        except DuckDBError:
            if len(batch) == 1:
                return batch
            return [path for single in batch for path in self._batch([single], names)]
        return self._accept(batch, names)

    def _stage(self, batch: list[Path], names: dict[str, str]) -> None:
        quoted, size = _quoted(names), _object_size(batch)
        columns, reading = _pair_columns(names, self.told), staged_reading(quoted) if self.told else ""
        sql = STAGE.format(columns=columns, size=size, reading=reading, **self.folding, **quoted)
        self.con.execute(sql, {"files": [str(path) for path in batch]})

    def _accept(self, batch: list[Path], names: dict[str, str]) -> list[Path]:
        tallies = {file: (question, pairs) for file, question, pairs, spotless in self.con.execute(TALLY).fetchall() if spotless}
        repeated = _repeated(question for question, _ in tallies.values())
        checks = staged_checks(self.con)
        odd = {file for file, rows in checks.items() if rows is None} | (odd_readings(self.con) if self.told else set())
        tallies = {file: tally for file, tally in tallies.items() if file not in odd and tally[0] not in repeated | self._seen}
        arrays = self._arrays(tallies, _others(batch, tallies))
        taken = {file for file in tallies if not repeats(arrays[file]) and self._agrees(tallies[file][0], arrays[file])}
        blocks = {file: block for file in sorted(taken) if (block := _block(batch[file], names)) is not None}
        for file, block in blocks.items():
            self._count(batch[file], *tallies[file], block, arrays[file])
        taken = set(blocks)
        self.con.execute(INSERT, {"left": _others(batch, taken)})
        keep_checks(self.con, taken, checks)
        if self.told:
            keep_readings(self.con, taken)
        return [path for file, path in enumerate(batch) if file not in taken]

    @property
    def _seen(self) -> set[int]:
        return {block.question for block in self.blocks.values()}

    def _arrays(self, tallies: dict[int, Any], left: list[int]) -> dict[int, dict[str, Any]]:
        columns = self.con.execute(ARRAYS, {"left": left}).fetchnumpy()
        order = np.argsort(columns["file"], kind="stable")
        cuts = np.searchsorted(columns["file"][order], sorted(tallies), side="left")
        parts = np.split(order, cuts[1:])
        return {
            file: {name: column[part] for name, column in columns.items()}
            for file, part in zip(sorted(tallies), parts, strict=False)
        }

    def _agrees(self, question: int, pairs: dict[str, Any]) -> bool:
        """No pair is called pre-screened although neither of its answers is absent."""
        untouched = pairs["untouched"] & (pairs["label"] == 0)
        return not self.index.neither_absent(question, pairs["a"][untouched], pairs["b"][untouched]).any()

    def _count(self, path: Path, question: int, pairs: int, block: Block, arrays: dict[str, Any]) -> None:
        line = self.reader.count(path, "pair")
        line.read = line.loaded = pairs
        block.question, block.pairs, block.fast = question, pairs, True
        self.blocks[line.file] = block
        remark(self.reader, line, block, self.index, arrays)


def _block(path: Path, names: dict[str, str]) -> Block | None:
    """What the file says beside its pairs; None where Python's reader stumbles over it, as the careful road will say."""
    try:
        return Block.read(path, names)
    except (ValueError, RecursionError):
        return None


def repeats(pairs: dict[str, Any]) -> bool:
    """Whether a couple of handbooks stands twice, in either order."""
    low, high = np.minimum(pairs["a"], pairs["b"]), np.maximum(pairs["a"], pairs["b"])
    keys = low.astype(np.int32) << 16 | high
    # By habit pairs stand in order, and then one look at the neighbours tells.
    return not (np.diff(keys) > 0).all() and len(np.unique(keys)) < len(keys)


def remark(reader: Reader, line: FileCount, block: Block, index: Index, arrays: dict[str, Any]) -> None:
    """Note what does not fit together in a file that is loaded all the same: its matrix, and answers against labels."""
    for message in contradictions(block, index.handbooks, arrays):
        reader.note(line, "matrix", NOTED, "matrix_contradicts", message)
    a, b, label = arrays["a"], arrays["b"], arrays["label"]
    absent, unread = index.either_absent(block.question, a, b), index.either_unread(block.question, a, b)
    for code, clash, what in (
        ("label_on_absent_answer", absent & (label > 0), "other than ABSENT although an answer is absent"),
        ("label_on_unread_answer", unread & (label >= 0), "although an answer could not be read"),
    ):
        if count := int(clash.sum()):
            reader.note(line, "pairs", NOTED, code, f"{count:,} pairs have a label {what}.")


def prepare(con: Connection, index: Index) -> None:
    """Make the handbook ids a type and the question ids a table, so that reading turns both into numbers."""
    ids = ", ".join("'" + name.replace("'", "''") + "'" for name in index.handbooks)
    con.execute(f"create or replace temp type handbook as enum ({ids})")
    con.execute("create or replace temp table question_numbers as select question_id, question from questions")


def _pairs_of_first(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The first file and its pairs; nothing where it cannot be read: the careful road will say what is wrong with it."""
    try:
        comparison = json.loads(path.read_bytes())
        pairs = comparison[spelling(comparison, "comparison")["pairs"]]
        return comparison, [pair for pair in pairs if isinstance(pair, dict)]
    except (ValueError, OSError, KeyError, TypeError, AttributeError, RecursionError):
        return {}, []


def _spellings(comparison: dict[str, Any], pairs: list[dict[str, Any]]) -> dict[str, str]:
    """The names that the first file uses for each field; what it does not have keeps the format's own name."""
    own = {name: name for name in (*PAIR_FIELDS, "question_id", "handbooks", "matrix", "pairs")}
    return own | spelling(comparison, "comparison") | spelling(pairs[0] if pairs else {}, "pair")


def _folding(pairs: list[dict[str, Any]], names: dict[str, str]) -> dict[str, str]:
    """The SQL functions that labels and significances go through: none where the first file has them in the format's case."""
    words = {str(pair.get(names[name])) for pair in pairs for name in ("classification", "clinical_significance")}
    plain = words <= {*LABELS, *SIGNIFICANCES, "None"}
    return {"upper": "" if plain else "upper", "lower": "" if plain else "lower"}


def _batches(paths: list[Path]) -> Iterator[list[Path]]:
    """`paths` in order, in batches of about BATCH_BYTES."""
    batch: list[Path] = []
    size = 0
    for path in paths:
        if batch and size + path.stat().st_size > BATCH_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(path)
        size += path.stat().st_size
    yield batch


def _object_size(batch: list[Path]) -> int:
    """DuckDB wants to know the largest object beforehand; a compressed file does not tell."""
    return max(GZ_OBJECT_BYTES if path.suffix == ".gz" else path.stat().st_size + OBJECT_SLACK for path in batch)


def _others(batch: list[Path], taken: Iterable[int]) -> list[int]:
    """The files of a batch that are not `taken`: few, by habit, and none cost nothing to leave out."""
    return sorted(set(range(len(batch))) - set(taken))


def _repeated(questions: Iterable[int]) -> set[int]:
    seen: set[int] = set()
    return {question for question in questions if question in seen or seen.add(question)}  # type: ignore[func-returns-value]


def _pair_columns(names: dict[str, str], told: bool) -> str:
    metadata = ", ".join(f"{name} {kind}" for name, kind in (USAGE | READING_TYPES if told else USAGE).items())
    types = {name: f"STRUCT({metadata})" if name == "judge_metadata" else "VARCHAR" for name in PAIR_FIELDS}
    inner = ", ".join(f"{_quote(names[name])} {kind}" for name, kind in types.items())
    return _columns({names["question_id"]: "VARCHAR", names["pairs"]: f"STRUCT({inner})[]"})


def _columns(types: dict[str, str]) -> str:
    return "{" + ", ".join(f"{_quote(name)}: '{kind}'" for name, kind in types.items()) + "}"


def _quoted(names: dict[str, str]) -> dict[str, str]:
    return {name: _quote(spelled) for name, spelled in names.items()}


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""').replace("'", "''") + '"'
