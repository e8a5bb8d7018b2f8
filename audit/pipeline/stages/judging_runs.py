"""Judging the pairs of a run: their selection, the release written from the verdicts, and the progress."""

from __future__ import annotations

import hashlib
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

from audit.errors import AuditError, NotInRunError
from audit.jobs.processes import ASKING, COUNTS, WRITING, Progress
from audit.people_tables import CSV, TableSource, csv_table, read_bytes, visible
from audit.pipeline.judging.corpus import AnswerToJudge, Corpus, HandbookPair, QuestionToJudge
from audit.pipeline.judging.parse import load_prompts
from audit.pipeline.judging.protocols import AbsenceFinding, JudgingTask, Protocol
from audit.pipeline.judging.release import write_answered_release, write_judged_release
from audit.pipeline.judging.stand_in import StandInVerdicts, TruthTable
from audit.pipeline.judging.verdict_sources import JudgingSummary, ModelVerdicts, Record, VerdictSource
from audit.pipeline.llm.journal import Journal
from audit.pipeline.llm.prompts import Prompt
from audit.pipeline.llm.runner import CallStats
from audit.pipeline.llm.tasks import StageCost
from audit.queries.pair_counts import COUPLES_TO_JUDGE
from audit.release.handbook_kinds import HANDBOOK, QUESTION, SECTION, TRIAL
from audit.release.record_kind import field_names
from audit.store.connection import Connection, rows
from audit.store.runs import Run
from audit.vocabulary import PAIR_COLUMNS, STAND_IN_JUDGE, PairIds, nearest

# What is copied from a run that is judged again
HANDBOOK_FIELDS, QUESTION_FIELDS, SECTION_FIELDS, TRIAL_FIELDS = (
    field_names(kind.fields) for kind in (HANDBOOK, QUESTION, SECTION, TRIAL)
)
HANDBOOKS = f"select {', '.join(HANDBOOK_FIELDS)} from handbooks order by handbook"
QUESTIONS = """
select question, question_id, text, organ,
       (select coalesce(list(topic), []) from topics t where t.question = q.question),
       (select coalesce(list(subtopic), []) from subtopics s where s.question = q.question), source
from questions q order by question
"""
ANSWERS = """
select handbook_id, answer, absent, absence_method, retrieval::varchar, unread_reason, found
from answers join handbooks using (handbook) where question = $question order by handbook
"""
SECTIONS = f"""
select {", ".join(f"s.{name}" if name != "handbook_id" else name for name in SECTION_FIELDS)}
from sections s join handbooks using (handbook) order by place
"""
TRIALS = f"""
select {", ".join(TRIAL_FIELDS)}
from trials join questions using (question) join handbooks using (handbook) order by trials.rowid
"""
PAIRS = """
select a.handbook_id, b.handbook_id from pairs
join handbooks a on a.handbook = handbook_a join handbooks b on b.handbook = handbook_b
where question = $question order by handbook_a, handbook_b
"""
# Of a run without pairs: all couples of handbooks that were asked the question
COUPLES = """
select handbook_id from answers join handbooks using (handbook) where question = $question order by handbook
"""
# The random order is the md5 of the seed and the pair, so the same seed draws the same pairs on every machine.
RANDOM_SAMPLE = f"""
with to_judge as (
    select question, handbook_a, handbook_b from pairs where not prescreened
    union all
    {COUPLES_TO_JUDGE} and not exists (from pairs)
)
select question_id, a.handbook_id, b.handbook_id
from to_judge p join questions q using (question)
join handbooks a on a.handbook = handbook_a join handbooks b on b.handbook = handbook_b
order by md5(concat_ws(chr(31), $seed, question_id, a.handbook_id, b.handbook_id)) limit $count
"""
SAMPLE_SEED = "1"
# Each update is a transaction in the table of jobs
INTERVAL_S = 0.5


# -- pairs -------------------------------------------------------------------------------------------------------------


def read_corpus(con: Connection, run: Run, pairs: Iterable[PairIds] | None = None, selection: str = "all") -> Corpus:
    """The handbooks, answers and pairs of a run that a judge is asked about.

    pairs      the pairs to judge, either handbook first; None: all pairs of the run, or, where nothing has compared its
               handbooks, all couples that were asked the question
    selection  how the pairs were selected, in words

    Raises AuditError when the run has no answers, NotInRunError when it has no such question or handbook.
    """
    if not run.has_answers:
        raise AuditError(f"Run {run.key} has no answers, so there is nothing to judge. No model was called.")
    handbooks = tuple(dict(zip(HANDBOOK_FIELDS, row, strict=True)) for row in rows(con, HANDBOOKS))
    selected = None if pairs is None else _by_question(con, pairs, [str(handbook["handbook_id"]) for handbook in handbooks])
    facts = {
        name: run.manifest.get(name) for name in ("generator", "generator_errors", "retriever", "licence", "asked", "prompts")
    }
    facts |= {"run_id": run.run_id, "digest": run.digest, "title": run.title, "synthetic": run.synthetic, "terms": run.terms}
    sections, trials = _reader(con, SECTIONS, SECTION_FIELDS), _reader(con, TRIALS, TRIAL_FIELDS)
    pairs_of = _listed_pairs if run.has_pairs else _couples
    return Corpus(facts, handbooks, partial(_items, con, selected, pairs_of), selection, sections, trials)


def _reader(con: Connection, sql: str, names: tuple[str, ...]) -> Callable[[], Iterator[dict[str, Any]]] | None:
    """A function that yields the rows of `sql` as records; None where the run has no such rows."""
    if not rows(con, f"{sql} limit 1"):
        return None
    return lambda: (dict(zip(names, row, strict=True)) for row in rows(con, sql))


def draw_pairs(con: Connection, count: int) -> list[PairIds]:
    """A random sample, without replacement, of the pairs that a judge was asked about; the same whenever it is drawn."""
    return [(str(q), str(a), str(b)) for q, a, b in rows(con, RANDOM_SAMPLE, {"count": count, "seed": SAMPLE_SEED})]


def read_pairs(path: Path) -> tuple[list[PairIds], str]:
    """The pairs in a CSV file (question_id, handbook_a, handbook_b; other columns are ignored), and the file's digest.

    Raises AuditError when the file cannot be read or lacks a column.
    """
    source = TableSource(str(path), "No model was called.")
    # Read once: the digest must be that of the pairs that are judged
    data = read_bytes(path, source, CSV)
    table = csv_table(data, source, PAIR_COLUMNS.__contains__)
    if missing := [name for name in PAIR_COLUMNS if name not in table.columns]:
        columns = ", ".join(PAIR_COLUMNS)
        raise source.refusal("row 1", f"there is no column '{missing[0]}'", f"Required columns: {columns}.")
    pairs = []
    for row in table.rows:
        question, first, second = (visible(row.cells[name]) for name in PAIR_COLUMNS)
        pairs.append((question, first, second))
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
        # The release stores each pair with the earlier handbook first
        first, second = sorted(couple, key=position.__getitem__)
        selected[question].add((first, second))
    in_order = partial(sorted, key=lambda pair: (position[pair[0]], position[pair[1]]))
    return {question: in_order(couples) for question, couples in selected.items()}


def _check_in_run(name: str, known: Iterable[str], kind: str) -> None:
    if name not in known:
        raise NotInRunError(f"The run has no {kind} '{name}'.{nearest(name, tuple(known))} No model was called.")


PairsOf = Callable[[Connection, int], list[HandbookPair]]
"""(store, number of a question) -> its pairs."""


def _listed_pairs(con: Connection, question: int) -> list[HandbookPair]:
    return [(str(a), str(b)) for a, b in rows(con, PAIRS, {"question": question})]


def _couples(con: Connection, question: int) -> list[HandbookPair]:
    return list(combinations([str(handbook) for (handbook,) in rows(con, COUPLES, {"question": question})], 2))


def _items(con: Connection, selected: Mapping[str, list[HandbookPair]] | None, pairs_of: PairsOf) -> Iterator[QuestionToJudge]:
    for number, *fields in rows(con, QUESTIONS):
        question = dict(zip(QUESTION_FIELDS, fields, strict=True))
        pairs = pairs_of(con, number) if selected is None else selected.get(str(question["question_id"]), [])
        # With a selection, a question without pairs is left out; of a full run every question stays
        if pairs or selected is None:
            yield QuestionToJudge(question, _answers(con, number), tuple(pairs))


def _answers(con: Connection, question: int) -> dict[str, AnswerToJudge]:
    return {handbook: _answer(*fields) for handbook, *fields in rows(con, ANSWERS, {"question": question})}


def _answer(
    text: str | None, absent: bool | None, method: str | None, retrieval: str | None, unread_reason: str | None, found: str | None
) -> AnswerToJudge:
    metadata: Any = json.loads(retrieval) if retrieval else None
    return AnswerToJudge(text, absent, method, metadata, unread_reason, found=found)


def protocol_of(options: Any, model: str) -> Protocol:
    """The protocol that the options of `audit judge`, or the table [judge] of a config, ask for."""
    return Protocol(
        options.protocol, model, load_prompts(options.templates), options.absence,
        swap=options.swap, blind=options.blind_centers, repeats=options.repeat,
    )  # fmt: skip


# -- the release -------------------------------------------------------------------------------------------------------


def leave_unjudged(out: Path, corpus: Corpus) -> None:
    """Write the release `out` of answers that nothing compares: it has no pairs."""
    write_answered_release(out, corpus, _today())


def judge_by_truth(out: Path, corpus: Corpus, truth: TruthTable, progress: Progress) -> JudgingSummary:
    """Write the release `out` as the stand-in judge labels `corpus`; returns the outcome of its pairs."""
    source = StandInVerdicts(truth)
    write_release(out, corpus, source, progress, STAND_IN_JUDGE, {"protocol": "truth table"})
    source.summary.remark = "The labels are those of the truth table of this example: nothing has read the answers."
    return source.summary


def judge_by_model(out: Path, task: JudgingTask, journal: Journal, servers: Sequence[str], progress: Progress) -> JudgingSummary:
    """Write the release `out` from the replies in `journal`, without calling a model; returns the outcome of its pairs."""
    source = ModelVerdicts(task.protocol, task.corpus, journal.latest)
    settings = {**task.plan(), "endpoint": list(servers)}
    write_release(out, task.corpus, source, progress, task.model, settings, prompts=task.prompts.values())
    return source.summary


def write_release(
    out: Path,
    corpus: Corpus,
    source: VerdictSource,
    progress: Progress,
    judge: str,
    settings: Mapping[str, Any],
    positions: Iterable[Record] | None = None,
    prompts: Iterable[Prompt] = (),
) -> None:
    """Write the release `out` of a judged corpus, counting its pairs."""
    counted = CountedVerdicts(source, progress)
    about = {"judge": judge, "settings": settings, "date": _today()}
    write_judged_release(out, corpus, counted, **about, positions=positions, prompts=prompts)


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


# -- progress ----------------------------------------------------------------------------------------------------------


def record_calls(progress: Progress, cost: StageCost, tally: CallStats) -> None:
    """Record how far a stage of calls is."""
    progress.update(phase=ASKING, stage=cost.stage, calls=cost.calls, **{name: getattr(tally, name) for name in COUNTS})


def record_outcome(progress: Progress, summary: JudgingSummary) -> dict[str, Any]:
    """Record the outcome of the pairs, and return it."""
    outcome: dict[str, Any] = {name: summary.counts[name] for name in ("judged", "prescreened", "not_asked")}
    outcome["unscored"] = dict(summary.reasons)
    progress.update(**outcome)
    return outcome


@dataclass
class CountedVerdicts:
    """A source of verdicts that records how many pairs it has handed over."""

    source: VerdictSource
    progress: Progress
    pairs_written: int = 0
    summary: JudgingSummary = field(init=False)
    _next_update: float = 0.0

    def __post_init__(self) -> None:
        """Count into the summary of the source itself."""
        self.summary = self.source.summary

    def absence_findings(self, item: QuestionToJudge) -> Mapping[str, AbsenceFinding]:
        """The findings of the source."""
        return self.source.absence_findings(item)

    def pairs(self, item: QuestionToJudge) -> Iterator[Record]:
        """The pairs of the source, counted."""
        for pair in self.source.pairs(item):
            self.pairs_written += 1
            yield pair
        if time.monotonic() >= self._next_update:
            self._next_update = time.monotonic() + INTERVAL_S
            self.progress.update(phase=WRITING, pairs=self.pairs_written)
