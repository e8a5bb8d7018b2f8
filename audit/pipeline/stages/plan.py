"""The plan of a run: which tasks are done, and how much work the others are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb, sqrt
from typing import Any

from audit.pipeline.answers.evidence import meets
from audit.pipeline.corpus.questions.question_file import QuestionFile
from audit.pipeline.retrieval.model import Query
from audit.pipeline.stages.build_cache import read_lines
from audit.pipeline.stages.context import RunContext, SourceDocument, Stage

QUESTIONS = "questions"
BEFORE_JUDGING = ("extract", "questions", "retrieve", "generate")


@dataclass(frozen=True)
class StagePlan:
    """One stage: how many tasks it has, and the names of those that are to be done."""

    stage: str
    tasks: int
    to_do: tuple[str, ...]


@dataclass(frozen=True)
class RunPlan:
    """The plan of a run.

    answers  (question, handbook) combinations: a question is asked of the handbooks of its organ, a general one of all
    systems  answering systems, each of which answers every question once
    pairs    N(N-1)/2 for each question that is asked of N handbooks, and how many of them need no judge
    """

    stages: tuple[StagePlan, ...]
    handbooks: int
    questions: int
    answers: int
    pairs: ExpectedPairs
    systems: int = 0

    def to_do(self, stage: str) -> tuple[str, ...]:
        """The names of the tasks that a stage has to do."""
        return next((row.to_do for row in self.stages if row.stage == stage), ())


Journaled = Callable[[RunContext, Sequence[SourceDocument]], Iterable[dict[str, object]]]
"""The answers of some handbooks that a stopped run has in its journal."""


def plan_run(context: RunContext, stages: Sequence[Stage], journaled: Journaled = lambda *_: ()) -> RunPlan:
    """The plan of a run. A task with a missing input is to be done. Changes `context`: use a copy."""
    rows = [plan_stage(context, stage) for stage in stages]
    questions = context.questions()
    present = context.present if context.config.compares else []
    asked = [sum(meets(Query.of(question), source) for source in present) for question in questions]
    pairs = sum(comb(count, 2) for count in asked)
    so_far = answers_so_far(_answers(context, rows, {str(question["question_id"]) for question in questions}, journaled))
    open_stages = any(row.to_do for row in rows if row.stage in BEFORE_JUDGING)
    expected = ExpectedPairs(pairs, sum(asked), so_far, exact=not open_stages and so_far.answers == sum(asked))
    systems = len(context.config.systems)
    return RunPlan(tuple(rows), len(context.present), len(questions), sum(asked), expected, systems)


def _answers(
    context: RunContext, rows: Sequence[StagePlan], questions: Container[str], journaled: Journaled
) -> Iterator[AnswerSize]:
    """The answers that exist to `questions`: from a journal where a stopped run left them there, else from the files."""
    to_do = {name for row in rows if row.stage == "generate" for name in row.to_do}
    # New retrieval may change the answers, and its calls cannot be looked up in a journal in advance
    retrieved = not any(row.to_do for row in rows if row.stage in BEFORE_JUDGING[:-1])
    sources = [source for source in context.present if source.handbook_id in to_do] if retrieved else []
    in_journal = set()
    for record in journaled(context, sources):
        in_journal.add(record["handbook_id"])
        yield _size(record)
    for source in context.present:
        path = context.workspace.answers(source.handbook_id)
        # Answers from other settings will be rewritten, but still predict this run better than published figures
        if source.handbook_id not in in_journal and path.is_file():
            yield from (_size(record) for record in read_lines(path) if record["question_id"] in questions)


def _size(record: Mapping[str, Any]) -> AnswerSize:
    return str(record["question_id"]), record["absent"] is True, len(record["answer"] or "")


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
    lines = [f"{'stage':<10}{'tasks':>8}{'done':>8}{'to do':>8}", *map(_stage_line, plan.stages)]
    lines += [
        f"{plan.handbooks:,} handbooks, {plan.questions:,} questions, {plan.answers:,} answers.",
        plan.pairs.text,
    ]
    if plan.systems:
        lines.append(f"{plan.systems:,} answering systems, {plan.systems * plan.questions:,} answers of theirs.")
    return "\n".join([*lines, *(f"Left out: {reason}" for reason in left_out.values())])


def _stage_line(row: StagePlan) -> str:
    names = f"  {', '.join(row.to_do[:3])}{', ...' if len(row.to_do) > 3 else ''}" if row.to_do else ""
    return f"{row.stage:<10}{row.tasks:>8,}{row.tasks - len(row.to_do):>8,}{len(row.to_do):>8,}{names}"


# -- expected pairs ------------------------------------------------------------------------------------------
# How many pairs a judge will be asked about: counted once all answers exist, before that expected from those
# that do.

# Share of pairs with an absent answer, by organ, among handbooks of the question's own organ: the lowest and the highest
# (arXiv:2605.29084, section 6.2). A run asks such handbooks only; over all handbooks the share is 78.9 %.
PUBLISHED_LOW, PUBLISHED_HIGH = 0.60, 0.78
PUBLISHED_PAIRS = (PUBLISHED_LOW + PUBLISHED_HIGH) / 2
# With fewer pairs of existing answers, the single answers give the better estimate.
MIN_PAIRS = 30

AnswerSize = tuple[str, bool, int]
"""Question id, whether the answer is absent, its characters."""


@dataclass(frozen=True)
class AnswersSoFar:
    """The answers that exist: how many, present ones and their characters; their pairs, and those of two present answers."""

    answers: int = 0
    present: int = 0
    characters: int = 0
    pairs: int = 0
    present_pairs: int = 0

    @property
    def present_share(self) -> float:
        """Share of answers that are not absent, in [0, 1]; as published where there is no answer."""
        return self.present / self.answers if self.answers else sqrt(1 - PUBLISHED_PAIRS)

    @property
    def present_pair_share(self) -> float:
        """Share of pairs that need a judge, in [0, 1]; as published where there is no answer."""
        if self.pairs >= MIN_PAIRS:
            return self.present_pairs / self.pairs
        return self.present_share**2


def answers_so_far(answers: Iterable[AnswerSize]) -> AnswersSoFar:
    """The counts of some answers."""
    asked, present, characters = defaultdict[str, int](int), defaultdict[str, int](int), 0
    for question, absent, length in answers:
        asked[question] += 1
        present[question] += not absent
        characters += 0 if absent else length
    return AnswersSoFar(
        sum(asked.values()),
        sum(present.values()),
        characters,
        sum(comb(number, 2) for number in asked.values()),
        sum(comb(number, 2) for number in present.values()),
    )


@dataclass(frozen=True)
class ExpectedPairs:
    """All pairs, and those that need no judge because an answer is absent; `answers` is how many answers there will be."""

    total: int
    answers: int
    so_far: AnswersSoFar
    exact: bool

    @property
    def prescreened(self) -> int:
        """Pairs with an absent answer: counted, or expected."""
        return self.total - self.to_judge

    @property
    def to_judge(self) -> int:
        """Pairs of two present answers: counted, or expected."""
        return self.so_far.present_pairs if self.exact else round(self.total * self.so_far.present_pair_share)

    @property
    def text(self) -> str:
        """The counts, and what an expected one is based on."""
        if not self.total:
            return "0 pairs."
        if self.exact:
            return f"{self.total:,} pairs, {self.prescreened:,} of them ABSENT without a judge."
        if self.so_far.answers:
            absent = 1 - self.so_far.present_share
            basis = f"as in the {self.so_far.answers:,} of {self.answers:,} answers that exist, of which {absent:.0%} are absent"
        else:
            basis = (
                f"the middle of the published range of handbooks of the question's organ, {PUBLISHED_LOW:.0%} to "
                f"{PUBLISHED_HIGH:.0%}; replaced by this run's own share once there are answers"
            )
        return f"{self.total:,} pairs, about {self.prescreened:,} of them ABSENT without a judge ({basis})."
