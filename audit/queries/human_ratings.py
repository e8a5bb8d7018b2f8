"""The labels that raters gave to pairs of a run, from its release."""

from __future__ import annotations

import pandas as pd

from audit.store.connection import Connection, frame

PAIRS = """
select item_id, question_id, a.handbook_id as handbook_a, b.handbook_id as handbook_b,
       coalesce(stratum, judge::varchar, p.label::varchar, 'unscored') as stratum, design_weight,
       p.label::varchar as judge, coalesce(judge_significance, p.significance)::varchar as judge_significance, item
from rated_pairs r
join questions q using (question)
join handbooks a on a.handbook = r.handbook_a
join handbooks b on b.handbook = r.handbook_b
join pairs p on p.question = r.question and p.handbook_a = least(r.handbook_a, r.handbook_b)
            and p.handbook_b = greatest(r.handbook_a, r.handbook_b)
order by item
"""
RATINGS = "select item, rater, label::varchar as label, significance::varchar as significance from ratings"


def human_ratings(con: Connection) -> pd.DataFrame:
    """The rated pairs, in the order of the release; no rows if it has none.

    One row per pair, every cell a text ("" where nothing was given), as `annotation.ratings.table.ratings_from` takes them:
        item_id, question_id, handbook_a, handbook_b   the pair; the first handbook's answer was shown first
        stratum, design_weight                         how it was drawn; without design_weight where no pair has one
        judge, judge_significance                      the run's label, not the one in the file of ratings
        annotator_a, annotator_b, ...; gold            labels, gold only where a pair was adjudicated
        significance_a, ...                            likewise
    """
    pairs, ratings = frame(con, PAIRS), frame(con, RATINGS)
    wide = pairs.set_index("item")
    for rater in ("a", "b", *sorted(set(ratings["rater"]) - {"a", "b"})):
        own = ratings[ratings["rater"] == rater].set_index("item")
        wide["gold" if rater == "gold" else f"annotator_{rater}"] = own["label"]
        if own["significance"].notna().any():
            wide[f"significance_{rater}"] = own["significance"]
    if wide["design_weight"].isna().all():
        wide = wide.drop(columns="design_weight")
    return wide.astype(object).where(wide.notna(), "").reset_index(drop=True)
