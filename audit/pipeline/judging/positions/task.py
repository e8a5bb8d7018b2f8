"""The calls that positions need: one for each answer, then one for each question. A task for `audit.pipeline.llm`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from audit.pipeline.judging.corpus import Corpus, QuestionToJudge
from audit.pipeline.judging.positions.replies import (
    MERGE_SCHEMA,
    STATEMENTS_SCHEMA,
    AnswerReading,
    MergeReading,
    QuotedStatement,
    read_merge,
    read_statements,
)
from audit.pipeline.judging.protocols import findings_of_run
from audit.pipeline.llm.calls import Call
from audit.pipeline.llm.prompts import Prompt, PromptForm, load_templates
from audit.pipeline.llm.tasks import LlmTask, Replies
from audit.release.journal_files import Reply

NAME = "positions"
STATEMENTS, MERGE = "statements", "merge"
FORMS = (
    PromptForm(STATEMENTS, STATEMENTS, ("question", "answer"), STATEMENTS_SCHEMA),
    PromptForm(MERGE, MERGE, ("question", "statements"), MERGE_SCHEMA),
)
REPLY_TOKENS = {STATEMENTS: 220, MERGE: 350}
# For an estimate before any reply: the typical number of statements of a real answer of 150 words
STATEMENTS_AHEAD, SHOWN = 3, 120


def load_positions_prompts(folder: Path | None = None) -> dict[str, Prompt]:
    """The prompts by stage, from `folder` where it has them. Raises AuditError if a template cannot be used."""
    return load_templates(FORMS, __package__, folder)


@dataclass(frozen=True)
class HeldStatement:
    """A statement and the handbook whose answer makes it."""

    handbook_id: str
    statement: QuotedStatement


@dataclass(frozen=True)
class QuestionReading:
    """The statements read on a question.

    answers     handbook id -> the statements read from its answer; None: not asked yet
    statements  the statements of all answers, in the order in which the merge numbers them
    merge       how they were sorted; None: not asked yet, or not needed because there are fewer than two statements
    replies     every reply behind it
    """

    answers: Mapping[str, AnswerReading | None]
    statements: tuple[HeldStatement, ...]
    merge: MergeReading | None
    replies: tuple[Reply, ...] = field(default=())


@dataclass(frozen=True)
class PositionsTask(LlmTask):
    """The answers of a corpus as calls: what each states, and for each question how these statements relate."""

    corpus: Corpus
    tokens: Mapping[str, float] = field(default_factory=lambda: REPLY_TOKENS, kw_only=True)

    def plan(self) -> dict[str, Any]:
        """The settings that must match for a journal to be resumed."""
        titles = {stage: self.prompts[stage].title for stage in self.stages}
        return {"protocol": NAME, "model": self.model, "prompts": titles, **self.corpus.source, "pairs": self.corpus.selection}

    def parts(self, stage: str, replies: Replies, *, expected: bool = False) -> Iterator[Iterable[Call]]:
        """The calls of a stage, question by question; expected is a merge whose statements are not known yet."""
        for item in self.corpus.items():
            if stage == STATEMENTS:
                yield self._answer_calls(item).values()
            elif statements := self._statements(item, replies, expected=expected):
                yield [self._merge_call(item, statements)]

    def readable(self, call: Call, reply: Reply) -> bool:
        """Whether a reply could be read."""
        # Whether its quotes stand in the answer is looked at later: to ask again would bring the same
        return (read_statements(reply, "") if call.purpose == STATEMENTS else read_merge(reply, 0)).reason is None

    def reading(self, item: QuestionToJudge, replies: Replies) -> QuestionReading:
        """The statements in the replies so far on a question."""
        calls = self._answer_calls(item)
        latest = replies([call.key for call in calls.values()])
        used = [latest[call.key] for call in calls.values() if call.key in latest]
        answers = {
            handbook: read_statements(latest[call.key], item.answers[handbook].text or "") if call.key in latest else None
            for handbook, call in calls.items()
        }
        statements = tuple(
            HeldStatement(handbook, statement)
            for handbook, reading in answers.items()
            if reading
            for statement in reading.statements
        )
        if len(statements) < 2 or None in answers.values():
            return QuestionReading(answers, statements, None, tuple(used))
        call = self._merge_call(item, statements)
        reply = replies([call.key]).get(call.key)
        merge = read_merge(reply, len(statements)) if reply else None
        return QuestionReading(answers, statements, merge, (*used, *([reply] if reply else ())))

    def _statements(self, item: QuestionToJudge, replies: Replies, *, expected: bool) -> tuple[HeldStatement, ...]:
        """The statements to merge; none where there are fewer than two, or an answer is not asked about yet."""
        reading = self.reading(item, replies)
        if len(reading.statements) > 1 and None not in reading.answers.values():
            return reading.statements
        return self._likely_statements(item) if expected and len(reading.answers) > 1 else ()

    def _likely_statements(self, item: QuestionToJudge) -> tuple[HeldStatement, ...]:
        # Each as long as a part of its answer, as the prompt holds statements and not whole answers
        parts = ((handbook, (item.answers[handbook].text or "")[:SHOWN]) for handbook in self._answer_calls(item))
        return tuple(
            HeldStatement(handbook, QuotedStatement("aspect of the answer", part, 0, part, None))
            for handbook, part in parts
            for _ in range(STATEMENTS_AHEAD)
        )

    def _answer_calls(self, item: QuestionToJudge) -> dict[str, Call]:
        """Handbook id -> the call on its answer, for every present answer that is in a pair."""
        findings = findings_of_run(item)
        return {
            handbook: self.prompts[STATEMENTS].call(
                self.model,
                item.question_id,
                {"question": str(item.question["question"]), "answer": item.answers[handbook].text or ""},
            )
            for handbook, finding in findings.items()
            if finding.absent is False
        }

    def _merge_call(self, item: QuestionToJudge, statements: tuple[HeldStatement, ...]) -> Call:
        # Without names: the source of a statement must not influence how it is sorted
        lines = [f"{number}. {_in_one_line(held.statement)}" for number, held in enumerate(statements, 1)]
        texts = {"question": str(item.question["question"]), "statements": "\n".join(lines)}
        return self.prompts[MERGE].call(self.model, item.question_id, texts)


def _in_one_line(statement: QuotedStatement) -> str:
    # A line break would let a statement pass for several, with numbers of its own
    value = f" [{statement.value}]" if statement.value else ""
    return " ".join(f"{statement.aspect}: {statement.statement}{value}".split())
