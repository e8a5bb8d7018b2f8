"""The graph in the trace of a routed question: the terms that link passages, and notes for the reader."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from audit.queries.loose_records import objects, shown_part, text_or_none
from audit.queries.routes import RoutedPassage, RoutedView
from audit.store.connection import Connection, frame

# handbook/section#first character; both ids may contain any of these marks
CHUNK = re.compile(r"(?P<passage>.+)#(?P<start>\d+)")
QUESTIONS = """
with routed as (select question, count(*) as systems from route_traces group by question),
needed as (
    select question, count(distinct source) as required, max(source) filter (is_primary) as first from question_sources group by 1
),
missed as (
    select question, count(*) as missed from routes join needed using (question) where rank = 1 and source <> first group by 1
)
select question_id, text, organ, question_type, systems, coalesce(required, 0) as required, coalesce(missed, 0) as missed
from questions join routed using (question) left join needed using (question) left join missed using (question)
     left join question_types using (question)
order by coalesce(required, 0) > 1 desc, coalesce(missed, 0) desc, question
"""


@dataclass(frozen=True)
class LinkingTerm:
    """A term of the graph: its kind and name, whether the search started from it, and the ranks of the passages that name it."""

    kind: str
    name: str
    is_seed: bool
    ranks: tuple[int, ...]


@dataclass(frozen=True)
class TracedStatement:
    """A statement of the answer: the sources that make it, and quotes of others that contradict it (handbook id, quote)."""

    text: str
    sources: tuple[str, ...]
    otherwise: tuple[tuple[str, str], ...]


def routed_question_list(con: Connection) -> pd.DataFrame:
    """The questions that a system routed, those that need several sources and that systems routed wrongly first.

    question_id, text, organ, question_type (str; None: not stated), systems (int, that routed it), required (int, sources that it
    needs; 0: unknown), missed (int, systems whose first source is not the primary one).
    """
    return frame(con, QUESTIONS)


def linking_terms(view: RoutedView) -> tuple[LinkingTerm, ...]:
    """The terms that passages of the evidence name, those that link most passages first.

    A trace may have any shape: what does not fit is left out. Passages are recognised by handbook, section and place.
    """
    seeds = {_term(entry) for entry in objects(view.trace.get("seeds"))}
    ranks: dict[tuple[str, str], set[int]] = {}
    for edge in _entries(view.trace.get("edges")):
        for rank in _ranks(view.evidence, text_or_none(edge.get("chunk")) or ""):
            ranks.setdefault(_term(edge), set()).add(rank)
    terms = [LinkingTerm(*term, term in seeds, tuple(sorted(own))) for term, own in ranks.items() if term[1]]
    return tuple(sorted(terms, key=lambda term: (-len(term.ranks), not term.is_seed, term.ranks, term.name)))


def routing_notes(view: RoutedView) -> tuple[str, ...]:
    """Notes for the reader on how the question was routed."""
    return tuple(note for entry in shown_part(view.trace.get("notes")) if (note := text_or_none(entry)))


def statements_of(view: RoutedView) -> tuple[TracedStatement, ...]:
    """The statements of the system's answer with the sources that support and contradict them; () if the trace has none."""
    return tuple(
        TracedStatement(
            text, tuple(filter(None, map(text_or_none, shown_part(entry.get("supported_by"))))),
            tuple((text_or_none(one.get("handbook_id")) or "", quote) for one in objects(entry.get("contradicted_by"))
                  if (quote := text_or_none(one.get("quote")))),
        )
        for entry in objects(view.trace.get("statements"))
        if (text := text_or_none(entry.get("text")))
    )  # fmt: skip


def _entries(value: Any) -> list[Mapping[str, object]]:
    # A passage may name many terms, so all edges are used and not only the first fifty
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _term(entry: Mapping[str, Any]) -> tuple[str, str]:
    return text_or_none(entry.get("kind")) or "", text_or_none(entry.get("name")) or ""


def _ranks(evidence: tuple[RoutedPassage, ...], chunk: str) -> Iterator[int]:
    """The passages that contain a chunk: a passage may be wider, because neighbours were added to it."""
    if match := CHUNK.fullmatch(chunk):
        start = int(match["start"])
        for one in evidence:
            inside = one.start is None or one.end is None or one.start <= start < one.end
            if match["passage"] == f"{one.handbook_id}/{one.section_id}" and inside:
                yield one.rank
