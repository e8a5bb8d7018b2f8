"""Loading pairs: DuckDB parses many files in one statement, and Python reads again only the pairs that look suspect.

Why not Python alone: it takes 48 us a pair, so 5.7 million take 4 to 5 minutes instead of seconds (benchmarks/load.py).
tests/store/test_load_pairs.py treats every pair as suspect and compares the outcome.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from audit.release.layout import format_suffix, readable_name
from audit.release.pair_kinds import read_checks
from audit.release.record_kind import Record
from audit.release.records import UNREADABLE
from audit.release.report import NOTED, FileCount
from audit.release.values import Repairs
from audit.store.comparison_files import CHECK_COLUMNS, ComparisonHead, PairRepair, append_checks, contradictions, raw_pairs_at
from audit.store.connection import Connection
from audit.store.other_spellings import OtherSpellings, count_values
from audit.store.record_reader import LoadState, RecordReader, Statuses
from audit.store.stage_pairs import HAS_CONTROL, READING_TYPES, WORKING_COLUMNS, PairFormat, PairStager

READING_COLUMNS = READING_TYPES | {"parse": "parse"}
CREATE_STAGED_CHECKS = """
create temp table staged_checks as
select 0 as file, 0 as position, * exclude (question, handbook_a, handbook_b) from checks limit 0
"""
FILES = """
select file, position, question, handbook_a as a, handbook_b as b, coalesce(enum_code(label), -1)::tinyint as label,
       prescreened, suspect
from pairs where file between $first and $last
"""
CHECKS_OF_FILES = """
select file, position, checks from pairs
where file between $first and $last and checks is not null and not suspect
order by file, position
"""
DELETE_FILES = "delete from {table} where file in (select unnest($files))"
DELETE_POSITIONS = "delete from {table} where (file, position) in (select unnest($files), unnest($positions))"
DUPLICATES = """
with copies as (
    select file, position,
           count(*)     over pair as copies,
           row_number() over (pair order by file, position) as copy,
           count(distinct coalesce(label::varchar, 'UNSCORED')) over pair as labels
    from pairs
    where question in (select unnest($questions))
       or question in (select question from pairs where file in (select unnest($files)))
    window pair as (partition by question, handbook_a, handbook_b)
)
select file, position, labels > 1 from copies
where copies > 1 and (labels > 1 or copy > 1)
order by file, position
"""
INSERT_READINGS = f"""
insert into readings by name
select question, handbook_a, handbook_b, {", ".join(READING_TYPES)} from pairs
where {" or ".join(f"{name} is not null" for name in READING_TYPES)}
order by file, position
"""
INSERT_CHECKS = f"""
insert into checks by name
select question, handbook_a, handbook_b, {", ".join(f"staged_checks.{name}" for name in CHECK_COLUMNS)}
from staged_checks join pairs using (file, position)
order by file, position, staged_checks.rowid
"""
DUPLICATE = "duplicate_pair", "this pair occurs earlier with the same label; the first copy was kept."
CONFLICT = "conflicting_pair", "this pair occurs more than once with different labels; none of its copies was loaded."
# A statement costs milliseconds, a row nanoseconds; at paper scale this many files have a million pairs
FILES_AT_ONCE = 256
PairArrays = dict[str, Any]
"""The columns of FILES as arrays."""
ABSENT_ON_PRESENT, OTHER_ON_ABSENT = "absent_on_present", "other_on_absent"
MAX_EXAMPLES = 3


@dataclass(frozen=True)
class ComparisonCounts:
    """What reconciliation needs to know about one comparison file.

    n_listed    handbooks that it lists, each counted once; None without a list
    has_matrix  whether it has a matrix, usable or not
    n_pairs     pairs loaded from it
    """

    n_listed: int | None
    has_matrix: bool
    n_pairs: int


PLACE_COLUMNS = ("file", "position", "question", "a", "b")


@dataclass
class LabelsAndAnswers:
    """How the labels of pairs agree with what is known of their answers. Unscored pairs are in neither of the first four.

    both_present, some_absent        scored pairs, of whose answers both are present, or at least one is an absence
    absent_on_present                those of both_present that are ABSENT
    other_on_absent                  those of some_absent that are not ABSENT
    unknown                          scored pairs with an answer that is unread or not in the release, and none that is an absence
    unscored                         pairs without a label
    """

    both_present: int = 0
    some_absent: int = 0
    absent_on_present: int = 0
    other_on_absent: int = 0
    unknown: int = 0
    unscored: int = 0
    _places: dict[str, list[tuple[int, ...]]] = field(default_factory=lambda: {ABSENT_ON_PRESENT: [], OTHER_ON_ABSENT: []})

    def count(self, pairs: PairArrays, statuses: Statuses) -> None:
        """Count pairs, whose answers have these statuses."""
        label, absent, present = pairs["label"], statuses.either_absent, statuses.both_present
        scored = label >= 0
        n_scored, n_present, n_absent = (int(np.count_nonzero(flags)) for flags in (scored, present & scored, absent & scored))
        self.unscored += len(label) - n_scored
        self.both_present += n_present
        self.some_absent += n_absent
        self.unknown += n_scored - n_present - n_absent
        for name, found in ((ABSENT_ON_PRESENT, present & (label == 0)), (OTHER_ON_ABSENT, absent & (label > 0))):
            times = int(np.count_nonzero(found))
            setattr(self, name, getattr(self, name) + times)
            if times:
                listed = np.flatnonzero(found)
                # The store gives rows in any order, and files that are read by record come after the others
                order = np.lexsort((pairs["position"][listed], pairs["file"][listed]))[:MAX_EXAMPLES]
                places = zip(*(pairs[column][listed[order]].tolist() for column in PLACE_COLUMNS), strict=True)
                self._places[name] = sorted([*self._places[name], *places])[:MAX_EXAMPLES]

    @property
    def examples(self) -> dict[str, list[tuple[int, ...]]]:
        """The first pairs of absent_on_present and of other_on_absent: question and handbooks, by their numbers."""
        return {name: [place[2:] for place in places] for name, places in self._places.items()}


@dataclass
class PairLoader:
    """Loads the pair files of one release into `pairs`, `readings` and `checks`; files are numbered from 0 in their order."""

    con: Connection
    reader: RecordReader
    state: LoadState
    _lines: list[FileCount] = field(default_factory=list)
    _heads: dict[int, ComparisonHead] = field(default_factory=dict)
    _suspects: dict[int, set[int]] = field(default_factory=dict)
    """By file the positions that Python must read; all of a file's where it is in `_unparsed`."""
    _unparsed: set[int] = field(default_factory=set)
    _question_files: dict[int, int] = field(default_factory=dict)
    labels_and_answers: LabelsAndAnswers = field(default_factory=LabelsAndAnswers)
    _has_duplicates: bool = False
    _has_readings: bool = False
    _repeated: set[int] = field(default_factory=set)
    """Questions in more than one file, or whose file has a pair twice."""

    @contextmanager
    def parsing(self) -> Iterator[None]:
        """Parse the files in another thread while the block runs, and load them at its end.

        So the caller can read answers in Python meanwhile; loading pairs needs them.
        """
        paths = self.reader.layout.parts["pair"]
        nested = {n: path for n, path in enumerate(paths) if self._is_parseable(path)}
        form = PairFormat.detect(list(nested.values()), (*self.state.handbooks, *self.state.questions))
        self._has_readings = form.has_readings
        self._add_columns(WORKING_COLUMNS | (READING_COLUMNS if form.has_readings else {}))
        self.con.execute(CREATE_STAGED_CHECKS)
        spellings = OtherSpellings(form)
        with PairStager(self.con.cursor(), nested, form).running(self.state.handbooks) as batches:
            yield
            self._lines = [self.reader.add_file(path, "pair") for path in paths]
            self._unparsed = set(range(len(paths))) - set(nested)
            for batch, unparsed in batches:
                self._unparsed.update(unparsed)
                self._examine([number for number in batch if number not in self._unparsed], spellings)
        self._finish()

    def _is_parseable(self, path: Path) -> bool:
        # DuckDB takes no name that is not UTF-8
        named = readable_name(str(path)) == str(path)
        return named and format_suffix(path) == ".json" and path.stat().st_size <= self.reader.max_bytes

    def counts(self) -> list[ComparisonCounts]:
        """The counts of every comparison file, once the pairs are loaded."""
        return [
            ComparisonCounts(head.n_listed, head.has_matrix, self._lines[number].loaded) for number, head in self._heads.items()
        ]

    def _finish(self) -> None:
        reread = sorted({*self._suspects, *self._unparsed})
        if reread:
            self._add_columns(READING_COLUMNS)
        # Duplicates can be found only when all pairs are in the table
        self._read_again(reread)
        if reread or self._repeated:
            self._quarantine_duplicates(reread)
        self._note_conflicts_again(reread)
        if self._has_duplicates:
            self._count_labels_again()
        if reread or self._has_readings:
            self.con.execute(INSERT_READINGS)
        self.con.execute(INSERT_CHECKS)
        for name in WORKING_COLUMNS | READING_COLUMNS:
            self.con.execute(f"alter table pairs drop column if exists {name}")

    def _add_columns(self, columns: dict[str, str]) -> None:
        for name, kind in columns.items():
            self.con.execute(f"alter table pairs add column if not exists {name} {kind}")

    def _arrays(self, first: int, last: int) -> PairArrays:
        columns = self.con.execute(FILES, {"first": first, "last": last}).fetchnumpy()
        return {name: np.asarray(column) for name, column in columns.items()}

    def _examine(self, batch: list[int], spellings: OtherSpellings) -> None:
        """Decide for each file of a batch which pairs are suspect, and note its conflicts where none is."""
        if not batch:
            return
        unusable, values_of_checks = self._stage_checks(batch[0], batch[-1])
        arrays = _split_by_file(self._arrays(batch[0], batch[-1]))
        values = spellings.values_of_files(self.con, batch[0], batch[-1])
        for number in batch:
            head = self._read_head(number, spellings.form)
            pairs = arrays.get(number)
            if head is None or pairs is None or (pairs["question"] != pairs["question"][0]).any():
                self._unparsed.add(number)
                continue
            path, n_values = self.reader.layout.parts["pair"][number], values[number] + values_of_checks[number] + head.n_values
            named_otherwise, may_have_control = spellings.in_file(path, n_values)
            if named_otherwise:
                self._unparsed.add(number)
                continue
            self._heads[number] = head
            suspect = unusable.get(number, []) + (self._with_control(number, spellings.form) if may_have_control else [])
            if suspect:
                pairs["suspect"] = pairs["suspect"] | np.isin(pairs["position"], suspect)
            self._examine_file(number, head, pairs)

    def _with_control(self, number: int, form: PairFormat) -> list[int]:
        """The positions in a file of the pairs that have a control character."""
        texts = ("reasoning", "divergence_topic", *(("unscored_reason",) if form.has_readings else ()))
        condition = " or ".join(map(HAS_CONTROL.format, texts))
        found = self.con.execute(f"select position from pairs where file = $file and ({condition})", {"file": number})
        return [position for (position,) in found.fetchall()]

    def _examine_file(self, number: int, head: ComparisonHead, pairs: PairArrays) -> None:
        head.question = question = int(pairs["question"][0])
        # ABSENT without a trace of the judge means pre-screened only where an answer is absent; the validator decides.
        statuses = self.state.statuses(question, pairs["a"], pairs["b"])
        suspect = pairs["suspect"] | (pairs["prescreened"] & statuses.neither_absent)
        self._lines[number].read = self._lines[number].loaded = len(suspect) - int(np.count_nonzero(suspect))
        if self._question_files.setdefault(question, number) != number or has_repeats(pairs):
            self._repeated.add(question)
        if suspect.any():
            self._suspects[number] = set(pairs["position"][suspect].tolist())
        else:
            self._note_conflicts(number, pairs, statuses)

    def _read_head(self, number: int, form: PairFormat) -> ComparisonHead | None:
        try:
            return ComparisonHead.read(self.reader.layout.parts["pair"][number], form.names)
        # Python cannot parse a file that DuckDB could: it is read again record by record, which reports why.
        except (ValueError, RecursionError, *UNREADABLE):
            return None

    def _stage_checks(self, first: int, last: int) -> tuple[dict[int, list[int]], Counter[int]]:
        """Stage the checks of a batch.

        Returns, by file, the positions of pairs with a check that needs a repair, and how many values the checks have.
        """
        # Checks are always read in Python: few pairs have any, so SQL would not be faster.
        unusable: dict[int, list[int]] = {}
        values: Counter[int] = Counter()
        staged: list[tuple[int, int, Record]] = []
        for file, position, text in self.con.execute(CHECKS_OF_FILES, {"first": first, "last": last}).fetchall():
            repairs: Repairs = []
            checks = read_checks(text, repairs)
            values[file] += count_values(text.encode())
            if repairs:
                unusable.setdefault(file, []).append(position)
            else:
                staged += [(file, position, check) for check in checks]
        append_checks(self.con, staged)
        return unusable, values

    def _read_again(self, numbers: list[int]) -> None:
        """Replace suspect pairs, and all pairs of files that DuckDB cannot parse, by pairs read in Python."""
        self._delete_files(self._unparsed)
        self._delete_pairs(self._suspects)
        repair, unreadable = PairRepair(self.con, self.reader, self.state), []
        for number in numbers:
            path, line, wanted = self.reader.layout.parts["pair"][number], self._lines[number], self._suspects.get(number)
            head, met = repair.read_file(number, path, line, wanted)
            if head is not None:
                self._heads[number] = head
            if wanted and met < max(wanted):
                # The entire file was quarantined, so the rows that DuckDB read from it must not be loaded either.
                line.read, line.loaded = line.read - line.loaded, 0
                unreadable.append(number)
        self._delete_files(unreadable)
        repair.flush()

    def _delete_files(self, numbers: Any) -> None:
        for table in ("pairs", "staged_checks"):
            self.con.execute(DELETE_FILES.format(table=table), {"files": sorted(numbers)})

    def _delete_pairs(self, positions: Mapping[int, Iterable[int]]) -> None:
        """Delete the pairs at these positions, by file, and their checks."""
        pairs = [(number, position) for number, of_file in positions.items() for position in of_file]
        where = {"files": [number for number, _ in pairs], "positions": [position for _, position in pairs]}
        for table in ("pairs", "staged_checks"):
            self.con.execute(DELETE_POSITIONS.format(table=table), where)

    def _quarantine_duplicates(self, reread: list[int]) -> None:
        # Of equal copies the first is kept; of copies with different labels none is, because the right one is unknown.
        duplicates = self.con.execute(DUPLICATES, {"questions": sorted(self._repeated), "files": reread}).fetchall()
        by_file: dict[int, dict[int, bool]] = {}
        for number, position, conflicting in duplicates:
            by_file.setdefault(number, {})[position] = conflicting
        for number, positions in by_file.items():
            raw_pairs = raw_pairs_at(self.reader, self.reader.layout.parts["pair"][number], positions)
            for position, conflicting in positions.items():
                where, raw = raw_pairs[position]
                self.reader.requarantine(self._lines[number], where, *(CONFLICT if conflicting else DUPLICATE), raw)
        self._delete_pairs(by_file)
        self._has_duplicates = bool(by_file)

    def _count_labels_again(self) -> None:
        """Count the labels of the pairs that are left, since those of quarantined duplicates were counted too."""
        self.labels_and_answers = LabelsAndAnswers()
        for first in range(0, len(self._lines), FILES_AT_ONCE):
            pairs = self._arrays(first, first + FILES_AT_ONCE - 1)
            self.labels_and_answers.count(pairs, self.state.statuses(pairs["question"], pairs["a"], pairs["b"]))

    def _note_conflicts_again(self, numbers: list[int]) -> None:
        """`_note_conflicts` for files that were read again, whose pairs are taken from the store many files at a time."""
        for _, group in groupby(numbers, lambda number: number // FILES_AT_ONCE):
            chunk = list(group)
            arrays = self._arrays(chunk[0], chunk[-1])
            by_file, none = _split_by_file(arrays), {name: column[:0] for name, column in arrays.items()}
            for number in chunk:
                pairs = by_file.get(number, none)
                self._note_conflicts(number, pairs, self.state.statuses(pairs["question"], pairs["a"], pairs["b"]))

    def _note_conflicts(self, number: int, pairs: PairArrays, statuses: Statuses) -> None:
        """Note where a loaded file contradicts itself: its matrix against its labels, and its answers against its labels."""
        line, head = self._lines[number], self._heads.get(number)
        # A table of pairs has no head
        if head is not None and head.question >= 0:
            for message in contradictions(head, self.state.handbooks, pairs):
                self.reader.note(line, "matrix", NOTED, "matrix_contradicts", message)
            head.forget_matrix()
        self.labels_and_answers.count(pairs, statuses)
        label = pairs["label"]
        for code, conflict, words in (
            ("label_on_absent_answer", statuses.either_absent & (label > 0), "other than ABSENT although an answer is absent"),
            ("label_on_unread_answer", statuses.either_unparseable & (label >= 0), "although an answer could not be parsed"),
        ):
            if count := int(np.count_nonzero(conflict)):
                self.reader.note(line, "pairs", NOTED, code, f"{count:,} pairs have a label {words}.")


def _split_by_file(arrays: PairArrays) -> dict[int, PairArrays]:
    """The arrays of each file; the rows of a file keep their order."""
    # Rows are nearly always in the order of their files, and then a file's rows are a view
    files = arrays["file"]
    if (files[1:] < files[:-1]).any():
        order = np.argsort(files, kind="stable")
        arrays = {name: column[order] for name, column in arrays.items()}
        files = arrays["file"]
    ends = [*(np.flatnonzero(files[1:] != files[:-1]) + 1).tolist(), len(files)]
    return {
        int(files[start]): {name: column[start:end] for name, column in arrays.items()}
        for start, end in pairwise([0, *ends])
        if start < end
    }


def has_repeats(pairs: PairArrays) -> bool:
    """Whether two rows have the same handbooks."""
    # Handbook numbers are 16-bit integers, so two of them make one 32-bit key
    keys = pairs["a"].astype(np.int32) << 16 | pairs["b"].astype(np.int32) & 0xFFFF
    # Producers usually write pairs in order, and then comparing neighbours is enough.
    return bool(not (np.diff(keys) > 0).all() and len(np.unique(keys)) < len(keys))
