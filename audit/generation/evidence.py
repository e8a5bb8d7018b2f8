"""What an answer may rest on: numbered passages, or the whole handbook, as far as there is room."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache

from audit.corpus.documents import Section
from audit.generation.asked import Asked
from audit.generation.relevance import Relevance

WHOLE = "full_document"
"""How the modes begin in which a handbook is given whole: full_document, full_document_fallback."""
MARK = re.compile(r"\[(\s*\d[^\[\]]*)\]")
"""What could be taken for the number of a passage."""


def unnumbered(text: str) -> str:
    """A text whose own marks, such as `[12]` for a reference, are in parentheses: only our numbers are in brackets."""
    return MARK.sub(r"(\1)", text)


@dataclass(frozen=True)
class Passage:
    """A numbered piece of evidence: characters `start` to `end` of a section, under the section's title."""

    number: int
    section_id: str
    title: str
    text: str
    start: int = 0
    end: int = 0

    @property
    def shown(self) -> str:
        """As a prompt has it: `[1] Medicines > When you travel`, and below it the text."""
        return f"[{self.number}] {unnumbered(self.title)}\n{unnumbered(self.text)}".strip()


@dataclass(frozen=True)
class Evidence:
    """The passages that are given, numbered from 1; `whole`: all of the handbook; `cut`: in a sentence, what was left out."""

    passages: tuple[Passage, ...]
    whole: bool = False
    cut: str | None = None

    @property
    def shown(self) -> str:
        """All passages as a prompt has them."""
        return _shown(self.passages)

    def passage(self, number: int) -> Passage | None:
        """The passage of that number, if one was given."""
        return self.passages[number - 1] if 1 <= number <= len(self.passages) else None


@lru_cache(8)  # a whole handbook is the same for all its questions
def _shown(passages: tuple[Passage, ...]) -> str:
    return "\n\n".join(passage.shown for passage in passages)


def evidence_of(asked: Asked, relevance: Relevance, most: int | None = None) -> Evidence:
    """The evidence for one question: at most `most` characters of it (None: all)."""
    if str(asked.retrieval.get("mode") or "").startswith(WHOLE):
        return _document(asked, relevance, most)
    passages = [_passage(number, each, relevance) for number, each in enumerate(asked.retrieval.get("passages") or (), 1)]
    kept = _fitting(passages, most)
    return Evidence(tuple(kept), cut=_cut("passages", "first", len(kept), len(passages), most))


def _passage(number: int, found: object, relevance: Relevance) -> Passage:
    told = dict(found) if isinstance(found, dict) else {}
    section = relevance.document.by_id.get(str(told.get("section_id")))
    start, end = int(told.get("start") or 0), told.get("end")
    text = told.get("text")
    if text is None:
        text = section.text[start:end] if section else ""
    title = section.title if section else ""
    return Passage(
        number, str(told.get("section_id") or ""), title, str(text), start, start + len(text) if end is None else int(end)
    )


def _document(asked: Asked, relevance: Relevance, most: int | None) -> Evidence:
    sections = [section for section in relevance.document.sections if section.text.strip()]
    if most is None or sum(map(_length, sections)) <= most:
        return Evidence(_numbered(sections), whole=True)
    return _best(asked, relevance, sections, most)


def _best(asked: Asked, relevance: Relevance, sections: list[Section], most: int) -> Evidence:
    """As many sections as there is room for: those that retrieval found, then those that say most of the question."""
    found = sorted(asked.retrieval.get("passages") or (), key=lambda each: each.get("rank") or math.inf)
    ranked = [str(each.get("section_id")) for each in found if each.get("rank")]
    ranked += [section.section_id for section in relevance.ranked(asked.query.text)]
    there = {section.section_id for section in sections}
    chosen, room = set[str](), most
    for section_id in dict.fromkeys(each for each in ranked if each in there):
        length = _length(relevance.document.by_id[section_id])
        if length <= room:
            chosen.add(section_id)
            room -= length
    kept = [section for section in sections if section.section_id in chosen]
    return Evidence(_numbered(kept), cut=_cut("sections", "best", len(kept), len(sections), most))


def _numbered(sections: list[Section]) -> tuple[Passage, ...]:
    return tuple(
        Passage(number, section.section_id, section.title, section.text, 0, len(section.text))
        for number, section in enumerate(sections, 1)
    )


def _fitting(passages: list[Passage], most: int | None) -> list[Passage]:
    kept, room = list[Passage](), most
    for passage in passages:
        if room is not None:
            room -= len(passage.shown)
            if room < 0:
                break
        kept.append(passage)
    return kept


def _length(section: Section) -> int:
    return len(section.title) + len(section.text) + 10  # its number and the lines between


def _cut(what: str, which: str, kept: int, there: int, most: int | None) -> str | None:
    if kept == there:
        return None
    return f"Too long for the model: {kept:,} of {there:,} {what} were given, the {which} that fit into {most:,} characters."
