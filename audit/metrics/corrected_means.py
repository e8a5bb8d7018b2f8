"""The judge's figures on all questions, corrected by people's ratings of a sample of them."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from audit.evaluation.criteria import CRITERIA, Incomplete, composites, parse_weights
from audit.evaluation.preferences import POINTS, chosen
from audit.metrics import metric
from audit.metrics._systems import (
    CHOSEN,
    COMPOSITE_NOTE,
    MODELS,
    SYSTEM,
    composite_values,
    identity,
    selection_parameters,
    systems_of,
)
from audit.metrics.preferences import (
    COMPARISONS,
    SIDES_NOTE,
    SYSTEM_A,
    SYSTEM_B,
    choices_by_composite,
    comparisons,
    couple_names,
    of_kind,
)
from audit.queries.lookup import require_one_of
from audit.stats.prediction_powered import MIN_RATED, CorrectedMean, corrected_mean
from audit.store.connection import Connection, frame
from audit.tables import Column, IntervalNote, Population, TableSpec
from audit.vocabulary import RaterKind

RATED_BY_PEOPLE = f"""
with {CHOSEN.strip()},
{MODELS}
select question, system::integer as system, {", ".join(CRITERIA)}
from criteria join chosen using (question)
where coalesce(judge, '') not in (from models) and exists (from models) and system is not null
order by system, question
"""
METHOD = (
    "Corrected: the raters' mean, moved by how far the judge's mean on all {questions} differs from its mean on those that they "
    "rated (prediction-powered inference, arXiv:2311.01453). Weight of the judge: 1 where it differs from them by chance and a "
    "constant only, 0 where it does not predict them."
)
SAMPLE = f"The {{questions}} that were rated must be a random sample. With fewer than {MIN_RATED}, nothing is corrected."
INTERVALS = IntervalNote(Population.QUESTIONS, "Student's t")
FIGURES = (
    "judged", "rated", "mean", "people", "people_low", "people_high", "trust", "corrected", "corrected_low", "corrected_high",
)  # fmt: skip
TABLE = TableSpec(
    "The composite of each answering system, corrected for the judge's errors",
    (
        SYSTEM, Column.decimal("corrected", "Corrected", "composite"), Column.decimal("mean", "Judge's own", "composite"),
        Column.decimal("people", "Raters alone", "composite"), Column.count("judged", "Judged", "answers"),
        Column.count("rated", "Rated", "answers"), Column.decimal("trust", "Weight of the judge"),
    ),
    (METHOD, SAMPLE, COMPOSITE_NOTE, INTERVALS),
)  # fmt: skip
GLOSSARY = {"corrected mean": "A judge's mean on all {questions}, corrected by raters' scores of a random sample of them."}


@metric(sql=RATED_BY_PEOPLE, table=TABLE, glossary=GLOSSARY)
def corrected_composite(
    con: Connection,
    incomplete: str = Incomplete.EXCLUDE,
    question_type: str | None = None,
    organ: str | None = None,
    weights: str = "",
) -> pd.DataFrame:
    """The mean composite of each system, as judged and as corrected by the people who scored some of its answers.

    incomplete, weights    how the judge's composite counts, as in the metric `composite`; people's incomplete scores are left out
    question_type, organ   count only these questions; None: all
    People are raters whose scores have no parsed reply, in a run whose judge's replies were parsed.

    One row per system that people scored, in release order:
        system_id, name                                 str
        judged, rated                                   int, answers whose composite the judge gave; of these, people too
        mean                                            float in [0, 10], the judge's own mean over the judged answers
        people, people_low, people_high                 float, people's mean over the rated ones
        corrected, corrected_low, corrected_high        float, the judge's mean corrected by people's
        trust                                           float in [0, 1], the weight of the judge in it
    Intervals: 95 %; NaN with fewer than five rated answers.

    Raises AuditError for another `incomplete` or wrong weights. Source: audit.stats.prediction_powered.
    """
    judge = composite_values(con, question_type, organ, incomplete, weights)
    rated = frame(con, RATED_BY_PEOPLE, selection_parameters(question_type, organ))
    scores = rated[list(CRITERIA)].to_numpy(dtype=float)
    rated = rated.assign(value=composites(scores, weights=parse_weights(weights))).dropna(subset=["value"])
    people = rated.groupby(["question", "system"])["value"].mean()
    rows = [
        identity(system) | _figures(judge[judge["system"] == system["system"]].set_index("question")["value"], own)
        for system in systems_of(con).to_dict("records")
        if len(own := people[people.index.get_level_values("system") == system["system"]].droplevel("system"))
    ]
    return pd.DataFrame(rows, columns=["system_id", "name", *FIGURES])


def _figures(judge: pd.Series, people: pd.Series) -> dict[str, object]:
    """The figures of one mean; both series are indexed by question, `people` covers some of them."""
    result: CorrectedMean = corrected_mean(judge.to_numpy(dtype=float), people.reindex(judge.index).to_numpy(dtype=float))
    names: Mapping[str, str] = {
        "judged": "units", "mean": "judge", "corrected": "value", "corrected_low": "low", "corrected_high": "high",
    }  # fmt: skip
    return {figure: getattr(result, names.get(figure, figure)) for figure in FIGURES}


PREFERENCE_GLOSSARY = {
    "weight of the judge": "How much of a corrected mean comes from the judge: 0 if it does not predict the raters, at most 1."
}
PREFERENCE_TABLE = TableSpec(
    "How often each answering system is preferred, corrected for the judge's errors",
    (
        SYSTEM_A, SYSTEM_B, Column.share("corrected", "Corrected", "A preferred"),
        Column.share("mean", "Judge's own", "A preferred"), Column.share("people", "People alone", "A preferred"),
        Column.count("judged", "Judged", "{questions}"), Column.count("rated", "Compared by people", "{questions}"),
        Column.decimal("trust", "Weight of the judge"),
    ),
    (
        "A preferred: the share of {questions} on which A is preferred, a tie counting half. The judge prefers the higher "
        "composite of the eight criteria.",
        METHOD, SAMPLE, SIDES_NOTE, INTERVALS,
    ),
)  # fmt: skip


@metric(sql=COMPARISONS, table=PREFERENCE_TABLE, glossary=PREFERENCE_GLOSSARY)
def corrected_preference(
    con: Connection,
    incomplete: str = Incomplete.EXCLUDE,
    question_type: str | None = None,
    organ: str | None = None,
    weights: str = "",
) -> pd.DataFrame:
    """How often one system is preferred to another over all judged questions, corrected by people's preferences on some.

    incomplete, weights    how the judge's composite counts, as in the metric `composite`
    question_type, organ   count only these questions; None: all

    One row per couple of systems that people compared and whose answers to some question the judge scored for both:
        system_a, system_b, name_a, name_b              str, ids and names
        judged, rated                                   int, questions on which both composites are known; of these, compared by
                                                        people too
        mean                                            float in [0, 1], share of these that A wins according to the judge, ties
        half
        people, people_low, people_high                 float, the same by people; several on one question count as their mean
        corrected, corrected_low, corrected_high        float, the judge's share corrected by people's, not beyond [0, 1]
        trust                                           float in [0, 1], the weight of the judge in it
    Intervals: 95 %; NaN with fewer than five rated questions.

    Raises AuditError for another `incomplete` or wrong weights. Source: audit.stats.prediction_powered.
    """
    require_one_of(incomplete, tuple(Incomplete), "Incomplete")
    people = of_kind(comparisons(con, question_type, organ), RaterKind.HUMAN)
    people = people.assign(points=chosen(people).map(POINTS))
    judge = choices_by_composite(con, people, incomplete, weights, question_type, organ)
    judge = judge.assign(points=judge["choice"].map(POINTS))
    names, rows = couple_names(con), []
    for couple, choices in judge.groupby(["system_a", "system_b"], sort=False):
        a, b = map(str, couple)
        own = people[(people["system_a"] == a) & (people["system_b"] == b)].groupby("question")["points"].mean()
        figures = _figures(choices.set_index("question")["points"], own)
        rows.append({"system_a": a, "system_b": b, "name_a": names[a], "name_b": names[b], **figures})
    table = pd.DataFrame(rows, columns=["system_a", "system_b", "name_a", "name_b", *FIGURES])
    ends = [column for column in FIGURES if column.startswith(("people", "corrected"))]
    # A sum of three means may leave the range of a share.
    return table.assign(**{column: table[column].astype(float).clip(0, 1) for column in ends})
