"""The generator with a model: one call for each question and handbook, and the parser of its reply."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from audit.pipeline.answers.backing import unbacked
from audit.pipeline.answers.evidence import SMALL_CONTEXT, Evidence, GroundedQuestion, evidence_of, without_numbers
from audit.pipeline.answers.files import PREFIX, GenerationSummary, Record, answer_record
from audit.pipeline.llm.calls import Call, usage_record
from audit.pipeline.llm.item_task import ItemTask
from audit.pipeline.llm.prompts import Prompt, PromptForm, load_template
from audit.pipeline.llm.reply_models import ReplyModel, faulty, read_reply
from audit.pipeline.llm.reply_text import clean_text, no_own_words, without_thinking
from audit.pipeline.llm.tasks import Replies
from audit.release.journal_files import Reply
from audit.vocabulary import AND_MORE, canonical_absence, says_absence_and_more

MAX_ANSWER = 2_000


def answer_in(value: Any, max_length: int) -> str:
    """The answer in a field of a reply, without the thinking that some models put there; empty where there is none."""
    return (clean_text(without_thinking(value), max_length) or "") if isinstance(value, str) else ""


class AnswerReply(ReplyModel):
    """An answer from the passages of a handbook."""

    keys, thinks_inside = ("answer",), True
    answer: Annotated[str, Field(max_length=MAX_ANSWER), faulty(lambda value: answer_in(value, MAX_ANSWER))]


# The passages come before the question, and calls go handbook by handbook. In full-document mode, all questions on a handbook
# share their whole prompt except for the last line, and the server's prefix cache reuses it (benchmarks/generate.py: 97 % of
# the prompt tokens, against 4 % with the question first). With retrieved passages hardly two calls share any: only the
# instructions are reused (22 %); with the question first and calls in the order of questions it would be four points more.
FORM = PromptForm("answer", "answer", ("passages", "question"), AnswerReply.schema_to_send())
FIXED_ABSENCE = replace(FORM, name="fixed_absence")
"""As arXiv:2605.29084, appendix D, has it: one fixed sentence where a handbook is silent, and no limit of words."""
# Tokens of prompt and answer together, unless configured otherwise
DEFAULT_CONTEXT = 32_768
# A cautious ratio, because a list of medicines takes more tokens than prose
CHARACTERS_PER_TOKEN = 3.5
RESERVED_CHARACTERS = 2_000
NO_ANSWER = "no answer"
# The rough number of tokens of an answer, for estimates without a server.
REPLY_TOKENS = 120


def load_answer_prompt(folder: Path | None = None, *, fixed_absence: bool = False) -> Prompt:
    """The prompt `answer`, or `fixed_absence`; from `folder` if it is given.

    Raises AuditError if the template cannot be used.
    """
    return load_template(FIXED_ABSENCE if fixed_absence else FORM, __package__, folder)


def evidence_room(prompt: Prompt, context: int) -> int:
    """The characters of evidence that fit into a prompt of `context` tokens."""
    instructions = len(prompt.system) + len(prompt.user)
    available = int((context - prompt.reply_tokens) * CHARACTERS_PER_TOKEN)
    return max(0, available - instructions - RESERVED_CHARACTERS)


class AnswerTask(ItemTask[tuple[GroundedQuestion, Evidence]]):
    """Questions with their evidence as calls."""

    @property
    def cost_note(self) -> str:
        """A sentence on the prompts that contain their handbook in full; empty where none does."""
        full = [evidence.full for _, evidence in self.items()]
        return f"{sum(full):,} of {len(full):,} prompts contain their handbook in full." if any(full) else ""


def answer_task(
    prompt: Prompt, model: str, questions: Callable[[], Iterable[GroundedQuestion]], context: int = DEFAULT_CONTEXT
) -> AnswerTask:
    """The calls that answering needs: each question with its evidence.

    questions  may be called repeatedly, and yields the questions handbook by handbook
    context    tokens that the model accepts for prompt and answer together; longer evidence is cut, which the record notes.
               Below SMALL_CONTEXT no handbook is given in full, and the best passage stands next to the question
    """
    room = evidence_room(prompt, context)

    def items() -> Iterator[tuple[GroundedQuestion, Evidence]]:
        return ((question, evidence_of(question, room, small=context < SMALL_CONTEXT)) for question in questions())

    def calls_of(item: tuple[GroundedQuestion, Evidence]) -> list[Call]:
        question, evidence = item
        handbook = question.document.handbook_id
        # Calls that share their evidence stay together on one endpoint and in one shard; the others may go anywhere.
        group = handbook if evidence.full else f"{handbook} {question.query.question_id}"
        texts = {"passages": evidence.in_prompt, "question": without_numbers(question.query.text)}
        return [prompt.call(model, group, texts)]

    return AnswerTask(
        {FORM.purpose: prompt},
        model,
        FORM.name,
        items,
        calls_of,
        is_read=lambda call, reply: read_answer_reply(reply, in_text=call.in_text)[0] is not None,
        tokens={FORM.purpose: REPLY_TOKENS},
        settings={"context": context},
        unit="handbooks",
    )


def model_answers(task: AnswerTask, replies: Replies, summary: GenerationSummary | None = None) -> Iterator[Record]:
    """The records of answers.jsonl from the replies to a task's calls; `summary` counts the questions without a reply."""
    for (question, evidence), _, reply in task.results(replies):
        if reply:
            yield _record(question, evidence, reply, task)
        elif summary:
            summary.not_asked += 1


def _record(question: GroundedQuestion, evidence: Evidence, reply: Reply, task: AnswerTask) -> Record:
    text, reason = read_answer_reply(reply, in_text=task.prompts[FORM.purpose].in_text)
    # Only the agreed words are an absence; it is never inferred from other wording, nor assumed where more words follow
    absence = canonical_absence(text) if text else None
    if says_absence_and_more(text):
        text, reason = None, AND_MORE
    elif text and not absence and (why := no_own_words(text, task.prompts[FORM.purpose].system) or unbacked(text, evidence)):
        text, reason = None, why
    usage = {
        "model": reply.model or task.model,
        "prompt": task.prompts[FORM.purpose].title,
        "server": reply.server,
        "attempts": reply.attempt,
        **usage_record([reply]),
    }
    known = {name: value for name, value in usage.items() if value is not None}
    method = PREFIX if absence else None
    return answer_record(question, evidence, absence or text, method=method, unread_reason=reason, usage=known)


def read_answer_reply(reply: Reply, *, in_text: bool = False) -> tuple[str | None, str | None]:
    """(answer, None), or (None, why the reply is unparseable): an unparseable reply is not an absence.

    in_text  the prompt asked for plain words, so a text without an object is the answer
    """
    reading = read_reply(AnswerReply, reply)
    if in_text and (words := answer_in(reading.plain_words, MAX_ANSWER)):
        return words, None
    read, reason = reading.only(NO_ANSWER)
    if read is None:
        return None, reason
    return (read.answer, None) if read.answer else (None, NO_ANSWER)
