"""The generator without a model: quotes the passages closest to the question, and says how surely they answer it.

Nothing reads them. What is quoted is whole passages, word for word, behind the headings and leads that give them their meaning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from audit.errors import AuditError
from audit.pipeline.answers.citations import Quote
from audit.pipeline.answers.evidence import GroundedQuestion, NumberedPassage, evidence_of, without_numbers
from audit.pipeline.answers.files import THRESHOLD, Record, answer_record, unread_record
from audit.pipeline.answers.unreadable import asked_in, other_language
from audit.pipeline.retrieval.found import WAYS, thresholds
from audit.pipeline.retrieval.strategies import CLOSEST
from audit.text.documents import Document
from audit.vocabulary import NOT_ADDRESSED, PASSAGES_GENERATOR, Found

QUOTED = 2
"""Passages in an answer, at most (benchmarks/leaflets.md)."""
NOT_FOUND = f"{NOT_ADDRESSED}: no passage is close enough to the question."


def quoted_answers(questions: Iterable[GroundedQuestion]) -> Iterator[Record]:
    """The records of answers.jsonl for `questions`, in their order, which is handbook by handbook.

    `usage` of an answer has `generator` and `score`, that of its closest passage (left out where the handbook has none). The
    closest passages of a question that was not found stay in its `retrieval`. Raises AuditError for passages of another strategy
    than `closest`, and for those of a sentence model whose scores nobody measured.
    """
    for document, of_document in groupby(questions, key=lambda question: question.document):
        asked = list(of_document)
        reason = other_language(document, asked_in(question.query.text for question in asked))
        yield from (unread_record(question, reason) if reason else quoted_answer(question) for question in asked)


def quoted_answer(question: GroundedQuestion) -> Record:
    """The record of one answer."""
    way, closest = _way(question.retrieval), question.retrieval.get("passages") or ()
    score = float(closest[0]["score"]) if closest else None
    found = thresholds(way).of(question.document).found(score)
    evidence = evidence_of(question)
    usage = {"generator": PASSAGES_GENERATOR, **({} if score is None else {"score": score})}
    if found is Found.NOT_FOUND:
        return answer_record(question, evidence, NOT_FOUND, method=THRESHOLD, usage=usage, found=found)
    chosen = evidence.passages[:QUOTED]
    text = "\n\n".join(f"{quoted_text(passage, question.document)} [{passage.number}]" for passage in chosen)
    quotes = [Quote(passage.number, passage.start, passage.end) for passage in chosen]
    return answer_record(question, evidence, text, usage=usage, quotes=quotes, found=found)


def _way(retrieval: Mapping[str, Any]) -> str:
    strategy, encoder = retrieval.get("strategy"), str(retrieval.get("encoder"))
    if strategy != CLOSEST:
        raise AuditError(
            f"These passages were found by '{strategy}', and only the scores of '{CLOSEST}' say how surely a passage answers. "
            f"Nothing was written. Search again with --strategy {CLOSEST}, or let a model answer: --generator model."
        )
    if encoder not in WAYS:
        raise AuditError(
            f"These passages were compared by '{encoder}', and it was never measured what its scores mean. Nothing was written. "
            f"Search again with one of: {', '.join(WAYS)}, or let a model answer: --generator model."
        )
    return WAYS[encoder]


def quoted_text(passage: NumberedPassage, document: Document) -> str:
    """A passage behind its headings and its leads: "Bananas" alone may be advice to eat them.

    The heading above the section's own counts too: Foods to avoid > Fruits > Bananas.
    """
    section = document.by_id[passage.section_id]
    path = " > ".join(filter(None, (*section.above[-1:], section.heading.strip())))
    in_front = [f"{path}{'' if path[-1] in '.:!?' else ':'}"] if path else []
    return without_numbers("\n".join([*in_front, *passage.leads, passage.text]))
