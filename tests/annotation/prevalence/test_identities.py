"""Three estimators that are the corrected shares by algebra, for strata of one label by the judge: they check the arithmetic."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from annotation.prevalence.estimates import append_disagreement, corrected_shares, item_weights
from annotation.ratings.design import Codes, Floats, SampleDesign
from annotation.ratings.gold import human_labels
from audit.vocabulary import LABELS
from tests.annotation.prevalence.test_estimates import STUDY
from tests.annotation.tables import ratings

Estimator = Callable[[SampleDesign, Floats, Codes], Floats]


def people_alone(design: SampleDesign, labels: Floats, judge: Codes) -> Floats:
    """The items weighted by the pairs that they represent, whatever the judge says of them."""
    weight = item_weights(design, ~np.isnan(labels[:, 0]))
    return np.asarray(append_disagreement(labels).T @ weight / weight.sum())


def inversion(design: SampleDesign, labels: Floats, judge: Codes) -> Floats:
    """The p of M p = q, M being P(judge's label | human label) and q the judge's shares. Source: Rogan and Gladen (1978)."""
    weight = item_weights(design, ~np.isnan(labels[:, 0]))
    joint = (judge[:, None] == np.arange(len(LABELS))).astype(float).T @ (labels * weight[:, None])
    margin = joint.sum(axis=0)
    matrix = np.divide(joint, margin, out=np.zeros_like(joint), where=margin > 0)
    return np.asarray(append_disagreement((np.linalg.pinv(matrix) @ (joint.sum(axis=1) / weight.sum()))[None])[0])


def ppi(design: SampleDesign, labels: Floats, judge: Codes) -> Floats:
    """PPI++ on each label, the items weighted by design. Source: arXiv:2311.01453, as ppi-python computes it."""
    ppi_py = pytest.importorskip("ppi_py", reason="ppi-python is not installed (pip install -c constraints.txt --group test)")
    weight = item_weights(design, ~np.isnan(labels[:, 0]))
    codes = [judge[design.stratum == index][0] for index in range(len(design.strata))]
    run = np.repeat(codes, np.rint(design.pairs).astype(int))
    rows = zip(append_disagreement(labels).T, append_disagreement(np.eye(len(LABELS))).T, strict=True)
    estimates = []
    for human, members in rows:
        judged, unlabelled = members[judge].astype(float), members[run].astype(float)
        trust = None if np.ptp(judged) else 1  # PPI++ tunes its trust in the judge, which needs verdicts that vary
        estimates.append(float(np.ravel(ppi_py.ppi_mean_pointestimate(human, judged, unlabelled, w=weight, lam=trust))[0]))
    return np.array(estimates)


@pytest.mark.parametrize(("estimator", "within"), [(people_alone, 1e-12), (inversion, 1e-12), (ppi, 1e-9)])
def test_for_strata_of_one_verdict_it_is_the_corrected_share(estimator: Estimator, within: float) -> None:
    table = ratings(STUDY)
    assert table.design is not None
    labels = human_labels(table)
    expected = corrected_shares(table.design, labels).value
    assert estimator(table.design, labels, table.labels["judge"]) == pytest.approx(expected, abs=within)
