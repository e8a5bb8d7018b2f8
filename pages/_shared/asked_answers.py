"""The reply to a question as safe HTML: the answer from all sources, and each handbook's own, by position group.

Every character of a run and of the question is escaped before a tag is put around it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from audit.jobs.asked import Asked
from audit.queries.citations import Citation, located
from audit.release.sourced_answers import SourceCitation, SourcedStatement
from audit.store.runs import Run
from audit.terms import terms
from audit.text.comparison import DifferenceKind
from pages._shared.loaders import load
from pages._shared.position_groups import answer_html
from pages._shared.side_by_side import LEGEND, WORD_LEGEND, label_badge_html, mark_differences, shortened
from pages._shared.source_links import citation_links_html, source_address

CSS = Path(__file__).with_name("asked.css")
OPENED_ANSWERS = 6
"""Groups are expanded if there are no more answers than this in total."""

BEGINNING = 140  # characters of a group's first answer that are in sight while the group is closed

Place = tuple[str, str, int | None, int | None]
"""Handbook, section, and the characters of the statement."""


class Citations:
    """The place of each citation in the texts of the run, and handbooks with the same sentences word for word."""

    def __init__(self, run: Run, asked: Asked) -> None:
        self.run = run
        self.by_handbook: Mapping[str, tuple[Citation, ...]] = load(located, run, cited=dict(asked.citations))
        sources = asked.handbooks.set_index("handbook_id")["source_id"]
        self._own = {
            handbook_id: {
                _normal(record["quote"]): _own_citation(str(sources[handbook_id]), handbook_id, record) for record in records
            }
            for handbook_id, records in asked.citations.items()
        }
        quoted: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for statement in asked.sourced.statements:
            for citation in (*statement.citations, *statement.contradicted_by):
                quoted[citation.handbook_id].append(citation.record())
        in_evidence = load(located, run, cited=dict(quoted))
        self._places: dict[Place, Citation] = {
            (handbook_id, one.section_id, one.start, one.end): one
            for by_handbook in (self.by_handbook, in_evidence)
            for handbook_id, citations in by_handbook.items()
            for one in citations
        }

    def with_others(self, cited: Sequence[SourceCitation]) -> tuple[SourceCitation, ...]:
        """The citations, and those of handbooks whose own answer has the same sentences word for word.

        The answer of all sources is written from the best passages alone, so that it does not cite everybody who says so.
        """
        sentences = {_normal(citation.quote) for citation in cited if citation.handbook_id == cited[0].handbook_id}
        named = {citation.handbook_id for citation in cited}
        others = (own[sentence] for handbook_id, own in self._own.items() if handbook_id not in named and sentences <= own.keys()
                  for sentence in sentences)  # fmt: skip
        return (*cited, *others)

    def link_html(self, citation: SourceCitation, name: str) -> str:
        """The handbook's name with a link to the sentence; the name alone where the run cannot show it."""
        start, end = (0, 0) if citation.start == citation.end else (citation.start, citation.end)  # equal: the heading
        target = self._places.get((citation.handbook_id, citation.section_id, start, end))
        if target is None or not self.run.has_pairs:  # the page Source is about a run with pairs
            return escape(name)
        address = source_address(self.run, citation.handbook_id, target.section_id, target.start, target.end, target.page)
        where = f"{target.title}, page {target.page}" if target.page else target.title
        title = f"{where}: open it, with the sentence marked"
        return f'<a href="{escape(address)}" target="_blank" rel="noopener" title="{escape(title)}">{escape(name)}</a>'

    def answer_links_html(self, handbook_id: str) -> str:
        """A line with a link to each passage that a handbook's answer quotes."""
        return (
            citation_links_html(self.run, None, handbook_id, self.by_handbook.get(handbook_id, ())) if self.run.has_pairs else ""
        )


def _normal(sentence: str) -> str:
    return " ".join(sentence.split()).casefold()


def _own_citation(source_id: str, handbook_id: str, record: Mapping[str, Any]) -> SourceCitation:
    """A quote of a handbook's own answer, which need not be among the passages of the evidence."""
    start, end = record["quote_start"] or 0, record["quote_end"] or 0
    quote = str(record["quote"])
    return SourceCitation(record["passage"], source_id, handbook_id, record["section_id"], start, end, quote, quote)


def sourced_html(asked: Asked, names: Mapping[str, str], citations: Citations) -> str:
    """The statements of the answer of all sources, each with who makes it and who says otherwise."""
    statements = "".join(_statement_html(statement, names, citations) for statement in asked.sourced.statements)
    return f'<div class="asked">{statements}</div>'


def _statement_html(statement: SourcedStatement, names: Mapping[str, str], citations: Citations) -> str:
    cited = citations.with_others(statement.citations)
    count = len({citation.source_id for citation in cited})
    mark = "Said by 1 source" if count == 1 else f"Said by {count} sources"
    who = _who_html(cited, names, citations)
    text = f'<div class="text">{escape(shortened(statement.text))}</div>'
    attribution = f'<div class="who"><span class="mark">{mark}</span>{who}</div>'
    return f'<div class="statement">{text}{attribution}{_otherwise_html(statement, names, citations)}</div>'


def _who_html(cited: Iterable[SourceCitation], names: Mapping[str, str], citations: Citations) -> str:
    first: dict[str, SourceCitation] = {}
    for citation in cited:
        first.setdefault(citation.handbook_id, citation)
    return "; ".join(
        citations.link_html(citation, names.get(handbook_id, handbook_id)) for handbook_id, citation in first.items()
    )


def _otherwise_html(statement: SourcedStatement, names: Mapping[str, str], citations: Citations) -> str:
    """The sentences that clash with a statement, each with the handbooks that have it."""
    by_sentence: dict[str, list[SourceCitation]] = defaultdict(list)
    for citation in statement.contradicted_by:
        by_sentence[" ".join(citation.stated.split())].append(citation)
    if not by_sentence:
        return ""
    clashing = {sentence: citations.with_others(cited) for sentence, cited in by_sentence.items()}
    others = {citation.source_id for cited in clashing.values() for citation in cited}
    mark = "Another source says otherwise" if len(others) == 1 else f"{len(others)} other sources say otherwise"
    lines = "".join(
        f"<div><q>{escape(shortened(sentence))}</q> {_who_html(cited, names, citations)}</div>"
        for sentence, cited in clashing.items()
    )
    return f'<div class="otherwise"><span class="mark">{mark}</span>{lines}</div>'


def groups_html(run: Run, answering: pd.DataFrame, names: dict[str, str], citations: Citations) -> str:
    """Every answer under its position group, in the order of the matrix; many answers are closed until a click."""
    opened = " open" if len(answering) <= OPENED_ANSWERS else ""
    groups = "".join(
        f"<details{opened}>{_summary_html(run, group)}{_answers_html(group, names, citations)}</details>"
        for _, group in answering.groupby("group")
    )
    return f'<div class="asked">{groups}</div>'


def _summary_html(run: Run, group: pd.DataFrame) -> str:
    words, size = terms(run), len(group)
    count = f"{size} {words['handbook' if size == 1 else 'handbooks']}"
    name = f'<span class="value">{escape(group["name"].iloc[0])}</span>'
    first = " ".join(str(group["answer"].iloc[0]).split())
    begins = f"{first[:BEGINNING]} ..." if len(first) > BEGINNING else first
    return f'<summary>{name} <span class="count">{escape(count)}</span><div class="begins">{escape(begins)}</div></summary>'


def _answers_html(group: pd.DataFrame, names: dict[str, str], citations: Citations) -> str:
    answers = "".join(answer_html(row, names, citations.answer_links_html(str(row.handbook_id))) for row in group.itertuples())
    return f'<div class="answers">{answers}</div>'


def two_answers_html(asked: Asked, opened: tuple[str, str], names: Mapping[str, str]) -> str:
    """The opened pair: the label with the reason of the rules, and both answers with their differences marked."""
    verdict = next((one for one in asked.verdicts if {one["handbook_a"], one["handbook_b"]} == set(opened)), None)
    if verdict is None:
        return ""
    # In the order of the rules, whose reasons call the two answers A and B
    in_order = (verdict["handbook_a"], verdict["handbook_b"])
    answers = asked.handbooks.set_index("handbook_id")["answer"]
    marked = mark_differences(answers[in_order[0]], answers[in_order[1]], tuple(DifferenceKind))
    sides = "".join(
        f'<div class="side"><div class="name">{escape(names.get(handbook_id, handbook_id))}</div>'
        f'<div class="answer-text">{text}</div></div>'
        for handbook_id, text in zip(in_order, marked, strict=True)
    )
    label = label_badge_html(verdict["label"])
    topic = f'<span class="topic">{escape(verdict["topic"])}</span>' if verdict["topic"] else ""
    reasoning = f'<div class="reasoning">{escape(verdict["reasoning"])}</div>' if verdict["reasoning"] else ""
    legend = LEGEND.format(words=WORD_LEGEND)
    return f'<div class="pair"><div class="verdict">{label}{topic}</div>{reasoning}{legend}<div class="sides">{sides}</div></div>'
