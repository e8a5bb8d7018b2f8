"""Gold sections, which are known to answer a question: their file, and how well a ranked list of sections finds them."""

from __future__ import annotations

import gzip
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import log2
from pathlib import Path
from typing import Any

from audit.errors import RetrievalError, describe_error
from audit.people_tables import strict_json
from audit.text.documents import Document

UNKNOWN_QUESTION, UNKNOWN_NAME = "questions outside the question list", "names that are neither a handbook nor a center"
UNKNOWN_SECTION = "sections missing from the handbook of that name"
Gold = dict[str, dict[str, tuple[str, ...]]]
"""Handbook id -> question id -> ids of sections."""


def read_gold(path: Path, documents: Iterable[Document]) -> Gold:
    """The gold sections of these handbooks.

    A line is either {"question_id", "handbook_id", "gold": [section ids]}, or {"question_id", "gold_sections": {name: [section
    ids]}}. The name is the id of a handbook or its center. Under any other name a section id counts for the only handbook that
    has it, and for none where several do.

    Raises RetrievalError for any other line, and for a section id that the handbook named by its id does not have, because
    every search for it would count as a miss.
    """
    handbooks = list(documents)
    owners = Counter(section_id for handbook in handbooks for section_id in handbook.by_id)
    names = {name for handbook in handbooks for name in (handbook.handbook_id, handbook.center)}
    gold: Gold = {handbook.handbook_id: {} for handbook in handbooks}
    for number, record in _json_lines(path):
        try:
            question_id, sections = str(record["question_id"]), _sections_by_name(record)
            # Data sets name sections by their own sources; an id that only one handbook has is still unambiguous.
            unnamed = [section_id for name in sections.keys() - names for section_id in sections[name] if owners[section_id] == 1]
            for handbook in handbooks:
                if section_ids := _gold_sections(handbook, sections, unnamed):
                    gold[handbook.handbook_id][question_id] = section_ids
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            problem = f"field {error} is missing" if isinstance(error, KeyError) else str(error)
            raise RetrievalError(
                f"{path}, line {number}: {problem}. Nothing was retrieved. Correct the line, or leave the gold file out."
            ) from error
    return gold


def unused_gold(path: Path, documents: Iterable[Document], questions: Collection[str]) -> str:
    """The unusable parts of the file, counted with an example each, as a message; "" if all are used.

    These are questions that are not among `questions`, names that are neither a handbook nor a center (unless `read_gold`
    identifies the handbook by its sections), and sections that the named handbook does not have. Raises RetrievalError as
    `read_gold` does.
    """
    unused: dict[str, dict[str, None]] = {kind: {} for kind in (UNKNOWN_QUESTION, UNKNOWN_NAME, UNKNOWN_SECTION)}
    for kind, item in _unused_items(path, list(documents), questions):
        unused[kind][item] = None
    parts = [f"{kind}: {len(items):,} (for example {next(iter(items))})" for kind, items in unused.items() if items]
    return f"{path}: {'; '.join(parts)}. Searches without a known section are left out of every measure." if parts else ""


def _unused_items(path: Path, handbooks: Sequence[Document], questions: Collection[str]) -> Iterator[tuple[str, str]]:
    owners = Counter(section_id for handbook in handbooks for section_id in handbook.by_id)
    sections_of: dict[str, set[str]] = defaultdict(set)
    for handbook in handbooks:
        for name in (handbook.handbook_id, handbook.center):
            sections_of[name].update(handbook.by_id)
    for _, record in _json_lines(path):
        if str(record["question_id"]) not in questions:
            yield UNKNOWN_QUESTION, f"'{record['question_id']}'"
        for name, section_ids in _sections_by_name(record).items():
            if name in sections_of:
                missing = (section_id for section_id in section_ids if section_id not in sections_of[name])
                yield from ((UNKNOWN_SECTION, f"'{section_id}' of '{name}'") for section_id in missing)
            elif section_ids and not any(owners[section_id] == 1 for section_id in section_ids):
                yield UNKNOWN_NAME, f"'{name}'"


def _gold_sections(handbook: Document, sections: Mapping[str, Sequence[str]], unnamed: Sequence[str]) -> tuple[str, ...]:
    for section_id in sections.get(handbook.handbook_id, ()):
        if section_id not in handbook.by_id:
            raise ValueError(f"{handbook.handbook_id} has no section '{section_id}'")
    candidates = sections.get(handbook.handbook_id, sections.get(handbook.center, unnamed))
    return tuple(sorted(section_id for section_id in set(candidates) if section_id in handbook.by_id))


def _sections_by_name(record: Mapping[str, Any]) -> dict[str, list[str]]:
    """Handbook, center or another name -> ids of sections."""
    if "gold_sections" in record:
        return dict(record["gold_sections"])
    return {record["handbook_id"]: record["gold"]}


def _json_lines(path: Path) -> list[tuple[int, dict[str, object]]]:
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8-sig") as file:
            return [(number, strict_json(line)) for number, line in enumerate(file, 1) if line.strip()]
    except (OSError, EOFError, ValueError) as error:
        raise RetrievalError(f"{path} cannot be read as JSON lines ({describe_error(error)}). Nothing was retrieved.") from error


# -- measures -----------------------------------------------------------------------------------------------------------


def first_gold_rank(ranked: Sequence[str], gold: Collection[str]) -> int | None:
    """The rank, from 1, of the first gold section; None where the list has none."""
    return next((rank for rank, section in enumerate(ranked, 1) if section in gold), None)


def hit_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float | None:
    """1 where a gold section is among the first k, else 0."""
    # An unknown is not a miss: without gold sections every measure is None.
    return None if not gold else float(any(section in gold for section in ranked[:k]))


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str]) -> float | None:
    """1 over the rank of the first gold section, 0 where the list has none; its mean over questions is MRR."""
    if not gold:
        return None
    first = first_gold_rank(ranked, gold)
    return 1 / first if first else 0.0


def ndcg_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float | None:
    """Normalised discounted cumulative gain of the first k: a gold section at rank r gains 1 / log2(r + 1).

    A section listed twice gains once. Source: Jaervelin and Kekaelaeinen (2002), ACM TOIS 20(4), with binary gain.
    """
    if not gold:
        return None
    # A ranking of chunks may name a section twice.
    listed = list(dict.fromkeys(ranked))[:k]
    gain = sum(1 / log2(rank + 1) for rank, section in enumerate(listed, 1) if section in gold)
    return gain / sum(1 / log2(rank + 1) for rank in range(1, min(k, len(set(gold))) + 1))
