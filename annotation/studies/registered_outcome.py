"""The result of a study compared with its registration."""

from __future__ import annotations

from annotation.agreement.report import AgreementReport
from annotation.agreement.sentences import coefficient_words, figure, undefined
from annotation.ratings.gold import reference_standard
from annotation.ratings.table import JUDGE, Ratings
from annotation.studies.registration import PRIMARY_FIGURES, Registration
from audit.formatting import fixed
from audit.tables import Row


def outcome_sentence(registration: Registration, report: AgreementReport, ratings: Ratings) -> str:
    """The observed primary figure, and whether it reaches the threshold."""
    row = _primary_row(registration, report, ratings)
    name = PRIMARY_FIGURES[registration.primary]
    if reason := undefined(row):
        return f"The primary figure, the {name}, is not known ({reason})."
    return f"The primary figure, the {name}, is {coefficient_words(row)}, {row['n']:,} items: {_verdict(registration, row)}."


def _primary_row(registration: Registration, report: AgreementReport, ratings: Ratings) -> Row:
    people = registration.primary.startswith("annotator")
    first, second = ratings.annotators[:2] if people else (reference_standard(ratings), JUDGE)
    plain = "agreement" if people else "accuracy"
    name = report.scheme.headline if registration.primary.endswith("kappa") else plain
    return figure(report, first, second, name)


def _verdict(registration: Registration, row: Row) -> str:
    threshold = fixed(registration.at_least, 2)
    if row["low"] >= registration.at_least:
        return f"the registered threshold of {threshold} is reached, also by the lower end of the interval"
    if row["value"] >= registration.at_least:
        return f"the registered threshold of {threshold} is reached, but the interval includes lower values"
    return f"the registered threshold of {threshold} is not reached"
