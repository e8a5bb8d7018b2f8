"""Names of themes: its distinctive words, a phrase quoted from it, and the name that a language model gives."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from audit.pipeline.embedding.vectors import Vectors, unit_rows
from audit.pipeline.llm.calls import Call
from audit.pipeline.llm.prompts import Prompt, PromptForm, load_template
from audit.pipeline.llm.reply_models import ReplyModel, read_reply, spelled
from audit.pipeline.themes.linkage import Labels
from audit.release.journal_files import Reply
from audit.release.taxonomy import MAX_EXEMPLARS
from audit.text.tokens import content_words, stem

MAX_TERMS = 5
# How much farther (cosine) from the mean a shorter phrase may be and still be taken as the medoid.
MEDOID_TOLERANCE = 0.02
# Words of nearly every divergence topic, which say nothing about a theme.
COMPARISON_WORDS = frozenset(map(stem, ("vs", "versus", "against")))
MIN_CHILDREN = 2
# Share of words in common from which two names count as near-duplicates.


@dataclass(frozen=True)
class Card:
    """The data a namer gets about one theme: its terms, its medoid, its exemplars, what its phrases share, and, for a parent, the
    names below it.
    """

    terms: tuple[str, ...]
    medoid: str
    exemplars: tuple[str, ...]
    shared: str = ""
    children: tuple[str, ...] = ()


Namer = Callable[[Sequence[Card]], Sequence[str | None]]
"""Names for all cards at once, so a model may be asked in parallel; None for a card it cannot name."""


def plain_name(card: Card) -> str:
    """The words its phrases share, else a quoted phrase of its own; a list of words ("time, tests, medicine") says nothing."""
    if card.shared or len(card.children) < MIN_CHILDREN:
        return card.shared or card.medoid
    return f"{card.medoid}, and {len(card.children) - 1:,} more"


def named(cards: Sequence[Card], namer: Namer | None) -> list[tuple[str, str]]:
    """(name, where it comes from) per card: `namer`, or `terms` where no namer is given or it has no name."""
    proposals: Sequence[str | None] = namer(cards) if namer and cards else [None] * len(cards)
    names = [" ".join((name or "").split()) for name in proposals]
    return [(name, "namer") if name else (plain_name(card), "terms") for card, name in zip(cards, names, strict=True)]


def terms_by(phrases: Sequence[str], labels: Sequence[int], count: int) -> list[tuple[str, ...]]:
    """The terms of each of `count` themes by class-based TF-IDF, most distinctive first; a label below 0 means no theme.

    A term is a word, or two in a row; its weight is its frequency in the theme times log(1 + A / f), where f is its
    frequency over all themes and A the mean number of terms in a theme (Grootendorst 2022).
    A word is shown in its most frequent form.
    """
    counts: list[Counter[str]] = [Counter() for _ in range(count)]
    forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for phrase, label in zip(phrases, labels, strict=True):
        if label >= 0:
            counts[label].update(_terms(phrase, forms))
    total: Counter[str] = Counter()
    for counter in counts:
        total.update(counter)
    mean = sum(total.values()) / max(count, 1)
    return [_top_terms(counter, total, mean, forms) for counter in counts]


def _terms(phrase: str, forms: defaultdict[str, Counter[str]]) -> Iterable[str]:
    words = content_words(phrase)
    for word in words:
        forms[word.stem][phrase[word.start : word.end]] += 1
    stems = [word.stem for word in words if word.stem not in COMPARISON_WORDS]
    return [*stems, *(f"{one} {two}" for one, two in pairwise(stems))]


def _top_terms(counter: Counter[str], total: Counter[str], mean: float, forms: defaultdict[str, Counter[str]]) -> tuple[str, ...]:
    ranked = sorted(counter, key=lambda term: (-counter[term] * log(1 + mean / total[term]), -len(term), term))
    chosen: list[str] = []
    for term in ranked:
        # "live vaccine" after "vaccine" would add nothing.
        if not any(set(term.split()) & set(other.split()) for other in chosen):
            chosen.append(term)
        if len(chosen) == MAX_TERMS:
            break
    return tuple(" ".join(_most_frequent(forms[stem]) for stem in term.split()) for term in chosen)


def _most_frequent(forms: Counter[str]) -> str:
    return min(forms, key=lambda form: (-forms[form], form))


def exemplars_by(plain: Sequence[str], vectors: Vectors, labels: Labels) -> list[list[int]]:
    """Rows of up to eight exemplars of each theme: its medoid, then always the one farthest from all."""
    groups = [np.flatnonzero(labels == theme) for theme in range(int(labels.max()) + 1)]
    middles = [_medoid(plain, vectors, members) for members in groups]
    return [_spread(vectors, members, middle) for members, middle in zip(groups, middles, strict=True)]


def _medoid(plain: Sequence[str], vectors: Vectors, members: Labels) -> int:
    """Position among the members of the shortest of those nearest to the mean."""
    own = vectors[members]
    similar = own @ unit_rows(own.sum(axis=0, keepdims=True))[0]
    # Of phrases about equally central, the shortest is the best name.
    close = np.flatnonzero(similar >= similar.max() - MEDOID_TOLERANCE)
    return int(min(close, key=lambda position: (len(plain[int(members[position])]), position)))


def _spread(vectors: Vectors, members: Labels, medoid: int) -> list[int]:
    own = vectors[members]
    chosen = [medoid]
    closest = own @ own[medoid]
    while len(chosen) < min(MAX_EXEMPLARS, len(members)):
        closest[chosen] = np.inf
        chosen.append(int(closest.argmin()))
        closest = np.maximum(closest, own @ own[chosen[-1]])
    return [int(row) for row in members[chosen]]


# -- names by a language model ------------------------------------------------------------------------------------------

MAX_NAME_LENGTH = 60


def _one_line(value: Any) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


class NameReply(ReplyModel):
    """The name of a theme, on one line."""

    keys = ("name",)
    name: Annotated[str, Field(min_length=1, max_length=MAX_NAME_LENGTH), spelled(_one_line)]


FORM = PromptForm("theme_name", "name", ("words", "phrases"), NameReply.schema_to_send())


def naming_prompt(folder: Path | None = None) -> Prompt:
    """The template `theme_name`, from `folder` where one is given. Raises AuditError where it cannot be used."""
    return load_template(FORM, __package__, folder)


def naming_call(prompt: Prompt, model: str, number: int, card: Card) -> Call:
    """The request that asks `model` to name one theme; a parent is named by the names of its themes."""
    phrases = card.children or card.exemplars
    return prompt.call(model, f"theme {number}", {"words": ", ".join(card.terms), "phrases": "\n".join(phrases)})


def parse_name(reply: Reply | None) -> str | None:
    """The name in a reply that is nothing but the object asked for; None where it has no name, or one that is too long."""
    reading = read_reply(NameReply, reply) if reply else None
    value = reading.only("no name")[0] if reading and reading.whole else None
    return value.name if value else None
