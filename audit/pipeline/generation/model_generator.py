"""The generator with a model: one call for each question and handbook, and the parser of its reply."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import Any

from audit.pipeline.answers.evidence import Evidence, GroundedQuestion, evidence_of, without_numbers
from audit.pipeline.answers.files import PREFIX, GenerationSummary, Record, answer_record, with_absence_prefix
from audit.pipeline.llm.calls import CUT, Call, usage_record
from audit.pipeline.llm.prompts import Prompt, PromptForm, load_templates
from audit.pipeline.llm.reply_text import clean_text, json_objects, object_obeying, unreadable_reason, without_thinking
from audit.pipeline.llm.tasks import Replies, batches, unsettled
from audit.pipeline.rules.answers.relevance import Relevance
from audit.release.journal_files import Reply

MAX_ANSWER = 2_000
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"answer": {"type": "string", "maxLength": MAX_ANSWER}},
    "required": ["answer"],
    "additionalProperties": False,
}
# The passages come before the question, and calls go handbook by handbook. In full-document mode, all questions on a handbook
# share their whole prompt except for the last line, and the server's prefix cache reuses it (benchmarks/generate.py: 97 % of
# the prompt tokens, against 4 % with the question first). With retrieved passages hardly two calls share any: only the
# instructions are reused (22 %); with the question first and calls in the order of questions it would be four points more.
FORM = PromptForm("answer", "answer", ("passages", "question"), SCHEMA)
# Tokens of prompt and answer together, unless configured otherwise
DEFAULT_CONTEXT = 32_768
# A cautious ratio, because a list of medicines takes more tokens than prose
CHARACTERS_PER_TOKEN = 3.5
RESERVED_CHARACTERS = 2_000
NO_ANSWER = "no answer"
QUESTIONS_PER_LOOKUP = 100


def load_answer_prompt(folder: Path | None = None) -> Prompt:
    """The prompt `answer`, from `folder` if it is given.

    Raises AuditError if the template cannot be used.
    """
    return load_templates([FORM], resources.files("audit.pipeline.generation").joinpath("templates"), folder)[FORM.name]


def evidence_room(prompt: Prompt, context: int) -> int:
    """The characters of evidence that fit into a prompt of `context` tokens."""
    instructions = len(prompt.system) + len(prompt.user)
    available = int((context - prompt.max_tokens) * CHARACTERS_PER_TOKEN)
    return max(0, available - instructions - RESERVED_CHARACTERS)


@dataclass(frozen=True)
class AnswerTask:
    """The calls that answering needs, as a task for `audit.pipeline.llm`.

    `questions` may be called repeatedly, and yields the questions handbook by handbook. `context` is the number of tokens that
    the model accepts for prompt and answer together; longer evidence is cut, which the record notes.
    """

    prompt: Prompt
    model: str
    questions: Callable[[], Iterable[GroundedQuestion]]
    context: int = DEFAULT_CONTEXT
    stages: tuple[str, ...] = (FORM.purpose,)
    unit: str = "handbooks"

    @property
    def max_evidence_characters(self) -> int:
        """The characters of evidence that fit into the prompt."""
        return evidence_room(self.prompt, self.context)

    def plan(self) -> dict[str, Any]:
        """The settings that must match for a journal to be resumed; the questions may change."""
        return {
            "work": FORM.name,
            "model": self.model,
            "prompts": {FORM.purpose: self.prompt.title},
            "context": self.context,
        }

    def open_calls(self, stage: str, replies: Replies) -> Iterator[Call]:
        """The calls that have no usable reply yet, handbook by handbook."""
        return unsettled((call for _, _, call in self.calls()), replies, self.readable)

    def readable(self, call: Call, reply: Reply) -> bool:
        """Whether a reply contains an answer."""
        return read_answer_reply(reply)[0] is not None

    def calls(self) -> Iterator[tuple[GroundedQuestion, Evidence, Call]]:
        """Each question with its evidence and its call."""
        for document, questions in groupby(self.questions(), key=lambda question: question.document):
            relevance = Relevance(document)
            for question in questions:
                evidence = evidence_of(question, relevance, self.max_evidence_characters)
                yield question, evidence, self._call(question, evidence)

    def _call(self, question: GroundedQuestion, evidence: Evidence) -> Call:
        handbook = question.document.handbook_id
        # Calls that share their evidence stay together on one endpoint and in one shard; the others may go anywhere.
        group = handbook if evidence.full else f"{handbook} {question.query.question_id}"
        texts = {"passages": evidence.in_prompt, "question": without_numbers(question.query.text)}
        return self.prompt.call(self.model, group, texts)


def model_answers(task: AnswerTask, replies: Replies, summary: GenerationSummary | None = None) -> Iterator[Record]:
    """The records of answers.jsonl from the replies to a task's calls; `summary` counts the questions without a reply."""
    for batch in batches(task.calls(), QUESTIONS_PER_LOOKUP):
        latest = replies([call.key for _, _, call in batch])
        for question, evidence, call in batch:
            if reply := latest.get(call.key):
                yield _record(question, evidence, reply, task)
            elif summary:
                summary.not_asked += 1


def _record(question: GroundedQuestion, evidence: Evidence, reply: Reply, task: AnswerTask) -> Record:
    text, reason = read_answer_reply(reply)
    # Only the agreed words are an absence; it is never inferred from other wording
    absence = with_absence_prefix(text) if text else None
    usage = {
        "model": reply.model or task.model,
        "prompt": task.prompt.title,
        "server": reply.server,
        "attempts": reply.attempt,
        **usage_record([reply]),
    }
    known = {name: value for name, value in usage.items() if value is not None}
    method = PREFIX if absence else None
    return answer_record(question, evidence, absence or text, method=method, unread_reason=reason, usage=known)


def read_answer_reply(reply: Reply) -> tuple[str | None, str | None]:
    """(answer, None), or (None, why the reply is unparseable): an unparseable reply is not an absence."""
    if reason := unreadable_reason(reply):
        return None, reason
    reply_text = (reply.text or "").strip()
    text = without_thinking(reply_text)
    valid = object_obeying(reply_text, SCHEMA) or object_obeying(text, SCHEMA)
    objects = [valid] if valid else [match.value for match in json_objects(text) if "answer" in match.value]
    if len(objects) != 1:
        return None, CUT if reply.outcome == CUT else NO_ANSWER
    value = objects[0]["answer"]
    answer = clean_text(without_thinking(value) if isinstance(value, str) else None, MAX_ANSWER)
    return (answer, None) if answer else (None, NO_ANSWER)
