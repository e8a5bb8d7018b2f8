"""What a search found of the questions that handbooks should answer, and how many handbooks are silent in truth."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audit.errors import NotInRunError
from audit.metrics import metric
from audit.metrics._shared import by_question
from audit.queries.concerned import concerned
from audit.queries.lookup import require_one_of
from audit.queries.search_errors import search_errors
from audit.stats.clustered import clustered_ratio_interval
from audit.stats.intervals import with_interval
from audit.stats.misclassification import effective_trials, true_share
from audit.store.connection import Connection, frame
from audit.tables import Column, IntervalNote, Population, TableSpec
from audit.terms import ALL

GROUPS = ("run", "organ", "topic", "handbook")
SQL = f"""
with concerning as (
    select a.question, h.handbook, h.handbook_id, q.organ, absent, found = 'perhaps' is true as perhaps
    from answers a join questions q using (question) join handbooks h using (handbook)
    where absent is not null and {concerned("q", "h")}
),
grouped as (
    select '{ALL}' as name, 0 as place, * from concerning where $by = 'run'
    union all
    select organ, (organ = 'general')::integer, * from concerning where $by = 'organ'
    union all
    select distinct coalesce(topic, '(none)'), (topic is null)::integer, concerning.*
    from concerning left join topics using (question) where $by = 'topic'
    union all
    select handbook_id, handbook, * from concerning where $by = 'handbook'
)
select name, question, any_value(place) as place, count(*) as asked, count(*) filter (absent) as not_found,
       count(*) filter (perhaps) as perhaps, count(*) filter (not absent and not perhaps) as stated
from grouped group by name, question order by place, name, question
"""
TABLE = TableSpec(
    "What the search found of the {questions} that {handbooks} should answer",
    (
        Column.named("name", "Group", "all {questions}"), Column.count("asked", "Asked", "answers"),
        Column.count("stated", "Stated", "answers"), Column.count("perhaps", "Perhaps", "answers"),
        Column.count("not_found", "Not found", "answers"), Column.share("silent", "Silent", "estimated"),
    ),
    (
        "Stated: a passage is so near that it mostly answers. Perhaps: the nearest passages may answer; a reader has to see. Not "
        "found: no passage is near, which does not prove that the {handbook} is silent.",
        "Silent: the share of answers that are not there in truth, from those not found and from how often the search errs on "
        "questions of known answer (Rogan and Gladen 1978). A dash: how often it errs is not known.",
        IntervalNote(
            Population.QUESTIONS_TO_THESE,
            "answers to one {question} count as related, the error rates of the search as estimates (Lang and Reiczigel 2014)",
        ),
    ),
    printed_rows=40,
)  # fmt: skip
GLOSSARY = {
    "not found": "No passage of {a_handbook} was near enough to the {question}. The search misses some answers that are there.",
    "perhaps": "The nearest passages of {a_handbook} may answer the {question}; whether they do, a reader has to see.",
    "silent (estimated)": "The share of answers that are not there in truth: those not found, corrected for the search's errors.",
}


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY)
def silence(con: Connection, by: str = "run") -> pd.DataFrame:
    """How many answers a search stated, perhaps found or did not find, and the share of handbooks that are silent in truth.

    Counts the questions that a handbook should answer: of its own organ, and general ones; a general handbook should answer all.
    Only what was not found counts as silence. The search misses answers and finds some that are none, so the share is corrected
    for both (Rogan and Gladen 1978), and its interval carries the uncertainty of both rates (Lang and Reiczigel 2014).

    `by` is 'run', 'organ' (of the question), 'topic' or 'handbook'. One row per group; a question on two topics counts in both:
        name                              str; '(all)', an organ, a topic, or a handbook_id
        asked, stated, perhaps, not_found int, answers that could be read; asked = stated + perhaps + not_found
        silent, silent_low, silent_high   float in [0, 1]; NaN where the manifest does not state how often the search errs, or it
                                          errs too often to tell; the interval is NaN too where all answers are to one question

    Raises NotInRunError where no answer of the run is a search's, AuditError for another `by`.
    """
    require_one_of(by, GROUPS, "Group")
    errors = search_errors(con)
    if not errors.searched:
        raise NotInRunError("No answer of this run is that of a search alone, so nothing is corrected. Nothing was counted.")
    counts = frame(con, SQL, {"by": by})
    table = counts.groupby(["place", "name"], sort=False)[["asked", "stated", "perhaps", "not_found"]].sum().reset_index("name")
    table = table.reset_index(drop=True)
    share = table["not_found"] / table["asked"]
    absent, asked = by_question(counts, table["name"], "not_found", "asked")
    ends, questions = clustered_ratio_interval(absent, asked), np.count_nonzero(asked, axis=1)
    if errors.rates is None:
        unknown = np.full(len(table), np.nan)
        return with_interval(table.assign(silent=unknown), "silent", unknown, unknown)
    estimate = true_share(share, effective_trials(share, ends, questions), errors.rates)
    return with_interval(table.assign(silent=estimate.value), "silent", estimate.low, estimate.high)
