"""Passages into answers, handbook by handbook, as `audit generate` does it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from audit.pipeline.answers.evidence import GroundedQuestion
from audit.pipeline.generation.passage_generator import quoted_answers
from audit.pipeline.retrieval.model import Query
from audit.pipeline.stages.build_cache import Task, code_digest, digest_of, read_lines, write_lines
from audit.pipeline.stages.config import MODEL, PASSAGES
from audit.pipeline.stages.context import Figures, Outcome, RunContext, SourceDocument, TaskByTask
from audit.text.documents import read_document

CODE = (
    "pipeline/generation",
    "pipeline/answers",
    "pipeline/llm/reply_models.py",
    "pipeline/llm/reply_text.py",
    "pipeline/retrieval/found.py",
    "pipeline/retrieval/found.toml",
    "text",
)
Records = Iterable[dict[str, Any]]
Generator = Callable[[RunContext, Sequence[GroundedQuestion]], Records]
"""Writes what a model answers to all questions, in their order."""


@dataclass
class GenerateStage(TaskByTask):
    """A task is a handbook. A model is asked for all open handbooks together, and its replies are kept in a journal."""

    by_model: Generator
    name = "generate"

    def tasks(self) -> list[Task]:
        """The inputs: passages retrieved from each handbook, its text, and the generator."""
        options = self.context.config.generate
        inputs = {
            "generate": options.model_dump(mode="json", exclude={"url", "templates"}),
            "templates": self.context.cache.digest(options.templates) if options.templates else "",
            "model": self.context.model_settings if options.generator != PASSAGES else "",
            "code": code_digest(*CODE),
            "asked": digest_of(self.context.questions()),
        }
        return [self._task(source, inputs) for source in self.context.present]

    def _task(self, source: SourceDocument, inputs: Mapping[str, object]) -> Task:
        digest, workspace = self.context.cache.digest, self.context.workspace
        texts = {"retrieval": digest(workspace.retrieval(source.handbook_id)), "document": digest(source.document)}
        outputs = (workspace.answers(source.handbook_id),)
        return Task(self.name, source.handbook_id, {**texts, **inputs}, outputs, source.handbook_id)

    def carry_out(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        """Without a model one after the other; a model is asked once for all of them, so it is always busy."""
        if self.context.config.generate.generator == PASSAGES or not tasks:
            yield from super().carry_out(tasks)
            return
        asked = [question for task in tasks for question in grounded_questions(self.context, self.context.source(task.handbook))]
        # A handbook is written when all its answers are there; until then the journal holds the replies.
        records: dict[str, list[dict[str, Any]]] = {task.handbook: [] for task in tasks}
        for record in self.by_model(self.context, asked):
            records[record["handbook_id"]].append(record)
        for task in tasks:
            yield task, self._write(task, records[task.handbook])

    def run_task(self, task: Task) -> Figures:
        """The closest passages of one handbook; what was retrieved has their scores, so nothing is compared again."""
        return self._write(task, list(quoted_answers(grounded_questions(self.context, self.context.source(task.handbook)))))

    def _write(self, task: Task, records: Sequence[dict[str, Any]]) -> Figures:
        write_lines(task.outputs[0], records)
        unparseable = sum(record["answer"] is None for record in records)
        absent = sum(record["absent"] is True for record in records)
        # A reply of a model can be asked for again; a handbook that no search can read is a note on its text
        findings = unparseable if self.context.config.generate.generator == MODEL else 0
        return {"answers": len(records), "absent": absent, "findings": findings}


def grounded_questions(context: RunContext, source: SourceDocument) -> list[GroundedQuestion]:
    """Everything that was asked of a handbook, with what was retrieved, in the order of the questions."""
    document = read_document(source.document)
    queries = {question["question_id"]: Query.of(question) for question in context.questions()}
    records = read_lines(context.workspace.retrieval(source.handbook_id))
    return [
        GroundedQuestion(queries[record["question_id"]], document, record["retrieval"])
        for record in records
        if record["question_id"] in queries
    ]
