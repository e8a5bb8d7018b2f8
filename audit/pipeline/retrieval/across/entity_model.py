"""Entities as a language model names them, by a strict schema; every reply is stored, so a text is read once.

Reached from no command; kept for the reproduction of the papers.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from audit.errors import RetrievalError
from audit.pipeline.llm.calls import FAILED, Call
from audit.pipeline.llm.client import Endpoint
from audit.pipeline.llm.journal import Journal
from audit.pipeline.llm.limits import Limits
from audit.pipeline.llm.prompts import Prompt, PromptForm, load_template
from audit.pipeline.llm.reply_models import ReplyModel, entries_of, needed, read_reply
from audit.pipeline.llm.runner import run_calls
from audit.pipeline.llm.tasks import unsettled
from audit.pipeline.retrieval.across.entities import Entity, stems_of
from audit.release.journal_files import Reply

MAX_NAME, MAX_ENTITIES = 80, 20
NO_ENTITIES = "no list of entities"


class EntityEntry(ReplyModel):
    """An entity as the model names it."""

    kind: Literal["condition", "drug", "symptom", "procedure", "test", "organ", "daily_life"]
    name: Annotated[str, Field(max_length=MAX_NAME), needed(MAX_NAME)]


class EntitiesReply(ReplyModel):
    """The entities of a passage."""

    keys, key_type = ("entities",), list
    entities: Annotated[list[EntityEntry], Field(max_length=MAX_ENTITIES), entries_of(EntityEntry, MAX_ENTITIES)]


SCHEMA = EntitiesReply.schema_to_send()
FORM = PromptForm("entities", "entities", ("passage",), SCHEMA)
Ask = Callable[[Sequence[Call]], Mapping[str, Reply]]
"""Calls -> the reply to each that has one, by key."""


def entity_prompt(folder: Path | None = None) -> Prompt:
    """The prompt; from `folder` if that has it. Raises AuditError for an unusable template."""
    return load_template(FORM, __package__, folder)


@dataclass
class ModelRecogniser:
    """Asks a model for the entities of each text; a name that the text does not have is left out.

    ask     brings the replies: `journalled`
    unread  why replies could not be read, with their number; such a text has no entities, and asking again would not help
    """

    model: str
    ask: Ask
    prompt: Prompt = field(default_factory=entity_prompt)
    unread: Counter[str] = field(default_factory=Counter)

    @property
    def name(self) -> str:
        """As traces record it."""
        return f"{self.model}, {self.prompt.title}"

    @property
    def digest(self) -> str:
        """Of the model's name and the prompt."""
        return hashlib.sha256(self.name.encode()).hexdigest()

    def recognise(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        """The entities of each text, each entity once, in the order of their names.

        Raises RetrievalError where a text has no reply: the endpoint failed, and asking again may help.
        """
        calls = {text: self.prompt.call(self.model, "entities", {"passage": text}) for text in texts if text.strip()}
        replies = self.ask(list(calls.values()))
        missing = [call for call in calls.values() if call.key not in replies or replies[call.key].outcome == FAILED]
        if missing:
            raise RetrievalError(
                f"{self.model} did not answer for {len(missing):,} of {len(calls):,} passages. Their entities are not known and "
                "nothing was searched. The replies so far are kept; run it again, or use a vocabulary."
            )
        by_text = {text: self._read_entities(text, replies[call.key]) for text, call in calls.items()}
        return [by_text.get(text, ()) for text in texts]

    def _read_entities(self, text: str, reply: Reply) -> tuple[Entity, ...]:
        entities, reason = read_entities(reply)
        if reason:
            self.unread[reason] += 1
        return tuple(sorted({entity for entity in entities if _names(text, entity)}))


def read_entities(reply: Reply) -> tuple[list[Entity], str | None]:
    """The entities of a reply, or the reason why they cannot be read."""
    reading = read_reply(EntitiesReply, reply)
    if len(reading.values) != 1:
        return [], reading.reason or NO_ENTITIES
    return [Entity(entry.kind, entry.name.lower()) for entry in reading.values[0].entities], None


def _names(text: str, entity: Entity) -> bool:
    words, name = stems_of(text), stems_of(entity.name)
    return bool(name) and any(words[at : at + len(name)] == name for at in range(len(words) - len(name) + 1))


def journalled(journal: Journal, endpoints: Sequence[Endpoint], limits: Limits | None = None) -> Ask:
    """Asks the endpoints what the journal does not have yet; what was answered before a stop is not asked again."""

    def readable(_: Call, reply: Reply) -> bool:
        return read_entities(reply)[1] is None

    def ask(calls: Sequence[Call]) -> Mapping[str, Reply]:
        still_open = list(unsettled(calls, journal.latest, readable))
        if still_open:
            asyncio.run(run_calls(still_open, endpoints, journal.put, readable=readable, limits=limits))
        return journal.latest([call.key for call in calls])

    return ask
