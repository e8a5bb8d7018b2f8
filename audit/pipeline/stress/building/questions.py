"""Questions for stress tests and their signal documents, checked; unusable ones are counted with a message."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

MAX_EXAMPLES = 3
# Other names for the documented fields in published files
ALIASES = {
    "question_id": ("question_id", "id", "qid"),
    "question": ("question", "text"),
    "options": ("options", "choices"),
    "gold": ("gold", "answer", "label", "answers", "reference_answers"),
    "documents": ("documents", "signal_documents", "contexts"),
}


@dataclass(frozen=True)
class SignalDocument:
    """A document that helps to answer its question. `document_id` is unique within the question."""

    document_id: str
    text: str


@dataclass(frozen=True)
class StressQuestion:
    """A question with its right answer and its signal documents.

    options  letter -> text; empty for an open question
    gold     the letter of the right option, or the answer's text
    retrieval  how the documents were found; None: they came with it
    topic    questions with the same topic are one question put to several handbooks, so none is noise for another
    """

    question_id: str
    question: str
    gold: str
    options: Mapping[str, str] = field(default_factory=dict)
    documents: tuple[SignalDocument, ...] = ()
    dataset: str | None = None
    topic: str | None = None
    retrieval: str | None = None


@dataclass
class BuildReport:
    """Questions and documents left out: counts by reason, with the first messages."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def add(self, reason: str, sentence: str) -> None:
        """Count one case."""
        self.counts[reason] += 1
        sentences = self.examples.setdefault(reason, [])
        if len(sentences) < MAX_EXAMPLES:
            sentences.append(sentence)

    def summary_lines(self, but: tuple[str, ...] = ()) -> list[str]:
        """A line for each reason, followed by the first cases; without reasons that begin with one of `but`."""
        lines = []
        for reason, count in self.counts.most_common():
            if reason.startswith(but):
                continue
            lines += [f"{reason}: {count:,}", *(f"  {sentence}" for sentence in self.examples[reason])]
        return lines

    def record(self) -> dict[str, Any]:
        """Counts and examples as JSON values."""
        return {reason: {"count": count, "examples": self.examples[reason]} for reason, count in self.counts.most_common()}


class _UnusableError(Exception):
    """Why a question cannot be used: a short reason for counting, and the message."""

    def __init__(self, reason: str, sentence: str) -> None:
        super().__init__(sentence)
        self.reason = reason


def checked_questions(records: Iterator[tuple[str, Any]], dataset: str | None, report: BuildReport) -> Iterator[StressQuestion]:
    """The questions of records in the documented layout, each with its location; of two with one id, the first is used."""
    seen: set[str] = set()
    for where, record in records:
        try:
            question = parse_question(record, where, dataset, report)
        except _UnusableError as error:
            report.add(error.reason, f"{where}: {error} The question was left out.")
            continue
        if question.question_id in seen:
            report.add(
                "question id used twice", f"{where}: question '{question.question_id}' occurred before. This one was left out."
            )
            continue
        seen.add(question.question_id)
        yield question


def parse_question(record: Any, where: str, dataset: str | None, report: BuildReport) -> StressQuestion:
    """The question of one record."""
    if not isinstance(record, Mapping):
        raise _UnusableError("not a record", "the line is not a JSON object.")
    question_id, question = _text(record, "question_id"), _text(record, "question")
    if not question_id or not question:
        missing = "question_id" if not question_id else "question"
        raise _UnusableError("without id or question", f"'{missing}' is missing or empty.")
    options = _options(record, question_id)
    gold = _gold(record, question_id, options)
    documents = tuple(_documents(_field(record, "documents"), f"{where}, question '{question_id}'", report))
    return StressQuestion(question_id, question, gold, options, documents, _text(record, "dataset") or dataset)


def _field(record: Mapping[str, Any], name: str) -> Any:
    return (
        next((record[alias] for alias in ALIASES[name] if record.get(alias) is not None), None)
        if name in ALIASES
        else record.get(name)
    )


def _text(record: Mapping[str, Any], name: str) -> str:
    value = _field(record, name)
    return str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _options(record: Mapping[str, Any], question_id: str) -> dict[str, str]:
    value = _field(record, "options")
    if value is None or value == {} or value == []:
        return {}
    if isinstance(value, list):
        value = {chr(ord("A") + number): text for number, text in enumerate(value)}
    if not isinstance(value, Mapping):
        raise _UnusableError("unreadable options", f"the options of '{question_id}' must be an object of letters and texts.")
    options = {str(letter).strip(): str(text).strip() for letter, text in value.items() if text is not None and str(text).strip()}
    if len(options) < 2:
        raise _UnusableError("fewer than two options", f"'{question_id}' has {len(options)} option, but at least 2 are needed.")
    return options


def _gold(record: Mapping[str, Any], question_id: str, options: Mapping[str, str]) -> str:
    """The gold answer, the first of several. With options, it is a letter, or the text of exactly one option in its place."""
    listed = _field(record, "gold")
    gold = _text({"gold": listed[0]} if isinstance(listed, list) and listed else record, "gold")
    if not gold:
        raise _UnusableError("without gold", f"'{question_id}' has no gold answer.")
    if not options or gold in options:
        return gold
    letters = [letter for letter, text in options.items() if text.casefold() == gold.casefold()]
    if len(letters) == 1:
        return letters[0]
    is_letter = len(gold) == 1 and gold.isalpha()
    reason = "option letter does not exist" if is_letter else "gold is not an option"
    raise _UnusableError(
        reason, f"the gold of '{question_id}' is '{gold[:40]}'. Allowed: {', '.join(options)}, or an option's text."
    )


def _documents(value: Any, where: str, report: BuildReport) -> Iterator[SignalDocument]:
    """The documents with a text, without repeated texts."""
    if value is not None and not isinstance(value, list):
        report.add("unreadable documents", f"{where}: documents must be a list. The question has no signal.")
        return
    texts: set[str] = set()
    ids: set[str] = set()
    for number, document in enumerate(value or []):
        text = document if isinstance(document, str) else document.get("text") if isinstance(document, Mapping) else None
        own_id = (
            str(document.get("document_id") or document.get("id") or number) if isinstance(document, Mapping) else str(number)
        )
        if not isinstance(text, str) or not text.strip():
            report.add("empty document", f"{where}: document {own_id} has no text and was dropped.")
        elif same_text(text) in texts or own_id in ids:
            report.add("duplicate document", f"{where}: document {own_id} occurred before and was dropped.")
        else:
            yield SignalDocument(own_id, text.strip())
            texts.add(same_text(text))
            ids.add(own_id)


def with_unique_document_ids(questions: Iterable[StressQuestion]) -> list[StressQuestion]:
    """The questions, in the order of their ids; a document id that several questions share gets the question's id as a prefix.

    The ids must be unique because a context mixes documents of several questions.
    """
    ordered = sorted(questions, key=lambda question: question.question_id)
    counts = Counter(document.document_id for question in ordered for document in question.documents)
    return [replace(question, documents=tuple(_unique(question, counts))) for question in ordered]


def _unique(question: StressQuestion, counts: Counter[str]) -> Iterator[SignalDocument]:
    for document in question.documents:
        is_shared = counts[document.document_id] > 1
        yield replace(document, document_id=f"{question.question_id}/{document.document_id}") if is_shared else document


def same_text(text: str) -> str:
    """The text with normalised white space and case, for finding duplicates."""
    return " ".join(text.split()).casefold()
