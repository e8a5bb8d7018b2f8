"""Every statistic with an interval: which exported figures it serves, and the simulated worlds that test it.

    python -m benchmarks.coverage --every [--samples N]

prints, for each statistic and world, the share of 95 % intervals that hold the truth and the share of samples without one.
tests/exports/test_every_interval.py fails where an exported interval has no statistic here, tests/stats/test_every_statistic.py
where a registered table with intervals has none, or where a statistic's intervals miss.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import partial as of
from typing import NamedTuple

import numpy as np

from benchmarks import alignment
from benchmarks import interval_worlds as worlds
from benchmarks import interval_worlds_of_judges as judges
from benchmarks import interval_worlds_of_ratings as raters
from benchmarks.interval_worlds import World

SEED = 23


@dataclass(frozen=True)
class Statistic:
    """A way to make an interval.

    worlds   name -> what draws a sample and asks for the intervals
    serves   exported figures, `table.column`, or figures of a page, `page: name`, as patterns
    """

    worlds: Mapping[str, World]
    serves: Sequence[str] = field(default=())


class Found(NamedTuple):
    """How many intervals there were, the share of known ones that hold the truth, and the share of unknown ones."""

    intervals: int
    covered: float
    unknown: float


BY_QUESTION = (
    "disagreement_bounds.value", "judge_checks.value", "judge_reading.value", "planted_*.value", "planted_*.lenient",
    "planted_*.obeyed", "retrieval_answers.value", "stress_selective.*", "preferences.a_share", "preference_*.share",
    "study_preferences.*", "run_change*.r_div_*", "handbooks_moved*.share", "ablation.value", "run_agreement.value",
    "judge_quotes.value", "differences.value", "REASONS_TABLE",
    "topic_likeness.value", "topics_in_one_theme.value", "found_states*.*", "silence*.share", "centers.absence",
    "transitions.value", "judge.value", "COUPLES_TABLE",
)  # fmt: skip
SCORES = (
    "retrieval.*", "retrieval_organs.*", "retrieval_handbooks.*", "routing*.*", "source_shares*.first", "source_shares*.evidence",
    "source_shares*.covered", "stress_standard.*", "stress_sufficiency.*", "stress_integration.*", "stress_robustness.*",
    "stress_curves.value",
)  # fmt: skip
MEANS = (
    "composite.*", "composite_*.mean", "criteria_means.mean", "system_retrieval.*", "system_types.mean", "systems.words",
    "system_*measures.*", "source_shares*.budget", "when_to_retrieve.quality", "reference_measures.*", "evidence_measures.*",
    "downstream.mean", "retrieval_configurations.*", "OVERLAP_TABLE",
)  # fmt: skip
CHANGES = (
    "retrieval_paired.change", "system_differences.change", "routing_differences.change", "judge_calibration.change",
    "when_to_retrieve.over_*", "stress_paired.change", "retrieval_changes.change",
)  # fmt: skip
COEFFICIENTS = (
    "study_statistics.*", "study_agreement*.sample", "study_by_label*.sample", "study_significance.sample",
    "study_subgroups.kappa", "study_calibration.*", "study_repeats.value", "study_clustered_agreement.value", "FIGURES_TABLE",
    "BY_LABEL_TABLE", "SIGNIFICANCE_TABLE", "CALIBRATION_TABLE", "RETEST_TABLE", "BASELINE_TABLE",
)  # fmt: skip
INDEPENDENT = (
    "disputed_shares.pct_any_div", "coverage_cells.absence", "handbooks.absence", "systems.refusal", "criteria_scores.share",
    "study_failure_modes.share", "study_subgroups.accuracy", "study_subgroups.boundary_share", "coverage*.absence",
    "found.share", "gaps.share", "stands_alone.share", "within_handbook*.*", "study_drift.value",
    "profile.*", "pairs.r_*", "DRIFT_TABLE", "FAILURE_MODES_TABLE", "SUBGROUPS_TABLE", "LABEL_SHARES_TABLE",
)  # fmt: skip
RATIO = {"no differences": 0.0, "differences": 0.4}
STATISTICS: Mapping[str, Statistic] = {
    "shares of pairs": Statistic(
        {name: of(worlds.rates, name) for name in ("both effects", "policies", "policies, effects", "rare event")}
        | {
            "few handbooks": of(worlds.rates, "policies", handbooks=6),
            "few questions": of(worlds.rates, "both effects", questions=10),
        },
        ("organs.r_*", "topics.r_*", "subtopics.r_*", "question_sources.r_*", "evidence_modes.r_*", "labels.share*"),
    ),
    "shares of pairs of one side": Statistic(
        {name: of(worlds.rates_of_one_side, name) for name in ("both effects", "policies, effects")},
        ("centers.r_div_*", "handbooks.r_div"),
    ),
    "shares of pairs of one question": Statistic(
        {name: of(worlds.rates_of_one_question, name) for name in ("both effects", "policies, effects")},
        ("questions_moved*.share", "questions.r_*"),
    ),
    "shares of the disagreement": Statistic({"mixtures of questions": worlds.theme_shares}, ("themes*.share", "theme*.share")),
    "changes of shares of the disagreement": Statistic({"none": worlds.theme_changes}, ("themes_moved*.change",)),
    "shares by question": Statistic(
        {
            "clustered": of(worlds.shares, a=2, b=8, questions=60),
            "rare": of(worlds.shares, a=0.05, b=5, questions=60),
            "few questions": of(worlds.shares, a=2, b=8, questions=8),
        },
        BY_QUESTION,
    ),
    "means of shares by question": Statistic({"scores": of(worlds.scores, questions=40)}, SCORES),
    "independent shares": Statistic(
        {
            "common": of(worlds.independent_shares, share=0.2, trials=60),
            "rare": of(worlds.independent_shares, share=0.02, trials=60),
            "few": of(worlds.independent_shares, share=0.3, trials=9),
        },
        INDEPENDENT,
    ),
    "means over questions": Statistic(
        {f"skewed, {n}": of(worlds.means, questions=n, skewed=True) for n in (15, 40, 100)}
        | {"lengths, 40": of(worlds.means, questions=40, skewed=False)},
        MEANS,
    ),
    "mean changes": Statistic({f"{n} questions": of(worlds.mean_changes, questions=n) for n in (20, 100)}, CHANGES),
    "changes of shares of pairs": Statistic(
        {"clustered": of(worlds.share_differences, questions=60)},
        ("run_rates.change", "runs*.change", "run_means.change", "run_change*.change", "run_change*.effect"),
    ),
    "changes of shares of questions": Statistic({"60": of(worlds.marked_differences, questions=60)}, ("run_rates.change",)),
    "correlations": Statistic(
        {f"{n} units": of(worlds.correlations, units=n) for n in (12, 60)},
        ("severity_rho.*", "downstream.spearman", "downstream.pearson"),
    ),
    "correlation of ranks within questions": Statistic({"none": worlds.rank_effects}, ("judge_length.value",)),
    "kappa by question": Statistic(
        {"two kinds": of(worlds.kappas, questions=40)},
        ("preference_alignment.kappa", "preference_raters.kappa", "run_agreement.value"),
    ),
    "observed over expected": Statistic(
        {name: of(worlds.ratios, spread=spread, part="interval") for name, spread in RATIO.items()}, ("*_case_mix.ratio",)
    ),
    "ratios drawn to 1": Statistic(
        {name: of(worlds.ratios, spread=spread, part="shrunken_interval") for name, spread in RATIO.items()},
        ("*_case_mix.shrunken",),
    ),
    "ranks": Statistic({"differences": of(worlds.ratios, spread=0.4, part="rank_interval")}, ("*_case_mix.rank",)),
    "strengths": Statistic(
        {"three systems": of(worlds.strengths_of, questions=40)},
        ("bradley_terry.strength", "study_strengths.strength", "STRENGTHS_TABLE"),
    ),
    "effect of a side": Statistic({"none": of(worlds.side_effects, questions=40)}, ("preference_effects.adjusted",)),
    "means by a judge and people": Statistic(
        {f"{n} rated": of(worlds.means_by_both, rated=n) for n in (8, 30)}, ("corrected_composite.*", "corrected_preference.*")
    ),
    "silence behind a search": Statistic({"errors of both kinds": worlds.silences}, ("silence*.*", "found_by_*.silent")),
    "disputed questions": Statistic(
        {f"{n} questions": of(worlds.disputed_questions, questions=n) for n in (30, 60)}
        | {
            f"{name}, read twice": of(worlds.disputed_questions, false=false, read_twice=True)
            for name, false in (("good judge", 0.02), ("poor judge", 0.12))
        },
        ("disputed_share_corrected.share",),
    ),
    "agreement of a sample": Statistic(
        {
            f"{mixture}, {name}": of(raters.agreement, mixture, name)
            for mixture in ("balanced", "skewed")
            for name in ("kappa_quadratic", "kappa", "ac1", "agreement")
        },
        COEFFICIENTS,
    ),
    "agreement at every look": Statistic({"24 looks": of(raters.agreement_while_looked_at, live=True)}, ("study_*.sample",)),
    "agreement at registered looks": Statistic(
        {name: of(raters.agreement_at_registered_looks, name) for name in ("kappa", "kappa_quadratic", "agreement")},
        ("study_analysis_plan.*",),
    ),
    "agreement in the run": Statistic(
        {name: of(raters.agreement_in_the_run, name) for name in ("accuracy", "kappa_quadratic", "recall", "f1")},
        ("study_agreement*.population", "study_by_label*.population", "study_significance.population"),
    ),
    "agreement of three": Statistic({"all coefficients": raters.agreement_of_three}, ("study_agreement*.sample",)),
    "agreement elsewhere": Statistic(
        {"errors by question and handbook": raters.agreement_elsewhere}, ("study_clustered_agreement.*", "CLUSTERED_TABLE")
    ),
    "difference of two judges": Statistic({"accuracy": raters.better_judge}, ("Agreement: difference",)),
    "corrected shares": Statistic(
        {f"{n} of each label": of(raters.corrected, per_label=n) for n in (20, 80)}
        | {f"extended to {100 * width:g} points": of(raters.extended, width=width) for width in (0.01, 0.02)},
        ("study_prevalence.value", "CORRECTED_TABLE", "METHODS_TABLE"),
    ),
    "corrected shares, raters weighed": Statistic({"three who err": raters.corrected_by_weighed}, ("Prevalence: Dawid-Skene",)),
    "a random sample": Statistic({"of as many": raters.random_sample}, ("study_prevalence.random",)),
    "corrected rate of the run": Statistic({"40 of each label": raters.corrected_rate}, ("Start: corrected rate",)),
    "corrected rate elsewhere": Statistic(
        {
            "policies": of(raters.rate_elsewhere, "policies"),
            "both effects": of(raters.rate_elsewhere, "both effects"),
            "clustered errors": of(raters.rate_elsewhere, "both effects", clustered=0.7),
        },
        ("Start: total rate",),
    ),
    "precision": Statistic({"40 calls": raters.precision}, ("study_by_label*.sample",)),
    "corrected by group": Statistic(
        {"judge differs": of(raters.by_group, alike=12), "judge hardly differs": of(raters.by_group, alike=40)},
        ("study_corrected_groups.corrected", "GROUPS_TABLE"),
    ),
    "corrected by group, elsewhere": Statistic(
        {
            "groups differ": raters.groups_elsewhere,
            "clustered errors": of(raters.groups_elsewhere, clustered=0.7),
            "judge differs": of(raters.groups_elsewhere, harder=1.0),
        },
        ("study_corrected_groups.elsewhere",),
    ),
    "rates of groups drawn towards all": Statistic(
        {"groups differ": of(worlds.pooled_errors, spread=0.1), "groups are alike": of(worlds.pooled_errors, spread=0.0)},
        ("JUDGE_ERRORS_TABLE",),
    ),
    "agreement of two judges": Statistic(
        {
            "shares": of(judges.second_judges, "agreement"),
            "shares, few others": of(judges.second_judges, "agreement", others=60),
            "shares, no clusters": of(judges.second_judges, "agreement", clustered=False),
        },
        ("second_judge.value",),
    ),
    "kappa of two judges": Statistic({"kappas": of(judges.second_judges, "kappas")}, ("second_judge.value",)),
    "rates by two judges": Statistic(
        {"200 others": of(judges.second_judges, "rates"), "60 others": of(judges.second_judges, "rates", others=60)},
        ("rates_by_both.value",),
    ),
    "a panel asked again": Statistic(
        {"no drift": of(judges.rechecks, drift=0.0), "drift": of(judges.rechecks, drift=0.1)}, ("judge_drift.value",)
    ),
    "differences of two versions of a judge": Statistic({"errors alike on a question": alignment.compared}, ("VERSIONS_TABLE",)),
    "shared errors": Statistic(
        {"one item in twenty": raters.with_shared_errors}, ("study_shared_errors.value", "SHARED_ERRORS_TABLE")
    ),
}


def statistic_of(table: str, column: str) -> str | None:
    """The statistic that makes the interval of a column of an exported table; None where none does."""
    figure = f"{table}.{column}"
    return next((name for name, one in STATISTICS.items() if any(fnmatch(figure, pattern) for pattern in one.serves)), None)


def held(world: World, samples: int, enough: int | None = None) -> Found:
    """The coverage of a world's intervals in so many samples, or until there are `enough` intervals."""
    rng, found = np.random.default_rng(SEED), []
    for _ in range(samples):
        found += world(rng)
        if enough is not None and len(found) >= enough:
            break
    true, low, high = np.array(found, dtype=float).T
    known, slack = np.isfinite(low) & np.isfinite(high), 1e-9
    covered = np.mean(((low - slack <= true) & (true <= high + slack))[known]) if known.any() else np.nan
    return Found(len(found), float(covered), float(1 - known.mean()))


def report(samples: int) -> Iterator[str]:
    """A line for every statistic and world."""
    yield f"{'statistic':<40}{'world':<34}{'intervals':>10}{'covered':>9}{'unknown':>9}"
    for name, statistic in STATISTICS.items():
        for title, world in statistic.worlds.items():
            found = held(world, samples)
            yield f"{name:<40}{title:<34}{found.intervals:>10,}{found.covered:>9.3f}{found.unknown:>9.2f}"
