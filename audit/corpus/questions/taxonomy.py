"""Which organs, topics and subtopics a questionnaire may use, and where its tags leave them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

from audit.corpus.questions.reading import Question
from audit.errors import QuestionsError
from audit.vocabulary import GENERAL, nearest, plain

BUNDLED = ("transplant",)
"""Taxonomies that come with the software, by name."""


@dataclass(frozen=True)
class Taxonomy:
    """The words that tags may be.

    organs  besides `general`, which is always allowed; empty: any
    topics  topic -> its subtopics
    """

    name: str
    organs: tuple[str, ...]
    topics: dict[str, tuple[str, ...]]

    @property
    def subtopics(self) -> dict[str, tuple[str, ...]]:
        """Subtopic -> the topics that have it."""
        below: dict[str, tuple[str, ...]] = {}
        for topic, subtopics in self.topics.items():
            for subtopic in subtopics:
                below[subtopic] = (*below.get(subtopic, ()), topic)
        return below


def read_taxonomy(name: str | Path) -> Taxonomy:
    """A taxonomy of TOML: `organs = [...]` (may be left out) and a table `[topics]` of topic = [subtopics].

    name  a file, or one of BUNDLED.

    Raises QuestionsError where the file cannot be read or is not a taxonomy.
    """
    try:
        raw = tomllib.loads(_text(name))
        topics = {str(topic): _words(subtopics, f"topic '{topic}'") for topic, subtopics in raw["topics"].items()}
        return Taxonomy(str(name), _words(raw.get("organs", []), "organs"), topics)
    except (OSError, ValueError, KeyError, AttributeError) as error:
        told = f"it has no table [{error.args[0]}]" if isinstance(error, KeyError) else str(error)
        raise QuestionsError(
            f"{name}: not a taxonomy that can be read ({told}). Nothing was written. Give a TOML file with a table [topics] "
            f"of lines such as travel = ['travel timing', 'vaccines'], or a name: {', '.join(BUNDLED)}."
        ) from error


def _text(name: str | Path) -> str:
    if str(name) in BUNDLED and not Path(name).exists():
        return resources.files("audit.corpus.questions").joinpath("taxonomies", f"{name}.toml").read_text(encoding="utf-8")
    return Path(name).read_text(encoding="utf-8-sig")


def _words(value: Any, name: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(word, str) and word.strip() for word in value):
        raise ValueError(f"{name} must be a list of words")
    return tuple(value)


def check_tags(question: Question, taxonomy: Taxonomy) -> tuple[Question, list[tuple[str, str]]]:
    """The question with its tags spelled as the taxonomy has them, and (code, sentence) for each that is not in it.

    Other case, spaces, hyphens and underscores are another spelling. A word that the taxonomy does not have stays as it is.
    """
    organs = (GENERAL, *taxonomy.organs) if taxonomy.organs else ()
    spelled = replace(
        question,
        organ=_spelled(question.organ, organs),
        topics=tuple(_spelled(topic, tuple(taxonomy.topics)) for topic in question.topics),
        subtopics=tuple(_spelled(subtopic, tuple(taxonomy.subtopics)) for subtopic in question.subtopics),
    )
    return spelled, [*_unknown(spelled, taxonomy, organs), *_astray(spelled, taxonomy)]


def _spelled(word: str, allowed: tuple[str, ...]) -> str:
    return next((term for term in allowed if plain(term) == plain(word)), word)


def _unknown(question: Question, taxonomy: Taxonomy, organs: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    tags = [("topic", topic, tuple(taxonomy.topics)) for topic in question.topics]
    tags += [("subtopic", subtopic, tuple(taxonomy.subtopics)) for subtopic in question.subtopics]
    tags += [("organ", question.organ, organs)] if organs else []
    for kind, word, allowed in tags:
        if word not in allowed:
            hint = nearest(word, allowed) or f" Allowed: {', '.join(allowed)}."
            yield f"unknown_{kind}", f"{kind} '{word}' is not in the taxonomy {taxonomy.name}.{hint} It was kept as it is."


def _astray(question: Question, taxonomy: Taxonomy) -> Iterator[tuple[str, str]]:
    """No topic at all, and subtopics whose topic the question does not have."""
    if not question.topics:
        yield "no_topic", "it has no topic, and every question needs one."
    for subtopic in question.subtopics:
        above = taxonomy.subtopics.get(subtopic, ())
        if above and not set(above) & set(question.topics):
            yield "stray_subtopic", f"subtopic '{subtopic}' belongs to '{above[0]}', which the question does not have as a topic."
