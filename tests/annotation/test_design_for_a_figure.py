"""Studies that are designed for their primary figure: who gets the ratings, and how precise the figure then is."""

from __future__ import annotations

import numpy as np
import pytest

from annotation.label_store.engine import StudyError
from annotation.prevalence.estimates import disagreement_rate, prevalence
from annotation.prevalence.planning import neyman, rate_spread
from annotation.ratings.design import PRESCREENED, SampleDesign
from annotation.studies.sample_plan import DESIGNS, SamplePlan, StratumPlan, allocate_items, expected_precision
from annotation.studies.sampling import draw_sample
from annotation.studies.study_tables import strata_frame
from audit.store.runs import Run
from tests.annotation.tables import ratings
from tests.annotation.test_sampling import COUNTS, plan, run  # noqa: F401 - a fixture

NO_ITEMS = np.array([], dtype=np.intp)
CHECK = ("ABSENT", PRESCREENED)
PAIRS = {
    ("ABSENT", None): 414, CHECK: 21_276, ("CONSISTENT", None): 945, ("COMPLEMENTARY", None): 8_181, ("DIVERGENT", None): 1_611,
    ("CONTRADICTORY", None): 94,
}  # fmt: skip
"""Pairs of the demo run."""
DISAGREE = {"CONSISTENT": 0.01, "COMPLEMENTARY": 0.09, "DIVERGENT": 0.53, "CONTRADICTORY": 0.98}
ABSENT = {"ABSENT": 0.98, "CONSISTENT": 0.005, "COMPLEMENTARY": 0.005, "DIVERGENT": 0.002}
"""How often raters of the demo call a pair so, by the judge's label."""
STUDIES = 300


def test_neyman_by_hand() -> None:
    # Pairs times spread: 100, 100, 200 of 400; a tenth of the items each 25, 25, 50
    assert neyman(np.array([0.1, 0.5, 0.4]), np.array([1000.0, 200.0, 500.0]), 100, 2).tolist() == [25, 25, 50]
    # The second has 10 pairs only, and the third gets the least; what is left goes to the first
    assert neyman(np.array([0.1, 20.0, 0.0]), np.array([1000.0, 10.0, 500.0]), 50, 4).tolist() == [36, 10, 4]
    # Remainders: 10 x (1, 1, 1) / 3
    assert neyman(np.ones(3), np.full(3, 50.0), 10, 1).tolist() == [4, 3, 3]
    assert neyman(np.ones(2), np.array([3.0, 4.0]), 100, 1).tolist() == [3, 4]


def test_the_spread_of_an_item_of_r_div_by_hand() -> None:
    # R = (10 + 40) / 100 = .5 in strata of 50 pairs; an item adds +.5 or -.5, and nothing where it is absent
    spread = rate_spread(np.array([0.2, 0.8, 0.0]), np.array([0.0, 0.0, 1.0]), np.array([50.0, 50.0, 900.0]))
    assert spread == pytest.approx([np.sqrt(0.25 - 0.09), np.sqrt(0.25 - 0.09), 0.0])


def designed(figure: str = "r_div", items: int = 200) -> list[StratumPlan]:
    return allocate_items(PAIRS, SamplePlan(design_for=figure, items=items, calibration=0))


@pytest.mark.parametrize("figure", DESIGNS)
def test_every_design_has_as_many_items_as_asked_and_a_few_of_each_stratum(figure: str) -> None:
    strata = designed(figure)
    assert sum(stratum.study for stratum in strata) == 200
    assert min(stratum.study for stratum in strata) >= 4
    assert {(stratum.label, stratum.second): stratum.population for stratum in strata} == PAIRS
    assert next(stratum.study for stratum in strata if stratum.second == PRESCREENED) == 6


def test_for_kappa_every_label_gets_as_many() -> None:
    assert {stratum.study for stratum in designed("kappa", 206) if stratum.second is None} == {40}


def simulated(strata: list[StratumPlan]) -> tuple[float, float]:
    """The mean half-width of R_div in simulated studies, and how often its interval covers the true rate."""
    sizes, items = (np.array([getattr(stratum, name) for stratum in strata]) for name in ("population", "study"))
    disagree, absent = (np.array([shares.get(stratum.label, 0.0) for stratum in strata]) for shares in (DISAGREE, ABSENT))
    absent[[stratum.second == PRESCREENED for stratum in strata]] = 1.0
    design, rng = SampleDesign(tuple(stratum.name for stratum in strata), sizes.astype(float), NO_ITEMS), np.random.default_rng(1)
    found = []
    for _ in range(STUDIES):
        disagreeing = rng.binomial(sizes, disagree)
        missing = rng.binomial(sizes - disagreeing, absent / (1 - disagree))
        cells = zip(disagreeing, missing, sizes - disagreeing - missing, items, strict=True)
        drawn = np.array([rng.multivariate_hypergeometric([d, m, other], n) for d, m, other, n in cells], dtype=float)
        _, low, high = disagreement_rate(drawn[:, 0], drawn[:, 1], items.astype(float), design)
        found.append(((high - low) / 2, low <= disagreeing.sum() / (sizes.sum() - missing.sum()) <= high))
    width, covered = np.mean(found, axis=0)
    return float(width), float(covered)


def test_r_div_of_200_ratings_is_known_twice_as_well_as_with_40_of_each_label() -> None:
    width, covered = simulated(designed())
    assert round(100 * width, 1) <= 4.6
    assert covered >= 0.93
    plain = {label: n for (label, second), n in PAIRS.items() if second is None} | {"ABSENT": 414 + 21_276}
    usual, _ = simulated([StratumPlan(label, None, n, 40, 0) for label, n in plain.items()])
    assert usual > 2 * width


def test_a_check_that_finds_a_pair_that_is_not_absent_widens_the_interval() -> None:
    strata = designed()
    design = SampleDesign(tuple(s.name for s in strata), np.array([float(s.population) for s in strata]), NO_ITEMS)
    rated = np.array([float(s.study) for s in strata])
    checked = np.array([s.second == PRESCREENED for s in strata])
    absent, disagreeing = np.where(checked, rated, 0.0), np.where(checked, 0.0, rated / 10)
    passed, failed = (disagreement_rate(disagreeing, own, rated, design) for own in (absent, absent - checked))
    assert passed[0] == pytest.approx(0.1)
    assert (failed[2] - failed[1]) / failed[0] > 1.2 * (passed[2] - passed[1]) / passed[0]


def test_pre_screened_pairs_are_a_stratum_of_the_drawn_sample_and_old_plans_draw_as_before(run: Run) -> None:  # noqa: F811
    drawn = draw_sample(run, plan(design_for="r_div", items=20), "s")
    sizes = strata_frame(drawn.strata).set_index("stratum")["population"].to_dict()
    assert sizes == {**COUNTS, "ABSENT": 1, "ABSENT/pre-screened": 15}
    assert drawn.origin.plan["design_for"] == "r_div"
    assert {stratum.stratum for stratum in draw_sample(run, plan(), "s").strata} == set(COUNTS)


def test_they_stay_a_stratum_of_their_own_when_the_ratings_are_read() -> None:
    table = ratings("""
        annotator_a annotator_b judge       stratum             design_weight times
        ABSENT      ABSENT      ABSENT      ABSENT/pre-screened 50            2
        ABSENT      ABSENT      ABSENT      ABSENT              5             2
        DIVERGENT   DIVERGENT   DIVERGENT   DIVERGENT           5             2
    """)
    assert table.design is not None
    assert len(table.design.verdicts) == 3
    note = "of 2 pre-screened pairs that were checked, raters call 2 absent, so all of them are taken as absent"
    assert note in prevalence(table)["note"].iloc[0]


def test_the_precision_to_expect_takes_them_as_absent() -> None:
    strata = designed()
    doubled = [StratumPlan(s.label, s.second, 2 * s.population if s.second else s.population, s.study, 0) for s in strata]
    once, twice = (expected_precision(own, 0.8).half_width for own in (strata, doubled))
    judged = 414 + 945 + 8_181 + 1_611 + 94
    assert twice / once == pytest.approx((judged + 21_276) / (judged + 2 * 21_276))


def test_the_precision_to_expect_is_that_of_r_div_where_the_study_is_designed_for_it() -> None:
    # 100 DIVERGENT pairs of which .8 + .05 disagree and .05 are absent; pre-screened ones are in neither part. Delta method for
    # .85 / .95 of 50 of 100: sd of an item sqrt(.85 (1 - r)^2 + .1 r^2), the finite factor (100 - 50) / 100
    strata = [StratumPlan("DIVERGENT", None, 100, 50, 0), StratumPlan("ABSENT", PRESCREENED, 900, 6, 0)]
    rate = 0.85 / 0.95
    spread = np.sqrt((0.85 * (1 - rate) ** 2 + 0.1 * rate**2) / 50 * 0.5) / 0.95
    found = expected_precision(strata, 0.8, "r_div")
    # The quotient's interval allows for more than the delta method: numerator and denominator may err in opposite ways
    assert 1.96 * spread < found.half_width < 1.5 * 1.96 * spread
    assert "rate of disagreement among pairs in which both answers address the question is expected" in found.sentence(0.8)
    # Of the example, what simulated studies of this design have
    assert expected_precision(designed(), 0.8, "r_div").half_width == pytest.approx(simulated(designed())[0], abs=0.02)


@pytest.mark.parametrize(
    ("other", "fault"),
    [
        ({"design_for": "p_value"}, "is not a figure to design"),
        ({"design_for": "r_div", "second": "organ"}, "no second criterion"),
    ],
)
def test_an_impossible_design_is_refused(run: Run, other: dict[str, object], fault: str) -> None:  # noqa: F811
    with pytest.raises(StudyError, match=fault):
        draw_sample(run, plan(items=10, **other), "s")
