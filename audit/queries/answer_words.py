"""The words by which a question's answers differ from those of other questions, so that a search finds it by them: "raw fish" is
in the answers on sushi.

Counting them takes longer than a page may take on a large run, so they are kept in a file next to the store, by the process that
works in the background after a load or by whoever needs them first.
"""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path

from audit.atomic_io import atomic_file
from audit.store.connection import Connection, rows

STORE = "select path, readonly from duckdb_databases() where database_name = current_database()"
# A word counts once an answer, and the more, the fewer questions have it in theirs
ANSWER_WORDS = r"""
with said as (
    select question, count(*) over (partition by question) as answers,
           list_distinct(regexp_extract_all(strip_accents(lower(answer)), '[\p{L}\p{N}]{3,}')) as words
    from answers where not absent
),
counted as (
    select question, word, count(*) / any_value(answers) as share
    from (select question, answers, unnest(words) as word from said) group by all
),
spread as (select word, sum(share) as questions from counted group by word),
asked as (select count(distinct question) as questions from said),
weighed as (
    select question, word, share, share * ln(asked.questions / spread.questions) as weight
    from counted join spread using (word) cross join asked
)
select question, word, share::float as share from weighed where weight > 0
qualify row_number() over (partition by question order by weight desc, word) <= 24
order by question, word
"""
SLOW_S = 0.2
"""CPU seconds above which the words are worth a file."""


def answer_words(con: Connection) -> list[tuple[int, str, float]]:
    """Up to 24 words a question: (its number, the word in lower case without accents, share of its answers that have it)."""
    ((path, readonly),) = rows(con, STORE)
    file = _file(Path(path)) if readonly else None
    if file:
        try:
            return [(question, word, share) for question, word, share in json.loads(file.read_bytes())]
        except (OSError, ValueError, TypeError):  # not there yet, or damaged
            pass
    before = time.process_time()
    words = rows(con, ANSWER_WORDS)
    if file and time.process_time() - before > SLOW_S:
        _keep(file, words)
    return words


def _file(store: Path) -> Path:
    """Named by this load of the run and this statement, so that no other is ever read."""
    stamp = hashlib.sha256(f"{store.stat().st_mtime_ns}{ANSWER_WORDS}".encode()).hexdigest()[:16]
    return store.with_suffix(".results") / f"answer-words-{stamp}.json"


def _keep(file: Path, words: list[tuple[int, str, float]]) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        for outdated in file.parent.glob("answer-words-*.json"):
            outdated.unlink(missing_ok=True)
        with atomic_file(file) as draft:
            draft.write_text(json.dumps(words), encoding="utf-8")
    except OSError:  # where nothing can be written, everybody counts for himself
        return
