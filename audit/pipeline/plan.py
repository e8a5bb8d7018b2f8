"""What a run would do, without doing it: which tasks are done, and how much work the others are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

from audit.corpus.questions.question_file import QuestionFile
from audit.generation.evidence import meets
from audit.pipeline.build_cache import read_lines
from audit.pipeline.context import RunContext, Stage
from audit.retrieval.model import Query

QUESTIONS = "questions"
BEFORE_JUDGING = ("extract", "questions", "retrieve", "generate")
# Share of pairs with an absent answer in the published run (arXiv:2605.29084): the expectation before there are answers.
PRESCREENED = 0.789


@dataclass(frozen=True)
class StagePlan:
    """One stage: how many tasks it has, and the names of those that are to be done."""

    stage: str
    tasks: int
    to_do: tuple[str, ...]


@dataclass(frozen=True)
class RunPlan:
    """What a run would do.

    answers      (question, handbook) combinations: a question is asked of the handbooks of its organ, a general one of all
    pairs        N(N-1)/2 for each question that is asked of N handbooks
    prescreened  pairs with an absent answer, which need no judge; None until all answers exist
    """

    stages: tuple[StagePlan, ...]
    handbooks: int
    questions: int
    answers: int
    pairs: int
    prescreened: int | None

    def to_do(self, stage: str) -> tuple[str, ...]:
        """The names of the tasks that a stage has to do."""
        return next((row.to_do for row in self.stages if row.stage == stage), ())

    @property
    def open_answers(self) -> int:
        """Answers still to be written, assuming that every handbook is asked equally many questions."""
        return round(self.answers * len(self.to_do("generate")) / self.handbooks) if self.handbooks else 0

    @property
    def to_judge(self) -> int:
        """Pairs that need a judge, as far as that is known."""
        return self.pairs - (round(self.pairs * PRESCREENED) if self.prescreened is None else self.prescreened)


def plan_run(context: RunContext, stages: Sequence[Stage]) -> RunPlan:
    """The plan of a run. A task with a missing input is to be done. Changes `context`: use a copy."""
    rows = [plan_stage(context, stage) for stage in stages]
    questions = context.questions()
    asked = [sum(meets(Query.of(question), source) for source in context.present) for question in questions]
    pairs = sum(comb(count, 2) for count in asked)
    return RunPlan(tuple(rows), len(context.present), len(questions), sum(asked), pairs, _prescreened(context, rows, questions))


def plan_stage(context: RunContext, stage: Stage) -> StagePlan:
    """What one stage has to do. After the import of questions, the plan counts with the questions of the file as it is."""
    tasks = stage.tasks()
    row = StagePlan(stage.name, len(tasks), tuple(task.name for task in tasks if not stage.done(task)))
    if stage.name == QUESTIONS and row.to_do:
        file = context.config.questions.file
        assert file is not None  # the config reader refuses a config without it
        # Only counted, not imported: near-duplicates that the import would merge are still among them.
        context.expected = [question.record() for question in QuestionFile(file, context.settings.max_object_bytes).questions]
    return row


def _prescreened(context: RunContext, rows: Sequence[StagePlan], questions: Sequence[dict[str, Any]]) -> int | None:
    """Pairs with an absent answer, once all answers exist."""
    # An estimate from some of the answers would depend on which handbooks came first.
    if any(row.to_do for row in rows if row.stage in BEFORE_JUDGING):
        return None
    asked = dict.fromkeys((question["question_id"] for question in questions), 0)
    present = dict(asked)
    for source in context.present:
        for record in read_lines(context.workspace.answers(source.handbook_id)):
            asked[record["question_id"]] += 1
            present[record["question_id"]] += record["absent"] is not True
    return sum(comb(asked[question], 2) - comb(present[question], 2) for question in asked)


def plan_text(plan: RunPlan, left_out: dict[str, str]) -> str:
    """The plan in lines: stage by stage, then the counts."""
    lines = [f"{'stage':<10}{'tasks':>8}{'done':>8}{'to do':>8}", *map(_stage_line, plan.stages)]
    prescreened = f"{plan.pairs - plan.to_judge:,} of them ABSENT without a judge"
    estimated = plan.prescreened is None
    lines += [
        f"{plan.handbooks:,} handbooks, {plan.questions:,} questions, {plan.answers:,} answers.",
        f"{plan.pairs:,} pairs, about {prescreened}, if as many answers are absent as in the published run."
        if estimated
        else f"{plan.pairs:,} pairs, {prescreened}.",
    ]
    return "\n".join([*lines, *(f"Left out: {reason}" for reason in left_out.values())])


def _stage_line(row: StagePlan) -> str:
    names = f"  {', '.join(row.to_do[:3])}{', ...' if len(row.to_do) > 3 else ''}" if row.to_do else ""
    return f"{row.stage:<10}{row.tasks:>8,}{row.tasks - len(row.to_do):>8,}{len(row.to_do):>8,}{names}"
