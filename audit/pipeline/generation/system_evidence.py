"""The passages for an answering system: the best of those retrieved from all handbooks that a question is put to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from audit.pipeline.answers.evidence import retrieved_passage
from audit.pipeline.generation.system_answers import SystemPassage
from audit.text.documents import Document

Retrieved = tuple[Document, Mapping[str, Any]]
"""A handbook, and the record of its retrieval for a question."""


def best_passages(retrieved: Iterable[Retrieved], number: int) -> tuple[SystemPassage, ...]:
    """The `number` best passages, numbered from 1: the best of each handbook, then the second best of each, and so on.

    Scores of different handbooks are on different scales, so ranks come first and scores only order those of one rank. Of a
    handbook that is used in full, the passages are its sections, ranked by merit.
    """
    ranked = [
        (record.get("rank") or list_rank, -(record.get("score") or 0.0), document.handbook_id, list_rank, document, record)
        for document, retrieval in retrieved
        for list_rank, record in enumerate(retrieval.get("passages") or (), 1)
    ]
    best = sorted(ranked, key=lambda entry: entry[:4])[:number]
    return tuple(
        SystemPassage(document.handbook_id, retrieved_passage(passage_number, record, document), record.get("score"))
        for passage_number, (*_, document, record) in enumerate(best, 1)
    )
