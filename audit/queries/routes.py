"""How systems routed one question to sources: the sources of the run, each system's routes and evidence, and its trace."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from audit.queries.lookup import question_number
from audit.store.connection import Connection, rows

SOURCES = """
select source_id, authority, description, list(handbook_id order by handbook)
from sources join source_handbooks using (source) join handbooks using (handbook)
group by source, source_id, authority, description order by source
"""
NEEDED = """
select source_id, is_primary from question_sources join sources using (source) where question = $question
order by is_primary desc, source
"""
TRACES = """
select system, system_id, coalesce(s.name, system_id), trace::varchar
from route_traces join systems s using (system) where question = $question order by system
"""
ROUTES = """
select system, source_id, r.authority, probed, peak, mean, margin, entropy, coverage, score, share, budget
from routes r join sources using (source) where question = $question order by system, rank
"""
EVIDENCE = """
select system, rank, source_id, handbook_id, e.section_id, e.start, e."end", base, support, final, bridged,
       coalesce(e.text, case when e.start is null then s.text else substr(s.text, e.start + 1, e."end" - e.start) end), s.heading
from routed_evidence e join handbooks using (handbook) left join sources using (source)
     left join sections s on s.handbook = e.handbook and s.section_id = e.section_id
where question = $question order by system, rank
"""


@dataclass(frozen=True)
class StoredSource:
    """Handbooks that are searched and cited as one; `authority` is from 0 to 1."""

    source_id: str
    authority: float
    description: str | None
    handbook_ids: tuple[str, ...]


@dataclass(frozen=True)
class StoredRoute:
    """A system's routing decision about one source; None for values that the release does not state."""

    source_id: str
    authority: float | None
    probed: int | None
    peak: float | None
    mean: float | None
    margin: float | None
    entropy: float | None
    coverage: float | None
    score: float | None
    share: float | None
    budget: int | None


@dataclass(frozen=True)
class RoutedPassage:
    """A passage of the evidence; `start` and `end` are characters of its section's text, None for the whole section."""

    rank: int
    source_id: str | None
    handbook_id: str
    section_id: str | None
    start: int | None
    end: int | None
    base: float | None
    support: float | None
    final: float | None
    bridged: bool
    text: str | None
    heading: str | None


@dataclass(frozen=True)
class RoutedView:
    """How one system routed a question: its routes and its evidence, best first, and the trace as the release has it."""

    system_id: str
    name: str
    routes: tuple[StoredRoute, ...]
    evidence: tuple[RoutedPassage, ...]
    trace: Mapping[str, Any]


@dataclass(frozen=True)
class RoutedQuestionView:
    """The sources that a question needs, the primary one first (None: unknown), and how each system routed it."""

    primary_source: str | None
    required_sources: tuple[str, ...]
    systems: tuple[RoutedView, ...]


def stored_sources(con: Connection) -> tuple[StoredSource, ...]:
    """The sources of the run, in release order; () if it has none."""
    return tuple(
        StoredSource(source_id, authority, description, tuple(handbooks))
        for source_id, authority, description, handbooks in rows(con, SOURCES)
    )


def routed_question(con: Connection, question_id: str) -> RoutedQuestionView:
    """The known sources of a question, and how each system routed it.

    A system that did not route it is not listed. Raises NotInRunError when the run has no such question.
    """
    question = {"question": question_number(con, question_id)}
    needed = rows(con, NEEDED, question)
    routes, evidence = rows(con, ROUTES, question), rows(con, EVIDENCE, question)
    systems = tuple(
        RoutedView(
            system_id,
            name,
            tuple(StoredRoute(*fields) for own, *fields in routes if own == system),
            tuple(RoutedPassage(*fields) for own, *fields in evidence if own == system),
            json.loads(trace) if trace else {},
        )
        for system, system_id, name, trace in rows(con, TRACES, question)
    )
    primary = next((source for source, is_primary in needed if is_primary), None)
    return RoutedQuestionView(primary, tuple(source for source, _ in needed), systems)
