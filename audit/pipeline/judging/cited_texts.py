"""The texts that the answers of a release were given and cite: of the passages themselves, or of their sections."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from audit.evaluation.retrieval_measures import is_verbatim
from audit.pipeline.judging.system_records import Key
from audit.pipeline.release_tables import release_layout, valid_records
from audit.release.handbook_kinds import SECTION
from audit.release.layout import Layout
from audit.release.route_kinds import ROUTE
from audit.release.system_kinds import SYSTEM_ANSWER

Record = Mapping[str, Any]
Section = tuple[str, str]
"""Handbook id and section id."""


@dataclass
class CitedTexts:
    """The evidence and citations of answers.

    passages   (question id, system id) -> records of its evidence, best first
    citations  the same -> records of its citations, of passages that it was given
    sections   text of each section that they name
    """

    passages: dict[Key, list[Record]] = field(default_factory=dict)
    citations: dict[Key, list[Record]] = field(default_factory=dict)
    sections: dict[Section, str] = field(default_factory=dict)

    def passage_texts(self, key: Key) -> list[str | None]:
        """The text of each passage of an answer, best first; None where the release has none."""
        return [self._text(passage) for passage in self.passages.get(key, ())]

    def cited_text(self, key: Key, citation: Record) -> str | None:
        """The text of the section that a citation names, or of the passage with its number; None if there is none."""
        if text := self.sections.get(_section_of(citation)):
            return text
        texts, number = self.passage_texts(key), citation.get("passage")
        return texts[number - 1] if type(number) is int and 1 <= number <= len(texts) else None

    def _text(self, passage: Record) -> str | None:
        if passage.get("text"):
            return str(passage["text"])
        text = self.sections.get(_section_of(passage), "")
        # Evidence of a routing may be a part of its section
        return text[passage.get("start") or 0 : passage.get("end") or len(text)] or None

    def quote_check(self, key: Key) -> float | None:
        """The share of an answer's quotes that are in the text that they cite, word for word.

        None without a quote, and where the text of a quoted section is not in the release: it cannot be checked.
        """
        quotes = [
            (str(citation["quote"]), self.cited_text(key, citation))
            for citation in self.citations.get(key, ())
            if citation.get("quote")
        ]
        checked = [is_verbatim(quote, text) for quote, text in quotes if text is not None]
        return sum(checked) / len(checked) if checked and len(checked) == len(quotes) else None


def read_cited_texts(folder: Path, max_bytes: int, reject: Callable[[], None] = lambda: None) -> CitedTexts:
    """The evidence and citations of the answers of the release in `folder`. Of duplicate records the first is used.

    An answer that brings no evidence has that of its routing. Raises ReleaseError where `folder` is not the folder of a release.
    """
    layout, texts = release_layout(folder), CitedTexts()
    for record in valid_records(layout, SYSTEM_ANSWER, max_bytes, reject):
        key = record["question_id"], record["system_id"]
        evidence = sorted(_objects(record["evidence"]), key=lambda passage: passage["rank"])
        texts.passages.setdefault(key, evidence)
        cited = [citation for citation in _objects(record["citations"]) if citation.get("known") is not False]
        texts.citations.setdefault(key, cited)
    for record in valid_records(layout, ROUTE, max_bytes, reject):
        key = record["question_id"], record["system_id"]
        if not texts.passages.get(key):
            texts.passages[key] = sorted(record["evidence"], key=lambda passage: passage["rank"])
    texts.sections = dict(_sections(layout, max_bytes, reject, texts))
    return texts


def _objects(stored: str | None) -> list[Record]:
    return [record for record in json.loads(stored or "[]") if isinstance(record, dict)]


def _section_of(record: Record) -> Section:
    return str(record.get("handbook_id") or ""), str(record.get("section_id") or "")


def _sections(layout: Layout, max_bytes: int, reject: Callable[[], None], texts: CitedTexts) -> Iterator[tuple[Section, str]]:
    """The sections that passages and citations name: a release may have far more text than that."""
    named = {_section_of(one) for table in (texts.passages, texts.citations) for records in table.values() for one in records}
    for record in valid_records(layout, SECTION, max_bytes, reject) if named else ():
        if (where := (record["handbook_id"], record["section_id"])) in named:
            yield where, record["text"]
