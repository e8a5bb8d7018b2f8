"""Phrases whose theme is known: what a judge might have written of 1,000 different points of disagreement.

A theme is a subject and an aspect of it ("dental work", "when it may resume"), each worded in several ways, so a theme's nearest
neighbours share half of its words: that is what makes the benchmark hard. Shapes, contexts and made-up values come on top; some
phrases carry a typing error; sizes are very unequal.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from audit.release.taxonomy import plain_phrase

WORDS = Path(__file__).with_name("theme_words.toml")
TYPOS = 0.08
SMALLEST = 2


@dataclass(frozen=True)
class Phrases:
    """Distinct phrases and, in the same order, the number of each one's true theme."""

    phrases: list[str]
    truth: np.ndarray[Any, np.dtype[np.int64]]


def draw_phrases(count: int = 16_000, themes: int = 1_000, seed: int = 1) -> Phrases:
    """`count` phrases of `themes` themes, in random order; no two have the same plain phrase, so there are `count` to cluster."""
    rng = np.random.default_rng([seed, count, themes])
    words = tomllib.loads(WORDS.read_text(encoding="utf-8"))
    couples = [(subject, aspect) for subject in words["subjects"] for aspect in words["aspects"]]
    chosen = rng.choice(len(couples), themes, replace=False).tolist()
    drawn: dict[str, tuple[str, int]] = {}
    for theme, size in enumerate(_sizes(count, themes)):
        _fill(drawn, theme, size, words, couples[chosen[theme]], rng)
    numbered = list(drawn.values())
    order = rng.permutation(len(numbered)).tolist()
    return Phrases([numbered[i][0] for i in order], np.array([numbered[i][1] for i in order]))


def _sizes(count: int, themes: int) -> list[int]:
    weight = (np.arange(themes) + 20.0) ** -1.2
    sizes = SMALLEST + np.floor(weight / weight.sum() * (count - SMALLEST * themes)).astype(int)
    sizes[: count - sizes.sum()] += 1
    return list(sizes.tolist())


def _fill(
    drawn: dict[str, tuple[str, int]], theme: int, size: int, words: dict[str, Any], couple: tuple[str, str], rng: Any
) -> None:
    """Add `size` phrases of one theme whose plain phrases are not there yet; one belongs to the theme that had it first."""
    before = len(drawn)
    while len(drawn) < before + size:
        phrase = _phrase(words, couple, rng)
        drawn.setdefault(plain_phrase(phrase), (phrase, theme))


def _phrase(words: dict[str, Any], couple: tuple[str, str], rng: Any) -> str:
    subject, aspect = rng.choice(words["subjects"][couple[0]]), rng.choice(words["aspects"][couple[1]])
    text = str(rng.choice(words["shapes"])).format(
        phrase=aspect.format(s=subject), context=rng.choice(words["contexts"]), values=rng.choice(words["values"])
    )
    return _mistyped(text, rng) if rng.random() < TYPOS else text


def _mistyped(text: str, rng: Any) -> str:
    """Two neighbouring letters swapped, or one left out."""
    position = int(rng.integers(1, len(text) - 2))
    swapped = text[:position] + text[position + 1] + text[position] + text[position + 2 :]
    return swapped if rng.random() < 0.5 else text[:position] + text[position + 1 :]
