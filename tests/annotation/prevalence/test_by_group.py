"""R_div of groups, corrected: figures by hand, and simulated studies whose judge errs differently in every group."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit
from scipy.stats import spearmanr

from annotation.prevalence.by_group import corrected_by_group
from annotation.prevalence.estimates import corrected_disagreement, total_interval
from annotation.ratings.table import Ratings, ratings_from
from annotation.studies.item_groups import corrected_parts
from audit.errors import AuditError

Item = tuple[str, str, str]
"""Label by people, label by the judge, group."""


def study(items: list[Item], weight: str = "10") -> tuple[Ratings, pd.DataFrame]:
    ids = [f"i{number}" for number in range(len(items))]
    people, judge, groups = zip(*items, strict=True)
    table = {"item_id": ids, "annotator_a": people, "annotator_b": people, "judge": judge, "stratum": judge}
    return ratings_from(pd.DataFrame(table).assign(design_weight=weight), "x"), pd.DataFrame({"item_id": ids, "group": groups})


def counted(**pairs: dict[str, int]) -> pd.DataFrame:
    rows = [(group, label, n) for group, of in pairs.items() for label, n in of.items()]
    return pd.DataFrame(rows, columns=["group", "label", "pairs"])


def test_where_groups_do_not_differ_each_is_corrected_as_the_run_is() -> None:
    # Of the judge's DIVERGENT half are confirmed, in both groups alike; of COMPLEMENTARY none disagrees
    items = [("DIVERGENT", "DIVERGENT"), ("COMPLEMENTARY", "DIVERGENT"), ("COMPLEMENTARY", "COMPLEMENTARY")] * 4
    ratings, groups = study([(*labels, "heart" if number < 6 else "lung") for number, labels in enumerate(items)])
    counts = counted(heart={"DIVERGENT": 40, "COMPLEMENTARY": 60, "ABSENT": 900}, lung={"DIVERGENT": 10, "COMPLEMENTARY": 90})
    table = corrected_by_group(ratings, groups, counts).set_index("group")
    assert table["present"].to_dict() == {"heart": 100, "lung": 100}
    assert table["judge"].to_dict() == {"heart": 0.4, "lung": 0.1}
    assert table["corrected"].to_dict() == pytest.approx({"heart": 0.2, "lung": 0.05})
    assert table["n"].to_dict() == {"heart": 6, "lung": 6}
    assert (table["own"] == 0).all()
    assert ((table["corrected_low"] < table["corrected"]) & (table["corrected"] < table["corrected_high"])).all()


def test_where_groups_differ_much_their_own_items_decide() -> None:
    items = [("DIVERGENT", "DIVERGENT", "heart")] * 30 + [("COMPLEMENTARY", "DIVERGENT", "lung")] * 30
    ratings, groups = study(items)
    table = corrected_by_group(ratings, groups, counted(heart={"DIVERGENT": 50}, lung={"DIVERGENT": 50})).set_index("group")
    assert table.loc["heart", "corrected"] > 0.95
    assert table.loc["lung", "corrected"] < 0.05
    assert (table["own"] > 0.9).all()


def test_people_who_call_a_pair_absent_take_it_out_of_the_denominator() -> None:
    items = [("DIVERGENT", "DIVERGENT", "heart"), ("ABSENT", "DIVERGENT", "heart")] * 10
    ratings, groups = study(items)
    (row,) = corrected_by_group(ratings, groups, counted(heart={"DIVERGENT": 80})).to_dict("records")
    assert (row["judge"], row["corrected"]) == (1.0, 1.0)


def test_a_label_that_nobody_rated_leaves_the_group_without_a_figure_and_others_with_one() -> None:
    ratings, groups = study([("DIVERGENT", "DIVERGENT", "heart")] * 5)
    counts = counted(heart={"DIVERGENT": 5}, lung={"DIVERGENT": 5, "CONSISTENT": 1}, none={"ABSENT": 3})
    table = corrected_by_group(ratings, groups, counts).set_index("group")
    assert table["corrected"].isna().to_dict() == {"heart": False, "lung": True, "none": True}
    assert table["present"].to_dict() == {"heart": 5, "lung": 6, "none": 0}
    assert np.isnan(table.loc["none", "judge"])


LABELS = {"CONSISTENT": 0.01, "COMPLEMENTARY": 0.04, "DIVERGENT": 0.55, "CONTRADICTORY": 0.97}
"""Label of the judge -> how often people disagree on such pairs, on average over groups."""


def simulated(
    seed: int, alike: float, groups: int = 6, per_label: int = 40, milder: float = 0.0
) -> tuple[np.ndarray, pd.DataFrame]:
    """The true R_div of groups, and the table; `alike`: the larger, the less the judge's errors differ between groups.

    milder  instead: in two groups people disagree more, by so much on the logit scale, whatever the label of the judge
    """
    rng = np.random.default_rng(seed)
    rates = np.array([rng.beta(alike * share, alike * (1 - share), groups) for share in LABELS.values()]).T
    if milder:
        rates = expit(logit(np.array(list(LABELS.values()))) + milder * (np.arange(groups) < 2)[:, None])
    pairs = (rng.dirichlet(np.array([4.0, 29, 6, 1]), groups) * rng.integers(800, 4000, (groups, 1))).astype(int) + 5
    items: list[Item] = []
    for label, own, rate in zip(LABELS, pairs.T, rates.T, strict=True):
        drawn = rng.choice(groups, size=per_label, p=own / own.sum())
        items += [("DIVERGENT" if rng.random() < rate[group] else "COMPLEMENTARY", label, f"g{group}") for group in drawn]
    ratings, members = study(items)
    counts = counted(**{f"g{g}": dict(zip(LABELS, own.tolist(), strict=True)) for g, own in enumerate(pairs)})
    return (pairs * rates).sum(axis=1) / pairs.sum(axis=1), corrected_by_group(ratings, members, counts)


@pytest.mark.parametrize("alike", [12, 40])
def test_simulated_studies_are_nearer_to_the_truth_than_the_judge_and_cover_it(alike: int) -> None:
    squares, covered, correlations = [], [], []
    for seed in range(40):
        truth, table = simulated(seed, alike)
        squares.append([((table[column] - truth) ** 2).mean() for column in ("judge", "corrected")])
        covered.append(((table["corrected_low"] <= truth) & (truth <= table["corrected_high"])).mean())
        correlations.append([spearmanr(truth, table[column])[0] for column in ("judge", "corrected")])
    judge, corrected = np.sqrt(np.mean(squares, axis=0))
    assert corrected < 0.8 * judge
    assert np.mean(covered) >= 0.92
    if alike == 12:
        assert np.mean(correlations, axis=0)[1] > np.mean(correlations, axis=0)[0] + 0.05


def test_a_group_in_which_the_judge_is_milder_with_every_label_is_covered_too() -> None:
    covered = []
    for seed in range(60):
        truth, table = simulated(seed, 12, per_label=100, milder=1.5)
        covered.append((table["corrected_low"] <= truth) & (truth <= table["corrected_high"]))
    # With the errors of labels taken as independent: .62
    assert np.mean(covered, axis=0).min() >= 0.85


def test_without_a_run_or_a_design_nothing_is_corrected() -> None:
    ratings, members = study([("DIVERGENT", "DIVERGENT", "heart")])
    assert corrected_parts(ratings, members, None).empty
    plain = ratings_from(
        pd.DataFrame({"item_id": ["1"], "annotator_a": ["DIVERGENT"], "annotator_b": ["DIVERGENT"], "judge": ["DIVERGENT"]}), "x"
    )
    with pytest.raises(AuditError, match="design_weight"):
        corrected_by_group(plain, members, counted(heart={"DIVERGENT": 1}))


def test_a_group_that_is_the_whole_run_has_the_run_s_figure_and_both_its_intervals() -> None:
    items = [("DIVERGENT", "DIVERGENT"), ("COMPLEMENTARY", "DIVERGENT"), ("COMPLEMENTARY", "COMPLEMENTARY")] * 9
    ratings, groups = study([(*labels, "kidney") for labels in [*items, ("DIVERGENT", "COMPLEMENTARY"), ("ABSENT", "ABSENT")]])
    counts = counted(kidney={"DIVERGENT": 180, "COMPLEMENTARY": 100, "ABSENT": 10})
    (row,) = corrected_by_group(ratings, groups, counts, elsewhere={"kidney": (0.5, 0.75)}).to_dict("records")
    run = corrected_disagreement(ratings)
    assert (row["corrected"], row["corrected_low"], row["corrected_high"]) == (run.value, run.low, run.high)
    assert (row["elsewhere"], row["elsewhere_low"], row["elsewhere_high"]) == (run.value, *total_interval(run, (0.5, 0.75)))
    # A part of the run is near to it, by its own formula: value and slope are the same, the interval of these pairs is not
    (part,) = corrected_by_group(
        ratings, groups, counts.assign(pairs=counts["pairs"] // 10), elsewhere={"kidney": (0.5, 0.75)}
    ).to_dict("records")
    assert part["corrected"] == pytest.approx(run.value)
    assert [part["elsewhere_low"], part["elsewhere_high"]] == pytest.approx(
        [row["elsewhere_low"], row["elsewhere_high"]], abs=0.03
    )


def test_without_the_judge_s_interval_nothing_is_said_of_elsewhere() -> None:
    ratings, groups = study([("DIVERGENT", "DIVERGENT", "heart"), ("COMPLEMENTARY", "DIVERGENT", "heart")] * 5)
    table = corrected_by_group(ratings, groups, counted(heart={"DIVERGENT": 50, "COMPLEMENTARY": 50}))
    assert table[["elsewhere_low", "elsewhere_high"]].isna().all(axis=None)
