"""The evidence in a prompt: numbered passages, or the full handbook, up to a maximum length."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, TypeVar

from audit.pipeline.retrieval.model import Query
from audit.text.documents import Document, Section
from audit.text.statements import leads_at
from audit.vocabulary import concerns

# With less, a model reads a few passages better than all the text that would just fit.
SMALL_CONTEXT = 16_000
MOST_IN_SMALL = 6
FULL_DOCUMENT = "full_document"
"""Prefix of the retrieval modes that use the full handbook: full_document, full_document_fallback."""
BRACKETED_NUMBER = re.compile(r"\[(\s*\d[^\[\]]*)\]")


class HasOrgan(Protocol):
    """A question or a handbook: it concerns one organ or all of them."""

    @property
    def organ(self) -> str:
        """The organ, or general."""


Question = TypeVar("Question", bound=HasOrgan)
Handbook = TypeVar("Handbook", bound=HasOrgan)


def meets(question: HasOrgan, handbook: HasOrgan) -> bool:
    """Whether the question is put to the handbook: both have the same organ, or one of them is general."""
    return concerns(question.organ, handbook.organ)


def question_handbook_pairs(questions: Iterable[Question], handbooks: Iterable[Handbook]) -> Iterator[tuple[Question, Handbook]]:
    """Every question with every handbook that it is put to: handbook by handbook, questions in their order."""
    all_questions = list(questions)
    for handbook in handbooks:
        yield from ((question, handbook) for question in all_questions if meets(question, handbook))


class GroundedQuestion(NamedTuple):
    """A question, the handbook that it is put to, and the record of its retrieval (mode, passages with their text, ...)."""

    query: Query
    document: Document
    retrieval: Mapping[str, Any]


def without_numbers(text: str) -> str:
    """A text whose own bracketed numbers, such as the reference `[12]`, are in parentheses."""
    # A model would otherwise cite the handbook's own reference [12] as passage 12.
    return BRACKETED_NUMBER.sub(r"(\1)", text)


@dataclass(frozen=True)
class NumberedPassage:
    """A numbered piece of evidence: characters `start` to `end` of a section, under the section's title.

    pages  the first and the last page that it is on; () where unknown
    leads  the leads of a list in whose middle it begins ("Never smoke:"), without which its items would mean something else
    """

    number: int
    section_id: str
    title: str
    text: str
    start: int = 0
    end: int = 0
    pages: tuple[int, ...] = ()
    leads: tuple[str, ...] = ()

    @property
    def in_prompt(self) -> str:
        """The passage as the prompt shows it: `[1] Medicines > When you travel (page 35)`, and the text below."""
        head = f"[{self.number}] {without_numbers(self.title)}{_page_words(self.pages)}"
        return "\n".join([head, *map(without_numbers, self.leads), without_numbers(self.text)]).strip()


def _page_words(pages: tuple[int, ...]) -> str:
    if not pages:
        return ""
    return f" (page {pages[0]})" if pages[0] == pages[-1] else f" (pages {pages[0]} to {pages[-1]})"


def _pages_between(section: Section, start: int, end: int) -> tuple[int, ...]:
    first, last = section.page_at(start), section.page_at(max(start, end - 1))
    return section.pages if first is None or last is None else (first, last)


@dataclass(frozen=True)
class Evidence:
    """The passages in the prompt, numbered from 1. `full`: the full handbook; `cut`: a sentence on what was left out.

    best_last  the best passage is nearest to the question, which follows them
    """

    passages: tuple[NumberedPassage, ...]
    full: bool = False
    cut: str | None = None
    best_last: bool = False

    @property
    def in_prompt(self) -> str:
        """All passages as a prompt shows them."""
        return _passages_in_prompt(self.passages)

    def passage(self, number: int) -> NumberedPassage | None:
        """The passage with this number, if there is one."""
        return self.passages[number - 1] if 1 <= number <= len(self.passages) else None


@lru_cache(8)  # a full handbook is the same for all its questions
def _passages_in_prompt(passages: tuple[NumberedPassage, ...]) -> str:
    return "\n\n".join(passage.in_prompt for passage in passages)


def evidence_of(question: GroundedQuestion, max_characters: int | None = None, *, small: bool = False) -> Evidence:
    """The evidence for one question, at most `max_characters` of it (None: all).

    small  for a model with less than SMALL_CONTEXT: only the best passages or sections, and the best of them last
    """
    if str(question.retrieval.get("mode") or "").startswith(FULL_DOCUMENT):
        return (_ranked_sections(question, max_characters) if small else None) or _full_document(question, max_characters)
    records = question.retrieval.get("passages") or ()
    passages = [retrieved_passage(number, record, question.document) for number, record in enumerate(records, 1)]
    fitting = fitting_passages(passages[: MOST_IN_SMALL if small else None], max_characters)
    cut = _cut_note("passages", "first", len(fitting), len(passages), max_characters)
    return _best_last(fitting, cut) if small else Evidence(tuple(fitting), cut=cut)


def _best_last(best_first: list[NumberedPassage], cut: str | None) -> Evidence:
    ordered = enumerate(reversed(best_first), 1)
    return Evidence(tuple(replace(passage, number=number) for number, passage in ordered), cut=cut, best_last=True)


def _ranked_sections(question: GroundedQuestion, max_characters: int | None) -> Evidence | None:
    """The best sections of a handbook that retrieval would give in full; None where it ranked none that fits."""
    sections = {section.section_id: section for section in question.document.sections if section.text.strip()}
    ranked = [sections[section_id] for section_id in _by_rank(question) if section_id in sections]
    fitting = fitting_passages(list(_numbered(ranked[:MOST_IN_SMALL])), max_characters)
    cut = _cut_note("sections", "best", len(fitting), len(sections), max_characters)
    return _best_last(fitting, cut) if fitting else None


def _by_rank(question: GroundedQuestion) -> list[str]:
    """The ids of the sections that retrieval ranked, best first, each once."""
    by_rank = sorted(question.retrieval.get("passages") or (), key=lambda record: record.get("rank") or math.inf)
    return list(dict.fromkeys(str(record.get("section_id")) for record in by_rank if record.get("rank")))


def retrieved_passage(number: int, record: object, document: Document) -> NumberedPassage:
    """The passage of a retrieval's record under a number; its text is the record's, else that of the handbook."""
    fields = dict(record) if isinstance(record, dict) else {}
    section_id = str(fields.get("section_id") or "")
    section = document.by_id.get(section_id)
    start, end = int(fields.get("start") or 0), fields.get("end")
    text = fields.get("text")
    if text is None:
        text = section.text[start:end] if section else ""
    title = section.title if section else ""
    end = start + len(text) if end is None else int(end)
    pages, leads = (_pages_between(section, start, end), leads_at(section.text, start)) if section else ((), ())
    return NumberedPassage(number, section_id, title, str(text), start, end, pages, leads)


def _full_document(question: GroundedQuestion, max_characters: int | None) -> Evidence:
    sections = [section for section in question.document.sections if section.text.strip()]
    if max_characters is None or sum(map(_prompt_length, sections)) <= max_characters:
        return Evidence(_numbered(sections), full=True)
    return _best_sections(question, sections, max_characters)


def _best_sections(question: GroundedQuestion, sections: list[Section], max_characters: int) -> Evidence:
    """The sections that fit: first those that retrieval ranked, then the others in reading order."""
    with_text = {section.section_id: section for section in sections}
    chosen, room = set[str](), max_characters
    # A section that does not fit is skipped; a later, shorter one may still fit
    for section_id in dict.fromkeys(section_id for section_id in (*_by_rank(question), *with_text) if section_id in with_text):
        length = _prompt_length(with_text[section_id])
        if length <= room:
            chosen.add(section_id)
            room -= length
    fitting = [section for section in sections if section.section_id in chosen]
    return Evidence(_numbered(fitting), cut=_cut_note("sections", "best", len(fitting), len(sections), max_characters))


def _numbered(sections: Iterable[Section]) -> tuple[NumberedPassage, ...]:
    return tuple(
        NumberedPassage(number, section.section_id, section.title, section.text, 0, len(section.text), section.pages)
        for number, section in enumerate(sections, 1)
    )


def fitting_passages(passages: list[NumberedPassage], max_characters: int | None) -> list[NumberedPassage]:
    """The first passages, up to the maximum length (None: all)."""
    fitting, room = list[NumberedPassage](), max_characters
    for passage in passages:
        if room is not None:
            room -= len(passage.in_prompt)
            # Passages are in rank order, so none is used after the first that does not fit
            if room < 0:
                break
        fitting.append(passage)
    return fitting


def _prompt_length(section: Section) -> int:
    return len(section.title) + len(section.text) + 25  # its number, its pages and the empty lines


def _cut_note(unit: str, which: str, fitting: int, total: int, max_characters: int | None) -> str | None:
    if fitting == total:
        return None
    limit = f"the {which} that fit into {max_characters:,} characters"
    return f"Too long for the model: {fitting:,} of {total:,} {unit} were given, {limit}."
