"""The reply to a question as safe HTML: the answer from all sources, and each handbook's own, by position group."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup, escape

from audit.jobs.asking import Asked
from audit.queries.citations import Citation, located
from audit.queries.pair_view import Judgement
from audit.release.sourced_answers import SourceCitation, SourcedStatement
from audit.store.runs import Run
from audit.terms import terms
from audit.text.comparison import DifferenceKind
from pages._blinded.templates import rendered
from pages._shared.loaders import load
from pages._shared.side_by_side import AnswerHead, judgement_html, legend_html, mark_differences, pair_html
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

    def link_html(self, citation: SourceCitation, name: str) -> Markup:
        """The handbook's name with a link to the sentence; the name alone where the run cannot show it."""
        start, end = (0, 0) if citation.start == citation.end else (citation.start, citation.end)  # equal: the heading
        target = self._places.get((citation.handbook_id, citation.section_id, start, end))
        if target is None or not self.run.has_pairs:  # the page Source is about a run with pairs
            return escape(name)
        address = source_address(self.run, citation.handbook_id, target.section_id, target.start, target.end, target.page)
        where = f"{target.title}, page {target.page}" if target.page else target.title
        title = f"{where}: open it, with the sentence marked"
        return Markup('<a href="{}" target="_blank" rel="noopener" title="{}">{}</a>').format(address, title, name)

    def answer_links_html(self, handbook_id: str) -> Markup:
        """A line with a link to each passage that a handbook's answer quotes."""
        cited = self.by_handbook.get(handbook_id, ()) if self.run.has_pairs else ()
        return citation_links_html(self.run, None, handbook_id, cited)


def _normal(sentence: str) -> str:
    return " ".join(sentence.split()).casefold()


def _own_citation(source_id: str, handbook_id: str, record: Mapping[str, Any]) -> SourceCitation:
    """A quote of a handbook's own answer, which need not be among the passages of the evidence."""
    start, end = record["quote_start"] or 0, record["quote_end"] or 0
    quote = str(record["quote"])
    return SourceCitation(record["passage"], source_id, handbook_id, record["section_id"], start, end, quote, quote)


def sourced_html(asked: Asked, names: Mapping[str, str], citations: Citations) -> Markup:
    """The statements of the answer of all sources, each with who makes it and who says otherwise."""

    def clashing_with(statement: SourcedStatement) -> dict[str, tuple[SourceCitation, ...]]:
        """The sentences that clash with a statement, each with the handbooks that have it."""
        by_sentence: dict[str, list[SourceCitation]] = defaultdict(list)
        for citation in statement.contradicted_by:
            by_sentence[" ".join(citation.stated.split())].append(citation)
        return {sentence: citations.with_others(cited) for sentence, cited in by_sentence.items()}

    def link(citation: SourceCitation) -> Markup:
        return citations.link_html(citation, names.get(citation.handbook_id, citation.handbook_id))

    return rendered(
        "ask/statements.html",
        statements=asked.sourced.statements,
        with_others=citations.with_others,
        link=link,
        clashing_with=clashing_with,
    )


def groups_html(run: Run, answering: pd.DataFrame, names: dict[str, str], citations: Citations) -> Markup:
    """Every answer under its position group, in the order of the matrix; many answers are closed until a click."""
    groups = [list(group.itertuples()) for _, group in answering.groupby("group")]
    return rendered(
        "ask/groups.html", groups=groups, opened=len(answering) <= OPENED_ANSWERS, beginning=BEGINNING, terms=terms(run),
        head=lambda answer: AnswerHead(names.get(answer.handbook_id, answer.handbook_id), f"position group: {answer.name}"),
        links=citations.answer_links_html,
    )  # fmt: skip


def two_answers_html(asked: Asked, opened: tuple[str, str], names: Mapping[str, str]) -> Markup:
    """The opened pair: the label with the reason of the rules, and both answers with their differences marked."""
    verdict = next((one for one in asked.verdicts if {one["handbook_a"], one["handbook_b"]} == set(opened)), None)
    if verdict is None:
        return Markup()
    # In the order of the rules, whose reasons call the two answers A and B
    in_order = (verdict["handbook_a"], verdict["handbook_b"])
    answers = asked.handbooks.set_index("handbook_id")["answer"]
    marked = mark_differences(answers[in_order[0]], answers[in_order[1]], tuple(DifferenceKind))
    heads = (AnswerHead(names.get(handbook_id, handbook_id)) for handbook_id in in_order)
    sides = rendered("_shared/sides.html", answers=zip(heads, marked, strict=True))
    judgement = Judgement("judged", verdict["label"], divergence_topic=verdict["topic"], reasoning=verdict["reasoning"])
    return pair_html(judgement_html(judgement) + legend_html("all") + sides)
