"""The form of the judge's replies on evidence, and their parsing.

Each reply is one object with one list, or with one grade. Every entry of a list must have a readable verdict, and a reply on
numbered passages or citations one entry for each number: otherwise the whole reply is unreadable, because a share of the entries
that happen to be readable would be that of another answer. An unreadable reply has no value, and is never 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
from audit.pipeline.llm.calls import CUT
from audit.pipeline.llm.reply_text import json_objects, unreadable_reason, whole_object, without_thinking
from audit.release.journal_files import Reply
from audit.vocabulary import Parse

YES, NO, PARTLY = "yes", "no", "partly"
MAX_STATEMENT, MAX_REASON, MAX_ENTRIES = 300, 240, 40
NO_VERDICT, WRONG_NUMBERS, NO_STATEMENTS = "no verdict", "numbers do not match", "no statements"


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

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the reply. A model writes the keys in this order: what is judged comes before the verdict."""
        about = (
            {"number": {"type": "integer"}} if self.numbered else {"statement": {"type": "string", "maxLength": MAX_STATEMENT}}
        )
        entry = _object_schema({**about, self.verdict: {"type": "string", "enum": list(self.verdicts)}})
        return _object_schema({self.entries: {"type": "array", "items": entry, "maxItems": MAX_ENTRIES}})


def _object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {**properties}, "required": list(properties), "additionalProperties": False}


FORMS = {
    FAITHFULNESS: ReplyForm("statements", "supported", (YES, NO), False, share_accepted),
    CONTEXT_PRECISION: ReplyForm("passages", "useful", (YES, NO), True, context_precision),
    CONTEXT_RECALL: ReplyForm("statements", "attributable", (YES, NO), False, share_accepted),
    CITATION_CORRECTNESS: ReplyForm("citations", "supports", (YES, PARTLY, NO), True, share_accepted),
}
RELEVANCE_SCHEMA = _object_schema(
    {"reason": {"type": "string", "maxLength": MAX_REASON}, "grade": {"type": "integer", "enum": list(RELEVANCE_GRADES)}}
)
SCHEMAS = {**{name: form.schema() for name, form in FORMS.items()}, ANSWER_RELEVANCE: RELEVANCE_SCHEMA}


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
    if reason := unreadable_reason(reply):
        return _unread(reason)
    text = without_thinking(reply.text or "")
    entire = whole_object(text)
    candidates = [entire] if entire is not None else [match.value for match in json_objects(text)]
    key = FORMS[measure].entries if measure in FORMS else "grade"
    objects = [value for value in candidates if key in value]
    # Of two objects it is unclear which one is meant
    if len(objects) != 1:
        return _unread(CUT if reply.outcome == CUT else NO_VERDICT)
    value, problem = _graded(objects[0]) if measure == ANSWER_RELEVANCE else _listed(FORMS[measure], objects[0], expected)
    if value is None and problem != NO_STATEMENTS:
        return _unread(problem)
    return EvidenceVerdict(value, Parse.STRICT if entire is not None else Parse.LENIENT, problem if value is None else None)


def _graded(content: Mapping[str, Any]) -> tuple[float | None, str]:
    grade = content["grade"]
    if isinstance(grade, bool) or grade not in RELEVANCE_GRADES:
        return None, NO_VERDICT
    return answer_relevance(int(grade)), ""


def _listed(form: ReplyForm, content: Mapping[str, Any], expected: int) -> tuple[float | None, str]:
    """The value of a list of entries, or None and why it has none."""
    entries = content[form.entries]
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        return None, NO_VERDICT
    verdicts = [str(entry.get(form.verdict)).strip().lower() for entry in entries]
    if not all(verdict in form.verdicts for verdict in verdicts):
        return None, NO_VERDICT
    if not form.numbered:
        return form.measure([verdict == form.accepted for verdict in verdicts]), NO_STATEMENTS
    by_number = {entry.get("number"): verdict for entry, verdict in zip(entries, verdicts, strict=True)}
    if len(entries) != expected or set(by_number) != set(range(1, expected + 1)):
        return None, WRONG_NUMBERS
    return form.measure([by_number[number] == form.accepted for number in range(1, expected + 1)]), NO_STATEMENTS


def _unread(reason: str) -> EvidenceVerdict:
    return EvidenceVerdict(None, Parse.NONE, reason)
