"""Which sections of a handbook are known to answer a question, from a file of JSON lines."""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from audit.corpus.documents import Document
from audit.errors import RetrievalError, plainly

UNASKED, NOBODY = "questions that are not asked", "names of no handbook and no center"
NOWHERE = "sections that no handbook of that name has"
Gold = dict[str, dict[str, tuple[str, ...]]]
"""Handbook id -> question id -> ids of sections."""


def read_gold(path: Path, documents: Iterable[Document]) -> Gold:
    """The gold sections of these handbooks.

    A line is either {"question_id", "handbook_id", "gold": [section ids]}, or {"question_id", "gold_sections": {name: [section
    ids]}}. The name is a handbook's id or its center; under any other name an id counts for the one handbook that holds it, and
    for none where several do. Raises RetrievalError for other lines, and for a section that the handbook of that id does not
    have: every search for it would pass for a miss.
    """
    books = list(documents)
    holders = Counter(section_id for book in books for section_id in book.by_id)
    known = {name for book in books for name in (book.handbook_id, book.center)}
    gold: Gold = {book.handbook_id: {} for book in books}
    for number, record in _lines(path):
        try:
            question, sections = str(record["question_id"]), _sections(record)
            loose = [each for name in sections.keys() - known for each in sections[name] if holders[each] == 1]
            for book in books:
                if own := _own(book, sections, loose):
                    gold[book.handbook_id][question] = own
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            told = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            raise RetrievalError(
                f"{path}, line {number}: {told}. Nothing was retrieved. Correct the line, or leave gold out."
            ) from error
    return gold


def unmatched(path: Path, documents: Iterable[Document], questions: Collection[str]) -> str:
    """What of the file counts nowhere, with an example of each kind, in a sentence; empty where all of it counts.

    These are questions that are not among `questions`, names that are no handbook and no center (unless their sections tell the
    handbook, see `read_gold`), and sections that no handbook of that name has. Raises RetrievalError as `read_gold` does.
    """
    books = list(documents)
    holders = Counter(section_id for book in books for section_id in book.by_id)
    sections: dict[str, set[str]] = defaultdict(set)
    for book in books:
        for name in (book.handbook_id, book.center):
            sections[name].update(book.by_id)
    found: dict[str, dict[str, None]] = {kind: {} for kind in (UNASKED, NOBODY, NOWHERE)}
    for _, record in _lines(path):
        if str(record["question_id"]) not in questions:
            found[UNASKED][f"'{record['question_id']}'"] = None
        for name, ids in _sections(record).items():
            if name in sections:
                found[NOWHERE].update((f"'{each}' of '{name}'", None) for each in ids if each not in sections[name])
            elif ids and not any(holders[each] == 1 for each in ids):
                found[NOBODY][f"'{name}'"] = None
    told = [f"{kind}: {len(which):,} (such as {next(iter(which))})" for kind, which in found.items() if which]
    return f"{path}: {'; '.join(told)}. They count nowhere: a search without a known section is in no measure." if told else ""


def _own(book: Document, sections: Mapping[str, Sequence[str]], loose: Sequence[str]) -> tuple[str, ...]:
    for each in sections.get(book.handbook_id, ()):
        if each not in book.by_id:
            raise ValueError(f"{book.handbook_id} has no section '{each}'")
    named = sections.get(book.handbook_id, sections.get(book.center, loose))
    return tuple(sorted(each for each in set(named) if each in book.by_id))


def _sections(record: Mapping[str, Any]) -> dict[str, list[str]]:
    """Handbook, center or another name -> ids of sections."""
    if "gold_sections" in record:
        return dict(record["gold_sections"])
    return {record["handbook_id"]: record["gold"]}


def _lines(path: Path) -> list[tuple[int, dict[str, Any]]]:
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8-sig") as file:
            return [(number, json.loads(line)) for number, line in enumerate(file, 1) if line.strip()]
    except (OSError, EOFError, ValueError) as error:
        raise RetrievalError(f"{path} cannot be read as JSON lines ({plainly(error)}). Nothing was retrieved.") from error
