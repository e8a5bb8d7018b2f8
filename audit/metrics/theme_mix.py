"""How the pairs of one theme were labelled, and how much its disagreements matter."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audit.metrics.themes import TOLD, grouping_of, require_theme
from audit.stats.bootstrap import ratio_interval, resample_groups
from audit.stats.interval_columns import with_interval
from audit.store.connection import Connection, frame
from audit.themes.taxonomy import Taxonomy
from audit.vocabulary import LABELS, SIGNIFICANCES, Label

OF_THEMES = True
UNSTATED = "unstated"
NAMES = {
    "label": [label.value for label in LABELS if label is not Label.ABSENT], "significance": [*SIGNIFICANCES, UNSTATED],
}  # fmt: skip
SQL = f"""
with {TOLD}
select question, handbook_a, handbook_b, label::varchar as label, disagrees,
       coalesce(significance::varchar, 'unstated') as significance
from told where theme_id = $theme_id
"""


def theme_mix(con: Connection, taxonomy: Taxonomy, theme_id: str) -> pd.DataFrame:
    """Which labels the pairs of a theme have, and which clinical significance its disagreements.

    The pairs of a theme are counted as in `themes`, with those of themes that stand below it. One row per label but ABSENT (part
    'label', of all its pairs) and per significance, 'unstated' among them (part 'significance', of its disagreeing pairs):
        part, name                    str
        pairs, of                     int
        share                         float in [0, 1], pairs / of; NaN where of is 0
        share_low, share_high         95 % interval: questions and handbooks resampled (audit.stats.bootstrap), Wilson's over
                                      questions where these pairs, or the others, are on fewer than five; NaN where fewer than two
                                      questions or three handbooks are involved

    Raises NotInRunError when the taxonomy has no such theme.
    """
    require_theme(taxonomy, theme_id)
    pairs = frame(con, SQL, {**grouping_of(taxonomy, theme_id), "theme_id": theme_id})
    disagreeing = pairs[pairs["disagrees"].astype(bool)]
    return pd.concat([_part("label", pairs), _part("significance", disagreeing)], ignore_index=True)


def _part(part: str, pairs: pd.DataFrame) -> pd.DataFrame:
    names = NAMES[part]
    counts = pairs[part].value_counts().reindex(names, fill_value=0).to_numpy(dtype=int)
    share = counts / len(pairs) if len(pairs) else np.full(len(names), np.nan)
    table = pd.DataFrame({"part": part, "name": names, "pairs": counts, "of": len(pairs), "share": share})
    group = pd.Index(names).get_indexer(pd.Index(pairs[part]))
    resampled = resample_groups(pairs, group, len(names))
    return with_interval(table, "share", *ratio_interval(resampled, resampled.total()))
