"""The plan of a run: which tasks are done, and how much work the others are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

from audit.formatting import some_of, text_table
from audit.pipeline.answers.evidence import meets
from audit.pipeline.corpus.questions.question_file import QuestionFile
from audit.pipeline.retrieval.model import Query
from audit.pipeline.stages.build_cache import read_lines
from audit.pipeline.stages.context import RunContext, Stage

QUESTIONS = "questions"
BEFORE_JUDGING = ("extract", "questions", "retrieve", "generate")
# Share of pairs with an absent answer among handbooks of the question's own organ: the middle of the lowest and the highest
# of all organs (arXiv:2605.29084, section 6.2). A run asks such handbooks only; over all handbooks the share is 78.9 %.
PUBLISHED_ABSENT = (0.60 + 0.78) / 2


@dataclass(frozen=True)
class StagePlan:
    """One stage: how many tasks it has, and the names of those that are to be done."""

    stage: str
    tasks: int
    to_do: tuple[str, ...]


@dataclass(frozen=True)
class RunPlan:
    """The plan of a run.

    answers        (question, handbook) combinations: a question is asked of the handbooks of its organ, a general one of all
    pairs          N(N-1)/2 for each question that is asked of N handbooks
    present_pairs  those of two present answers, which need a judge; None until all answers exist
    systems        answering systems, each of which answers every question once
    """

    stages: tuple[StagePlan, ...]
    handbooks: int
    questions: int
    answers: int
    pairs: int
    present_pairs: int | None
    systems: int

    @property
    def pairs_to_judge(self) -> int:
        """Pairs of two present answers: counted, or expected by the published share."""
        return round(self.pairs * (1 - PUBLISHED_ABSENT)) if self.present_pairs is None else self.present_pairs

    def to_do(self, stage: str) -> tuple[str, ...]:
        """The names of the tasks that a stage has to do."""
        return next((row.to_do for row in self.stages if row.stage == stage), ())


def plan_run(context: RunContext, stages: Sequence[Stage]) -> RunPlan:
    """The plan of a run. A task with a missing input is to be done. Changes `context`: use a copy."""
    rows = [plan_stage(context, stage) for stage in stages]
    questions = context.questions()
    present = context.present if context.config.compares else []
    asked = [sum(meets(Query.of(question), source) for source in present) for question in questions]
    pairs = sum(comb(count, 2) for count in asked)
    open_stages = any(row.to_do for row in rows if row.stage in BEFORE_JUDGING)
    present_pairs = None if open_stages else _present_pairs(context, questions, sum(asked))
    systems = len(context.config.systems)
    return RunPlan(tuple(rows), len(context.present), len(questions), sum(asked), pairs, present_pairs, systems)


def _present_pairs(context: RunContext, questions: Sequence[Mapping[str, Any]], answers: int) -> int | None:
    """Pairs of two present answers; None where there are not as many answers as there should be."""
    present = {str(question["question_id"]): 0 for question in questions}
    found = 0
    for path in (context.workspace.answers(source.handbook_id) for source in context.present):
        for record in read_lines(path) if path.is_file() else ():
            if record["question_id"] in present:
                found += 1
                present[record["question_id"]] += record["absent"] is not True
    return sum(comb(number, 2) for number in present.values()) if found == answers else None


def plan_stage(context: RunContext, stage: Stage) -> StagePlan:
    """The open tasks of one stage. After the import of questions, the plan counts with the questions of the file as it is."""
    tasks = stage.tasks()
    row = StagePlan(stage.name, len(tasks), tuple(task.name for task in tasks if not stage.done(task)))
    if stage.name == QUESTIONS and row.to_do:
        file = context.config.questions.file
        assert file is not None  # the config reader refuses a config without it
        # Only counted, not imported: near-duplicates that the import would merge are still among them.
        context.expected = [question.record() for question in QuestionFile(file, context.settings.max_object_bytes).questions]
    return row


def plan_text(plan: RunPlan, left_out: dict[str, str]) -> str:
    """The plan in lines: stage by stage, then the counts."""
    absent = f"{plan.pairs - plan.pairs_to_judge:,} of them ABSENT without a judge"
    if plan.pairs and plan.present_pairs is None:
        absent = f"about {absent} (by the published share of {PUBLISHED_ABSENT:.0%}, until all answers exist)"
    lines = [
        text_table([("stage", "tasks", "done", "to do", ""), *map(_stage_row, plan.stages)]),
        f"{plan.handbooks:,} handbooks, {plan.questions:,} questions, {plan.answers:,} answers.",
        f"{plan.pairs:,} pairs, {absent}.",
    ]
    if plan.systems:
        lines.append(f"{plan.systems:,} answering systems, {plan.systems * plan.questions:,} answers of theirs.")
    return "\n".join([*lines, *(f"Left out: {reason}" for reason in left_out.values())])


def _stage_row(row: StagePlan) -> tuple[str, ...]:
    to_do = len(row.to_do)
    return row.stage, f"{row.tasks:,}", f"{row.tasks - to_do:,}", f"{to_do:,}", some_of(row.to_do)
