"""Which sources make a statement of an answer, and which say otherwise.

How two statements relate is for a comparer that is passed in: what writes answers shares no code with what judges them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from audit.generation.sourced_answers import Citations, SourcedStatement
from audit.vocabulary import DISAGREEING, Label

Compare = Callable[[str, str, str], Label | None]
"""How two statements on a question relate (question, one, other); None where the comparer cannot tell."""
MAX_STATEMENTS = 8


def marked(question: str, drafts: Iterable[SourcedStatement], compare: Compare) -> tuple[SourcedStatement, ...]:
    """The first MAX_STATEMENTS statements. What several handbooks say is said once, with all of them cited.

    A statement that another handbook contradicts stands beside that handbook's, each with the sentences of the other that clash.
    """
    kept: list[SourcedStatement] = []
    for draft in drafts:
        same, own = None, draft
        for number, statement in enumerate(kept):
            # What one handbook says in two places is its own matter, and not what sources say of each other
            if not (statement.citations and draft.citations) or statement.handbook_ids & draft.handbook_ids:
                continue
            label = compare(question, statement.text, draft.text)
            if label is Label.CONSISTENT and same is None:
                same = number
            elif label in DISAGREEING:
                # Without two sentences that clash nobody could see what the disagreement is
                theirs, ours = clashing(question, statement, draft, compare)
                kept[number], own = _contradicted(kept[number], ours), _contradicted(own, theirs)
        if same is None:
            kept.append(own)
        else:
            citations = (*kept[same].citations, *draft.citations)
            kept[same] = _contradicted(replace(kept[same], citations=citations), own.contradicted_by)
    return tuple(kept[:MAX_STATEMENTS])


def clashing(question: str, one: SourcedStatement, other: SourcedStatement, compare: Compare) -> tuple[Citations, Citations]:
    """The sentences by which two statements disagree, of each; () where no two of them alone show it."""
    pairs = [
        (first, second)
        for first in one.citations
        for second in other.citations
        if compare(question, first.stated, second.stated) in DISAGREEING
    ]
    return tuple(first for first, _ in pairs), tuple(second for _, second in pairs)


def _contradicted(statement: SourcedStatement, citations: Citations) -> SourcedStatement:
    return replace(statement, contradicted_by=tuple(dict.fromkeys((*statement.contradicted_by, *citations))))
