"""Which sections of a handbook are known to answer a question, from a file of JSON lines."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from audit.documents import Document
from audit.errors import RetrievalError

Gold = dict[str, dict[str, tuple[str, ...]]]
"""Handbook id -> question id -> ids of sections."""


def read_gold(path: Path, documents: Iterable[Document]) -> Gold:
    """The gold sections of these handbooks.

    A line is either {"question_id", "handbook_id", "gold": [section ids]}, or {"question_id", "gold_sections": {handbook or
    center: [section ids]}}; of several handbooks of a center, an id counts for those that have such a section. Raises
    RetrievalError for other lines.
    """
    books = list(documents)
    gold: Gold = {book.handbook_id: {} for book in books}
    for number, record in _lines(path):
        try:
            question, sections = str(record["question_id"]), _sections(record)
            for book in books:
                named = sections.get(book.handbook_id, sections.get(book.center, ()))
                if own := tuple(each for each in named if each in book.by_id):
                    gold[book.handbook_id][question] = own
        except (KeyError, TypeError, AttributeError) as error:
            raise RetrievalError(
                f"{path}, line {number}: {error} is missing or not as it should be. Nothing was retrieved."
            ) from error
    return gold


def _sections(record: Mapping[str, Any]) -> dict[str, list[str]]:
    """Handbook or center -> ids of sections."""
    if "gold_sections" in record:
        return dict(record["gold_sections"])
    return {record["handbook_id"]: record["gold"]}


def _lines(path: Path) -> Iterable[tuple[int, dict[str, Any]]]:
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8-sig") as file:
            return [(number, json.loads(line)) for number, line in enumerate(file, 1) if line.strip()]
    except (OSError, EOFError, ValueError) as error:
        raise RetrievalError(f"{path} cannot be read as JSON lines ({error}). Nothing was retrieved.") from error
