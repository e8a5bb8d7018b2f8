"""Sub-questions and counterfactual documents from a model: the required calls, and the facts in its replies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from audit.pipeline.llm.calls import Call
from audit.pipeline.llm.prompts import Prompt, PromptForm, load_templates
from audit.pipeline.llm.reply_models import ReplyModel, cleaned, faulty, read_reply
from audit.pipeline.llm.tasks import LlmTask, Replies, batches
from audit.pipeline.stress.building.facts import REWRITTEN, Fact
from audit.pipeline.stress.building.questions import (
    BuildReport,
    SignalDocument,
    StressQuestion,
    same_text,
    with_unique_document_ids,
)
from audit.pipeline.stress.building.signal_search import SignalSearch
from audit.pipeline.stress.building.topics import TOPICS, Topic, read_topics, topics_call, topics_of_parts
from audit.release.journal_files import Reply
from audit.text.edits import edited

MODEL = "model"
MAX_QUESTION, MAX_ANSWER, MAX_STRETCH, MAX_REASONING = 300, 120, 600, 300
# MedRGB allows 400 words
MAX_DOCUMENT = 4_000
SUB_QUESTION, COUNTERFACTUAL = "sub_question", "counterfactual"
REPLY_TOKENS = {SUB_QUESTION: 90.0, COUNTERFACTUAL: 140.0}
# Placeholder for a sub-question that is not written yet, in estimates
NOT_WRITTEN = "which amount does it give"


def _present(value: Any) -> str:
    if not (isinstance(value, str) and value.strip()):
        raise ValueError("no text")
    return value


Reasoning = Annotated[str, Field(max_length=MAX_REASONING), cleaned(MAX_REASONING)]
ShortAnswer = Annotated[str, Field(max_length=MAX_ANSWER), faulty(_present)]
Stretch = Annotated[str, Field(max_length=MAX_STRETCH), faulty(_present)]


class SubQuestionReply(ReplyModel):
    """A sub-question that a document answers, and its answer."""

    reasoning: Reasoning
    sub_question: Annotated[str, Field(max_length=MAX_QUESTION), faulty(_present)]
    answer: ShortAnswer


class CounterfactualReply(ReplyModel):
    """The change to a document that makes an answer false: what stands where `before` did."""

    reasoning: Reasoning
    false_answer: ShortAnswer
    before: Stretch
    after: Stretch


class RewritingReply(ReplyModel):
    """A whole document that supports a wrong answer, as in MedRGB."""

    reasoning: Reasoning
    false_answer: ShortAnswer
    document: Annotated[str, Field(max_length=MAX_DOCUMENT), faulty(_present)]


MINIMAL = "minimal"
REPLIES: dict[str, type[ReplyModel]] = {
    SUB_QUESTION: SubQuestionReply, COUNTERFACTUAL: CounterfactualReply, f"{COUNTERFACTUAL}_{REWRITTEN}": RewritingReply,
}  # fmt: skip
"""Template -> what a reply to it contains."""
FIELDS = {SUB_QUESTION: ("main_question", "document"), COUNTERFACTUAL: ("document", "sub_question", "answer")}
STAGES = {SUB_QUESTION: SUB_QUESTION, COUNTERFACTUAL: COUNTERFACTUAL, f"{COUNTERFACTUAL}_{REWRITTEN}": COUNTERFACTUAL}
FORMS = {name: PromptForm(name, stage, FIELDS[stage], REPLIES[name].schema_to_send()) for name, stage in STAGES.items()}
"""Template -> its stage, and its form."""


def load_fact_prompts(folder: Path | None = None, counterfactual: str = MINIMAL) -> dict[str, Prompt]:
    """The prompts of both stages, from `folder` where it has them; `counterfactual`: MINIMAL or REWRITTEN.

    Raises AuditError if a template cannot be used.
    """
    names = {SUB_QUESTION: SUB_QUESTION, COUNTERFACTUAL: COUNTERFACTUAL}
    if counterfactual == REWRITTEN:
        names[COUNTERFACTUAL] = f"{COUNTERFACTUAL}_{REWRITTEN}"
    prompts = load_templates([FORMS[name] for name in names.values()], __package__, folder)
    return {stage: prompts[name] for stage, name in names.items()}


@dataclass(frozen=True)
class FactTask(LlmTask):
    """The questions as calls: their topics, then of each signal document a sub-question, and a change that falsifies its answer.

    search  finds the signal documents; None: the questions have them
    tokens  of the stages that a model is asked for; without TOPICS, the topics are the parts of the questions
    """

    questions: Sequence[StressQuestion]
    search: SignalSearch | None = None
    tokens: Mapping[str, float] = field(default_factory=lambda: REPLY_TOKENS, kw_only=True)
    _found: dict[str, tuple[tuple[Topic, ...], StressQuestion]] = field(default_factory=dict, init=False, compare=False)

    def plan(self) -> dict[str, Any]:
        """The settings that must match for a journal to be resumed; the questions may change."""
        prompts = {name: prompt.title for name, prompt in self.prompts.items()}
        return {"work": "stress build", "model": self.model, "prompts": prompts}

    def parts(self, stage: str, replies: Replies, *, expected: bool = False) -> Iterator[Iterable[Call]]:
        """The calls of a stage. A document without a usable sub-question gets no counterfactual."""
        if stage == TOPICS:
            yield map(self._topics_call, self.questions)
        elif stage == SUB_QUESTION:
            yield (call for _, _, call in self.first_calls(self.with_signal(replies, expected=expected)))
        else:
            yield self._second_calls(replies, expected=expected)

    def readable(self, call: Call, reply: Reply) -> bool:
        """Whether a reply has all requested fields."""
        return bool(read_topics(reply)) if call.purpose == TOPICS else self.read(call.purpose, reply) is not None

    def _topics_call(self, question: StressQuestion) -> Call:
        return topics_call(self.prompts[TOPICS], self.model, question)

    def topics(self, replies: Replies, *, expected: bool = False) -> Iterator[tuple[StressQuestion, tuple[Topic, ...]]]:
        """Each question with its topics: () where a model was asked and none can be read (`expected`: then its parts)."""
        for question in self.questions:
            parts = topics_of_parts(question)
            if TOPICS not in self.tokens:
                yield question, parts
                continue
            call = self._topics_call(question)
            reply = replies([call.key]).get(call.key)
            yield question, (read_topics(reply) if reply else ()) or (parts if expected else ())

    def with_signal(self, replies: Replies, *, expected: bool = False) -> list[StressQuestion]:
        """The questions with their signal documents, whose ids are unique."""
        if self.search is None:
            return list(self.questions)
        found = []
        for question, topics in self.topics(replies, expected=expected):
            known = self._found.get(question.question_id)
            if known is None or known[0] != topics:
                known = self._found[question.question_id] = topics, self.search.with_signal(question, topics)
            found.append(known[1])
        return with_unique_document_ids(found)

    def read(self, stage: str, reply: Reply) -> dict[str, str] | None:
        """The fields of a reply; None where they cannot be read."""
        values = read_reply(REPLIES[self.prompts[stage].name], reply).values
        return values[0].model_dump() if values else None

    def first_calls(self, questions: Sequence[StressQuestion]) -> Iterator[tuple[StressQuestion, SignalDocument, Call]]:
        """Each signal document with the call for its sub-question."""
        for question in questions:
            for document in question.documents:
                texts = {"main_question": question.question, "document": document.text}
                yield question, document, self.prompts[SUB_QUESTION].call(self.model, question.question_id, texts)

    def second_call(self, question: StressQuestion, document: SignalDocument, sub_question: str, answer: str) -> Call:
        """The call for the change that makes an answer false."""
        texts = {"document": document.text, "sub_question": sub_question, "answer": answer}
        return self.prompts[COUNTERFACTUAL].call(self.model, question.question_id, texts)

    def sub_questions(
        self, replies: Replies, *, expected: bool = False
    ) -> Iterator[tuple[StressQuestion, SignalDocument, dict[str, str] | None, bool]]:
        """Each document with the fields of its sub-question (None: not readable), and whether there is a reply."""
        for batch in batches(self.first_calls(self.with_signal(replies, expected=expected))):
            latest = replies([call.key for _, _, call in batch])
            for question, document, call in batch:
                reply = latest.get(call.key)
                yield question, document, self.read(SUB_QUESTION, reply) if reply else None, reply is not None

    def _second_calls(self, replies: Replies, *, expected: bool) -> Iterator[Call]:
        for question, document, fields, was_asked in self.sub_questions(replies, expected=expected):
            if fields and fields["answer"] in document.text:
                yield self.second_call(question, document, fields["sub_question"], fields["answer"])
            elif expected and not was_asked:
                yield self.second_call(question, document, NOT_WRITTEN, NOT_WRITTEN)


def topic_records(task: FactTask, replies: Replies, report: BuildReport) -> Iterator[dict[str, Any]]:
    """Each question with its ranked topics and the documents that they found; `report` counts what is missing."""
    found = {question.question_id: question for question in task.with_signal(replies)}
    for question, topics in task.topics(replies):
        documents = [document.document_id for document in found[question.question_id].documents]
        if not documents:
            reason = "no passage found" if topics else "no topics"
            report.add(reason, f"question {question.question_id}: {reason}. It has no signal.")
        record = {"question_id": question.question_id, "topics": [topic._asdict() for topic in topics]}
        yield record | {"documents": documents}


def model_facts(task: FactTask, replies: Replies, report: BuildReport) -> dict[str, Fact]:
    """Document id -> fact, for each document whose replies can be used; `report` counts the others."""
    facts: dict[str, Fact] = {}
    for question, document, fields, was_asked in task.sub_questions(replies):
        name = f"document {document.document_id}"
        if fields is None:
            reason = "sub-question not readable" if was_asked else "sub-question not asked"
            report.add(reason, f"{name}: the model gave no sub-question that could be read. It is in no context of two tests.")
        elif fields["answer"] not in document.text:
            report.add(
                "answer not in the document", f"{name}: '{fields['answer'][:60]}' does not occur in it. The reply was dropped."
            )
        else:
            call = task.second_call(question, document, fields["sub_question"], fields["answer"])
            reply = replies([call.key]).get(call.key)
            change = task.read(COUNTERFACTUAL, reply) if reply else None
            fact = _fact(document.text, fields, change) if change else "the model gave no change that could be read"
            if isinstance(fact, Fact):
                facts[document.document_id] = fact
            else:
                report.add("counterfactual not usable", f"{name}: {fact}. It is in no context of two tests.")
    return facts


def _fact(text: str, asked: Mapping[str, str], change: Mapping[str, str]) -> Fact | str:
    """The fact of two replies, or why the change cannot be used; `change` has the stretch or, rewritten, the whole document."""
    false_answer = change["false_answer"]
    before, after = (text, change["document"]) if "document" in change else (change["before"], change["after"])
    if text.count(before) != 1:
        return f"the stretch to replace occurs {text.count(before)} times"
    if same_text(false_answer) == same_text(asked["answer"]) or same_text(before) == same_text(after):
        return "the change leaves the answer as it is"
    start = text.index(before)
    edit = edited(REWRITTEN if "document" in change else MODEL, text, start, start + len(before), after)
    if same_text(false_answer) not in same_text(edit.text):
        return "the changed document does not contain the wrong answer"
    if same_text(asked["answer"]) in same_text(after):
        return "the changed stretch still contains the true answer"
    return Fact(asked["sub_question"], asked["answer"], false_answer, edit)
