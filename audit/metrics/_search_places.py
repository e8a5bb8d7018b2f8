"""Why a question or a pair matches a search: where the words occur, and a text that contains them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from audit.metrics.disagreements import FOLDED, Filters
from audit.store.connection import Connection, rows

QUESTION, ANSWER, TOPIC, REASONING = "question", "answer", "topic", "reasoning"
PLACES = (QUESTION, ANSWER, TOPIC, REASONING)
"""Where words may occur, in display order."""


def _has_a_word(text: str) -> str:
    return f"exists (from wanted where contains({FOLDED.format(text=text)}, word))"


# `answer_words` has the answers of every pair searched; only those of matching pairs explain the match.
IN_QUESTIONS = f""",
involved as (
    select question, handbook_a as handbook from matched union select question, handbook_b from matched
),
places as (
    select question, '{QUESTION}' as place, null::integer as handbook, text from asked
    where question in (select question from matched) and question in (select question from question_words)
    union all
    select question, '{ANSWER}', handbook, answer from answers semi join involved using (question, handbook)
    semi join answer_words using (question, handbook)
    union all
    select question, '{TOPIC}', null, divergence_topic from matched where {_has_a_word("divergence_topic")}
    union all
    select question, '{REASONING}', null, reasoning from matched where {_has_a_word("reasoning")}
)
select question_id, null as handbook_a, null as handbook_b, place, count(*)::integer as texts,
       list(handbook_id order by handbook) filter (handbook_id is not null) as handbook_ids,
       first(places.text order by handbook, places.text) as text
from places join questions using (question) left join handbooks using (handbook)
group by all
"""
IN_PAIRS = f""",
listed as (
    select matched.*, a.handbook_id as a, b.handbook_id as b, q.question_id, q.text as question_text
    from matched join questions q using (question)
    join handbooks a on a.handbook = handbook_a join handbooks b on b.handbook = handbook_b
    semi join (
        select unnest($listed_questions::varchar[]) as question_id, unnest($listed_a::varchar[]) as first,
               unnest($listed_b::varchar[]) as second
    ) wanted_pairs on wanted_pairs.question_id = q.question_id and first = a.handbook_id and second = b.handbook_id
),
places as (
    select question_id, a, b, '{QUESTION}' as place, null::varchar as handbook_id, question_text as text from listed
    semi join question_words using (question)
    union all
    select question_id, a, b, '{ANSWER}', h.handbook_id, answer
    from listed join answers on answers.question = listed.question and answers.handbook in (handbook_a, handbook_b)
    join handbooks h on h.handbook = answers.handbook
    where {_has_a_word("answer")}
    union all
    select question_id, a, b, '{TOPIC}', null, divergence_topic from listed where {_has_a_word("divergence_topic")}
    union all
    select question_id, a, b, '{REASONING}', null, reasoning from listed where {_has_a_word("reasoning")}
)
select question_id, a as handbook_a, b as handbook_b, place, count(*)::integer as texts,
       list(handbook_id order by handbook_id) filter (handbook_id is not null) as handbook_ids,
       first(text order by handbook_id) as text
from places group by all
"""


@dataclass(frozen=True)
class SearchPlace:
    """One kind of text that contains words of a search.

    kind          one of PLACES
    text          the first of these texts
    texts         how many there are
    handbook_ids  whose answers they are; () where they are not answers
    """

    kind: str
    text: str
    texts: int
    handbook_ids: tuple[str, ...] = ()


PairKey = tuple[str, str, str]


def places_in_questions(con: Connection, filters: Filters, question_ids: tuple[str, ...]) -> dict[str, tuple[SearchPlace, ...]]:
    """Where the words of `filters` occur, for each of these questions: in its text, or in its pairs that the filters select.

    Questions that do not match have no entry; without search words, none has.
    """
    if not filters.words or not question_ids:
        return {}
    sql, parameters = replace(filters, questions=question_ids).statement(IN_QUESTIONS)
    return {key[0]: places for key, places in _places(con, sql, parameters).items()}


def places_in_pairs(con: Connection, filters: Filters, pairs: tuple[PairKey, ...]) -> dict[PairKey, tuple[SearchPlace, ...]]:
    """Where the words occur for pairs, each by question id and the ids of both handbooks in the order of the release."""
    if not filters.words or not pairs:
        return {}
    questions, first, second = zip(*pairs, strict=True)
    sql, parameters = replace(filters, questions=tuple(dict.fromkeys(questions))).statement(IN_PAIRS)
    listed = {"listed_questions": list(questions), "listed_a": list(first), "listed_b": list(second)}
    return _places(con, sql, {**parameters, **listed})


def _places(con: Connection, sql: str, parameters: dict[str, object]) -> dict[PairKey, tuple[SearchPlace, ...]]:
    places: dict[PairKey, dict[str, SearchPlace]] = {}
    for question_id, a, b, kind, texts, handbook_ids, text in rows(con, sql, parameters):
        by_place = places.setdefault((question_id, a or "", b or ""), {})
        by_place[kind] = SearchPlace(kind, text, texts, tuple(handbook_ids or ()))
    return {key: tuple(by_place[kind] for kind in PLACES if kind in by_place) for key, by_place in places.items()}
