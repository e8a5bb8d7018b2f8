"""Sensitivity analyses of the corrected shares."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from annotation.prevalence.estimates import corrected_shares, human_labels
from annotation.prevalence.sensitivity import inversion, sensitivity_analyses
from annotation.ratings.table import Ratings
from audit.errors import AuditError
from tests.annotation.prevalence.test_estimates import STUDY
from tests.annotation.tables import ratings


def inverted(table: Ratings) -> tuple[np.ndarray, str]:
    assert table.design is not None
    share, note = inversion(table.design, human_labels(table), table.labels["judge"])
    return share.value, note


def test_the_inverted_confusion_matrix_weighted_by_design_gives_the_corrected_shares() -> None:
    table = ratings(STUDY)
    assert table.design is not None
    assert inverted(table)[0] == pytest.approx(corrected_shares(table.design, human_labels(table)).value, abs=1e-12)


def test_labels_that_the_judge_does_not_separate_have_no_inverse() -> None:
    value, note = inverted(
        ratings("""
        annotator_a annotator_b judge  design_weight times
        DIVERGENT   DIVERGENT   ABSENT 2             5
        ABSENT      ABSENT      ABSENT 2             5
    """)
    )
    assert np.isnan(value).all()
    assert note.startswith("undefined: the confusion matrix has no inverse")


def test_ppi_agrees_with_the_corrected_shares_of_a_sample_drawn_by_label() -> None:
    pytest.importorskip("ppi_py", reason="ppi-python is not installed (pip install -c constraints.txt -e .[models])")
    table = ratings(STUDY)
    assert table.design is not None
    shares = sensitivity_analyses(table).set_index(["method", "label"])
    expected = corrected_shares(table.design, human_labels(table)).value
    assert shares.loc["ppi++", "value"].tolist() == pytest.approx(expected.tolist(), abs=1e-9)
    assert (shares.loc["ppi++", "low"] <= shares.loc["ppi++", "high"]).all()


def test_without_the_package_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ppi_py", None)
    with pytest.raises(AuditError, match=r"'\.\[models\]'"):
        sensitivity_analyses(ratings(STUDY))


def test_a_study_that_rated_every_pair_leaves_nothing_to_resample() -> None:
    table = ratings("""
        annotator_a annotator_b judge      design_weight times
        DIVERGENT   DIVERGENT   CONSISTENT 1             2
        CONSISTENT  CONSISTENT  CONSISTENT 1             8
        DIVERGENT   DIVERGENT   DIVERGENT  1             9
    """)
    assert table.design is not None
    share, _ = inversion(table.design, human_labels(table), table.labels["judge"])
    assert share.low.tolist() == pytest.approx(share.high.tolist())
