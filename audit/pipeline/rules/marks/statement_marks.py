"""Marks each statement of an answer with the sources that make it and those that contradict it.

The comparer of two statements is a parameter, because code that writes answers must not share code with the judges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from audit.release.sourced_answers import Citations, SourcedStatement
from audit.vocabulary import DISAGREEING, Label

Compare = Callable[[str, str, str], Label | None]
"""(question, one statement, other statement) -> how the two relate; None where the comparer cannot decide."""
MAX_STATEMENTS = 8


def marked(question: str, drafts: Iterable[SourcedStatement], compare: Compare) -> tuple[SourcedStatement, ...]:
    """The first MAX_STATEMENTS statements. One that several handbooks make appears once, with all of them cited.

    Where two handbooks contradict each other, both statements appear, each with the other's contradicting sentences.
    """
    statements: list[SourcedStatement] = []
    for draft in drafts:
        same, own = None, draft
        for number, statement in enumerate(statements):
            # Two statements of one handbook are not compared: the marks are about agreement between sources
            if not (statement.citations and draft.citations) or statement.handbook_ids & draft.handbook_ids:
                continue
            label = compare(question, statement.text, draft.text)
            if label is Label.CONSISTENT and same is None:
                same = number
            elif label in DISAGREEING:
                # The reader needs the two contradicting sentences to see the disagreement
                theirs, ours = clashing(question, statement, draft, compare)
                statements[number], own = _contradicted(statements[number], ours), _contradicted(own, theirs)
        if same is None:
            statements.append(own)
        else:
            citations = (*statements[same].citations, *draft.citations)
            statements[same] = _contradicted(replace(statements[same], citations=citations), own.contradicted_by)
    return tuple(statements[:MAX_STATEMENTS])


def clashing(question: str, one: SourcedStatement, other: SourcedStatement, compare: Compare) -> tuple[Citations, Citations]:
    """The contradicting sentences of either statement; () where no two sentences disagree by themselves."""
    pairs = [
        (first, second)
        for first in one.citations
        for second in other.citations
        if compare(question, first.stated, second.stated) in DISAGREEING
    ]
    return tuple(first for first, _ in pairs), tuple(second for _, second in pairs)


def _contradicted(statement: SourcedStatement, citations: Citations) -> SourcedStatement:
    return replace(statement, contradicted_by=tuple(dict.fromkeys((*statement.contradicted_by, *citations))))
