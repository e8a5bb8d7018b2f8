"""Registration of a study before it opens: its primary figure, the threshold, and what is expected, sealed with the sample.

It is part of the sample's plan, which the ledger of the study seals when the study is created, so a later change is found
(`audit study verify`). `outcome_sentence` compares the result with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from annotation.agreement.report import AgreementReport
from annotation.agreement.sentences import coefficient_words, figure, undefined
from annotation.ratings.gold import reference_standard
from annotation.ratings.table import JUDGE, Ratings
from audit.formatting import fixed

MAX_STATEMENT, MAX_LOOKS = 2_000, 5
NO_VERDICT_YET = "whether it reaches the registered threshold is said when the study is closed with every planned rating"
PRIMARY_FIGURES = {
    "judge_kappa": "weighted kappa of the judge with the gold labels",
    "judge_accuracy": "share of items to which the judge gives the gold label",
    "annotator_kappa": "weighted kappa of the first two annotators with each other",
    "annotator_agreement": "share of items to which the first two annotators give the same label",
}
"""The possible primary figures of a study of pairs, over the items of its sample, unweighted."""


@dataclass(frozen=True)
class Registration:
    """The registration made before a study opened.

    primary    a key of PRIMARY_FIGURES
    at_least   the threshold that the figure is expected to reach, in [-1, 1]
    statement  what is expected and why, in the words of the PI; may be empty
    looks      shares of the items, ascending in (0, 1), after which the figure is compared with it before the end
    """

    primary: str
    at_least: float
    statement: str = ""
    looks: tuple[float, ...] = ()

    def faults(self) -> dict[str, bool]:
        """Fault -> whether it applies: reasons that make the registration unusable."""
        allowed = ", ".join(PRIMARY_FIGURES)
        return {
            f"'{self.primary}' is not a primary figure (allowed: {allowed})": self.primary not in PRIMARY_FIGURES,
            "the threshold is not between -1 and 1": not -1 <= self.at_least <= 1,
            f"looks are at most {MAX_LOOKS} shares of the items between 0 and 1, ascending": len(self.looks) > MAX_LOOKS
            or not all(0 < one < other for one, other in pairwise((*self.looks, 1.0))),
            f"the statement has more than {MAX_STATEMENT:,} characters": len(self.statement) > MAX_STATEMENT,
        }

    def sentence(self, created_at: str) -> str:
        """The registration and its date, in words."""
        stated = f" Stated: {self.statement.strip().rstrip('.')}." if self.statement.strip() else ""
        return (
            f"Registered on {created_at[:10]}, before the first rating: the primary figure is the "
            f"{PRIMARY_FIGURES[self.primary]}, "
            f"expected to be at least {fixed(self.at_least, 2)}.{self._looks()}{stated}"
        )

    def _looks(self) -> str:
        if not self.looks:
            return ""
        shares = " and ".join(f"{fixed(100 * share, 0)} %" for share in self.looks)
        return (
            f" Looks before the end were registered after {shares} of the items; they spend the error of 5 % as O'Brien and "
            "Fleming do (Lan and DeMets 1983), so some look or the end misses in at most 5 % of such studies."
        )


def registration_of(plan: Mapping[str, Any]) -> Registration | None:
    """The registration in the stored plan of a sample; None where nothing was registered."""
    stored = plan.get("registration")
    return Registration(**{**stored, "looks": tuple(stored.get("looks", ()))}) if stored else None


# -- The result of a study compared with its registration ----------------------------------------------------


def outcome_sentence(registration: Registration, report: AgreementReport, ratings: Ratings) -> str:
    """The observed primary figure and, once the study is complete, whether it reaches the threshold."""
    row = figure(report, *primary_of(registration, ratings))
    name = PRIMARY_FIGURES[registration.primary]
    if reason := undefined(row):
        return f"The primary figure, the {name}, is not known ({reason})."
    later = f"{NO_VERDICT_YET}{', or at a registered look' if registration.looks else ''}"
    verdict = later if ratings.live else verdict_words(registration, row["value"], row["low"])
    return f"The primary figure, the {name}, is {coefficient_words(row)}, {row['n']:,} items: {verdict}."


def primary_of(registration: Registration, ratings: Ratings) -> tuple[str, str, str]:
    """The two raters of the primary figure, and the name of the measure."""
    people = registration.primary.startswith("annotator")
    first, second = ratings.annotators[:2] if people else (reference_standard(ratings), JUDGE)
    plain = "agreement" if people else "accuracy"
    return first, second, ratings.scheme.headline if registration.primary.endswith("kappa") else plain


def verdict_words(registration: Registration, value: float, low: float) -> str:
    """Whether the value, and the lower end of its interval, reach the registered threshold."""
    threshold = fixed(registration.at_least, 2)
    if low >= registration.at_least:
        return f"the registered threshold of {threshold} is reached, also by the lower end of the interval"
    if value >= registration.at_least:
        return f"the registered threshold of {threshold} is reached, but the interval includes lower values"
    return f"the registered threshold of {threshold} is not reached"
