"""Shared by the metrics of answering systems: one value per answer and measure, names of measures, columns and footnotes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from audit.errors import NotInRunError
from audit.evaluation.criteria import CRITERIA, REFERENCE, Incomplete, composites, parse_weights
from audit.evaluation.reference_metrics import REFERENCE_MEASURES
from audit.evaluation.retrieval_measures import RETRIEVAL_MEASURES
from audit.queries.lookup import require_one_of
from audit.store.connection import Connection, frame
from audit.tables import Column, IntervalNote, Population, Row
from audit.vocabulary import nearest

WORDS, COMPOSITE, REFUSAL = "words", "composite", "refusal"
REFUSALS = EXCLUDE, COUNT = "exclude", "count"
"""Whether a refusal, and a reply that could not be read, has reference measures: no, or those of its text, 0 without one."""
# Composites are sums of floats: equal ones may differ by rounding, and would count as different.
DECIMALS = 9
MEASURE_TITLES = {
    "bleu_1": "Words also in reference (BLEU-1)", "bleu_4": "Phrases also in reference (BLEU-4)",
    "sacrebleu": "Phrases also in reference (sacreBLEU)", "rouge_1": "Words shared (ROUGE-1)",
    "rouge_l": "Longest shared order (ROUGE-L)", "bertscore": "Similar meaning (BERTScore)",
    "p_at_5": "Right ones of first five (P@5)", "recall_at_5": "Found in first five (Recall@5)",
    "ndcg": "Order of results (nDCG)", "mrr": "Place of the first (MRR)",
    "faithfulness": "Faithfulness", "context_precision": "Context precision", "context_recall": "Context recall",
    "answer_relevance": "Answer relevance", "citation_correctness": "Citation correctness", "quote_check": "Verbatim quotes",
    WORDS: "Length in words", COMPOSITE: "Composite", REFUSAL: "Refusals",
}  # fmt: skip
"""Measure -> what a table calls it. A measure that only a release knows has its own name."""
REFERENCE_NAME = "Reference answer"
SYSTEM = Column.text("name", "System")
MEASURE = Column.text("measure", "Measure", words=MEASURE_TITLES)
TYPE = Column.named("question_type", "Question type", "all types")
CHOSEN = """
chosen as (
    select question, question_type from questions left join question_types using (question)
    where ($question_type is null or question_type = $question_type) and ($organ is null or organ = $organ)
)"""
"""The questions that are counted, with their types."""

# A system that only took stress tests has no answers; it is on the page Stress
ANSWERING = "(system in (select system from system_answers) or system not in (select system from stress_replies))"


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


# A refusal or an unreadable reply has no text to compare; the search took place before either. Lengths,
# composites and refusals are counted here: a release's own measures of these names would count twice.
VALUES = f"""
with {CHOSEN.strip()},
answered as (
    select question, system, len(regexp_extract_all(answer, '\\S+')) as words from system_answers where refused = false
),
found as (
    select m.question, m.system, measure, value
    from system_measures m left join system_answers a using (question, system)
    where (measure in ({_quoted(RETRIEVAL_MEASURES)}) or a.question is null or a.refused = false or $refusals = '{COUNT}')
      and measure not in ({_quoted((WORDS, COMPOSITE, REFUSAL))})
),
-- Only where refusals count: what an answer without a text has of the measures that its system has elsewhere
nothing as (
    select a.question, a.system, measure, 0.0 as value
    from system_answers a join (select distinct system, measure from found) using (system)
    where $refusals = '{COUNT}' and a.refused is distinct from false and measure in ({_quoted(REFERENCE_MEASURES)})
      and (a.question, a.system, measure) not in (select (question, system, measure) from found)
)
select question, question_type, system, measure, value
from (from found union all from nothing) join chosen using (question)
union all
select question, question_type, system, '{WORDS}', words from answered join chosen using (question)
order by system, question
"""
# In a run where some judge's replies were parsed, a judge without parsed replies is a person.
MODELS = "models as (select distinct coalesce(judge, '') as judge from criteria where parse is not null)"
EVALUATIONS = f"""
with {CHOSEN.strip()},
{MODELS}
select question, question_type, system, judge, {", ".join(CRITERIA)}
from criteria join chosen using (question)
where judge = $judge
   or ($judge is null and (coalesce(judge, '') in (from models) or not exists (from models)))
order by system nulls last, question
"""
SYSTEMS = "select system::integer as system, system_id, coalesce(name, system_id) as name from systems order by system"
READ = "Refusals and unreadable answers have no text to measure: they are counted separately and never as 0."
BY_SYSTEM_QUESTION = IntervalNote(Population.QUESTIONS, "{questions} are resampled")
TEXT_MEASURES = (
    "BLEU, ROUGE and BERTScore compare an answer's words with those of the first reference answer, from 0 to 1; they do not show "
    "whether it is right."
)
COMPOSITE_NOTE = "Composite: the eight criteria together, from 0 to 10; a refusal has one too if the judge scored it."


def selection_parameters(question_type: str | None, organ: str | None) -> dict[str, str | None]:
    """The parameters of `CHOSEN`."""
    return {"question_type": question_type, "organ": organ}


def systems_of(con: Connection) -> pd.DataFrame:
    """The systems in release order: system (number), system_id, name; the reference answer is not among them."""
    return frame(con, SYSTEMS)


def answer_values(
    con: Connection, question_type: str | None = None, organ: str | None = None, refusals: str = EXCLUDE
) -> pd.DataFrame:
    """Every measure of every answer: question, question_type (None: not stated), system (numbers), measure, value.

    Reference measures of answers only, or with `refusals` 'count' of every reply; words of answers only; measures of retrieval of
    refusals and unread answers too. Raises AuditError for another `refusals`.
    """
    require_one_of(refusals, REFUSALS, "Refusals")
    return frame(con, VALUES, {**selection_parameters(question_type, organ), "refusals": refusals})


def evaluations(
    con: Connection, judge: str | None, question_type: str | None, organ: str | None, incomplete: str, weights: str
) -> pd.DataFrame:
    """One row per evaluation: question, question_type, system (NaN: the reference answer), judge, the criteria, read, composite.

    judge None: every model; where no model judged, everybody. A judge without any parse status is a person. read is the
    number of criteria that could be read. Raises AuditError for an unknown `incomplete` or wrong `weights`, and NotInRunError for
    a judge who judged nothing.
    """
    require_one_of(incomplete, tuple(Incomplete), "Incomplete")
    weighted = parse_weights(weights)
    table = frame(con, EVALUATIONS, {**selection_parameters(question_type, organ), "judge": judge})
    if judge is not None and table.empty:
        _require_judge(con, judge)
    scores = table[list(CRITERIA)].to_numpy(dtype=float)
    return table.assign(read=(~np.isnan(scores)).sum(axis=1), composite=composites(scores, incomplete, weighted))


def _require_judge(con: Connection, judge: str) -> None:
    judges = frame(con, "select distinct judge from criteria where judge is not null order by 1")["judge"].tolist()
    if judge not in judges:
        raise NotInRunError(
            f"Judge '{judge}' scored no answer of this run.{nearest(judge, tuple(judges))} Nothing was computed. "
            f"Allowed: {', '.join(judges) or 'none, because the run has no criteria'}."
        )


def composite_values(
    con: Connection,
    question_type: str | None = None,
    organ: str | None = None,
    incomplete: str = Incomplete.EXCLUDE,
    weights: str = "",
) -> pd.DataFrame:
    """The composite of every judged answer of a system, the mean over its judges, in the columns of `answer_values`."""
    table = evaluations(con, None, question_type, organ, incomplete, weights).dropna(subset=["system", COMPOSITE])
    table = table.assign(system=table["system"].astype(int), value=table[COMPOSITE])
    mean: pd.DataFrame = table.groupby(["question", "system"])[["value"]].mean().round(DECIMALS).reset_index()
    return mean.assign(measure=COMPOSITE)


def in_order(measures: pd.Series) -> list[str]:
    """The distinct measures: ours in the order of `MEASURE_TITLES`, then those that only the release knows."""
    present = set(measures)
    return [name for name in MEASURE_TITLES if name in present] + sorted(present - set(MEASURE_TITLES))


def system_number(systems: pd.DataFrame, system_id: str) -> int:
    """The number of a system. Raises NotInRunError for another id."""
    known = systems["system_id"].tolist()
    if system_id not in known:
        raise NotInRunError(
            f"System '{system_id}' is not in this run.{nearest(system_id, tuple(known))} Nothing was computed. "
            f"Allowed: {', '.join(known) or 'none, because the run has no answering systems'}."
        )
    return int(systems["system"].iloc[known.index(system_id)])


def identity(system: Row) -> dict[str, Any]:
    """The first columns of every table of systems."""
    return {name: system[name] for name in ("system_id", "name")}


REFERENCE_ROW = {"system_id": REFERENCE, "name": REFERENCE_NAME}
