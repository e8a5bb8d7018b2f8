"""The analysis plan of a study, for the supplement of a paper: the registration, the estimands, their populations and the
methods.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from annotation.agreement.baseline_comparison import REPLICATES, SEED
from annotation.prevalence.shared_errors import SHARED_ERROR_RATES
from annotation.ratings.gold import GOLD_RULE, WITHOUT_GOLD
from annotation.studies.registered_outcome import outcome_sentence
from annotation.studies.registration import registration_of
from annotation.studies.validation_tables import ValidationData
from audit.exports.table_model import Table
from audit.tables import Column, TableSpec

Statement = tuple[str, str, str]
"""(part, item, statement)."""
STUDY_PLAN = TableSpec(
    "Analysis plan of the study",
    (Column.text("part", "Part"), Column.text("item", "Item"), Column.text("statement", "Statement")),
    ("Sample and registration were sealed in the ledger of the study when it was drawn; `audit study verify` finds a change.",),
)
NOT_REGISTERED = "Nothing was registered before the study: no figure is primary."
ESTIMANDS = (
    (
        "Agreement",
        "Of the two labels of an item, by chance-corrected and raw measures; of other items drawn like these, unweighted.",
    ),
    ("Judge", "Of the judge's label with the reference standard, for these items, and weighted to all pairs of the run."),
    ("Corrected shares", "The share of each label among all pairs of the run that have a verdict, by people's labels."),
    ("Corrected disagreement", "Divergent or contradictory pairs among those in which both answers address the question."),
)


def study_plan_table(data: ValidationData) -> Table:
    """The registration, the estimands, their populations and the methods."""
    statements = [*_sample(data), *_raters(data), *_registered(data)]
    statements += [("Estimands", item, statement) for item, statement in ESTIMANDS]
    statements += list(_estimation(data))
    return data.table(
        "study_analysis_plan", STUDY_PLAN, pd.DataFrame(statements, columns=[column.name for column in STUDY_PLAN.columns])
    )


def _sample(data: ValidationData) -> Iterator[Statement]:
    origin, plan = data.origin, data.origin.plan
    yield "Sample", "Run", f"{origin.run_key}, release {origin.digest}"
    yield (
        "Sample",
        "Population",
        f"{origin.pairs - origin.unscored:,} pairs with a verdict; {origin.unscored:,} without are left out",
    )
    for stratum in data.strata:
        yield (
            "Sample",
            f"Stratum {stratum.stratum.lower()}",
            f"{stratum.sampled:,} of {stratum.population:,}, without replacement",
        )
    yield "Sample", "Seed", f"{plan.get('seed')} of the draw, {data.study.seed} of the order of items"
    yield (
        "Sample",
        "Outside the sample",
        f"{plan.get('calibration', 0)} calibration items, {plan.get('repeats', 0)} silent repeats",
    )
    if plan.get("after"):
        yield "Sample", "Left out", f"pairs of {', '.join(plan['after'])}"
    yield "Sample", "Drawn", f"{data.study.created_at[:10]} (UTC)"


def _raters(data: ValidationData) -> Iterator[Statement]:
    shown = "shown" if data.study.names_shown else "masked, also in the texts"
    yield "Raters", "Ratings per item", str(data.study.ratings_per_item)
    yield (
        "Raters",
        "Blinding",
        f"judge's labels and other ratings hidden; names of institutions {shown}; order and sides randomised",
    )
    yield "Raters", "Gold", f"{GOLD_RULE} {WITHOUT_GOLD}"
    yield "Raters", "State", data.study.state.value


def _registered(data: ValidationData) -> Iterator[Statement]:
    registration = registration_of(data.origin.plan)
    if registration is None:
        yield "Registration", "Primary figure", NOT_REGISTERED
        return
    yield "Registration", "Before the study", registration.sentence(data.study.created_at)
    yield "Registration", "Result", outcome_sentence(registration, data.report, data.ratings)


def _estimation(data: ValidationData) -> Iterator[Statement]:
    yield "Intervals", "Level", "95 %, two-sided, each figure by itself"
    yield "Intervals", "Agreement", "Wilson's on the scale of each figure, trials from its delta-method standard error"
    yield "Intervals", "Corrected shares", "Jeffreys' within strata, combined with their exactly known sizes; no seed"
    yield "Intervals", f"Judge against the {data.baseline}", f"items resampled {REPLICATES:,} times, seed {SEED}"
    rates = ", ".join(f"{100 * rate:g}" for rate in SHARED_ERROR_RATES[1:])
    yield (
        "Sensitivity",
        "Shared errors of annotators",
        f"labels wrong together on {rates} % of items, towards a neighbouring label",
    )
