"""The request (question and scope) and the reply."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from audit.errors import AuditError
from audit.formatting import printable

if TYPE_CHECKING:  # so that the dashboard does not load the libraries that answer
    from audit.release.sourced_answers import SourcedAnswer

MAX_CHARACTERS = 500
NOTHING = "Nothing was asked."
QUESTION_ID, SYSTEM_ID = "asked", "all-sources"


@dataclass(frozen=True)
class AskScope:
    """The handbooks to ask. `organ`: those that concern it (None: all); `sources`: those of these sources ((): all)."""

    organ: str | None = None
    sources: tuple[str, ...] = ()


class AskRequest(NamedTuple):
    """A question for one run (store file and digest), with the folder of indexes. Without a question: only prepare the run."""

    store: Path
    digest: str
    folder: Path
    question: str | None
    scope: AskScope


STEP, DONE, REFUSED = "step", "done", "refused"
"""Kinds of reply to a request."""
Step = Callable[[str, float], None]
"""Called with the current step and its progress in [0, 1]."""


def no_step(_doing: str, _share: float) -> None:
    """Show nothing."""


@dataclass(frozen=True)
class Asked:
    """The reply.

    handbooks  a row per handbook in the scope, with the columns of audit.metrics.position_groups, source_id and unread_reason;
               `answer` is missing where the handbook does not address the question
    citations  handbook id -> the citations of its answer, as answers.jsonl has them
    labels     handbooks x handbooks by handbook id: a label, `unscored` where the rules cannot decide, `self` on the diagonal
    verdicts   one record per pair of answering handbooks: handbook_a, handbook_b, label, significance, topic, reasoning
    sourced    one answer from all sources
    notes      messages for the reader
    seconds    duration, once the library was ready
    answers    the records of answers.jsonl
    """

    question: str
    scope: AskScope
    handbooks: pd.DataFrame
    citations: Mapping[str, list[dict[str, Any]]]
    labels: pd.DataFrame
    verdicts: tuple[dict[str, Any], ...]
    sourced: SourcedAnswer
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    answers: tuple[dict[str, Any], ...] = field(default=(), repr=False)


def clean_question(text: str) -> str:
    """The question on one line, without control characters. Raises AuditError for one that is empty or too long."""
    question = " ".join(printable(text).split())
    if not question:
        raise AuditError(f"The question is empty. {NOTHING} Write it in full words, such as: When may I drive again?")
    if len(question) > MAX_CHARACTERS:
        raise AuditError(
            f"The question has {len(question):,} characters; allowed: {MAX_CHARACTERS}. {NOTHING} Ask one thing at a time."
        )
    return question
