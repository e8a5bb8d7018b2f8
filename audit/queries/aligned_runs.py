"""SQL that brings the pairs of two runs together by the ids of their questions and handbooks."""

from __future__ import annotations

from audit.vocabulary import LABELS

PRESCREENED, UNSCORED, NOT_THERE = "PRE-SCREENED", "UNSCORED", "NOT IN THE RUN"
STATES = (PRESCREENED, *(label.value for label in LABELS), UNSCORED, NOT_THERE)
"""What a run may record of a pair, in the order of the matrix."""
STATE_WORDS = {state: state.lower() for state in STATES}

IN_BOTH = """
books as (
    select mine.handbook as own, theirs.handbook as their
    from this.handbooks mine join other.handbooks theirs using (handbook_id)
),
asked as (
    select mine.question as own, theirs.question as their
    from this.questions mine join other.questions theirs using (question_id)
)"""
"""The handbooks and questions that both runs have, by their number in each."""
ALIGNED = f"""
{IN_BOTH},
before as (
    select question, handbook_a, handbook_b, significance::varchar as significance,
           case when prescreened then 'PRE-SCREENED' else coalesce(label::varchar, 'UNSCORED') end as state
    from this.pairs
    where question in (select own from asked)
      and handbook_a in (select own from books) and handbook_b in (select own from books)
),
after as (
    select asked.own as question, least(a.own, b.own) as handbook_a, greatest(a.own, b.own) as handbook_b,
           significance::varchar as significance,
           case when prescreened then 'PRE-SCREENED' else coalesce(label::varchar, 'UNSCORED') end as state
    from other.pairs p
    join asked on asked.their = p.question
    join books a on a.their = p.handbook_a
    join books b on b.their = p.handbook_b
),
both_runs as (
    select question, handbook_a, handbook_b,
           coalesce(before.state, 'NOT IN THE RUN') as first, coalesce(after.state, 'NOT IN THE RUN') as second,
           before.significance as significance_first, after.significance as significance_second
    from before full join after using (question, handbook_a, handbook_b)
)"""
"""The steps that bring both runs' pairs together, by the ids of questions and handbooks, whatever their order in each run."""

COMPARED = f"""
{ALIGNED},
compared as (
    select question, handbook_a, handbook_b,
           first in ('PRE-SCREENED', 'ABSENT')          as was_absent,
           second in ('PRE-SCREENED', 'ABSENT')         as is_absent,
           first in ('DIVERGENT', 'CONTRADICTORY')      as was_disagreeing,
           second in ('DIVERGENT', 'CONTRADICTORY')     as is_disagreeing,
           case $kind when 'disagreement' then was_disagreeing <> is_disagreeing
                      when 'absence' then was_absent <> is_absent
                      else first <> second and not (was_absent and is_absent) end as moves
    from both_runs
    where first not in ('UNSCORED', 'NOT IN THE RUN') and second not in ('UNSCORED', 'NOT IN THE RUN')
)"""
"""The pairs that both runs scored, and whether they change in what `$kind` asks for."""
