"""Topics of a question: what to search a library for, ranked, each with its goal; from a model, or the question and its options.

Source of the step: MedRGB (arXiv:2411.09213), where a language model writes them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import Field

from audit.pipeline.llm.calls import Call
from audit.pipeline.llm.prompts import Prompt, PromptForm, load_template
from audit.pipeline.llm.reply_models import ReplyModel, cleaned, entries_of, needed, read_reply
from audit.pipeline.stress.building.questions import StressQuestion
from audit.release.journal_files import Reply

TOPICS = "topics"
MAX_TOPICS, MAX_QUERY, MAX_GOAL, REPLY_TOKENS = 5, 200, 200, 160.0
NO_OPTIONS = "(no options)"


class Topic(NamedTuple):
    """What to search for, and what is to be learnt from what is found."""

    query: str
    goal: str


class TopicEntry(ReplyModel):
    """One topic of a reply; without a query it is none."""

    query: Annotated[str, Field(max_length=MAX_QUERY), needed(MAX_QUERY)]
    goal: Annotated[str, Field(max_length=MAX_GOAL), cleaned(MAX_GOAL)]


class TopicsReply(ReplyModel):
    """The topics, the most important first."""

    keys = (TOPICS,)
    key_type = list
    topics: Annotated[list[TopicEntry], Field(max_length=MAX_TOPICS), entries_of(TopicEntry, MAX_TOPICS)]


FORM = PromptForm(TOPICS, TOPICS, ("question", "options"), TopicsReply.schema_to_send())


def load_topic_prompt(folder: Path | None = None) -> Prompt:
    """The prompt `topics`, from `folder` if it is given. Raises AuditError if the template cannot be used."""
    return load_template(FORM, __package__, folder)


def topics_call(prompt: Prompt, model: str, question: StressQuestion) -> Call:
    """The request for a question's topics; it does not tell which option is right."""
    options = "\n".join(f"{letter}: {' '.join(text.split())}" for letter, text in question.options.items())
    texts = {"question": question.question, "options": options or NO_OPTIONS}
    return prompt.call(model, question.question_id, texts)


def read_topics(reply: Reply) -> tuple[Topic, ...]:
    """The topics of a reply in their order, each query once; () where none can be read."""
    values = read_reply(TopicsReply, reply).values
    entries = values[0].topics if len(values) == 1 else []
    return tuple({" ".join(entry.query.split()).casefold(): Topic(entry.query, entry.goal) for entry in entries}.values())


def topics_of_parts(question: StressQuestion) -> tuple[Topic, ...]:
    """The question, then the question with each option: no model, and nothing that depends on a language."""
    options = question.options.items()
    asked = Topic(question.question, "what answers the question")
    return (asked, *(Topic(f"{question.question} {text}", f"whether option {letter} is right") for letter, text in options))
