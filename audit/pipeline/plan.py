"""What a run would do, without doing it: which pieces are done, and how much the others are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

from audit.corpus.questions.reading import Reading
from audit.generation.evidence import meets
from audit.pipeline.corpus import lines
from audit.pipeline.searching import query_of
from audit.pipeline.shop import Shop, Stage

QUESTIONS = "questions"
PRESCREENED = 0.789
"""Share of pairs with an absent answer in the published run (arXiv:2605.29084): what to expect before answers are there."""


@dataclass(frozen=True)
class Row:
    """One stage: its pieces, and the names of those that are to be done."""

    stage: str
    pieces: int
    to_do: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """What a run would do.

    answers      questions put to handbooks: those of its organ and the general ones
    pairs        N(N-1)/2 for each question that meets N handbooks
    silent       pairs with an absent answer, which need no judge; None as long as not all answers are there
    """

    rows: tuple[Row, ...]
    handbooks: int
    questions: int
    answers: int
    pairs: int
    silent: int | None

    def to_do(self, stage: str) -> tuple[str, ...]:
        """The names of the pieces that a stage has to do."""
        return next((row.to_do for row in self.rows if row.stage == stage), ())

    @property
    def open_answers(self) -> int:
        """Answers that are to be written, if every handbook is asked as much as another."""
        return round(self.answers * len(self.to_do("generate")) / self.handbooks) if self.handbooks else 0

    @property
    def to_judge(self) -> int:
        """Pairs that need a judge, as far as it can be known."""
        return self.pairs - (round(self.pairs * PRESCREENED) if self.silent is None else self.silent)


def plan_of(shop: Shop, stages: Sequence[Stage]) -> Plan:
    """The plan of a run. What hangs on something that is not there yet is to be done. The shop is for the plan alone."""
    rows = [row_of(shop, stage) for stage in stages]
    questions = shop.questions()
    met = [sum(meets(query_of(question), book) for book in shop.present) for question in questions]
    return Plan(
        tuple(rows), len(shop.present), len(questions), sum(met), sum(comb(n, 2) for n in met), _silent(shop, rows, questions)
    )


def row_of(shop: Shop, stage: Stage) -> Row:
    """What one stage has to do. Questions that are to be imported are from there on those of the file as it is."""
    pieces = stage.pieces()
    row = Row(stage.name, len(pieces), tuple(piece.name for piece in pieces if not stage.done(piece)))
    if stage.name == QUESTIONS and row.to_do:
        said = shop.config.questions
        assert said.file is not None  # the reader of the config has seen to it
        reading = Reading(said.file, shop.settings.max_object_bytes)
        shop.expected = [question.record() for question in reading.questions]
    return row


def _silent(shop: Shop, rows: Sequence[Row], questions: Sequence[dict[str, Any]]) -> int | None:
    """Pairs with an absent answer, once all answers are there."""
    if any(row.to_do for row in rows if row.stage in ("extract", "questions", "retrieve", "generate")):
        return None
    present = dict.fromkeys((question["question_id"] for question in questions), 0)
    asked = dict(present)
    for book in shop.present:
        for record in lines(shop.work.answers(book.handbook_id)):
            asked[record["question_id"]] += 1
            present[record["question_id"]] += record["absent"] is not True
    return sum(comb(asked[name], 2) - comb(present[name], 2) for name in asked)


def plan_text(plan: Plan, left_out: dict[str, str]) -> str:
    """The plan in lines: stage by stage, then the counts."""
    found = [f"{'stage':<10}{'pieces':>8}{'done':>8}{'to do':>8}", *map(_line, plan.rows)]
    expected = "" if plan.silent is not None else ", if as many answers are absent as in the published run"
    silent = plan.pairs - plan.to_judge
    found += [
        f"{plan.handbooks:,} handbooks, {plan.questions:,} questions, {plan.answers:,} answers.",
        f"{plan.pairs:,} pairs, about {silent:,} of them ABSENT without a judge{expected}."
        if expected
        else f"{plan.pairs:,} pairs, {silent:,} of them ABSENT without a judge.",
    ]
    return "\n".join([*found, *(f"Left out: {why}" for why in left_out.values())])


def _line(row: Row) -> str:
    named = f"  {', '.join(row.to_do[:3])}{', ...' if len(row.to_do) > 3 else ''}" if len(row.to_do) > 0 else ""
    return f"{row.stage:<10}{row.pieces:>8,}{row.pieces - len(row.to_do):>8,}{len(row.to_do):>8,}{named}"
