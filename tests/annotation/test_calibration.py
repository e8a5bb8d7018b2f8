"""Agreement in the calibration round, by hand, and the protocol's threshold."""

from __future__ import annotations

from pathlib import Path

import pytest

import annotation
from annotation.label_store.engine import LabelStore
from annotation.label_store.studies import ItemKind
from annotation.schemes import HEAD_TO_HEAD
from annotation.studies.calibration import MIN_KAPPA, MIN_SHARE, Calibration, calibration_of
from annotation.studies.sample_plan import StratumPlan, expected_precision, with_earlier
from tests.support.studies import compared, item, rate, study_of


def calibrated(store: LabelStore, ratings: list[dict[str, str]], annotators: tuple[str, ...] = ("ana", "ben")) -> Calibration:
    """The calibration round in which these labels were given, one dictionary an item."""
    items = [item(n, ItemKind.CALIBRATION) for n in range(1, len(ratings) + 1)]
    study_of(store, [*items, item(99)], annotators)
    for number, labels in enumerate(ratings, start=1):
        for name, label in labels.items():
            rate(store, name, number, label)
    result = calibration_of(store, "s")
    assert result is not None
    return result


def both(*pairs: str) -> list[dict[str, str]]:
    words = {"A": "ABSENT", "C": "CONSISTENT", "M": "COMPLEMENTARY"}
    return [{"ana": words[pair[0]], "ben": words[pair[1]]} for pair in pairs]


def test_agreement_and_weighted_kappa_are_those_of_a_hand_calculation(lite: LabelStore) -> None:
    """Two labels only, so weights cancel: observed 3/4; by chance 3/4 x 1/2 + 1/4 x 1/2 = 1/2; kappa (3/4 - 1/2) / (1/2)."""
    result = calibrated(lite, both("AA", "AA", "CC", "AC"))
    assert (result.share.value, result.share.n, result.missing) == (0.75, 4, 0)
    assert result.kappa.value == pytest.approx(0.5)
    assert result.share.low < 0.75 < result.share.high
    assert result.met is False  # the share suffices, kappa does not
    assert [one.item_id for one in result.differing] == ["i004"]
    assert [(one.annotator, one.label) for one in result.differing[0].ratings] == [("ana", "ABSENT"), ("ben", "CONSISTENT")]


@pytest.mark.parametrize(
    ("pairs", "met", "words"),
    [
        (("AA", "CC", "MM", "MM", "AA"), True, ": met."),
        (("AA", "AA", "AA"), True, "undefined"),  # every label the same: the share decides
        (("AM", "MA", "CC"), False, ": not met."),
    ],
)
def test_the_threshold_is_met_or_not(lite: LabelStore, pairs: tuple[str, ...], met: bool, words: str) -> None:
    result = calibrated(lite, both(*pairs))
    assert result.met is met
    assert words in result.sentence()


def test_missing_ratings_make_it_provisional_and_no_rating_leaves_it_open(lite: LabelStore) -> None:
    result = calibrated(lite, [{"ana": "ABSENT", "ben": "ABSENT"}, {"ana": "ABSENT"}])
    assert (result.share.n, result.missing) == (1, 1)
    assert "1 rating is missing, so this is provisional." in result.sentence()


def test_without_two_ratings_of_an_item_nothing_is_said_of_agreement(lite: LabelStore) -> None:
    result = calibrated(lite, [{"ana": "ABSENT"}, {"ben": "ABSENT"}])
    assert (result.met, result.differing) == (None, [])
    assert result.sentence() == "No calibration item is rated by two annotators yet."


def test_three_annotators_are_compared_together(lite: LabelStore) -> None:
    """Two items on which all agree, one on which one of three differs: 1/3 of its three pairs agree."""
    same = dict.fromkeys(("ana", "ben", "cem"), "ABSENT")
    result = calibrated(lite, [same, dict.fromkeys(same, "CONSISTENT"), same | {"cem": "CONSISTENT"}], ("ana", "ben", "cem"))
    assert result.share.value == pytest.approx((1 + 1 + 1 / 3) / 3)
    assert len(result.differing[0].ratings) == 3


def test_a_head_to_head_study_has_plain_kappa_and_a_study_without_a_round_nothing(lite: LabelStore) -> None:
    study_of(lite, [compared(1, ItemKind.CALIBRATION), compared(2)], scheme=HEAD_TO_HEAD)
    rate(lite, "ana", 1, "tie")
    rate(lite, "ben", 1, "tie")
    result = calibration_of(lite, "s")
    assert result is not None
    assert "unweighted" in result.sentence()
    study_of(lite, [item(3)], ("cem", "dea"), study_id="plain")
    assert calibration_of(lite, "plain") is None


def test_the_threshold_is_that_of_the_protocol() -> None:
    protocol = " ".join(Path(annotation.__file__).with_name("PROTOCOL.md").read_text(encoding="utf-8").split())
    assert f"fewer than {MIN_SHARE:.0%}".replace("%", " %") in protocol
    assert f"is below {MIN_KAPPA}" in protocol


def test_the_expected_precision_is_that_of_a_hand_calculation() -> None:
    """One stratum read in full has no error; of 100 CONSISTENT pairs 25 are read, and 2 of the 4 other labels disagree.

    Share 0.2 x 2/4 = 0.1, standard error sqrt(0.1 x 0.9 / 25 x (1 - 25/100)) x 100/110, times 1.96.
    """
    strata = [StratumPlan("CONSISTENT", None, 100, 25, 0), StratumPlan("DIVERGENT", None, 10, 10, 0)]
    expected = expected_precision(strata, 0.8)
    assert expected.items == 35
    assert expected.half_width == pytest.approx(1.96 * (0.1 * 0.9 / 25 * 0.75) ** 0.5 * 100 / 110, rel=0.02)
    larger = expected_precision(with_earlier(strata, {"CONSISTENT": 10}), 0.8)
    assert (larger.items, larger.half_width < expected_precision(strata, 0.8).half_width) == (45, True)
    assert expected_precision([StratumPlan("ABSENT", None, 9, 0, 0)], 0.8).sentence(0.8) == "No items are requested."
