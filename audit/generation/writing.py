"""The generator that asks a model: one call for each question and handbook, and what is read in its reply.

The passages stand before the question, and calls go handbook by handbook. Where a handbook is given whole, all its questions
then share everything but their last line, and the server's prefix cache carries it (benchmarks/generate.py: 97 % of the prompt
tokens, against 4 % with the question first). Where passages are given, hardly two calls share any: the instructions are carried
(22 %), and with the question first and calls going question by question it would be four points more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import Any

from audit.generation.asked import Asked
from audit.generation.evidence import Evidence, evidence_of, unnumbered
from audit.generation.records import PREFIX, Record, Summary, answer_record, prefixed
from audit.generation.relevance import Relevance
from audit.llm.calls import CUT, Call, Reply
from audit.llm.prompts import Prompt, PromptForm, load_templates
from audit.llm.reply_text import clean_text, json_objects, object_obeying, unreadable_reason, without_thinking
from audit.llm.tasks import Replies, batches, unsettled

LONGEST_ANSWER = 2_000
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"answer": {"type": "string", "maxLength": LONGEST_ANSWER}},
    "required": ["answer"],
    "additionalProperties": False,
}
FORM = PromptForm("answer", "answer", ("passages", "question"), SCHEMA)
WRITTEN = 120
"""Tokens that an answer takes, roughly, where no server can be asked."""
CONTEXT = 32_768
"""Tokens of prompt and answer together that are counted on, unless told otherwise."""
CHARACTERS_PER_TOKEN = 3.5
"""Few, to be on the safe side: a list of medicines takes more tokens than plain prose."""
NO_ANSWER = "no answer"
BATCH = 100


def load_prompt(folder: Path | None = None) -> Prompt:
    """The template `answer`, from `folder` where one is given.

    Raises AuditError when it cannot be used.
    """
    return load_templates([FORM], resources.files("audit.generation").joinpath("templates"), folder)[FORM.name]


@dataclass(frozen=True)
class Writing:
    """The calls that answering needs: work that `audit.llm` carries out.

    `asked` may be called again and again, and yields the questions handbook by handbook. `context` is how many tokens the
    model takes for prompt and answer together; evidence that is longer is cut, and the record says so.
    """

    prompt: Prompt
    model: str
    asked: Callable[[], Iterable[Asked]]
    context: int = CONTEXT
    stages: tuple[str, ...] = (FORM.purpose,)
    unit: str = "handbooks"

    @property
    def room(self) -> int:
        """The characters of evidence that there is room for."""
        instructions = len(self.prompt.system) + len(self.prompt.user)
        return max(0, int((self.context - self.prompt.max_tokens) * CHARACTERS_PER_TOKEN) - instructions - 2_000)

    def plan(self) -> dict[str, Any]:
        """What must stay the same for a journal to be gone on with; which questions are asked may change."""
        return {"work": FORM.name, "model": self.model, "prompts": {FORM.purpose: self.prompt.title}, "context": self.context}

    def open_calls(self, stage: str, replies: Replies) -> Iterator[Call]:
        """The calls that are still to be asked, handbook by handbook."""
        return unsettled((call for _, _, call in self.called()), replies, self.readable)

    def readable(self, call: Call, reply: Reply) -> bool:
        """Whether an answer stands in the reply."""
        return read(reply)[0] is not None

    def called(self) -> Iterator[tuple[Asked, Evidence, Call]]:
        """Each question with the evidence that is given for it, and its call."""
        for document, questions in groupby(self.asked(), key=lambda one: one.document):
            relevance = Relevance(document)
            for one in questions:
                evidence = evidence_of(one, relevance, self.room)
                yield one, evidence, self._call(one, evidence)

    def _call(self, asked: Asked, evidence: Evidence) -> Call:
        handbook = asked.document.handbook_id
        # What shares its evidence stays together on one endpoint and in one shard; the rest may go anywhere.
        group = handbook if evidence.whole else f"{handbook} {asked.query.question_id}"
        return self.prompt.call(self.model, group, {"passages": evidence.shown, "question": unnumbered(asked.query.text)})


def by_model(work: Writing, replies: Replies, summary: Summary | None = None) -> Iterator[Record]:
    """The records of answers.jsonl that the replies to a work's calls make; what was not asked has none, and is counted."""
    for batch in batches(work.called(), BATCH):
        found = replies([call.key for _, _, call in batch])
        for asked, evidence, call in batch:
            if reply := found.get(call.key):
                yield _record(asked, evidence, reply, work)
            elif summary:
                summary.not_asked += 1


def _record(asked: Asked, evidence: Evidence, reply: Reply, work: Writing) -> Record:
    text, reason = read(reply)
    silent = prefixed(text) if text else None
    usage = {
        "model": reply.model or work.model, "prompt": work.prompt.title, "server": reply.server, "seconds": reply.latency_s,
        "attempts": reply.attempt, **reply.usage,
    }  # fmt: skip
    told = {name: value for name, value in usage.items() if value is not None}
    return answer_record(asked, evidence, silent or text, method=PREFIX if silent else None, unread=reason, usage=told)


def read(reply: Reply) -> tuple[str | None, str | None]:
    """(answer, None), or (None, why there is none to read): an unreadable reply is no absence."""
    if fault := unreadable_reason(reply):
        return None, fault
    whole = (reply.text or "").strip()
    text = without_thinking(whole)
    obeyed = object_obeying(whole, SCHEMA) or object_obeying(text, SCHEMA)
    told = [obeyed] if obeyed else [each.value for each in json_objects(text) if "answer" in each.value]
    if len(told) != 1:
        return None, CUT if reply.outcome == CUT else NO_ANSWER
    answer = clean_text(without_thinking(told[0]["answer"]) if isinstance(told[0]["answer"], str) else None, LONGEST_ANSWER)
    return (answer, None) if answer else (None, NO_ANSWER)
