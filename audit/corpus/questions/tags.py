"""The taxonomy of tags (organs, topics, subtopics) for questions, and the tags that are not in it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

from audit.corpus.questions.question_file import ImportedQuestion
from audit.errors import QuestionsError
from audit.vocabulary import GENERAL, nearest, plain

BUNDLED_TAXONOMIES = ("transplant",)


@dataclass(frozen=True)
class TagTaxonomy:
    """The tags that questions may have.

    organs  besides `general`, which is always allowed; empty: any
    topics  topic -> its subtopics
    """

    name: str
    organs: tuple[str, ...]
    topics: dict[str, tuple[str, ...]]

    @property
    def subtopics(self) -> dict[str, tuple[str, ...]]:
        """Subtopic -> the topics that have it."""
        topics_of: dict[str, tuple[str, ...]] = {}
        for topic, subtopics in self.topics.items():
            for subtopic in subtopics:
                topics_of[subtopic] = (*topics_of.get(subtopic, ()), topic)
        return topics_of


def read_tag_taxonomy(name: str | Path) -> TagTaxonomy:
    """A taxonomy from TOML: `organs = [...]` (optional) and a table `[topics]` of topic = [subtopics].

    name  a file, or one of BUNDLED_TAXONOMIES

    Raises QuestionsError where the file cannot be read or is not a taxonomy.
    """
    try:
        record = tomllib.loads(_taxonomy_text(name))
        topics = {str(topic): _tag_list(subtopics, f"topic '{topic}'") for topic, subtopics in record["topics"].items()}
        return TagTaxonomy(str(name), _tag_list(record.get("organs", []), "organs"), topics)
    except (OSError, ValueError, KeyError, AttributeError) as error:
        problem = f"it has no table [{error.args[0]}]" if isinstance(error, KeyError) else str(error)
        raise QuestionsError(
            f"{name}: not a readable taxonomy ({problem}). Nothing was written. Give a TOML file with a table [topics] "
            f"of lines such as travel = ['travel timing', 'vaccines'], or a name: {', '.join(BUNDLED_TAXONOMIES)}."
        ) from error


def _taxonomy_text(name: str | Path) -> str:
    # A file of that name in the folder takes precedence
    if str(name) in BUNDLED_TAXONOMIES and not Path(name).exists():
        return resources.files("audit.corpus.questions").joinpath("taxonomies", f"{name}.toml").read_text(encoding="utf-8")
    return Path(name).read_text(encoding="utf-8-sig")


def _tag_list(value: Any, name: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(tag, str) and tag.strip() for tag in value):
        raise ValueError(f"{name} must be a list of words")
    return tuple(value)


def check_tags(question: ImportedQuestion, taxonomy: TagTaxonomy) -> tuple[ImportedQuestion, list[tuple[str, str]]]:
    """The question with its tags spelled as in the taxonomy, and (code, sentence) for each tag that is not in it.

    Case, spaces, hyphens and underscores do not matter. A tag that the taxonomy lacks is kept as it is.
    """
    organs = (GENERAL, *taxonomy.organs) if taxonomy.organs else ()
    tagged = replace(
        question,
        organ=_spelled(question.organ, organs),
        topics=tuple(_spelled(topic, tuple(taxonomy.topics)) for topic in question.topics),
        subtopics=tuple(_spelled(subtopic, tuple(taxonomy.subtopics)) for subtopic in question.subtopics),
    )
    return tagged, [*_unknown_tags(tagged, taxonomy, organs), *_misplaced_tags(tagged, taxonomy)]


def _spelled(tag: str, allowed: tuple[str, ...]) -> str:
    return next((term for term in allowed if plain(term) == plain(tag)), tag)


def _unknown_tags(question: ImportedQuestion, taxonomy: TagTaxonomy, organs: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    tags = [("topic", topic, tuple(taxonomy.topics)) for topic in question.topics]
    tags += [("subtopic", subtopic, tuple(taxonomy.subtopics)) for subtopic in question.subtopics]
    tags += [("organ", question.organ, organs)] if organs else []
    for kind, tag, allowed in tags:
        if tag not in allowed:
            hint = nearest(tag, allowed) or f" Allowed: {', '.join(allowed)}."
            yield f"unknown_{kind}", f"{kind} '{tag}' is not in the taxonomy {taxonomy.name}.{hint} It was kept as it is."


def _misplaced_tags(question: ImportedQuestion, taxonomy: TagTaxonomy) -> Iterator[tuple[str, str]]:
    """A question without a topic, and subtopics whose topic the question does not have."""
    if not question.topics:
        yield "no_topic", "it has no topic, and every question needs one."
    for subtopic in question.subtopics:
        topics = taxonomy.subtopics.get(subtopic, ())
        if topics and not set(topics) & set(question.topics):
            yield "stray_subtopic", f"subtopic '{subtopic}' belongs to '{topics[0]}', which is not among the question's topics."
