"""One theme: the labels of its pairs, where it is disputed, its divergence topics; and a search for themes by words."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audit.metrics import metric
from audit.metrics._shared import DISAGREEING, PAIRS, QUESTIONS, TWO_WAY
from audit.metrics.disagreements import FOLDED
from audit.queries.themes import NO_THEME, REST, THEME_PAIRS, grouping, grouping_of, require_theme
from audit.release.taxonomy import Taxonomy, plain_phrase
from audit.stats.clustered import group_counts, ratio_interval
from audit.stats.intervals import with_interval
from audit.store.connection import Connection, frame
from audit.tables import Column, TableSpec
from audit.vocabulary import LABELS, PRESENT_LABELS, SIGNIFICANCES

UNSTATED = "unstated"
MAX_QUESTIONS = 6
CATEGORIES = {"label": [label.value for label in PRESENT_LABELS], "significance": [*SIGNIFICANCES, UNSTATED]}
MIX_SQL = f"""
with {THEME_PAIRS}
select question, handbook_a, handbook_b, label::varchar as label, disagrees,
       coalesce(significance::varchar, 'unstated') as significance
from theme_pairs where theme_id = $theme_id
"""
PLACES_SQL = f"""
with {THEME_PAIRS},
of_theme as (
    select question, handbook_a, handbook_b, disagrees from theme_pairs where theme_id = $theme_id
),
sides as (
    select question, handbook_a as handbook, handbook_a, handbook_b, disagrees from of_theme
    union all
    select question, handbook_b, handbook_a, handbook_b, disagrees from of_theme
),
placed as (
    select 'organ' as kind, organ as name, question, handbook_a, handbook_b, disagrees
    from of_theme join questions using (question)
    union all
    select distinct 'center', center, question, handbook_a, handbook_b, disagrees from sides join handbooks using (handbook)
    union all
    select 'handbook', handbook_id, question, handbook_a, handbook_b, disagrees from sides join handbooks using (handbook)
)
select kind, name, count(*) as pairs, count(*) filter (disagrees) as disagreeing, count(distinct question) as questions
from placed
group by kind, name
order by kind, disagreeing desc, pairs desc, name
"""
TOPICS_SQL = f"""
with {THEME_PAIRS}
select divergence_topic as topic, count(*) as pairs, count(*) filter (disagrees) as disagreeing,
       count(*) filter (disagrees and significance = 'high') as high, count(distinct question) as questions
from theme_pairs where theme_id = $theme_id
group by divergence_topic
order by high desc, pairs desc, topic
"""
# Each word must be in one and the same divergence topic, or in the name and terms of the theme.
SEARCH_SQL = f"""
with {THEME_PAIRS},
wanted as (
    select i, {FOLDED.format(text="$words[i]")} as word from range(1, len($words) + 1) as numbered(i)
),
topics_of_themes as (
    select distinct theme_id, divergence_topic from theme_pairs where theme_id <> ''
),
named as (
    select unnest($named::varchar[]) as theme_id, {FOLDED.format(text="unnest($names::varchar[])")} as name
),
by_topic as (
    select theme_id, divergence_topic
    from topics_of_themes t join wanted on contains({FOLDED.format(text="t.divergence_topic")}, word)
    group by all having count(*) = len($words)
),
by_name as (
    select theme_id from named join wanted on contains(name, word) group by theme_id having count(*) = len($words)
)
select theme_id, count(divergence_topic) as found
from (select theme_id, divergence_topic from by_topic union all select theme_id, null from by_name)
group by theme_id
order by found desc, theme_id
"""
DISPUTED_SQL = f"""
with {THEME_PAIRS}
select question_id, text as question_text, count(*) filter (disagrees) as disagreeing, count(*) as pairs
from theme_pairs join questions using (question)
where theme_id = $theme_id
group by all
order by disagreeing desc, pairs desc, question_id
limit {MAX_QUESTIONS}
"""
CATEGORY_WORDS = {**{label.value: label.value.lower() for label in LABELS}, UNSTATED: "not stated"}
MIX_TABLE = TableSpec(
    "Labels and {significance} of the pairs of a theme",
    (
        Column.text("part", "By"),
        Column.text("name", "Label or significance", words=CATEGORY_WORDS),
        PAIRS,
        Column.count("of", "Of", "pairs"),
        Column.share("share", "Share"),
    ),
    (TWO_WAY,),
)
PLACES_TABLE = TableSpec(
    "Where a theme is disputed",
    (Column.text("kind", "Kind"), Column.named("name", "{Organ}, {center} or {handbook}"), PAIRS, DISAGREEING, QUESTIONS),
    ("{Organ} is that of the {question}. A pair counts for both of its {handbooks}.",),
)
TOPICS_TABLE = TableSpec(
    "Divergence topics of a theme",
    (
        Column.text("topic", "Divergence topic"),
        Column.text("exemplar", "Exemplar", words={"True": "exemplar", "False": ""}),
        PAIRS,
        DISAGREEING,
        Column.count("high", "High significance"),
        QUESTIONS,
    ),
    ("Those of high {significance} come first.", "Exemplars span the theme: new divergence topics are compared with them."),
    printed_rows=30,
)
SEARCH_TABLE = TableSpec(
    "Themes found by words", (Column.text("theme_id", "Theme"), Column.count("found", "Found in", "divergence topics"))
)
DISPUTED_TABLE = TableSpec(
    "The most disputed {questions} of a theme", (Column.text("question_text", "{Question}"), DISAGREEING, PAIRS)
)


@metric(
    sql=MIX_SQL,
    table=MIX_TABLE,
    glossary={"label mix of a theme": "How many pairs of a theme have each label, and each {significance}."},
    by_theme=True,
)
def theme_mix(con: Connection, taxonomy: Taxonomy, theme_id: str) -> pd.DataFrame:
    """Which labels the pairs of a theme have, and which clinical significance its disagreements.

    The pairs of a theme are counted as in `themes`, with those of the themes below it. One row per label but ABSENT (part
    'label', of all its pairs) and per significance, 'unstated' among them (part 'significance', of its disagreeing pairs):
        part, name                    str
        pairs, of                     int
        share                         float in [0, 1], pairs / of; NaN where of is 0
        share_low, share_high         95 % interval for other questions and handbooks (audit.stats.clustered); NaN where fewer
                                      than two questions or four handbooks are involved

    Raises NotInRunError when the taxonomy has no such theme.
    """
    pairs = frame(con, MIX_SQL, _of_theme(taxonomy, theme_id))
    disagreeing = pairs[pairs["disagrees"].astype(bool)]
    return pd.concat([_category_rows("label", pairs), _category_rows("significance", disagreeing)], ignore_index=True)


def _of_theme(taxonomy: Taxonomy, theme_id: str) -> dict[str, object]:
    """The parameters of a statement on the pairs of one theme and those below it. Raises NotInRunError for an unknown theme."""
    require_theme(taxonomy, theme_id)
    grouped = grouping_of(taxonomy, theme_id)
    if theme_id not in REST:
        # To which other theme a pair belongs is not asked: a third of the time for a theme among a thousand
        own = [phrase for phrase, of in zip(grouped["phrases"], grouped["theme_ids"], strict=True) if of == theme_id]
        grouped = {"phrases": own, "theme_ids": [theme_id] * len(own)}
    return {**grouped, "theme_id": theme_id}


def _category_rows(part: str, pairs: pd.DataFrame) -> pd.DataFrame:
    names = CATEGORIES[part]
    counts = pairs[part].value_counts().reindex(names, fill_value=0).to_numpy(dtype=int)
    share = counts / len(pairs) if len(pairs) else np.full(len(names), np.nan)
    table = pd.DataFrame({"part": part, "name": names, "pairs": counts, "of": len(pairs), "share": share})
    group = pd.Index(names).get_indexer(pd.Index(pairs[part]))
    related = group_counts(pairs, group, len(names), np.ones(len(pairs), dtype=bool), of_all=True)
    return with_interval(table, "share", *ratio_interval(related, 0, 1))


@metric(
    sql=PLACES_SQL,
    table=PLACES_TABLE,
    glossary={"disputed": "With at least one disagreeing pair; more of them mean more disputed."},
    by_theme=True,
)
def theme_places(con: Connection, taxonomy: Taxonomy, theme_id: str) -> pd.DataFrame:
    """Where a theme is disputed: organs of its questions, centers and handbooks whose answers are involved.

    A pair counts for both of its handbooks, and for both of their centers (once, where they are the same), so those rows add up
    to more than the theme. One row per organ, center and handbook that is involved, the most disputed first:
        kind                         str, 'organ', 'center' or 'handbook'
        name                         str, organ, center or handbook_id
        pairs, disagreeing           int, counted as in `themes`, with those of the themes below it
        questions                    int

    Raises NotInRunError when the taxonomy has no such theme.
    """
    return frame(con, PLACES_SQL, _of_theme(taxonomy, theme_id))


@metric(
    sql=TOPICS_SQL,
    table=TOPICS_TABLE,
    glossary={"exemplar": "One of the up to eight divergence topics that span a theme."},
    by_theme=True,
)
def theme_topics(con: Connection, taxonomy: Taxonomy, theme_id: str = NO_THEME) -> pd.DataFrame:
    """The divergence topics, in the judge's words, of one theme and those below it; by default, those without a theme.

    An exemplar is one of the up to eight topics that span the theme: new ones are compared with them. It may cover several
    wordings, which differ in case or in words such as "different advice on". One row per divergence topic, those with most
    disagreements of high clinical significance first, then the commonest:
        topic                 str, as the release has it
        pairs, disagreeing    int, present pairs with this topic, and those that disagree
        high                  int, of those that disagree, the pairs of high clinical significance
        questions             int
        exemplar              bool

    Raises NotInRunError when the taxonomy has no such theme.
    """
    theme = require_theme(taxonomy, theme_id)
    table = frame(con, TOPICS_SQL, _of_theme(taxonomy, theme_id))
    exemplars = {plain_phrase(phrase) for phrase in theme.exemplars} if theme else set()
    return table.assign(exemplar=[plain_phrase(str(topic)) in exemplars for topic in table["topic"]])


@metric(
    sql=SEARCH_SQL,
    table=SEARCH_TABLE,
    glossary={"search by words": "Finds themes by the words of their name, terms and divergence topics, not by meaning."},
    by_theme=True,
)
def theme_search(con: Connection, taxonomy: Taxonomy, words: str) -> pd.DataFrame:
    """The themes whose name and terms, or one of whose divergence topics, contain every one of some words.

    A word may be part of another; case and accents do not matter, % and _ are ordinary characters. Words are found as they
    are written, not by their meaning. Divergence topics are those of this run's present pairs.

    One row per theme, those with the most matching divergence topics first:
        theme_id  str; '-1' for divergence topics without a theme
        found     int, its divergence topics that contain all the words; 0 where only its name or terms do
    """
    texts = {theme.theme_id: " ".join((theme.name, *theme.terms)) for theme in taxonomy.themes}
    parameters = {"words": words.split(), "named": list(texts), "names": list(texts.values())}
    return frame(con, SEARCH_SQL, {**grouping(taxonomy), **parameters})


@metric(
    sql=DISPUTED_SQL,
    table=DISPUTED_TABLE,
    glossary={"disputed {question} of a theme": "A {question} on which pairs disagree about the theme."},
    by_theme=True,
)
def theme_questions(con: Connection, taxonomy: Taxonomy, theme_id: str) -> pd.DataFrame:
    """The questions on which most pairs disagree about a theme; `question_positions` has the positions on each.

    One row per question, the most disputed first, at most six:
        question_id, question_text  str
        disagreeing, pairs          int, pairs on the question that disagree about this theme, and all its pairs there

    Raises NotInRunError when the taxonomy has no such theme.
    """
    return frame(con, DISPUTED_SQL, _of_theme(taxonomy, theme_id))
