"""What each center says on the questions of one theme."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import pandas as pd

from audit.metrics.camps import camps
from audit.metrics.themes import TOLD, grouping_of, require_theme
from audit.store.connection import Connection, frame
from audit.themes.taxonomy import Taxonomy

OF_THEMES = True
MOST_QUESTIONS = 6
SQL = f"""
with {TOLD}
select question_id, text as question_text, count(*) filter (disagrees) as disagreeing, count(*) as pairs
from told join questions using (question)
where theme_id = $theme_id
group by all
order by disagreeing desc, pairs desc, question_id
limit {MOST_QUESTIONS}
"""


def positions(con: Connection, taxonomy: Taxonomy, theme_id: str) -> pd.DataFrame:
    """Which position each center takes on the most disputed questions of a theme.

    A position is a camp of the question (see `camps`): handbooks that agree, by the judge's labels, named by the value that
    their answers hold and the others' do not, or by their words, or, where nothing tells them apart, by a letter. A center whose
    handbooks stand in two camps takes two positions. One row per question, position and center; questions with most
    disagreeing pairs of this theme first, at most six of them, each question's largest camp first:
        question_id, question_text  str
        disagreeing                 int, pairs on the question that disagree about this theme
        camp                        int, from 1; position  str, its name
        center                      str
        handbooks                   int, of the center that take the position

    Raises NotInRunError when the taxonomy has no such theme.
    """
    require_theme(taxonomy, theme_id)
    asked = frame(con, SQL, {**grouping_of(taxonomy, theme_id), "theme_id": theme_id})
    found = [_on(con, row) for row in asked.to_dict("records")]
    columns = ["question_id", "question_text", "disagreeing", "camp", "position", "center", "handbooks"]
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=columns)


def _on(con: Connection, question: dict[Hashable, Any]) -> pd.DataFrame:
    answering = camps(con, str(question["question_id"])).dropna(subset=["camp"])
    held = answering.groupby(["camp", "name", "center"], as_index=False).agg(
        handbooks=("handbook_id", "size"), size=("size", "first")
    )
    ordered = held.sort_values(["size", "camp", "handbooks", "center"], ascending=[False, True, False, True])
    told = ordered.rename(columns={"name": "position"})[["camp", "position", "center", "handbooks"]].astype({"camp": int})
    told.insert(0, "disagreeing", question["disagreeing"])
    told.insert(0, "question_text", question["question_text"])
    told.insert(0, "question_id", question["question_id"])
    return told.reset_index(drop=True)
