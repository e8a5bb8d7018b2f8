"""How often the judge's label of a pair is wrong about positions: from the ratings of the run, or assumed and said so."""

from __future__ import annotations

from audit.stats.measured_errors import MeasuredErrors, measured_errors
from audit.store.connection import Connection, frame
from audit.vocabulary import DISAGREEING, sql_list

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


def judge_errors(con: Connection) -> MeasuredErrors:
    """The judge's two error rates on present pairs of the run.

    Rated pairs are weighted back to the run by their stratum, and drawn towards ASSUMED_ERRORS, which counts as ASSUMED_ITEMS
    rated agreements: a few ratings do not prove that a judge never errs.
    """
    table = frame(con, VERDICTS).astype(float)
    return measured_errors(*(table[name].to_numpy() for name in ("weight", "disagreeing", "called")))
