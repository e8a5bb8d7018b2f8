"""Query expansion: the question's words, and others that a table says mean the same. No model, the same every time."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from audit.errors import RetrievalError, plainly
from audit.retrieval.tokens import tokens

SHIPPED = Path(__file__).parent / "synonyms" / "medical.toml"
Phrase = tuple[str, ...]
Groups = tuple[tuple[tuple[str, Phrase], ...], ...]
"""Each group: phrases that mean the same, as written and as stems."""


@dataclass(frozen=True)
class Expanded:
    """What is looked for: `queries` as texts, the question first, and `weights`, token -> how much it counts."""

    queries: tuple[str, ...]
    weights: Mapping[str, float]


def counted(own: Sequence[str]) -> dict[str, float]:
    """Token -> how often it stands there."""
    return {token: float(count) for token, count in Counter(own).items()}


def plain(text: str) -> Expanded:
    """The question as it stands."""
    return Expanded((text,), counted(tokens(text)))


def expand(text: str, groups: Groups, weight: float) -> Expanded:
    """The question, and a second query with the words that mean the same; a word that was added counts `weight`."""
    own = tokens(text)
    added = list(_same(own, groups))
    if not added:
        return plain(text)
    fresh = {token for _, phrase in added for token in phrase} - set(own)
    words = ", ".join(dict.fromkeys(written for written, _ in added))
    return Expanded((text, f"{text} ({words})"), counted(own) | dict.fromkeys(sorted(fresh), weight))


def _same(own: Sequence[str], groups: Groups) -> Iterator[tuple[str, Phrase]]:
    for group in groups:
        held = [phrase for _, phrase in group if _holds(own, phrase)]
        if held:
            yield from (each for each in group if each[1] not in held)


def _holds(own: Sequence[str], phrase: Phrase) -> bool:
    return any(tuple(own[at : at + len(phrase)]) == phrase for at in range(len(own) - len(phrase) + 1))


@lru_cache(maxsize=8)
def read_groups(path: Path | None = None) -> Groups:
    """The groups of a TOML file: `groups = [["kidney", "renal"], ...]`; by default the medical ones that come with this.

    Raises RetrievalError where the file cannot be read or is not such a table.
    """
    path = path or SHIPPED
    try:
        groups = tomllib.loads(path.read_text(encoding="utf-8"))["groups"]
        return tuple(tuple((written, tuple(tokens(written))) for written in group if tokens(written)) for group in groups)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise RetrievalError(
            f"{path} is no table of words that mean the same ({plainly(error)}). Nothing was retrieved. "
            'It should hold: groups = [["kidney", "renal"], ["heart attack", "myocardial infarction"]]'
        ) from error
