"""The ranked list of pairs, worst first, and the filters that choose them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace

import pandas as pd

from audit.metrics import metric
from audit.queries.lookup import require_one_of
from audit.queries.weak_evidence import WEAK_ABOUT
from audit.store.connection import Connection, frame, rows
from audit.tables import Column, TableSpec
from audit.vocabulary import DISAGREEING, LABELS

UNSCORED = "UNSCORED"
"""The choice, in addition to the labels, of pairs whose verdict could not be parsed."""

# `contains` has no wildcards, unlike `like`: % and _ in a search are ordinary characters.
FOLDED = "strip_accents(lower(coalesce({text}, '')))"

# The filters narrow the pairs before any text is searched, because answers are long.
STEPS = f"""
with asked as (
    select question, text, organ, question_id from questions
    where (len($questions) = 0 or list_contains($questions, question_id))
      and (len($organs) = 0 or list_contains($organs, organ))
      and (len($topics) = 0 or question in (select question from topics where list_contains($topics, topic)))
      and (len($subtopics) = 0 or question in (select question from subtopics where list_contains($subtopics, subtopic)))
),
sides as (
    select handbook,
           len($centers) = 0 or list_contains($centers, center)            as center_chosen,
           len($handbooks) = 0 or list_contains($handbooks, handbook_id)   as handbook_chosen,
           len($phases) = 0 or list_contains($phases, phase)               as phase_chosen
    from handbooks
),
labelled as (
    select p.* from judged_pairs p join asked using (question)
    where len($labels) = 0 or list_contains($labels, coalesce(p.label::varchar, '{UNSCORED}'))
),
chosen as (
    select p.*
    from labelled p
    join sides a on a.handbook = p.handbook_a
    join sides b on b.handbook = p.handbook_b
    where case when len($centers) > 1 then a.center_chosen and b.center_chosen else a.center_chosen or b.center_chosen end
      and case when len($handbooks) > 1 then a.handbook_chosen and b.handbook_chosen
               else a.handbook_chosen or b.handbook_chosen end
      and case when len($phases) > 1 then a.phase_chosen and b.phase_chosen else a.phase_chosen or b.phase_chosen end
      and (len($significances) = 0 or list_contains($significances, p.significance::varchar))
),
wanted as (
    select i, {FOLDED.format(text="$words[i]")} as word from range(1, len($words) + 1) as numbered(i)
),
question_words as (
    select question, i from asked join wanted on contains({FOLDED.format(text="text")}, word)
),
answer_words as (
    select question, handbook, i
    from answers join wanted on contains({FOLDED.format(text="answer")}, word)
    where question in (select question from chosen)
),
pair_words as (
    select question, handbook_a, handbook_b, i
    from chosen join wanted on contains({FOLDED.format(text="concat_ws(' ', reasoning, divergence_topic)")}, word)
    union select question, handbook_a, handbook_b, i from chosen join question_words using (question)
    union select c.question, handbook_a, handbook_b, i
          from chosen c join answer_words w on w.question = c.question and w.handbook = c.handbook_a
    union select c.question, handbook_a, handbook_b, i
          from chosen c join answer_words w on w.question = c.question and w.handbook = c.handbook_b
),
found as (
    select question, handbook_a, handbook_b from pair_words
    group by all having count(*) = len($words)
)"""

ORDERS = {
    "significance": "significance desc nulls last, label desc nulls last,",
    "label": "label desc nulls last, significance desc nulls last,",
    "handbooks": "handbooks desc nulls last, significance desc nulls last, label desc nulls last,",
    "release": "",
}
"""Sort orders by name, the default first. Ties are in release order."""
# Sorted by handbooks, the pairs of one question stay together; in other orders questions take turns.
BY_TURN = "turn, handbooks desc nulls last,"
TURNS = {"significance": BY_TURN, "label": BY_TURN, "handbooks": "", "release": ""}

# Only disagreements take turns by question and have their handbooks counted: nobody reads millions of other pairs one by one.
# The total is returned with an empty page too, to distinguish a page past the end from no match.
RANKED = """,
total as (
    select count(*)::bigint as total from matched
),
disputed as (
    from matched where disagrees
),
involved as (
    select question, handbook_a as handbook from disputed union select question, handbook_b from disputed
),
sizes as (
    select question, count(*) as handbooks from involved group by question
),
turns as (
    select disputed.*, handbooks, row_number() over (
        partition by question, label, significance order by handbook_a, handbook_b
    ) as turn
    from disputed join sizes using (question)
    union all by name
    select *, 1 as turn from matched where disagrees is not true
),
page as (
    from turns order by {order} {turns} question, handbook_a, handbook_b limit $limit offset $offset
),
numbered as (
    select *, row_number() over (order by {order} {turns} question, handbook_a, handbook_b) as place from page
)
select total, label, significance, divergence_topic, q.text as question_text, q.question_id, q.organ,
       a.handbook_id as handbook_a, b.handbook_id as handbook_b, a.center as center_a, b.center as center_b, reasoning
from total
left join numbered on true
left join questions q using (question)
left join handbooks a on a.handbook = numbered.handbook_a
left join handbooks b on b.handbook = numbered.handbook_b
order by place
"""
NAMED = """
select question_id, a.handbook_id as handbook_a, b.handbook_id as handbook_b
from matched
join questions using (question)
join handbooks a on a.handbook = handbook_a
join handbooks b on b.handbook = handbook_b
order by {order} question, matched.handbook_a, matched.handbook_b
"""


def ranked(order: str) -> str:
    """The end of a statement that lists matched pairs in an order of ORDERS, every question taking its turn."""
    return RANKED.format(order=ORDERS[order], turns=TURNS[order])


ALL_ABOUT = ",\nabout as (from chosen)"
TOPICS_ABOUT = """,
about as (
    from chosen semi join (select unnest($divergence_topics::varchar[]) as divergence_topic) using (divergence_topic)
)"""
OF_VIEW = "semi join (from {view} where list_contains(${name}, {name}) and question in (select question from {{rest}}))"
NARROWER = {
    "evidence": WEAK_ABOUT,
    "differences": ",\nby_difference as (from {rest} where list_contains($differences, difference))",
    "follow_both": ",\nby_follow_both as (from {rest} where list_contains($follow_both, follow_both))",
    **{
        name: f",\nby_{name} as (from {{rest}} {OF_VIEW.format(view=view, name=name)} using (question, handbook_a, handbook_b))"
        for name, view in (("quotes", "quoted_pairs"), ("second", "pairs_read_twice"))
    },
}
"""Filter that most statements do not have -> the step that it adds, which reads the pairs of the step before it, `rest`."""
RESULTS = {"evidence": "resting", "differences": "by_difference"}


def narrowed(names: Iterable[str], words: bool) -> str:
    """The steps of these filters, in order, after `about`; the last is `matched`."""
    steps, rest = "", "about"
    for name in names:
        steps += NARROWER[name].replace("{rest}", rest)
        rest = RESULTS.get(name, f"by_{name}")
    found = " semi join found using (question, handbook_a, handbook_b)" if words else ""
    return f"{steps},\nmatched as (from {rest}{found})"


EVERY_STEP = STEPS + TOPICS_ABOUT + narrowed(NARROWER, words=True)
"""The statement with every filter; a real statement has only the steps of the filters that are set."""
SQL = EVERY_STEP + ranked("significance")
TABLE = TableSpec(
    "Pairs, the gravest disagreements first",
    (
        Column.count("rank", "Rank"),
        Column.text("label", "Label", words={**{label.value: label.value.lower() for label in LABELS}, UNSCORED: "unscored"}),
        Column.text("significance", "Significance"), Column.text("divergence_topic", "Divergence topic"),
        Column.text("question_text", "{Question}"), Column.named("organ", "{Organ}"), Column.text("handbook_a", "{Handbook}"),
        Column.text("handbook_b", "Other {handbook}"), Column.text("reasoning", "The judge's reasoning"),
    ),
    printed_rows=30,
)  # fmt: skip
GLOSSARY = {"pair": "One {question} and two of its {handbooks}. With N {handbooks} asked, {a_question} has N(N-1)/2 pairs."}


@dataclass(frozen=True)
class Filters:
    """Which pairs to select; an empty filter selects every pair.

    questions                   their ids
    evidence                    kinds of weak evidence (keys of WEAKNESSES): pairs of which an answer rests on one of them
    differences, follow_both    why the advice differs, and whether one patient can follow both, as the judge says
    quotes                      none, supported, unsupported: whether the words that the verdict quotes stand in the answers
    second                      confirmed, another label, unscored: what a second judge says of the pair
    organs, topics, subtopics   of the question
    labels                      label words, and UNSCORED for pairs without a readable verdict
    significances               low, medium, high
    centers, handbooks, phases  one: of either handbook of the pair; several: of both, so two handbooks select the pairs between
    them
    divergence_topics           as the judge wrote them, such as those of a theme; None: any or none
    words                       each must occur in the question, one of the two answers, the reasoning or the divergence
                                topic, anywhere in a word; case and accents do not matter, % and _ are ordinary characters
    """

    organs: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    subtopics: tuple[str, ...] = ()
    labels: tuple[str, ...] = tuple(label.value for label in DISAGREEING)
    significances: tuple[str, ...] = ()
    centers: tuple[str, ...] = ()
    handbooks: tuple[str, ...] = ()
    phases: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    divergence_topics: tuple[str, ...] | None = None
    questions: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    follow_both: tuple[str, ...] = ()
    quotes: tuple[str, ...] = ()
    second: tuple[str, ...] = ()

    def statement(self, end: str) -> tuple[str, dict[str, object]]:
        """The statement that ends in `end`, which reads the selected pairs from `matched`, and its parameters."""
        parameters: dict[str, object] = {name: list(values) for name, values in asdict(self).items() if values is not None}
        # A step that would select everything is left out, rather than run over every pair.
        about = ALL_ABOUT if self.divergence_topics is None else TOPICS_ABOUT
        chosen = [name for name in NARROWER if parameters[name]]
        for name in NARROWER.keys() - set(chosen):  # DuckDB rejects a parameter that the statement does not name
            del parameters[name]
        return STEPS + about + narrowed(chosen, bool(self.words)) + end, parameters


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY)
def disagreements(
    con: Connection, filters: Filters = Filters(), limit: int = 100, offset: int = 0, order: str = "significance"
) -> pd.DataFrame:
    """The pairs to read first: the highest clinical significance first, then the worst label.

    A pair is one question answered from two handbooks. Among pairs of one significance and label, every question gives
    its first pair before any question gives its second, those with the most handbooks in dispute first, so one heavily
    disputed question does not fill the list. An unstated significance goes after low, an unscored pair after every label.

    `order` is 'significance' (then label), 'label' (then significance), 'handbooks' (pairs of the question with the most
    handbooks in dispute first) or 'release'. One row per pair, `limit` of them from `offset` on; where that is past the end,
    the last page:
        total                                                      int, pairs that match, the same in every row
        rank                                                       int from 1
        label, significance, divergence_topic, reasoning           str; missing where the judge gave none
        question_text, question_id, organ                          str
        handbook_a, handbook_b, center_a, center_b                 str

    No row when nothing matches. Raises AuditError for another order.
    """
    require_one_of(order, tuple(ORDERS), "Order")
    return paged(con, *filters.statement(ranked(order)), limit, offset)


def paged(con: Connection, sql: str, parameters: Mapping[str, object], limit: int, offset: int) -> pd.DataFrame:
    """One page of a statement that takes $limit and $offset and gives `total` in every row, with the rank of each row from 1.

    A page past the end is the last page: a saved link may point there, after other filters or another run were chosen.
    """
    table = frame(con, sql, {**parameters, "limit": limit, "offset": offset})
    total = int(table["total"].iloc[0])
    if total and offset >= total:
        return paged(con, sql, parameters, limit, (total - 1) // limit * limit)
    listed = table if total else table.iloc[:0]
    return listed.assign(rank=range(offset + 1, offset + 1 + len(listed)))


def matching(con: Connection, filters: Filters = Filters(), order: str = "release") -> pd.DataFrame:
    """All pairs that the filters select: question_id, handbook_a, handbook_b, each str.

    order  release, significance (then label) or label (then significance); here questions do not take turns
    """
    require_one_of(order, ("release", "significance", "label"), "Order")
    return frame(con, *filters.statement(NAMED.format(order=ORDERS[order])))


# -- Why a question or a pair matches a search: where the words occur, and a text that contains them ---------


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
