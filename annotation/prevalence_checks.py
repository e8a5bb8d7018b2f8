"""The corrected shares again, by two other roads; and the check that needs the optional package ppi-python.

Neither is the headline. PPI++ has a normal interval, which is too narrow for a rare label (a label of 1 to 2 %, 500 items:
.88 instead of .95, tests/annotation/test_prevalence_coverage.py). The inversion of the confusion matrix gives the corrected
shares to the last digit when its matrix is weighted by the same design, so a difference would mean that one is wrong.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from annotation.design import Design, Floats
from annotation.prevalence import ROWS, Share, believed, sampled, with_disagrees
from annotation.ratings import GOLD, JUDGE, Codes, Ratings
from audit.errors import AuditError
from audit.optional_imports import install_hint
from audit.vocabulary import LABELS

METHODS = PPI, INVERSION = "ppi++", "inversion"
REPLICATES = 2000
SEED = 2406


def checks(ratings: Ratings, human: str = GOLD, methods: Sequence[str] = METHODS) -> pd.DataFrame:
    """PPI++ and the inverted confusion matrix; columns and rows as in `annotation.prevalence.prevalence`.

    Only items with a readable verdict and a rating take part.
    Raises AuditError when PPI++ is asked for and ppi-python is not installed, and as `prevalence`.
    """
    design, judge = sampled(ratings), ratings.labels[JUDGE]
    said = believed(ratings, human)
    usable = ~np.isnan(said[:, 0]) & (judge >= 0)
    ways = {PPI: ppi, INVERSION: inversion}
    checked = pd.concat([_table(name, *ways[name](design, said, judge)) for name in methods], ignore_index=True)
    checked.insert(5, "n", int(usable.sum()))
    return checked


def ppi(design: Design, said: Floats, judge: Codes) -> tuple[Share, str]:
    """PPI++ on each label apart, the items weighted by design, with its normal interval.

    Source: Angelopoulos, Duchi and Zrnic (2023), arXiv:2311.01453, as ppi-python computes it.
    """
    strata = [judge[design.stratum == place] for place in range(len(design.names))]
    if any(len(set(codes.tolist())) != 1 or codes[0] < 0 for codes in strata):
        return _nothing(), "undefined: every stratum must hold items of one label of the judge"
    rated = ~np.isnan(said[:, 0])
    run = np.repeat([codes[0] for codes in strata], np.rint(design.pairs).astype(int))
    weight = (design.pairs / np.maximum(design.counted(rated), 1))[design.stratum[rated]]
    rows = [
        _ppi_row(y, members[judge[rated]].astype(float), members[run].astype(float), weight)
        for y, members in zip(with_disagrees(said[rated]).T, with_disagrees(np.eye(len(LABELS))).T, strict=True)
    ]
    return Share(*np.array(rows).T), "normal interval: too narrow for rare labels"


def _ppi_row(y: Floats, judged: Floats, run: Floats, weight: Floats) -> list[float]:
    package = _package()
    tuned = None if np.ptp(judged) else 1  # how far to trust the judge: nothing to learn where it said the same of all
    value = package.ppi_mean_pointestimate(y, judged, run, w=weight, lam=tuned)
    low, high = package.ppi_mean_ci(y, judged, run, alpha=0.05, w=weight, lam=tuned)
    return [float(np.ravel(number)[0]) for number in (value, low, high)]


def _package() -> Any:
    try:
        with warnings.catch_warnings():  # it silences all warnings of the process
            return importlib.import_module("ppi_py")
    except ModuleNotFoundError:
        raise AuditError(
            "PPI++, one of the checks, needs the package ppi-python, which is not installed; nothing else here does. "
            f"It was left out. {install_hint('models')}"
        ) from None


def inversion(design: Design, said: Floats, judge: Codes) -> tuple[Share, str]:
    """What mix of labels would make the judge say what it says: M p = q, where M is P(judge's label | human label).

    M comes from the items weighted by design, q is the judge's shares among them. The interval is that of a bootstrap
    within the strata. Source: Rogan and Gladen (1978), Am. J. Epidemiol. 107, for two labels.
    """
    usable = ~np.isnan(said[:, 0]) & (judge >= 0)
    weight = (design.pairs / np.maximum(design.counted(~np.isnan(said[:, 0])), 1))[design.stratum][usable]
    told = (judge[usable, None] == np.arange(len(LABELS))).astype(float)
    drawn = np.vstack([np.ones(len(weight)), _redraws(design, usable)])
    joint = np.einsum("bi,ij,ik->bjk", drawn * weight, told, said[usable], optimize=True)
    value, *draws = with_disagrees(_inverted(joint, joint[0].sum(axis=1) / weight.sum()))
    if np.isnan(value).any():
        return _nothing(), "undefined: the confusion matrix has no inverse; some labels cannot be told apart by the judge's"
    low, high = np.nanpercentile(draws, [2.5, 97.5], axis=0)
    return Share(value, low, high), "bootstrap interval: cannot see what no rated item shows"


def _redraws(design: Design, usable: npt.NDArray[np.bool_]) -> Floats:
    """How often each item is drawn when each stratum is drawn anew, (replicates, items); a stratum rated whole is not."""
    stratum, partial = design.stratum[usable], design.counted(usable) < design.pairs
    rng, counts = np.random.default_rng(SEED), np.ones((REPLICATES, len(stratum)))
    for place in np.unique(stratum[partial[stratum]]):
        (items,) = np.nonzero(stratum == place)
        counts[:, items] = rng.multinomial(len(items), np.full(len(items), 1 / len(items)), size=REPLICATES)
    return counts


def _inverted(joint: Floats, judged: Floats) -> Floats:
    """The p of M p = q per table (tables, judge's label, human label); NaN where M tells two human labels not apart."""
    margin = joint.sum(axis=1, keepdims=True)
    matrix = np.divide(joint, margin, out=np.zeros_like(joint), where=margin > 0)
    apart = np.linalg.matrix_rank(matrix) == np.count_nonzero(margin[:, 0] > 0, axis=1)
    return np.where(apart[:, None], np.linalg.pinv(matrix) @ judged, np.nan)


def _nothing() -> Share:
    return Share(*np.full((3, len(ROWS)), np.nan))


def _table(method: str, share: Share, note: str) -> pd.DataFrame:
    columns = {"method": method, "label": ROWS, "value": share.value, "low": share.low, "high": share.high}
    return pd.DataFrame({**columns, "note": note})
