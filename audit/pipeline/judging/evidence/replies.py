"""The form of the judge's replies on evidence, and their parsing.

Each reply is one object with one list, or with one grade. Every entry of a list must have a readable verdict, and a reply on
numbered passages or citations one entry for each number: otherwise the whole reply is unreadable, because a share of the entries
that happen to be readable would be that of another answer. An unreadable reply has no value, and is never 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, create_model

from audit.evaluation.evidence_measures import (
    ANSWER_RELEVANCE,
    CITATION_CORRECTNESS,
    CONTEXT_PRECISION,
    CONTEXT_RECALL,
    FAITHFULNESS,
    RELEVANCE_GRADES,
    answer_relevance,
    context_precision,
    share_accepted,
)
from audit.pipeline.llm.reply_models import ReplyModel, all_entries_of, annotated, cleaned, faulty, read_reply, spelled
from audit.release.journal_files import Reply
from audit.vocabulary import Parse

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
    read, reason = reading.only(NO_VERDICT)
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
