"""The fields of stress tests: questions with documents that are signal, noise or altered, and systems' replies to them."""

from __future__ import annotations

from audit.release.fields import QUESTION_ID, Field
from audit.release.system_fields import SYSTEM_ID
from audit.vocabulary import DOCUMENT_CALLS, STRESS_TESTS

INSTANCE_ID = Field("instance_id", "text", "the instance's id", required=True, aliases=("instance",))
DOCUMENT_ID = Field("document_id", "text", "the document's id, unique in its instance", required=True, aliases=("document",))
SUB_ANSWER_SCORES = (0, 0.5, 1)
STRESS_DOCUMENT = (
    DOCUMENT_ID,
    Field("text", "text", "the text that a system is shown", required=True, aliases=("passage",)),
    Field("is_signal", "flag", "it belongs to the question; noise belongs to another one", required=True, aliases=("signal",)),
    Field("is_factual", "flag", "false: an error was planted in it; left out: true", aliases=("factual",)),
    Field("edited_from", "text", "the document that it is an altered copy of"),
    Field("edit", "object", "the planted error: kind, before, after, start"),
    Field("sub_question", "text", "a question that this document answers"),
    Field("sub_answer", "text", "the right short answer to it"),
    Field("false_answer", "text", "what the altered document says instead"),
)
STRESS_INSTANCE = (
    INSTANCE_ID,
    Field("test", "text", "which of the four tests it is for", required=True, allowed=tuple(STRESS_TESTS)),
    QUESTION_ID,
    Field("question", "text", "the question's text", aliases=("question_text",)),
    Field("options", "object", "letter -> text; empty or left out: an open question", aliases=("choices",)),
    Field("gold", "text", "the letter of the right option; the answer's text of an open question", required=True),
    Field(
        "signal_share", "integer", "0 to 100: the requested share of signal; in robustness, of factual documents",
        aliases=("p",),
    ),
    Field("size", "integer", "the requested number of documents; left out: as many as it has", aliases=("n_documents",)),
    Field("documents", "stress documents", "what a system is shown, in this order", aliases=("context",)),
    Field("dataset", "text", "where the question is from", aliases=("source",)),
    Field("seed", "integer", "the seed that its documents were drawn with"),
)  # fmt: skip
STRESS_CALL = (
    DOCUMENT_ID,
    Field(
        "call", "text", "how the system classifies the document", required=True, aliases=("label",),
        allowed=tuple(DOCUMENT_CALLS),
    ),
)  # fmt: skip
STRESS_SUB_ANSWER = (
    DOCUMENT_ID,
    Field("answer", "text", "the answer to this document's sub-question", required=True, aliases=("sub_answer",)),
    Field("score", "number", "a grader's score: 0, 0.5 or 1; null: not graded"),
)
STRESS_REPLY = (
    INSTANCE_ID,
    SYSTEM_ID,
    Field("reasoning", "text", "the reasons, in the system's words", aliases=("explanation",)),
    Field("choice", "text", "the letter that was chosen, or the answer to an open question", aliases=("answer",)),
    Field("insufficient", "flag", "the system says that the documents do not suffice", aliases=("is_insufficient",)),
    Field("documents", "stress calls", "how it classifies the documents", aliases=("calls",)),
    Field("sub_answers", "stress sub answers", "its answers to the sub-questions"),
    Field("score", "number", "a grader's score of the answer to an open question: 0, 0.5 or 1; null: not graded"),
    Field("unread_reason", "text", "why no choice could be read; choice and insufficient are then null"),
    Field("usage", "usage", "tokens and time", aliases=("model_metadata",)),
)
