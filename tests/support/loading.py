"""Loading tiny releases, and spoiling them one record at a time."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from audit.settings import Settings
from audit.store.connection import Connection, create_store, open_store, rows
from audit.store.load import Loaded, load_release

BASE = """
    q1 kidney  topics=diet  ab=DIVERGENT/high  ac=COMPLEMENTARY  bc=CONSISTENT  d=absent
    q2 general topics=work  ab=UNSCORED        ac=ABSENT  bc=CONTRADICTORY      d=absent
"""
"""Four handbooks, two questions, 12 pairs: 6 pre-screened and 6 that the judge was asked."""

PAIRS = """
select question_id, a.handbook_id, b.handbook_id, label::varchar, prescreened, significance::varchar, reasoning, divergence_topic,
       input_tokens, output_tokens, latency_s
from pairs join questions using (question)
join handbooks a on a.handbook = handbook_a join handbooks b on b.handbook = handbook_b
order by all
"""


OF_PAIRS = """
select question_id, a.handbook_id, b.handbook_id, {table}.* exclude (question, handbook_a, handbook_b)
from {table} join questions using (question)
join handbooks a on a.handbook = handbook_a join handbooks b on b.handbook = handbook_b
order by all
"""


def create_or_copy(path: Path, schema: str, reads: Path | None = None) -> Connection:
    """`create_store` by copy: a thousand tests load a tiny release, and a quarter of that is creating its tables."""
    path.write_bytes(_created(schema))
    return create_store(path, "", reads)


@cache
def _created(schema: str) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "empty.duckdb"
        create_store(path, schema).close()
        return path.read_bytes()


def load(folder: Path, data_dir: Path, **options: Any) -> Loaded:
    """Load `folder` below `data_dir`."""
    return load_release(folder, Settings(data_dir=data_dir), **options)


def pairs_in(loaded: Loaded) -> list[tuple[Any, ...]]:
    """Every pair of a run, with names for numbers."""
    return ask(loaded, PAIRS)


def readings_in(loaded: Loaded) -> list[tuple[Any, ...]]:
    """Every reading of a run: question, handbooks, parse, reason, cached tokens, prompt."""
    return ask(loaded, OF_PAIRS.format(table="readings"))


def checks_in(loaded: Loaded) -> list[tuple[Any, ...]]:
    """Every check of a run: question, handbooks, kind, number, label, significance, parse."""
    return ask(loaded, OF_PAIRS.format(table="checks"))


def ask(loaded: Loaded, sql: str) -> list[tuple[Any, ...]]:
    """The rows of `sql` on a run's store."""
    with open_store(loaded.run.path) as con:
        return rows(con, sql)


def spoil(folder: Path, question: str, change: Callable[[dict[str, Any]], Any]) -> None:
    """Rewrite one question's comparison file after `change`."""
    path = folder / "comparisons" / f"{question}.json"
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))


def quarantined(loaded: Loaded) -> list[tuple[str, str, str]]:
    """(file, position, code) of every quarantined record of this load."""
    assert loaded.report
    return [(f.file, f.position, f.code) for f in loaded.report.findings if f.outcome == "quarantined"]


def messages(loaded: Loaded, outcome: str) -> list[str]:
    """What was said of records with `outcome`."""
    assert loaded.report
    return [f.message for f in loaded.report.findings if f.outcome == outcome]
