"""A loaded run as input for a judge: its handbooks, and question by question the answers and the pairs."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from audit.errors import AuditError, NotInRunError, describe_error
from audit.judging.corpus import AnswerToJudge, Corpus, HandbookPair, QuestionToJudge
from audit.store.connection import Connection, rows
from audit.store.runs import Run
from audit.vocabulary import nearest

HANDBOOKS = "select handbook_id, organ, center, phase, title, url, pages from handbooks order by handbook"
HANDBOOK_FIELDS = ("handbook_id", "organ", "center", "phase", "title", "url", "pages")
QUESTIONS = """
select question, question_id, text, organ,
       (select coalesce(list(topic), []) from topics t where t.question = q.question),
       (select coalesce(list(subtopic), []) from subtopics s where s.question = q.question), source
from questions q order by question
"""
QUESTION_FIELDS = ("question_id", "question", "organ", "topics", "subtopics", "source")
ANSWERS = """
select handbook_id, answer, absent, absence_method, retrieval::varchar, unread_reason
from answers join handbooks using (handbook) where question = $question order by handbook
"""
SECTION_FIELDS = ("handbook_id", "section_id", "heading", "above", "text", "pages", "url")
SECTIONS = """
select handbook_id, section_id, heading, above, text, s.pages, s.url
from sections s join handbooks using (handbook) order by place
"""
TRIAL_FIELDS = ("question_id", "handbook_id", "strategy", "mode", "ranked", "gold", "reason", "seconds")
TRIALS = f"""
select {", ".join(TRIAL_FIELDS)}
from trials join questions using (question) join handbooks using (handbook) order by trials.rowid
"""
PAIRS = """
select a.handbook_id, b.handbook_id from pairs
join handbooks a on a.handbook = handbook_a join handbooks b on b.handbook = handbook_b
where question = $question order by handbook_a, handbook_b
"""
# The random order is the md5 of the seed and the pair, so that the same seed draws the same pairs on every machine.
RANDOM_SAMPLE = """
select question_id, a.handbook_id, b.handbook_id
from pairs p join questions q using (question)
join handbooks a on a.handbook = handbook_a join handbooks b on b.handbook = handbook_b
where not prescreened
order by md5(concat_ws(chr(31), $seed, question_id, a.handbook_id, b.handbook_id)) limit $count
"""
PAIR_COLUMNS = ("question_id", "handbook_a", "handbook_b")

PairIds = tuple[str, str, str]
"""question_id, handbook_a, handbook_b"""


def read_corpus(con: Connection, run: Run, pairs: Iterable[PairIds] | None = None, selection: str = "all") -> Corpus:
    """The handbooks, answers and pairs of a run that a judge is asked about.

    pairs      the pairs to judge, either handbook first; None: all pairs of the run
    selection  how the pairs were selected, in words

    Raises AuditError when the run has no answers, NotInRunError when it has no such question or handbook.
    """
    if not run.has_answers:
        raise AuditError(f"Run {run.key} came without answers, so there is nothing to judge. No model was called.")
    handbooks = tuple(dict(zip(HANDBOOK_FIELDS, row, strict=True)) for row in rows(con, HANDBOOKS))
    selected = None if pairs is None else _by_question(con, pairs, [str(handbook["handbook_id"]) for handbook in handbooks])
    facts = {name: run.manifest.get(name) for name in ("generator", "retriever", "licence")}
    facts |= {"run_id": run.run_id, "digest": run.digest, "title": run.title, "synthetic": run.synthetic, "terms": run.terms}
    sections, trials = _reader(con, SECTIONS, SECTION_FIELDS), _reader(con, TRIALS, TRIAL_FIELDS)
    return Corpus(facts, handbooks, partial(_items, con, selected), selection, sections, trials)


def _reader(con: Connection, sql: str, names: tuple[str, ...]) -> Callable[[], Iterator[dict[str, Any]]] | None:
    """A function that yields the rows of `sql` as records; None where the run has no such rows."""
    if not rows(con, f"{sql} limit 1"):
        return None
    return lambda: (dict(zip(names, row, strict=True)) for row in rows(con, sql))


def draw_pairs(con: Connection, count: int, seed: int = 1) -> list[PairIds]:
    """A random sample, without replacement, of the pairs that a judge was asked about; the same for the same seed."""
    return [(str(q), str(a), str(b)) for q, a, b in rows(con, RANDOM_SAMPLE, {"count": count, "seed": str(seed)})]


def read_pairs(path: Path) -> tuple[list[PairIds], str]:
    """The pairs in a CSV file (question_id, handbook_a, handbook_b; other columns are ignored), and the file's digest.

    Raises AuditError when the file cannot be read or lacks a column.
    """
    try:
        data = path.read_bytes()
        reader = csv.DictReader(data.decode("utf-8-sig").splitlines())
        missing = [name for name in PAIR_COLUMNS if name not in (reader.fieldnames or ())]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise AuditError(f"{path} cannot be read: {describe_error(error)}. No model was called.") from None
    if missing:
        columns = ", ".join(PAIR_COLUMNS)
        raise AuditError(f"{path} has no column '{missing[0]}'. Required columns: {columns}. No model was called.")
    pairs = [(row["question_id"] or "", row["handbook_a"] or "", row["handbook_b"] or "") for row in reader]
    return pairs, hashlib.sha256(data).hexdigest()[:12]


def _by_question(con: Connection, pairs: Iterable[PairIds], handbooks: list[str]) -> dict[str, list[HandbookPair]]:
    """Question id -> its pairs, in the order of the release and each once."""
    position = {handbook: number for number, handbook in enumerate(handbooks)}
    questions = {str(row[1]) for row in rows(con, QUESTIONS)}
    selected: dict[str, set[HandbookPair]] = defaultdict(set)
    for question, *couple in pairs:
        _check_in_run(question, questions, "question")
        for handbook in couple:
            _check_in_run(handbook, position, "handbook")
        if couple[0] == couple[1]:
            raise NotInRunError(
                f"Question '{question}': a pair needs two handbooks, and both are '{couple[0]}'. No model was called."
            )
        first, second = sorted(couple, key=position.__getitem__)
        selected[question].add((first, second))
    in_order = partial(sorted, key=lambda pair: (position[pair[0]], position[pair[1]]))
    return {question: in_order(couples) for question, couples in selected.items()}


def _check_in_run(name: str, known: Iterable[str], kind: str) -> None:
    if name not in known:
        raise NotInRunError(f"The run has no {kind} '{name}'.{nearest(name, tuple(known))} No model was called.")


def _items(con: Connection, selected: Mapping[str, list[HandbookPair]] | None) -> Iterator[QuestionToJudge]:
    for number, *fields in rows(con, QUESTIONS):
        question = dict(zip(QUESTION_FIELDS, fields, strict=True))
        pairs = _pairs(con, number) if selected is None else selected.get(str(question["question_id"]), [])
        if pairs or selected is None:
            yield QuestionToJudge(question, _answers(con, number), tuple(pairs))


def _pairs(con: Connection, question: int) -> list[HandbookPair]:
    return [(str(a), str(b)) for a, b in rows(con, PAIRS, {"question": question})]


def _answers(con: Connection, question: int) -> dict[str, AnswerToJudge]:
    return {handbook: _answer(*fields) for handbook, *fields in rows(con, ANSWERS, {"question": question})}


def _answer(
    text: str | None, absent: bool | None, method: str | None, retrieval: str | None, unread_reason: str | None
) -> AnswerToJudge:
    metadata: Any = json.loads(retrieval) if retrieval else None
    return AnswerToJudge(text, absent, method, metadata, unread_reason)
