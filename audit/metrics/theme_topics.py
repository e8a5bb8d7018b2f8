"""The divergence topics of one theme, in the judge's words."""

from __future__ import annotations

import pandas as pd

from audit.metrics.themes import NO_THEME, TOLD, grouping_of, require_theme
from audit.store.connection import Connection, frame
from audit.themes.phrases import plain_phrase
from audit.themes.taxonomy import Taxonomy

OF_THEMES = True
SQL = f"""
with {TOLD}
select divergence_topic as topic, count(*) as pairs, count(*) filter (disagrees) as disagreeing,
       count(distinct question) as questions
from told where theme_id = $theme_id
group by divergence_topic
order by pairs desc, topic
"""


def theme_topics(con: Connection, taxonomy: Taxonomy, theme_id: str = NO_THEME) -> pd.DataFrame:
    """What the judge wrote that the answers differ about, in one theme and those below it; by default, in no theme.

    An exemplar is one of the up to eight topics that span the theme: new ones are held against them. It may stand for several
    wordings, which differ in case or in words such as "different advice on". One row per divergence topic, the commonest first:
        topic                 str, as the release has it
        pairs, disagreeing    int, present pairs with this topic, and those that disagree
        questions             int
        exemplar              bool

    Raises NotInRunError when the taxonomy has no such theme.
    """
    theme = require_theme(taxonomy, theme_id)
    table = frame(con, SQL, {**grouping_of(taxonomy, theme_id), "theme_id": theme_id})
    exemplars = {plain_phrase(phrase) for phrase in theme.exemplars} if theme else set()
    return table.assign(exemplar=[plain_phrase(str(topic)) in exemplars for topic in table["topic"]])
