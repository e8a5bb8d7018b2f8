"""Query expansion by a table of synonyms: no model, and the same result every time."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from audit.errors import RetrievalError, describe_error
from audit.retrieval.bm25 import tokens

MEDICAL_SYNONYMS = Path(__file__).parent / "synonyms" / "medical.toml"
Phrase = tuple[str, ...]
SynonymGroups = tuple[tuple[tuple[str, Phrase], ...], ...]
"""Groups of phrases with the same meaning, each phrase as written and as stems."""


@dataclass(frozen=True)
class ExpandedQuery:
    """What is searched for: `texts`, the question first, and `weights`, token -> weight."""

    texts: tuple[str, ...]
    weights: Mapping[str, float]


def _token_counts(question_tokens: Sequence[str]) -> dict[str, float]:
    return {token: float(count) for token, count in Counter(question_tokens).items()}


def unexpanded_query(text: str) -> ExpandedQuery:
    """The question alone."""
    return ExpandedQuery((text,), _token_counts(tokens(text)))


def expand_query(text: str, groups: SynonymGroups, weight: float) -> ExpandedQuery:
    """The question and a second text with its synonyms; each added token has weight `weight`."""
    question_tokens = tokens(text)
    synonyms = list(_synonyms(question_tokens, groups))
    if not synonyms:
        return unexpanded_query(text)
    added = {token for _, phrase in synonyms for token in phrase} - set(question_tokens)
    words = ", ".join(dict.fromkeys(written for written, _ in synonyms))
    weights = _token_counts(question_tokens) | dict.fromkeys(sorted(added), weight)
    return ExpandedQuery((text, f"{text} ({words})"), weights)


def _synonyms(question_tokens: Sequence[str], groups: SynonymGroups) -> Iterator[tuple[str, Phrase]]:
    for group in groups:
        present = [phrase for _, phrase in group if _contains(question_tokens, phrase)]
        if present:
            yield from ((written, phrase) for written, phrase in group if phrase not in present)


def _contains(question_tokens: Sequence[str], phrase: Phrase) -> bool:
    starts = range(len(question_tokens) - len(phrase) + 1)
    return any(tuple(question_tokens[start : start + len(phrase)]) == phrase for start in starts)


@lru_cache(maxsize=8)
def read_synonym_groups(path: Path | None = None) -> SynonymGroups:
    """The groups of a TOML file: `groups = [["kidney", "renal"], ...]`; None: the medical ones in this package.

    Raises RetrievalError where the file cannot be read or has another form.
    """
    path = path or MEDICAL_SYNONYMS
    try:
        groups = tomllib.loads(path.read_text(encoding="utf-8"))["groups"]
        return tuple(tuple((written, tuple(tokens(written))) for written in group if tokens(written)) for group in groups)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise RetrievalError(
            f"{path} is not a table of synonyms ({describe_error(error)}). Nothing was retrieved. "
            'It must contain: groups = [["kidney", "renal"], ["heart attack", "myocardial infarction"]]'
        ) from error
