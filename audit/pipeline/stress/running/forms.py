"""The required form of a reply to a stress test: a strict JSON Schema for each number of documents and options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pydantic import Field, create_model

from audit.pipeline.llm.reply_models import ReplyModel, annotated
from audit.pipeline.stress.instances import StressDocument, StressInstance
from audit.pipeline.stress.running.medrgb_layout import is_in_layout
from audit.text.rewording import digest
from audit.vocabulary import STRESS_CALLS, DocumentCall, StressTest, plain

INSUFFICIENT = "insufficient"
"""The choice for "the documents do not suffice"; offered only in `sufficiency`, as in the source."""
KEYS = ("reasoning", "documents", "sub_answers", "choice")
KEY_SPELLINGS = {plain(key): key for key in KEYS} | {
    "answer": "choice", "answerchoice": "choice", "subanswer": "sub_answers", "document": "documents",
    "stepbystepthinking": "reasoning",
}  # fmt: skip
MAX_REASONING, MAX_ANSWER, MAX_SUB_ANSWER = 900, 400, 120


@dataclass(frozen=True)
class StressReplyForm:
    """The requested reply: the letters of the options (none: an open question), and the numbers of calls and sub-answers.

    shown          documents from which a sub-answer may be; 0 without sub-questions
    reasons_first  False: after the calls and sub-answers, as in MedRGB
    """

    letters: tuple[str, ...]
    may_decline: bool
    documents: int
    calls: tuple[DocumentCall, ...]
    sub_questions: int
    shown: int = 0
    reasons_first: bool = True

    @classmethod
    def of(cls, instance: StressInstance, *, reasons_first: bool = True) -> StressReplyForm:
        """The form of a reply to an instance."""
        calls, sub_questions = STRESS_CALLS.get(instance.test, ()), len(sub_questions_of(instance))
        return cls(
            tuple(instance.options),
            instance.test == StressTest.SUFFICIENCY,
            len(instance.documents) if calls else 0,
            calls,
            sub_questions,
            len(instance.documents) if sub_questions else 0,
            reasons_first,
        )

    @classmethod
    def from_schema(cls, schema: Mapping[str, Any]) -> StressReplyForm:
        """The form described by a schema, which is all that a call has."""
        parts = schema["properties"]
        allowed = parts["choice"].get("enum", ())
        calls = list(parts.get("documents", {}).get("properties", {}).values())
        answers = list(parts.get("sub_answers", {}).get("properties", {}).values())
        return cls(
            tuple(letter for letter in allowed if letter != INSUFFICIENT),
            schema["title"] == StressTest.SUFFICIENCY,
            len(calls),
            tuple(DocumentCall(call) for call in calls[0]["enum"]) if calls else (),
            len(answers),
            max(answers[0]["properties"]["document"]["enum"]) if answers else 0,
            next(iter(parts)) == "reasoning",
        )

    def schema(self, test: StressTest) -> dict[str, Any]:
        """The JSON Schema: the reasons come before the choice, because a model writes the keys in this order.

        Calls and sub-answers are objects with a key for each number, so none can be missing or given twice.
        """
        return {"title": str(test), **reply_model(self).schema_to_send()}


class StressReplyModel(ReplyModel):
    """A reply to a stress test; the fields that it has depend on its form."""

    @classmethod
    def recognises(cls, value: Mapping[str, Any]) -> bool:
        """Whether an object has any part of a reply, however it is spelled."""
        return any(plain(key) in KEY_SPELLINGS or is_in_layout(key) for key in value)


@lru_cache(256)
def reply_model(form: StressReplyForm) -> type[StressReplyModel]:
    """The model of the replies of a form."""
    reasoning = {"reasoning": _text(MAX_REASONING)}
    parts: dict[str, Any] = dict(reasoning) if form.reasons_first else {}
    if form.documents:
        parts["documents"] = _numbered(form.documents, annotated(tuple(map(str, form.calls))))
    if form.sub_questions:
        document = annotated(tuple(range(form.shown + 1)))
        answer = create_model("SourcedShortAnswer", __base__=ReplyModel, document=document, answer=_text(MAX_SUB_ANSWER))
        parts["sub_answers"] = _numbered(form.sub_questions, answer)
    parts |= reasoning
    choices = (*form.letters, *([INSUFFICIENT] if form.may_decline else []))
    parts["choice"] = annotated(choices) if form.letters else _text(MAX_ANSWER)
    return create_model("StressReply", __base__=StressReplyModel, **parts)


def _numbered(count: int, part: Any) -> Any:
    parts = {str(number): part for number in range(1, count + 1)}
    return create_model("Numbered", __base__=ReplyModel, **parts)


def _text(length: int) -> Any:
    return annotated(str, Field(max_length=length))


def sub_questions_of(instance: StressInstance) -> tuple[StressDocument, ...]:
    """The documents whose sub-questions are asked, in the order of asking, which does not reveal the order of the documents."""
    if instance.test not in (StressTest.INTEGRATION, StressTest.ROBUSTNESS):
        return ()
    asked = [document for document in instance.documents if document.sub_question]
    return tuple(sorted(asked, key=lambda one: (digest(one.sub_question or ""), one.edited_from or one.document_id)))
