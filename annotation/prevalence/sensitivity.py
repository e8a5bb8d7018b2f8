"""Sensitivity analyses of the corrected shares: the same shares by two other methods (one needs ppi-python).

Neither is the headline. PPI++ has a normal interval, which is too narrow for a rare label (for a label of 1 to 2 % and 500
items it covers .88 instead of .95, tests/annotation/prevalence/test_coverage.py). The inversion of the confusion matrix gives
the corrected shares to the last digit when its matrix is weighted by the same design, so a difference means that one is wrong.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from annotation.prevalence.estimates import ROWS, human_labels, item_weights, method_table, require_design, with_disagrees
from annotation.ratings.design import Codes, Floats, SampleDesign
from annotation.ratings.table import GOLD, JUDGE, Ratings
from audit.errors import AuditError
from audit.optional_imports import install_hint
from audit.stats.bootstrap import stratified_draws
from audit.stats.intervals import ShareEstimate
from audit.vocabulary import LABELS

METHODS = PPI, INVERSION = "ppi++", "inversion"
REPLICATES = 2000
SEED = 2406


def sensitivity_analyses(ratings: Ratings, human: str = GOLD, methods: Sequence[str] = METHODS) -> pd.DataFrame:
    """PPI++ and the inverted confusion matrix; columns and rows as in `annotation.prevalence.estimates.prevalence`.

    Only items with a readable verdict and a rating are used.
    Raises AuditError when PPI++ is asked for and ppi-python is not installed, and as `prevalence`.
    """
    design, judge = require_design(ratings), ratings.labels[JUDGE]
    labels = human_labels(ratings, human)
    n = int((~np.isnan(labels[:, 0]) & (judge >= 0)).sum())
    functions = {PPI: ppi, INVERSION: inversion}
    results = [(method, functions[method](design, labels, judge)) for method in methods]
    return pd.concat([method_table(method, share, n, note) for method, (share, note) in results], ignore_index=True)


def ppi(design: SampleDesign, labels: Floats, judge: Codes) -> tuple[ShareEstimate, str]:
    """PPI++ on each label separately, the items weighted by design, with its normal interval.

    Source: Angelopoulos, Duchi and Zrnic (2023), arXiv:2311.01453, as ppi-python computes it.
    """
    strata = [judge[design.stratum == index] for index in range(len(design.strata))]
    if any(len(set(codes.tolist())) != 1 or codes[0] < 0 for codes in strata):
        return _undefined_shares(), "undefined: all items of a stratum must have the same label by the judge"
    rated = ~np.isnan(labels[:, 0])
    run = np.repeat([codes[0] for codes in strata], np.rint(design.pairs).astype(int))
    weight = item_weights(design, rated)[rated]
    rows = [
        _ppi_estimate(y, members[judge[rated]].astype(float), members[run].astype(float), weight)
        for y, members in zip(with_disagrees(labels[rated]).T, with_disagrees(np.eye(len(LABELS))).T, strict=True)
    ]
    return ShareEstimate(*np.array(rows).T), "normal interval: too narrow for rare labels"


def _ppi_estimate(y: Floats, judged: Floats, run: Floats, weight: Floats) -> list[float]:
    package = _ppi_package()
    trust = None if np.ptp(judged) else 1  # PPI++ tunes its trust in the judge, which needs verdicts that vary
    value = package.ppi_mean_pointestimate(y, judged, run, w=weight, lam=trust)
    low, high = package.ppi_mean_ci(y, judged, run, alpha=0.05, w=weight, lam=trust)
    return [float(np.ravel(number)[0]) for number in (value, low, high)]


def _ppi_package() -> Any:
    try:
        with warnings.catch_warnings():  # importing it silences all warnings of the process
            return importlib.import_module("ppi_py")
    except ModuleNotFoundError:
        raise AuditError(
            "PPI++, one of the sensitivity analyses, needs the package ppi-python, which is not installed; nothing else here "
            f"needs it. It was left out. {install_hint('models')}"
        ) from None


def inversion(design: SampleDesign, labels: Floats, judge: Codes) -> tuple[ShareEstimate, str]:
    """The mix of labels that explains the judge's shares: M p = q, where M is P(judge's label | human label).

    M comes from the items weighted by design, q is the judge's shares among them. The interval is that of a bootstrap
    within the strata. Source: Rogan and Gladen (1978), Am. J. Epidemiol. 107, for two labels.
    """
    rated = ~np.isnan(labels[:, 0])
    usable = rated & (judge >= 0)
    weight = item_weights(design, rated)[usable]
    verdicts = (judge[usable, None] == np.arange(len(LABELS))).astype(float)
    # The first row is the sample itself, so that one multiplication gives the estimate and all its replicates.
    once, fully_rated = np.ones(len(weight), dtype=int), design.count(usable) >= design.pairs
    drawn = np.vstack([once, stratified_draws(once, design.stratum[usable], fully_rated, SEED, REPLICATES)])
    joint = np.einsum("bi,ij,ik->bjk", drawn * weight, verdicts, labels[usable], optimize=True)
    value, *replicates = with_disagrees(_solved(joint, joint[0].sum(axis=1) / weight.sum()))
    if np.isnan(value).any():
        return (
            _undefined_shares(),
            "undefined: the confusion matrix has no inverse; the judge's labels do not tell some labels apart",
        )
    # A replicate in which some labels cannot be told apart has no solution and is left out.
    low, high = np.nanpercentile(replicates, [2.5, 97.5], axis=0)
    return ShareEstimate(value, low, high), "bootstrap interval: cannot see what no rated item shows"


def _solved(joint: Floats, judged: Floats) -> Floats:
    """The p of M p = q per table (tables, judge's label, human label); NaN where M does not separate two human labels."""
    margin = joint.sum(axis=1, keepdims=True)
    matrix = np.divide(joint, margin, out=np.zeros_like(joint), where=margin > 0)
    # A label that no item has leaves a zero column, so the pseudo-inverse stands in for the inverse; two labels that the judge
    # does not tell apart leave a lower rank, and no mix is then the right one.
    separable = np.linalg.matrix_rank(matrix) == np.count_nonzero(margin[:, 0] > 0, axis=1)
    return np.where(separable[:, None], np.linalg.pinv(matrix) @ judged, np.nan)


def _undefined_shares() -> ShareEstimate:
    return ShareEstimate(*np.full((3, len(ROWS)), np.nan))
