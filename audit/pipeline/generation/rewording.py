"""Answers in other words: a model rewrites each in one style, and what it changes of amounts and negations is not taken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from audit.pipeline.generation.model_generator import answer_in
from audit.pipeline.llm.calls import Call
from audit.pipeline.llm.item_task import ItemTask
from audit.pipeline.llm.prompts import Prompt, PromptForm, load_template
from audit.pipeline.llm.reply_models import ReplyModel, faulty, read_reply
from audit.pipeline.llm.tasks import Replies
from audit.release.journal_files import Reply
from audit.text.rewording import EMPTY, Rewording, digest, why_not

MAX_REWORDED = 8_000
REPLY_TOKENS = 250
NOT_ASKED = "no reply came"


class RewordingReply(ReplyModel):
    """A text in other words."""

    keys, thinks_inside = ("rewritten",), True
    rewritten: Annotated[str, Field(max_length=MAX_REWORDED), faulty(lambda value: answer_in(value, MAX_REWORDED))]


FORM = PromptForm("rewording", "rewording", ("text",), RewordingReply.schema_to_send())


def load_rewording_prompt(folder: Path | None = None) -> Prompt:
    """The prompt `rewording`, from `folder` if it is given. Raises AuditError if the template cannot be used."""
    return load_template(FORM, __package__, folder)


def rewording_task(prompt: Prompt, model: str, texts: Sequence[str]) -> ItemTask[str]:
    """The calls that rewording needs: one for each text, which says nothing of the others or of whose it is."""

    def calls_of(text: str) -> list[Call]:
        return [prompt.call(model, digest(text), {"text": text})]

    return ItemTask(
        {FORM.purpose: prompt}, model, FORM.name, lambda: texts, calls_of, is_read=lambda _, reply: bool(_text_of(reply)[0]),
        tokens={FORM.purpose: REPLY_TOKENS}, unit="texts",
    )  # fmt: skip


def rewordings(task: ItemTask[str], replies: Replies) -> Iterator[Rewording]:
    """What became of each text: its rewording, or why the original is kept."""
    by = f"{task.model}, {task.prompts[FORM.purpose].title}"
    for text, _, reply in task.results(replies):
        found, reason = _text_of(reply) if reply else ("", NOT_ASKED)
        reason = reason or why_not(text, found)
        yield Rewording(digest(text), "" if reason else found, reason, by)


def _text_of(reply: Reply) -> tuple[str, str]:
    read: Any
    read, reason = read_reply(RewordingReply, reply).only(EMPTY)
    return ("", reason or EMPTY) if read is None or not read.rewritten.strip() else (read.rewritten.strip(), "")
