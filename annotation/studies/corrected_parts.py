"""The disagreement rate of each organ, topic and center of a run, corrected by a study or by ratings of its release."""

from __future__ import annotations

import pandas as pd

from annotation.prevalence.by_group import corrected_by_group
from annotation.ratings.table import Ratings
from annotation.studies.item_groups import pair_groups
from audit.queries.group_labels import GROUPINGS, group_labels
from audit.store.connection import Connection

COLUMNS = ("by", "group", "present", "judge", "corrected", "corrected_low", "corrected_high", "n", "own")


def corrected_parts(
    ratings: Ratings, items: pd.DataFrame, con: Connection | None, groupings: tuple[str, ...] = GROUPINGS
) -> pd.DataFrame:
    """`corrected_by_group` for each grouping, with `by` as first column; no rows without a run or a design of the sample.

    items  item_id, question_id, handbook_a, handbook_b of the rated pairs
    """
    if con is None or ratings.design is None:
        return pd.DataFrame(columns=list(COLUMNS))
    groups = pair_groups(items, con)
    parts = [corrected_by_group(ratings, groups[groups["by"] == by], group_labels(con, by)).assign(by=by) for by in groupings]
    return pd.concat(parts, ignore_index=True)[list(COLUMNS)]
