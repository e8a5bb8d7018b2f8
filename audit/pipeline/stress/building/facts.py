"""One fact of a document: a question about one of its statements, the true answer, and the smallest edit that makes it false."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from audit.pipeline.stress.building.contexts import topic_of
from audit.pipeline.stress.building.draws import rank
from audit.pipeline.stress.building.questions import BuildReport, StressQuestion
from audit.pipeline.stress.edits.amounts import amount_replacements
from audit.pipeline.stress.edits.assertions import POINTS_BACK, assertions
from audit.pipeline.stress.edits.frequencies import frequency_replacements
from audit.pipeline.stress.edits.negations import negation_replacements
from audit.pipeline.stress.edits.opposites import direction_replacements
from audit.pipeline.stress.edits.replacements import NEGATION, Replacement
from audit.text.edits import TextEdit, edited
from audit.text.statements import Statement
from audit.text.tokens import stems

RULES: tuple[Callable[[str, int, int], Iterator[Replacement]], ...] = (
    amount_replacements,
    frequency_replacements,
    negation_replacements,
    direction_replacements,
)
GAP = "____"
REWRITTEN = "rewritten"
"""The kind of an edit that replaces the whole document."""
NO_RULE = "document without a statement that a rule can change"
# Of a long statement, only the words around the gap are shown
WORDS_AROUND = 30
# Beyond this number of shared words, a statement is not more relevant to the question
MAX_SHARED = 2


@dataclass(frozen=True)
class Fact:
    """The content of one statement as a question, with the answers of the document and of its edited copy.

    sub_answer   a string of the document, `false_answer` a string of the edited document
    edit         the edit, whose kind is one of `replacements.KINDS` (or "model", REWRITTEN)
    """

    sub_question: str
    sub_answer: str
    false_answer: str
    edit: TextEdit


def rule_facts(
    questions: Sequence[StressQuestion], seed: int, report: BuildReport, *, pool: Sequence[StressQuestion] = ()
) -> dict[str, Fact]:
    """Document id -> fact, for each signal document that has a statement which a rule can change; `report` counts the others.

    pool  all questions: statements shared by documents of several of them are never asked about
    """
    shared = shared_statements(pool or questions)
    facts: dict[str, Fact] = {}
    for question in questions:
        for document in question.documents:
            fact = find_fact(document.text, question.question, f"{seed} {document.document_id}", shared)
            if fact:
                facts[document.document_id] = fact
            else:
                report.add(NO_RULE, f"{document.document_id}: no rule fits. It is in no context of integration and robustness.")
    return facts


def find_fact(text: str, question: str, seed: str, shared: Collection[str] = frozenset()) -> Fact | None:
    """The fact for a document's sub-question; None where no rule can change any of its statements.

    Statements that share words with the question come first; among these, the kinds of edit alternate, by `seed`.

    shared  statements that other documents also have, so that a question about one would not identify this document
    """
    candidates = [one for one in find_candidates(text) if one[0].text not in shared]
    # Prefer a statement that can be understood on its own, and an edit that a reader could miss
    candidates = [one for one in candidates if not POINTS_BACK.match(one[0].text)] or candidates
    candidates = [one for one in candidates if not _is_bare_denial(text, one[1])] or candidates
    if not candidates:
        return None
    asked = frozenset(stems(question))
    shared_words = [min(MAX_SHARED, len(asked.intersection(stems(statement.text)))) for statement, _ in candidates]
    closest = [one for one, count in zip(candidates, shared_words, strict=True) if count == max(shared_words)]
    kind = min({change.kind for _, change in closest}, key=lambda name: rank(seed, name))
    own = [candidate for candidate in closest if candidate[1].kind == kind]
    return as_fact(text, *min(own, key=lambda one: rank(seed, one[1].start)))


def shared_statements(questions: Iterable[StressQuestion]) -> frozenset[str]:
    """The statements found in documents of different topics, such as boilerplate of an encyclopedia, or in two of one question.

    Both documents may be in one context. Documents of one topic are never signal and noise in the same context.
    """
    topics: dict[str, set[str]] = {}
    shared: set[str] = set()
    for question in questions:
        found = Counter(words for document in question.documents for words in _statements(document.text))
        shared |= {words for words, documents in found.items() if documents > 1}
        for document in question.documents:
            topics.setdefault(document.text, set()).add(topic_of(question))
    shared_topics: dict[str, set[str]] = {}
    for text, own in topics.items():
        for words in _statements(text):
            shared_topics[words] = shared_topics[words] & own if words in shared_topics else set(own)
    return frozenset(shared | {words for words, common in shared_topics.items() if not common})


@lru_cache(100_000)
def _statements(text: str) -> frozenset[str]:
    return frozenset(statement.text for statement in assertions(text))


def find_candidates(text: str) -> Iterator[tuple[Statement, Replacement]]:
    """Every assertion, with each change that a rule can make to it."""
    for statement in assertions(text):
        for rule in RULES:
            for change in rule(text, statement.start, statement.end):
                yield statement, change


def as_fact(text: str, statement: Statement, change: Replacement) -> Fact:
    """The fact that a change makes false."""
    edit = edited(change.kind, text, change.start, change.end, change.after)
    question = _gap_question(text, statement, change)
    return Fact(question, edit.before, edit.after, edit)


def _is_bare_denial(text: str, change: Replacement) -> bool:
    """Whether the only change is an added "not": nobody believes "asthma is not a disease"."""
    return change.kind == NEGATION and change.after.lower().startswith(text[change.start : change.end].lower())


def _gap_question(text: str, statement: Statement, change: Replacement) -> str:
    """The statement with a gap for the answer; where only two answers are possible, both are named."""
    before = _last_words(" ".join((*statement.leads, text[statement.start : change.start])))
    after = _first_words(text[change.end : statement.end])
    gap = f'"{before}{GAP}{after}"'
    if change.kind in ("amount", "unit") or change.noun == "frequency":
        return f"Which {change.noun} belongs in the gap? {gap}"
    options: Sequence[str] = sorted((text[change.start : change.end], change.after), key=str.lower)
    return f'Which belongs in the gap, "{options[0]}" or "{options[1]}"? {gap}'


def _last_words(text: str) -> str:
    words = text.split(" ")
    return text if len(words) <= WORDS_AROUND else "… " + " ".join(words[-WORDS_AROUND:])


def _first_words(text: str) -> str:
    words = text.split(" ")
    return text if len(words) <= WORDS_AROUND else " ".join(words[:WORDS_AROUND]) + " …"
