"""The citations of an answer: the passage, the statement in it, and the page on which that statement is printed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from audit.pipeline.answers.evidence import Evidence, NumberedPassage
from audit.text.documents import Document, Section
from audit.text.statements import Statement, statements
from audit.text.tokens import cited_numbers, cited_spans, stems, without_citations

CitationRecord = dict[str, Any]
NUMBER = re.compile(r"\d+")


class Quote(NamedTuple):
    """A statement that supports an answer: characters `start` to `end` of the text of its passage's section.

    passage  the passage's number
    Where start and end are equal, the section's heading is quoted.
    """

    passage: int
    start: int
    end: int


def citation_records(
    text: str, evidence: Evidence, document: Document, quotes: Sequence[Quote] | None = None
) -> list[CitationRecord]:
    """The citations of an answer as records, one per passage and statement that it cites.

    quotes  what the generator quoted; None: unknown (a model wrote the answer), so they are inferred from its words

    `known` is False for a passage that was not given. Where the statement is known, `quote` is its text, `quote_start` and
    `quote_end` its position in the section's text (None for a heading), and `page` its page (None: unknown).
    """
    chosen = list(_most_similar_statements(text, evidence, document)) if quotes is None else quotes
    return [
        record
        for number in cited_numbers(text)
        for record in _records_of_passage(number, evidence.passage(number), document, chosen)
    ]


def _records_of_passage(
    number: int, passage: NumberedPassage | None, document: Document, quotes: Sequence[Quote]
) -> Iterator[CitationRecord]:
    record = {"passage": number, "section_id": passage.section_id if passage else None, "known": passage is not None}
    section = document.by_id.get(passage.section_id) if passage else None
    of_passage = list(dict.fromkeys(quote for quote in quotes if quote.passage == number)) if section else []
    if section is None or not of_passage:
        yield record
    else:
        yield from ({**record, **_quote_record(section, quote)} for quote in of_passage)


def _quote_record(section: Section, quote: Quote) -> CitationRecord:
    if quote.start == quote.end:
        page = section.pages[0] if section.pages else None
        return {"page": page, "quote_start": None, "quote_end": None, "quote": section.heading}
    text = section.text[quote.start : quote.end]
    return {"page": section.page_at(quote.start), "quote_start": quote.start, "quote_end": quote.end, "quote": text}


def _most_similar_statements(text: str, evidence: Evidence, document: Document) -> Iterator[Quote]:
    """For each sentence with citations, the statement of each cited passage that shares most words with it, if any."""
    for cited in cited_spans(text):
        words = _comparable_words(without_citations(text[cited.start : cited.end]))
        for number in cited.numbers:
            passage = evidence.passage(number)
            candidates = _statements_of(passage, document) if passage else []
            best = max(candidates, key=lambda statement: _similarity(words, statement), default=None)
            if best is not None and _similarity(words, best) > 0:
                yield Quote(number, best.start, best.end)


def _statements_of(passage: NumberedPassage, document: Document) -> list[Statement]:
    section = document.by_id.get(passage.section_id)
    of_section = statements(section.text) if section else ()
    return [statement for statement in of_section if statement.end > passage.start and statement.start < passage.end]


def _similarity(words: frozenset[str], statement: Statement) -> float:
    """Dice coefficient in [0, 1] of the words of a sentence and of a statement with its leads."""
    own = _comparable_words(statement.quoted)
    return 2 * len(words & own) / (len(words) + len(own)) if own else 0.0


def _comparable_words(text: str) -> frozenset[str]:
    # "Wait 3 months" and "wait 6 months" differ only in the number
    return frozenset((*stems(text), *NUMBER.findall(text)))
