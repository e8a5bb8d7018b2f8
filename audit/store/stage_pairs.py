"""Parsing comparison files into `pairs`: DuckDB reads a batch of files in one statement, in a thread of its own.

Each statement also fills working columns, which the loader drops at the end:
    file, position  number of the file and of the pair in it, from 0 and from 1
    suspect         audit.release.pair_kinds might refuse the pair, repair it or read it in another way
    checks          further verdicts as JSON text

The SQL need only err on the side of suspicion. The exact rules and messages exist once, in Python.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.closed_folder import read_plain
from audit.release.pair_kinds import COMPARISON, GROUNDS, JUDGE_READING, OF_DISAGREEMENTS, PAIR
from audit.release.record_kind import JUDGE_USAGE, TYPES, field_names
from audit.release.records import UNREADABLE, open_bytes
from audit.store.connection import Connection, DuckDBError
from audit.vocabulary import DISAGREEING, LABELS, SIGNIFICANCES, Label, sql_list

# Small batches leave row groups half full, which DuckDB then compresses twice: 48 files at a time cost a quarter more CPU
BATCH_BYTES = 384 * 2**20
GZ_OBJECT_BYTES = 64 * 2**20
OBJECT_SLACK_BYTES = 2**20
SAMPLE_BYTES = 32 * 2**20
# A failed statement takes about 10 ms, in which Python reads about this much
HALVED_BYTES = 2**20
GLOB = re.compile(r"[*?[]")

WORKING_COLUMNS = {"file": "integer", "position": "integer", "suspect": "boolean", "checks": "varchar"}
USAGE_TYPES, READING_TYPES = ({field.name: TYPES[field.type].sql for field in fields} for fields in (JUDGE_USAGE, JUDGE_READING))

NOT_TEXT = r"""coalesce(case when strlen({0}) > 9 and ({0} between 'A' and 'Zz' or {0} between 'a' and 'zz') then false
                            when regexp_matches({0}, '^\s*([\[{{]|-?(nan|inf|infinity)$)', 'i')
                            then {0} !~ '^\s*[\[{{]' or json_valid({0}) end, false)"""
"""Whether a text was a list, an object or NaN in the file: DuckDB passes those on as their JSON text.

The first line is for speed: nearly every text begins with a letter.
"""
# As audit.formatting.UNPRINTABLE; Python replaces these characters and reports it
HAS_CONTROL = "coalesce(regexp_matches({0}, '[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x{{9f}}\\x{{fffe}}\\x{{ffff}}]'), false)"
STAGE = """
insert into pairs by name
with files as (
    select list_extract($numbers, list_position($files, filename)) as file, {question_id} as question_id, {pairs} as pairs
    from read_json($patterns, columns = {columns}, format = 'unstructured', maximum_object_size = {size}, filename = true)
),
unnested as (
    select file, coalesce(question, -1) as question, unnest(pairs) as p, generate_subscripts(pairs, 1) as position
    from files left join (select question_id, question from questions) questions
         on questions.question_id = {composed}(files.question_id)
),
typed as (
    select file, position, question,
           coalesce(enum_code(try_cast({composed}(p.{handbook_a}) as handbook)), -1)::smallint as a,
           coalesce(enum_code(try_cast({composed}(p.{handbook_b}) as handbook)), -1)::smallint as b,
           try_cast({upper}(p.{classification}) as label)               as label,
           p.{classification} is null                                   as unscored,
           p.{judge_metadata} is null and p.{reasoning} is null         as untouched,
           try_cast({lower}(p.{clinical_significance}) as significance) as significance,
           p.{clinical_significance} is null                            as unstated,
           p.{reasoning}                    as reasoning,
           p.{divergence_topic}             as divergence_topic,
           p.{judge_metadata}.input_tokens  as input_tokens,
           p.{judge_metadata}.output_tokens as output_tokens,
           p.{judge_metadata}.latency_s     as latency_s,
           p.{checks}                       as checks{grounds}{reading}
    from unnested
)
select question, least(a, b) as handbook_a, greatest(a, b) as handbook_b, label,
       coalesce(label = '{absent}', false) and untouched as prescreened, significance, reasoning, divergence_topic,
       input_tokens, output_tokens, latency_s, file, position, {suspect} as suspect, checks{ground_columns}{reading_columns}
from typed
"""
SUSPECT = f"""
-- An unknown id, a handbook compared with itself, no verdict, a significance where none belongs, a text that is not one.
question < 0 or a < 0 or b < 0 or a = b
or label is null and (untouched or not unscored)
or significance is null and not unstated
or significance is not null and not coalesce(label in {sql_list(DISAGREEING)}, false)
or {NOT_TEXT.format("reasoning")} or {NOT_TEXT.format("divergence_topic")}
or coalesce(abs(latency_s) > 3.4e38, false)  -- NaN is the largest of all
"""
GROUND_NAMES = field_names(GROUNDS)
# The quotes change sides with their handbooks
GROUND_COLUMNS = f""",
       case when a < b then quote_a else quote_b end as quote_a, case when a < b then quote_b else quote_a end as quote_b,
       {", ".join(OF_DISAGREEMENTS)}
"""
SUSPECT_GROUNDS = f"""
or {NOT_TEXT.format("quote_a")} or {NOT_TEXT.format("quote_b")}
or {" or ".join(f"coalesce({one.name} not in {sql_list(map(str, one.allowed))}, false)" for one in GROUNDS if one.allowed)}
or ({" or ".join(f"{name} is not null" for name in OF_DISAGREEMENTS)}) and not coalesce(label in {sql_list(DISAGREEING)}, false)
"""
SUSPECT_READING = f"""
or parse is null and parse_text is not null or {NOT_TEXT.format("unscored_reason")} or {NOT_TEXT.format("prompt")}
"""


@dataclass(frozen=True)
class PairFormat:
    """How the comparison files of a release are written, taken from the first of them.

    names         our field names -> the names in the files
    upper, lower  SQL functions for labels and significances; empty where the first file has them in the usual case
    has_readings  whether the judge's metadata say how its replies were parsed
    has_grounds   whether pairs say what their verdicts rest on
    composed      SQL function for ids; empty where all ids of the release are ASCII, whose Unicode forms are the same
    """

    names: dict[str, str]
    upper: str
    lower: str
    has_readings: bool
    has_grounds: bool
    composed: str = ""

    @classmethod
    def detect(cls, paths: list[Path], ids: Iterable[str]) -> PairFormat:
        """The format of the files at `paths`, which name `ids`. A file in another one is not lost: its pairs become suspects."""
        comparison, pairs = _first_comparison(paths)
        names = {name: name for name in (*field_names(COMPARISON.fields), *field_names(PAIR.fields))}
        names |= COMPARISON.spelling(comparison) | PAIR.spelling(pairs[0] if pairs else {})
        words = {str(pair.get(names[name])) for pair in pairs for name in ("classification", "clinical_significance")}
        usual = words <= {*LABELS, *SIGNIFICANCES, "None"}
        composed = "" if all(map(str.isascii, ids)) else "nfc_normalize"
        has = (_any_name(paths, READING_TYPES), _any_name(paths, [names[name] for name in GROUND_NAMES]))
        return cls(names, "" if usual else "upper", "" if usual else "lower", *has, composed)

    def statement(self, paths: list[Path]) -> str:
        """The SQL that appends the pairs of `paths`; its parameters are the `files`, as `patterns` too, and their `numbers`."""
        quoted = {name: _quote(spelled) for name, spelled in self.names.items()}
        suspect, grounds, reading, reading_columns = SUSPECT, "", "", ""
        if self.has_grounds:
            suspect += SUSPECT_GROUNDS
            grounds = "".join(f", p.{quoted[name]} as {name}" for name in GROUND_NAMES)
        if self.has_readings:
            metadata = f"p.{quoted['judge_metadata']}"
            others = [name for name in READING_TYPES if name != "parse"]
            suspect += SUSPECT_READING
            reading = f", try_cast({metadata}.parse as parse) as parse, {metadata}.parse as parse_text"
            reading += "".join(f", {metadata}.{name} as {name}" for name in others)
            reading_columns = "".join(f", {name}" for name in READING_TYPES)
        return STAGE.format(
            **quoted, upper=self.upper, lower=self.lower, columns=self._columns(), size=_largest_object(paths),
            suspect=suspect, reading=reading, reading_columns=reading_columns, absent=Label.ABSENT, composed=self.composed,
            grounds=grounds, ground_columns=GROUND_COLUMNS if grounds else "",
        )  # fmt: skip

    def _columns(self) -> str:
        metadata = ", ".join(
            f"{name} {kind}" for name, kind in (USAGE_TYPES | (READING_TYPES if self.has_readings else {})).items()
        )
        names = [name for name in field_names(PAIR.fields) if self.has_grounds or name not in GROUND_NAMES]
        types = dict.fromkeys(names, "VARCHAR") | {"judge_metadata": f"STRUCT({metadata})"}
        pair = ", ".join(f"{_quote(self.names[name])} {kind}" for name, kind in types.items())
        columns = {self.names["question_id"]: "VARCHAR", self.names["pairs"]: f"STRUCT({pair})[]"}
        return "{" + ", ".join(f"{_quote(name)}: '{kind}'" for name, kind in columns.items()) + "}"


@dataclass
class PairStager:
    """Appends comparison files to `pairs`, batch by batch, on a connection of its own.

    paths  the files by number
    """

    con: Connection
    paths: Mapping[int, Path]
    format: PairFormat
    _stopped: bool = False

    @contextmanager
    def running(self, handbooks: Iterable[str]) -> Iterator[Iterator[tuple[list[int], list[int]]]]:
        """Start to parse. Yields, batch by batch, (numbers of the files, those among them that DuckDB cannot parse).

        Leaving the block early interrupts the parsing.
        """
        create_handbook_type(self.con, handbooks)
        with ThreadPoolExecutor(1) as pool:
            batches = [(batch, pool.submit(self._append, batch)) for batch in self._batches()]
            try:
                yield ((batch, future.result()) for batch, future in batches)
            finally:
                self._stopped = True
                pool.shutdown(wait=False, cancel_futures=True)
                self.con.interrupt()

    def _batches(self) -> Iterator[list[int]]:
        """The files in order, in batches of about BATCH_BYTES."""
        batch: list[int] = []
        total = 0
        for number, path in self.paths.items():
            size = path.stat().st_size
            if batch and total + size > BATCH_BYTES:
                yield batch
                batch, total = [], 0
            batch.append(number)
            total += size
        if batch:
            yield batch

    def _append(self, batch: list[int]) -> list[int]:
        """Append a batch; returns the files that stop DuckDB, found by halving the batch, and small ones next to them."""
        paths = [self.paths[number] for number in batch]
        try:
            self.con.execute(self.format.statement(paths), _parameters(paths) | {"numbers": batch})
        except DuckDBError:
            if len(batch) == 1 or self._stopped or _total_bytes(paths) <= HALVED_BYTES:
                return batch
            # DuckDB does not report which file failed, and a batch usually has a single bad one.
            middle = len(batch) // 2
            return self._append(batch[:middle]) + self._append(batch[middle:])
        return []


def _parameters(paths: list[Path]) -> dict[str, list[str]]:
    # DuckDB treats a name as a pattern: `q*.json` would be read again for each file that it matches.
    files = [str(path) for path in paths]
    return {"files": files, "patterns": [GLOB.sub(r"[\g<0>]", name) for name in files]}


def create_handbook_type(con: Connection, handbooks: Iterable[str]) -> None:
    """Make the handbook ids an enum in release order."""
    # Casting to an enum is the fastest way to turn an id into its number.
    names = ", ".join("'" + name.replace("'", "''") + "'" for name in handbooks)
    con.execute(f"create or replace temp type handbook as enum ({names})")


def _first_comparison(paths: list[Path]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The first file and its pairs; nothing where it cannot be read, which will be reported when it is read by record."""
    try:
        comparison = json.loads(read_plain(paths[0]))
        pairs = comparison[COMPARISON.spelling(comparison)["pairs"]]
        return comparison, [pair for pair in pairs if isinstance(pair, dict)]
    except (IndexError, ValueError, OSError, KeyError, TypeError, AttributeError, RecursionError):
        return {}, []


def _any_name(paths: list[Path], names: Iterable[str]) -> bool:
    """Whether 32 MB of files, spread over all, have one of these fields."""
    # Only a sample is read: parsing columns that no file has would take a twentieth of the loading time.
    step = max(1, math.ceil(_total_bytes(paths) / SAMPLE_BYTES))
    wanted = [json.dumps(name, ensure_ascii=False).encode() for name in names]
    return any(_has_any(path, wanted) for path in paths[::step])


def _has_any(path: Path, wanted: list[bytes]) -> bool:
    try:
        with open_bytes(path) as file:
            raw = file.read()
    except UNREADABLE:  # reported when the file is read by record
        return False
    return any(name in raw for name in wanted)


def _total_bytes(paths: list[Path]) -> int:
    return sum(path.stat().st_size for path in paths)


def _largest_object(paths: list[Path]) -> int:
    # DuckDB must know the size of the largest object beforehand; a compressed file does not tell.
    return max(GZ_OBJECT_BYTES if path.suffix == ".gz" else path.stat().st_size + OBJECT_SLACK_BYTES for path in paths)


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""').replace("'", "''") + '"'
