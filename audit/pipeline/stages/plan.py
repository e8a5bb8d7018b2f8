"""The plan of a run: which tasks are done, and how much work the others are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import comb

from audit.formatting import some_of, text_table
from audit.pipeline.corpus.questions.question_file import QuestionFile
from audit.pipeline.judging.protocols import pairs_to_ask
from audit.pipeline.stages.context import RunContext, Stage
from audit.pipeline.stages.corpus import corrections_of
from audit.pipeline.stages.judging_input import asked_counts, questions_to_judge
from audit.text.corrections import read_corrections

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
    pairs          N(N-1)/2 for each question that is asked of N handbooks; those of two present answers need a judge: counted
                   once all answers exist, else expected by the published share
    systems        answering systems, each of which answers every question once
    corrections    handbook -> corrections of its text by people, where there are any
    """

    stages: tuple[StagePlan, ...]
    handbooks: int
    questions: int
    answers: int
    pairs: int
    pairs_to_judge: int
    pairs_counted: bool
    systems: int
    corrections: Mapping[str, int] = field(default_factory=dict)

    def to_do(self, stage: str) -> tuple[str, ...]:
        """The names of the tasks that a stage has to do."""
        return next((row.to_do for row in self.stages if row.stage == stage), ())


def plan_run(context: RunContext, stages: Sequence[Stage]) -> RunPlan:
    """The plan of a run. A task with a missing input is to be done. Changes `context`: use a copy."""
    rows = [plan_stage(context, stage) for stage in stages]
    questions = context.questions()
    asked = asked_counts(context) if context.config.answers_handbooks else []
    pairs = sum(comb(count, 2) for count in asked) if context.config.compares else 0
    done = {row.stage for row in rows if not row.to_do}
    counted = done.issuperset(BEFORE_JUDGING)
    to_judge = pairs_to_ask(questions_to_judge(context))[1] if counted and pairs else round(pairs * (1 - PUBLISHED_ABSENT))
    systems = len(context.config.systems)
    counts = {
        source.handbook_id: len(read_corrections(corrections_of(source, context.config)))
        for source in context.present
        if source.identity
    }
    corrections = {name: count for name, count in counts.items() if count}
    return RunPlan(tuple(rows), len(context.present), len(questions), sum(asked), pairs, to_judge, counted, systems, corrections)


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
    if plan.pairs and not plan.pairs_counted:
        absent = f"about {absent} (by the published share of {PUBLISHED_ABSENT:.0%}, until all answers exist)"
    lines = [
        text_table([("stage", "tasks", "done", "to do", ""), *map(_stage_row, plan.stages)]),
        f"{plan.handbooks:,} handbooks, {plan.questions:,} questions, {plan.answers:,} answers.",
        f"{plan.pairs:,} pairs, {absent}." if plan.pairs else "No pairs: nothing compares the answers.",
    ]
    if plan.corrections:
        lines.append(
            f"{sum(plan.corrections.values()):,} corrections by people to the texts of {some_of(list(plan.corrections))}."
        )
    if plan.systems:
        lines.append(f"{plan.systems:,} answering systems, {plan.systems * plan.questions:,} answers of theirs.")
    return "\n".join([*lines, *(f"Left out: {reason}" for reason in left_out.values())])


def _stage_row(row: StagePlan) -> tuple[str, ...]:
    to_do = len(row.to_do)
    return row.stage, f"{row.tasks:,}", f"{row.tasks - to_do:,}", f"{to_do:,}", some_of(row.to_do)
