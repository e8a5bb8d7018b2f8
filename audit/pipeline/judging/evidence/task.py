"""Judging answers by their evidence: the required calls, and the measures from the replies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, create_model

from audit.evaluation.retrieval_measures import (
    ANSWER_RELEVANCE,
    CITATION_CORRECTNESS,
    CONTEXT_PRECISION,
    CONTEXT_RECALL,
    FAITHFULNESS,
    JUDGED_MEASURES,
    RELEVANCE_GRADES,
    answer_relevance,
    context_precision,
    share_accepted,
)
from audit.pipeline.llm.calls import Call
from audit.pipeline.llm.item_task import ItemTask
from audit.pipeline.llm.prompts import Prompt, PromptForm, load_templates
from audit.pipeline.llm.reply_models import ReplyModel, all_entries_of, annotated, cleaned, faulty, read_reply, spelled
from audit.pipeline.llm.summary import Summary
from audit.pipeline.llm.tasks import Replies
from audit.release.journal_files import Reply
from audit.vocabulary import Parse

# -- the form of the judge's replies on evidence, and their parsing ------------------------------------------
# Each reply is one object with one list, or with one grade. Every entry of a list must have a readable verdict, and a reply on
# numbered passages or citations one entry for each number: otherwise the whole reply is unreadable, because a share of the
# entries that happen to be readable would be that of another answer. An unreadable reply has no value, and is never 0.

YES, NO, PARTLY = "yes", "no", "partly"
MAX_STATEMENT, MAX_REASON, MAX_ENTRIES = 300, 240, 40
NO_VERDICT, WRONG_NUMBERS, NO_STATEMENTS = "no verdict", "numbers do not match", "no statements"


def _number(value: Any) -> float:
    return value if isinstance(value, int | float) else 0


def _word(value: Any) -> str:
    return str(value).strip().lower()


def _grade(value: Any) -> int:
    if isinstance(value, bool) or value not in RELEVANCE_GRADES:
        raise ValueError(NO_VERDICT)
    return int(value)


NUMBER = Annotated[int, faulty(_number)]
STATEMENT = Annotated[str, Field(max_length=MAX_STATEMENT), cleaned(MAX_STATEMENT)]


@dataclass(frozen=True)
class ReplyForm:
    """The list that a reply has, the key of each entry's verdict, and the verdicts; `accepted` is the one that counts.

    numbered  each entry is about a numbered text of the prompt; otherwise about a statement that the judge took from a text
    """

    entries: str
    verdict: str
    verdicts: tuple[str, ...]
    numbered: bool
    measure: Callable[[Sequence[bool]], float | None]
    accepted: str = YES

    def model(self) -> type[ReplyModel]:
        """The model of the reply. A model writes the keys in this order: what is judged comes before the verdict."""
        about: dict[str, Any] = {"number": NUMBER} if self.numbered else {"statement": STATEMENT}
        entry = create_model("Entry", __base__=ReplyModel, **about, **{self.verdict: annotated(self.verdicts, spelled(_word))})
        entries = annotated(list.__class_getitem__(entry), Field(max_length=MAX_ENTRIES), all_entries_of(entry))
        model = create_model("ListReply", __base__=ReplyModel, **{self.entries: entries})
        model.keys = (self.entries,)
        return model


class RelevanceReply(ReplyModel):
    """A grade, after its reason."""

    keys = ("grade",)
    reason: Annotated[str, Field(max_length=MAX_REASON), cleaned(MAX_REASON)]
    grade: Annotated[Literal[0, 1, 2], faulty(_grade)]


FORMS = {
    FAITHFULNESS: ReplyForm("statements", "supported", (YES, NO), False, share_accepted),
    CONTEXT_PRECISION: ReplyForm("passages", "useful", (YES, NO), True, context_precision),
    CONTEXT_RECALL: ReplyForm("statements", "attributable", (YES, NO), False, share_accepted),
    CITATION_CORRECTNESS: ReplyForm("citations", "supports", (YES, PARTLY, NO), True, share_accepted),
}
MODELS: dict[str, type[ReplyModel]] = {name: form.model() for name, form in FORMS.items()} | {ANSWER_RELEVANCE: RelevanceReply}
SCHEMAS = {name: model.schema_to_send() for name, model in MODELS.items()}


@dataclass(frozen=True)
class EvidenceVerdict:
    """The value of one measure of one answer in a reply, in [0, 1]; None if there is none, with the reason.

    A reply that was read has no value where the text has no statement: greetings alone, for instance.
    """

    value: float | None
    parse: Parse
    reason: str | None = None

    @property
    def readable(self) -> bool:
        """Whether the reply could be read."""
        return self.parse is not Parse.NONE


def read_evidence_reply(measure: str, reply: Reply, expected: int) -> EvidenceVerdict:
    """The value of a measure in a judge's reply; `expected` is the number of numbered texts in the prompt."""
    reading = read_reply(MODELS[measure], reply)
    read, reason = reading.only_verdict(NO_VERDICT)
    if read is None:
        return _unread(reason or NO_VERDICT)
    if isinstance(read, RelevanceReply):
        value: float | None = answer_relevance(read.grade)
        problem: str | None = None
    else:
        value, problem = _listed(FORMS[measure], read, expected)
    if problem:
        return _unread(problem)
    return EvidenceVerdict(value, Parse.STRICT if reading.whole else Parse.LENIENT, NO_STATEMENTS if value is None else None)


def _listed(form: ReplyForm, read: ReplyModel, expected: int) -> tuple[float | None, str | None]:
    """The value of a list of entries, None where it has none; and why the list does not fit the prompt."""
    entries = getattr(read, form.entries)
    accepted = [getattr(entry, form.verdict) == form.accepted for entry in entries]
    if not form.numbered:
        return form.measure(accepted), None
    by_number = {entry.number: verdict for entry, verdict in zip(entries, accepted, strict=True)}
    if len(entries) != expected or set(by_number) != set(range(1, expected + 1)):
        return None, WRONG_NUMBERS
    return form.measure([by_number[number] for number in range(1, expected + 1)]), None


def _unread(reason: str) -> EvidenceVerdict:
    return EvidenceVerdict(None, Parse.NONE, reason)


STAGE = "evidence"
FIELDS = {
    FAITHFULNESS: ("question", "passages", "answer"),
    CONTEXT_PRECISION: ("question", "reference_answer", "passages"),
    CONTEXT_RECALL: ("question", "passages", "reference_answer"),
    ANSWER_RELEVANCE: ("question", "answer"),
    CITATION_CORRECTNESS: ("question", "citations"),
}
PROMPT_FORMS = {name: PromptForm(name, name, FIELDS[name], SCHEMAS[name]) for name in JUDGED_MEASURES}
REPLY_TOKENS: dict[str, float] = {
    FAITHFULNESS: 200, CONTEXT_PRECISION: 80, CONTEXT_RECALL: 200, ANSWER_RELEVANCE: 50, CITATION_CORRECTNESS: 60,
}  # fmt: skip
"""Rough tokens of a reply, for estimates without a server."""
OUTCOMES = ("read", "empty", "unread", "not_asked", "not_askable")
WORDS = (
    "{read:,} judged, {empty:,} without a statement, {unread:,} unreadable, {not_asked:,} not asked; "
    "{not_askable:,} lack the data to be judged."
)


@dataclass(frozen=True)
class CitedStatement:
    """A statement of an answer, and the passage that it cites."""

    statement: str
    passage: str


@dataclass(frozen=True)
class AnswerWithEvidence:
    """One answer that is judged by its evidence.

    passages   texts of the evidence, best first; () if the release has none
    reference  the first reference answer; None: the question has none
    """

    question_id: str
    question: str
    system_id: str
    answer: str
    passages: tuple[str, ...] = ()
    reference: str | None = None
    citations: tuple[CitedStatement, ...] = ()

    def texts(self, measure: str) -> dict[str, str] | None:
        """The texts for the prompt of a measure; None if the measure does not apply to this answer."""
        if measure in (CONTEXT_PRECISION, CONTEXT_RECALL) and not self.reference:
            return None
        if measure in (FAITHFULNESS, CONTEXT_PRECISION, CONTEXT_RECALL) and not self.passages:
            return None
        if measure == CITATION_CORRECTNESS and not self.citations:
            return None
        cited = [f"Statement: {one.statement}\nPassage {number}: {one.passage}" for number, one in enumerate(self.citations, 1)]
        every = {
            "question": self.question,
            "answer": self.answer,
            "reference_answer": self.reference or "",
            "passages": _numbered(self.passages),
            "citations": _numbered(cited),
        }
        return {name: every[name] for name in FIELDS[measure]}

    def numbered(self, measure: str) -> int:
        """How many numbered texts the prompt of a measure has that its reply must answer one by one."""
        return {CONTEXT_PRECISION: len(self.passages), CITATION_CORRECTNESS: len(self.citations)}.get(measure, 0)


def _numbered(texts: Sequence[str]) -> str:
    return "\n\n".join(f"{number}. {text}" for number, text in enumerate(texts, 1))


def load_evidence_prompts(folder: Path | None = None) -> dict[str, Prompt]:
    """The prompts by measure, from `folder` where it has them. Raises AuditError if a template cannot be used."""
    return load_templates(PROMPT_FORMS.values(), __package__, folder)


def evidence_task(
    prompts: Mapping[str, Prompt], model: str, answers: Sequence[AnswerWithEvidence], measures: Sequence[str] = JUDGED_MEASURES
) -> ItemTask[AnswerWithEvidence]:
    """The answers to judge, in the order of questions: one call for each measure that is asked of an answer."""

    def calls_of(item: AnswerWithEvidence) -> Iterator[Call]:
        for measure in measures:
            if texts := item.texts(measure):
                yield prompts[measure].call(model, item.question_id, texts)

    @cache
    def numbered() -> dict[str, int]:
        # A call alone does not reveal how many texts it numbers: they are other people's, and may contain numbers
        return {call.key: item.numbered(call.purpose) for item in answers for call in calls_of(item)}

    def is_read(call: Call, reply: Reply) -> bool:
        return read_evidence_reply(call.purpose, reply, numbered().get(call.key, 0)).readable

    tokens = {measure: REPLY_TOKENS[measure] for measure in measures}
    return ItemTask(prompts, model, STAGE, lambda: answers, calls_of, is_read, tokens=tokens, stage=STAGE)


def evidence_values(
    task: ItemTask[AnswerWithEvidence], replies: Replies, summaries: Mapping[str, Summary]
) -> dict[tuple[str, str, str], float]:
    """(question id, system id, measure) -> value, of every reply that has one.

    The summary of each measure counts replies with a value (read), those that were read and found nothing to measure, such as
    no statement (empty), those that could not be read (unread), and answers without the data to be judged by (not_askable).
    """
    values: dict[tuple[str, str, str], float] = {}
    for item, call, reply in task.results(replies):
        summary = summaries[call.purpose]
        if reply is None:
            summary.count(not_asked=1)
            continue
        verdict = read_evidence_reply(call.purpose, reply, item.numbered(call.purpose))
        has_value, readable = verdict.value is not None, verdict.readable
        summary.count(
            read=has_value, empty=readable and not has_value, unread=not readable, reason=None if readable else verdict.reason
        )
        if verdict.value is not None:
            values[item.question_id, item.system_id, call.purpose] = verdict.value
    answers = sum(1 for _ in task.items())
    for summary in summaries.values():
        summary.count(not_askable=answers - summary.counts.total())
    return values
