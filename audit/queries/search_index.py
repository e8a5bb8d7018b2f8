"""The search index of a run: its questions, topics and subtopics, the words by which each is found, and how disputed it is."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from audit.queries.answer_words import answer_words
from audit.store.connection import Connection, rows
from audit.text.synonyms import read_groups
from audit.text.tokens import stem
from audit.text.word_match import STOP_STEMS, stems_of

SYNONYM, INITIALS, TAG, IN_ANSWERS = 0.7, 0.8, 0.5, 0.4
"""How much a word counts that is not in the name: one that means the same, initials of it, a topic, a word of all its answers."""
MAX_NAME = 200
"""Letters of a name in which initials are looked for."""
CAPITALISED = re.compile(r"(?<!\w)(?:[A-Z][\w'’-]*[ -]){2,}[A-Z][\w'’]*")
TENTHS = 10

QUESTIONS = """
with disputes as (
    from judged_pairs where disagrees
),
disputed as (
    select question, count(*) as disagreeing from disputes group by question
),
asked as (
    select question, count(*) as asked, count(*) filter (not absent) as answering,
           count(*) filter (found = 'perhaps') as perhaps
    from answers join questions q using (question) join handbooks h using (handbook)
    where q.organ = 'general' or h.organ in (q.organ, 'general') or not absent
    group by question
)
select question, question_id, text, coalesce(asked, 0), coalesce(answering, 0), coalesce(perhaps, 0), coalesce(disagreeing, 0)
from questions left join asked using (question) left join disputed using (question) order by question
"""
TAGS = "select question, topic from topics union all select question, subtopic from subtopics"
TAGGED = """
select {name}, count(distinct question) as questions, count(distinct question) filter (disagreeing) as disputed
from {name}s left join (select distinct question, true as disagreeing from judged_pairs where disagrees) using (question)
group by 1 order by 1
"""
HANDBOOKS = """
with disputes as (
    from judged_pairs where disagrees
),
involved as (
    select question, handbook_a as handbook from disputes union select question, handbook_b from disputes
)
select handbook_id, count(question) from handbooks left join involved using (handbook) group by handbook, handbook_id
order by handbook
"""
DIVERGENCE_TOPICS = "select divergence_topic, count(*) from judged_pairs where disagrees and divergence_topic <> '' group by 1"
POSITIONS = """
select question_id, statement, count(handbook)::integer
from positions join questions using (question) join position_holders using (number) group by all order by 1, 3 desc, 2
"""


class SearchEntry(NamedTuple):
    """Something that can be found.

    value   what opens it: an id, or the name of a topic
    name    what is shown and searched
    more    further words by which it is found, as stems, each with a digit before it for its weight in tenths: `7beer 4glass`
    counts  of questions: handbooks that should answer or do, those that answer (with *perhaps*), those in state *perhaps*,
            pairs that disagree; of topics: questions, and those disputed
    """

    value: str
    name: str
    more: str = ""
    counts: tuple[int, ...] = ()


class SearchIndex(NamedTuple):
    """What a run has to find; `disputed` is handbook id -> disputed questions, `divergence_topics` topic -> pairs that disagree.

    `positions` are those that the release brings: (question id, statement, handbooks that hold it).
    """

    questions: list[SearchEntry]
    topics: list[SearchEntry]
    subtopics: list[SearchEntry]
    disputed: dict[str, int]
    divergence_topics: dict[str, int]
    positions: list[tuple[str, str, int]]


def search_index(con: Connection) -> SearchIndex:
    """The index, with questions in release order and topics in alphabetical order."""
    disputed, divergence_topics = dict(rows(con, HANDBOOKS)), dict(rows(con, DIVERGENCE_TOPICS))
    return SearchIndex(
        question_entries(con), _tags(con, "topic"), _tags(con, "subtopic"), disputed, divergence_topics, rows(con, POSITIONS)
    )


def _tags(con: Connection, kind: str) -> list[SearchEntry]:
    tagged = rows(con, TAGGED.format(name=kind))
    return [SearchEntry(name, name, "", (questions, disputed)) for name, questions, disputed in tagged]


def question_entries(con: Connection) -> list[SearchEntry]:
    """The questions of a run, in release order."""
    tags, answers = defaultdict[int, list[str]](list), defaultdict[int, list[tuple[str, float]]](list)
    for question, tag in rows(con, TAGS):
        tags[question].append(tag)
    for question, word, share in answer_words(con):
        answers[question].append((word, share))
    return [
        SearchEntry(question_id, text, more_words(text, tags[number], answers[number]), tuple(counts))
        for number, question_id, text, *counts in rows(con, QUESTIONS)
    ]


def more_words(name: str, tags: Iterable[str] = (), in_answers: Iterable[tuple[str, float]] = ()) -> str:
    """Words behind a name, as `SearchEntry.more` has them.

    Synonyms, initials of three capitalised words or more, its tags, and words of its answers with the share that has them.
    """
    own = stems_of(name)
    weights: dict[str, float] = defaultdict(float)

    def add(term: str, weight: float) -> None:
        # As if independent: a word that is both a synonym and in the answers counts more than either, and less than one typed
        weights[term] = 1 - (1 - weights[term]) * (1 - weight)

    for term in synonym_stems(own):
        add(term, SYNONYM)
    for words in CAPITALISED.findall(name[:MAX_NAME]):
        add("".join(word[:1] for word in re.split("[ -]", words)).lower(), INITIALS)
    for tag in tags:
        for term in stems_of(tag):
            add(term, TAG)
    for word, share in in_answers:
        add(stem(word), IN_ANSWERS * share**0.5)
    tenths = {term: round(weight * TENTHS) for term, weight in weights.items() if term not in STOP_STEMS and term not in own}
    return " ".join(f"{weight}{term}" for term, weight in sorted(tenths.items()) if 0 < weight < TENTHS)


def weighted_terms(entry: SearchEntry) -> Mapping[str, float]:
    """The terms of an entry with their weights, for a `WordIndex`."""
    return {word[1:]: int(word[0]) / TENTHS for word in entry.more.split()} | dict.fromkeys(stems_of(entry.name), 1.0)


def synonym_stems(stems: Sequence[str]) -> list[str]:
    """The stems of all phrases in the groups of synonyms that a text has a phrase of: once for each phrase that it has."""
    present = {
        phrase: group
        for start, first in enumerate(stems)
        for phrase, group in _phrases_by_first_stem().get(first, ())
        if tuple(stems[start : start + len(phrase)]) == phrase
    }
    return [term for group in present.values() for term in group]


@cache
def _phrases_by_first_stem() -> dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]]:
    """First stem -> the phrases that begin with it, each with the stems of its group."""
    phrases = defaultdict(list)
    for group in read_groups():
        stemmed = [tuple(stems_of(phrase)) for phrase in group]
        together = tuple(dict.fromkeys(term for phrase in stemmed for term in phrase))
        for phrase in stemmed:
            phrases[phrase[0]].append((phrase, together))
    return phrases
