"""The tables of a store: those of the kinds of record, the view of judged pairs, and those of schema.sql."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from importlib import resources

from audit.release.schema import STORED
from audit.vocabulary import DISAGREEING, FurtherKind, Label, sql_list

JUDGED_PAIRS = f"""
create view judged_pairs as   -- pairs with the two words that figures rest on; both are null where a pair is unscored:
select *,                     -- a missing verdict is neither absence nor agreement
       label <> '{Label.ABSENT}' as present,  -- both handbooks address the question
       label in {sql_list(DISAGREEING)} as disagrees
from pairs;
create macro with_points(text) as  -- a letter of no language for the point or comma within a number
    regexp_replace(text, '([0-9])[.,]([0-9])', '\\1\u01c0\\2', 'g');
create macro words_only(text) as  -- as audit.text.quotes: words in lower case, one space between them
    ' ' || trim(regexp_replace(with_points(with_points(lower(nfc_normalize(text)))), '[^\\p{{L}}\\p{{N}}]+', ' ', 'g')) || ' ';
create macro stands_in(quote, text) as
    case when words_only(quote) <> '  ' then contains(words_only(coalesce(text, '')), words_only(quote)) end;
create view quoted_pairs as   -- `quotes`: none; supported, where all that is needed stands in its answer; else unsupported
select p.*,
       case when coalesce(words_only(quote_a), '  ') = '  ' and coalesce(words_only(quote_b), '  ') = '  ' then 'none'
            when coalesce(stands_in(quote_a, a.answer), label = '{Label.ABSENT}')
                 and coalesce(stands_in(quote_b, b.answer), label = '{Label.ABSENT}') then 'supported'
            else 'unsupported' end as quotes
from judged_pairs p
left join answers a on a.question = p.question and a.handbook = p.handbook_a
left join answers b on b.question = p.question and b.handbook = p.handbook_b;
create view second_verdicts as  -- of the second judge, of several the one with the most verdicts; one row per pair
select question, least(handbook_a, handbook_b) as handbook_a, greatest(handbook_a, handbook_b) as handbook_b,
       label, reasoning, unscored_reason, judge
from further_verdicts semi join (
    select judge from further_verdicts where kind = '{FurtherKind.SECOND}' group by judge order by count(*) desc, judge limit 1
) using (judge)
where kind = '{FurtherKind.SECOND}';
create view pairs_read_twice as  -- `second`: null where no second judge was asked
select p.*, s.label as second_label, s.reasoning as second_reasoning, s.judge as second_judge,
       case when s.judge is null then null when s.label = p.label then 'confirmed'
            when s.label <> p.label then 'another label' else 'unscored' end as second
from judged_pairs p left join second_verdicts s using (question, handbook_a, handbook_b);
"""
RULES = 2
"""Raised when a release is read by other rules, as with what counts as an absence: its store then has other content."""


@cache
def store_schema() -> str:
    """The statements that make an empty store."""
    rest = resources.files("audit.store").joinpath("schema.sql").read_text()
    return "\n".join((*_enums(), *_tables(), JUDGED_PAIRS, rest))


@cache
def layout() -> str:
    """Identifies the tables: a store with another layout is rebuilt from its release, not read."""
    return hashlib.sha256(f"{RULES}{store_schema()}".encode()).hexdigest()[:16]


def _enums() -> Iterator[str]:
    """The vocabularies that have a type of their own."""
    terms = (field.terms for kind in STORED for field in kind.fields if field.terms)
    for name, allowed in {one.enum: one.allowed for one in terms if one.enum}.items():
        quoted = ", ".join(f"'{term}'" for term in allowed)
        yield f"create type {name} as enum ({quoted});"


def _tables() -> Iterator[str]:
    for kind in STORED:
        if kind.table:
            columns = ", ".join(f'"{name}" {sql}' for name, sql in kind.table_columns.items())
            yield f"create table {kind.table} ({columns});"
