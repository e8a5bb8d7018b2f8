"""What a release says of the judge's work beyond its verdicts: how its replies were read, and its further verdicts.

Both roads fill `readings` and `checks` from here, and only where the release has something to put there.
"""

from __future__ import annotations

import gzip
import math
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from audit.release import validate
from audit.release.values import Repairs
from audit.store.connection import Connection, append

KEY = "question, handbook_a, handbook_b"
READING = ", ".join(validate.READING)
READING_TYPES = {name: "INTEGER" if name == "cached_tokens" else "VARCHAR" for name in validate.READING}
SAMPLE_BYTES = 32 * 2**20
TOLD = "(parse is not null or unscored_reason is not null or cached_tokens is not null or prompt is not null)"
CHECK = ("kind", "number", "label", "significance", "parse")
CHECKS = "struct(kind check_kind, number smallint, label label, significance significance, parse parse)[]"
ODD = r"""coalesce(case when strlen({0}) > 9 and ({0} between 'A' and 'Zz' or {0} between 'a' and 'zz') then false
                        when regexp_matches({0}, '^\s*([\[{{]|-?(nan|inf|infinity)$)', 'i')
                        then {0} !~ '^\s*[\[{{]' or json_valid({0}) end, false)"""
"""Whether a text is none: a list, an object or NaN. The first line is for speed: nearly every text begins with a letter."""
ODD_READINGS = f"""
select distinct file from stage
where {TOLD} and (parse is not null and try_cast(parse as parse) is null
                  or {ODD.format("unscored_reason")} or {ODD.format("prompt")})
"""
GATHERED = f"""
select {KEY}, list({{kind: kind, number: number, label: label, significance: significance, parse: parse}}) as checks
from checks group by all
"""
STAGED_READINGS = f"""
insert into readings
select question, least(a, b), greatest(a, b), {READING} from stage where file in (select unnest($files)) and {TOLD}
"""
STAGED_CHECKS = "select file, question, least(a, b), greatest(a, b), checks from stage where checks is not null order by rowid"
CAREFUL_READINGS = f"""
insert into readings select {KEY}, {READING} from careful where rowid not in (select unnest($twins)) and {TOLD}
"""
CAREFUL_CHECKS = f"""
insert into checks
select {KEY}, unnest(checks, recursive := true)
from careful where rowid not in (select unnest($twins)) and len(checks) > 0
"""

Rows = list[tuple[Any, ...]]


def tells_readings(paths: list[Path]) -> bool:
    """Whether a release says of its pairs how the judge's replies were read, looked for in 32 MB of files spread over all.

    Columns that a release does not have cost a twentieth of the time that a load takes, so they are not asked for in vain.
    """
    step = max(1, math.ceil(sum(path.stat().st_size for path in paths) / SAMPLE_BYTES))
    return any(_names_reading(path) for path in paths[::step])


def _names_reading(path: Path) -> bool:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            raw = file.read()
    except (OSError, EOFError):  # the careful road says what is wrong with the file
        return False
    return any(f'"{name}"'.encode() in raw for name in validate.READING)


def staged_reading(names: Mapping[str, str]) -> str:
    """The columns of the stage that hold a reading; `names` are the quoted names that the release has for its fields."""
    return "".join(f", p.{names['judge_metadata']}.{name} as {name}" for name in READING_TYPES)


def odd_readings(con: Connection) -> set[int]:
    """The files of the stage with a reading that has to be repaired."""
    return {file for (file,) in con.execute(ODD_READINGS).fetchall()}


def staged_checks(con: Connection) -> dict[int, Rows | None]:
    """File -> its rows of `checks`, for the files of the stage that have any; None where there is something to say of them.

    A check is read by the same code as on the careful road: few pairs have any, so nothing is gained by another.
    """
    found: dict[int, Rows | None] = {}
    for file, *pair, text in con.execute(STAGED_CHECKS).fetchall():
        repairs: Repairs = []
        records = validate.checks(text, repairs)
        rows = found.setdefault(file, [])
        if repairs or rows is None:
            found[file] = None
        else:
            rows += [(*pair, *(record[name] for name in CHECK)) for record in records]
    return found


def keep_readings(con: Connection, files: Collection[int]) -> None:
    """Fill `readings` with what the stage holds of `files`."""
    con.execute(STAGED_READINGS, {"files": sorted(files)})


def keep_checks(con: Connection, files: Collection[int], checks: Mapping[int, Rows | None]) -> None:
    """Fill `checks` with those of `files`."""
    rows = [row for file in sorted(files) for row in checks.get(file) or []]
    if rows:
        names = ("question", "handbook_a", "handbook_b", *CHECK)
        append(con, "checks", dict(zip(names, zip(*rows, strict=True), strict=True)))


def keep_careful(con: Connection, twins: list[int]) -> None:
    """Fill both tables with what the careful road has staged, but for the quarantined `twins`."""
    for insert in (CAREFUL_READINGS, CAREFUL_CHECKS):
        con.execute(insert, {"twins": twins})
