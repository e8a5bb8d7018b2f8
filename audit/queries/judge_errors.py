"""How often the judge's label of a pair is wrong about positions: from ratings, from pairs read twice, or assumed and said so."""

from __future__ import annotations

import numpy as np

from audit.stats.measured_errors import REPEATS, SECOND, MeasuredErrors, errors_by_two_readings, measured_errors
from audit.store.connection import Connection, frame, rows, unchanged
from audit.vocabulary import DISAGREEING, PRESENT_LABELS, CheckKind, sql_list

# A pair that raters disagree about counts in parts; people who find no answer see no disagreement either
VERDICTS = f"""
with adjudicated as (select item from ratings where rater = 'gold'),
voted as (
    select item, avg((label in {sql_list(DISAGREEING)})::integer) as disagreeing
    from ratings left join adjudicated using (item)
    where label is not null and (adjudicated.item is null or rater = 'gold')
    group by item
)
select disagrees as called, disagreeing, coalesce(design_weight, 1) as weight
from voted join rated_pairs r using (item)
join judged_pairs p on p.question = r.question and p.handbook_a = least(r.handbook_a, r.handbook_b)
                   and p.handbook_b = greatest(r.handbook_a, r.handbook_b)
where p.present
"""


# A second judge's verdict, or the first of the judge's own that repeat nothing but the question, in which both answers are seen
READ_TWICE = {
    SECOND: f"""
select disagrees as called, second_label in {sql_list(DISAGREEING)} as again, count(*) as pairs
from pairs_read_twice where present and second_label in {sql_list(PRESENT_LABELS)} group by all
""",
    REPEATS: f"""
with again as (
    select question, handbook_a, handbook_b, arg_min(label, number) as label
    from checks where kind = '{CheckKind.REPEAT}' group by all
)
select disagrees as called, again.label in {sql_list(DISAGREEING)} as again, count(*) as pairs
from again join judged_pairs using (question, handbook_a, handbook_b)
where present and again.label in {sql_list(PRESENT_LABELS)} group by all
""",
}
# A question's pairs count as as many facts as it has further handbooks
RUN = """
with called as (
    select question, disagrees, count(*) as pairs from judged_pairs where present group by all
), answering as (
    select question, count(distinct handbook) - 1 as facts
    from (select question, unnest([handbook_a, handbook_b]) as handbook from judged_pairs where present) group by all
)
select sum(pairs) filter (not disagrees), sum(pairs) filter (disagrees), (select sum(facts) from answering) / sum(pairs)
from called
"""


_known: dict[tuple[str, int], MeasuredErrors] = {}
"""Those of each store as it was last written: every question's positions need them, and a large run takes a second."""


def judge_errors(con: Connection) -> MeasuredErrors:
    """The judge's two error rates on present pairs of the run.

    Rated pairs are weighted back to the run by their stratum, and drawn towards ASSUMED_ERRORS, which counts as ASSUMED_ITEMS
    rated agreements: a few ratings do not prove that a judge never errs. Without a rating, pairs that a second judge read too
    take their place; without these, pairs that the judge was asked about once more (audit.stats.measured_errors).
    """
    store = unchanged(con)
    if store is None:
        return _judge_errors(con)
    if store not in _known:
        _known[store] = _judge_errors(con)
    return _known[store]


def _judge_errors(con: Connection) -> MeasuredErrors:
    table = frame(con, VERDICTS).astype(float)
    found = measured_errors(*(table[name].to_numpy() for name in ("weight", "disagreeing", "called")))
    for source, sql in READ_TWICE.items():
        if not found.rated and (twice := rows(con, sql)):
            ((agreeing, disagreeing, facts),) = rows(con, RUN)
            read = np.zeros((2, 2))
            for called, again, pairs in twice:
                read[int(called), int(again)] = pairs
            run = np.array([agreeing or 0, disagreeing or 0], dtype=float)
            found = errors_by_two_readings(run, read, float(facts), source)
    return found
