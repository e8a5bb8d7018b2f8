"""Typed entities of chunks and questions (drug, symptom, procedure, ...), and the recognisers that find them."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Protocol

from audit.errors import RetrievalError, describe_error
from audit.text.tokens import plain_text, stem
from audit.text.words import TOKEN

MEDICAL_TERMS = Path(__file__).parent / "entity_terms" / "medical.toml"
# Increase it when matching changes: cached entities are then recomputed.
MATCHING = 2
EntityTerms = Mapping[str, Mapping[str, Sequence[str]]]
"""Kind -> preferred name -> synonyms."""


class Entity(NamedTuple):
    """Something that a text names: its kind, and its preferred name whatever synonym the text has."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.name}"


class EntityRecogniser(Protocol):
    """Finds entities in texts.

    name    as traces record it
    digest  of everything that determines the entities: the same digest and text give the same entities
    """

    @property
    def name(self) -> str:
        """As traces record it."""

    @property
    def digest(self) -> str:
        """Equal for two recognisers that find the same entities."""

    def recognise(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        """The entities of each text, each entity once, in the order of their names."""


class DictionaryRecogniser:
    """Finds the terms of a vocabulary: the longest one at each place, compared without case, plural and -ed or -ing."""

    def __init__(self, terms: EntityTerms, name: str = "vocabulary") -> None:
        self.name = name
        content = [MATCHING, [[kind, list(names.items())] for kind, names in terms.items()]]
        self.digest = hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()
        self._entities: dict[tuple[str, ...], list[Entity]] = defaultdict(list)
        for kind, names in terms.items():
            for preferred, synonyms in names.items():
                for term in (preferred, *synonyms):
                    self._add(stems_of(term), Entity(kind, preferred))
        self._lengths: dict[str, list[int]] = defaultdict(list)
        for first, length in sorted({(key[0], len(key)) for key in self._entities}, reverse=True):
            self._lengths[first].append(length)

    def _add(self, key: tuple[str, ...], entity: Entity) -> None:
        if key and entity not in self._entities[key]:
            self._entities[key].append(entity)

    def recognise(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        """The entities of each text, each entity once, in the order of their names."""
        return [tuple(sorted(set(self._matches(stems_of(text))))) for text in texts]

    def _matches(self, words: tuple[str, ...]) -> Iterator[Entity]:
        at = 0
        while at < len(words):
            lengths = self._lengths.get(words[at], ())
            length = next((length for length in lengths if words[at : at + length] in self._entities), 0)
            if length:
                yield from self._entities[words[at : at + length]]
            at += length or 1


def stems_of(text: str) -> tuple[str, ...]:
    """The words of a text as entities are compared. Stop words count: "shortness of breath" is a term."""
    return tuple(stem(word) for word in TOKEN.findall(plain_text(text)))


def read_entity_terms(path: Path | None = None) -> EntityTerms:
    """The vocabulary of a TOML file; None: the small medical one in this package.

    A table for each kind, in it a line for each entity, with its synonyms:

        [symptom]
        "shortness of breath" = ["dyspnea", "breathlessness"]
        fever = []

    Raises RetrievalError where the file cannot be read or has another form.
    """
    path = path or MEDICAL_TERMS
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _not_a_vocabulary(path, describe_error(error)) from error
    for kind, names in tables.items():
        if not isinstance(names, dict):
            raise _not_a_vocabulary(path, f"'{kind}' is not a table")
        for name, synonyms in names.items():
            if not isinstance(synonyms, list) or not all(isinstance(synonym, str) for synonym in synonyms):
                raise _not_a_vocabulary(path, f"the synonyms of '{name}' are not a list of texts")
    if not any(tables.values()):
        raise _not_a_vocabulary(path, "it names no entity")
    return tables


def _not_a_vocabulary(path: Path, problem: str) -> RetrievalError:
    return RetrievalError(
        f"{path} is not a vocabulary of entities ({problem}). Nothing was searched. It must have a table for each kind, "
        'and in it each entity with its synonyms: [symptom], then: fever = ["high temperature"]'
    )


@lru_cache(maxsize=1)
def medical_recogniser() -> DictionaryRecogniser:
    """The vocabulary of this package: organs, drugs, symptoms, procedures, tests and conditions of patient handbooks."""
    return DictionaryRecogniser(read_entity_terms(), "medical terms")
