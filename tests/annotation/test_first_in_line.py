"""Pairs that people read first: which they are, and that figures of the run stay right although they are drawn on purpose."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.studies import find_study
from annotation.ratings.design import PRESCREENED, design_from
from annotation.studies.earlier_studies import poolable
from annotation.studies.first_in_line import NAMES, REASONS
from annotation.studies.sample_plan import SamplePlan, StratumKey, allocate_items, expected_precision, share_out
from annotation.studies.sampling import draw_sample, draw_study, stratum_sizes
from annotation.studies.study_tables import labels_table, study_ratings
from audit.store.connection import open_store
from audit.store.runs import Run
from audit.vocabulary import LABELS, Label
from tests.support.loading import load
from tests.support.studies import NOW, people
from tests.support.tiny import handbook, release_from

DOUBTED, UNSURE, QUOTE, DIFFER = NAMES
# q1: c's label with a is one stray among agreements; q2: the judge cannot tell of bc; q3: of ab it quotes what nobody wrote;
# q4: a second judge calls ab divergent, and bc what the judge calls it
TABLE = """
    q1 kidney ab=CONSISTENT ac=DIVERGENT/low bc=CONSISTENT ad=CONSISTENT bd=CONSISTENT cd=CONSISTENT
    q2 kidney ab=CONSISTENT ac=CONSISTENT bc=UNSCORED!none:abstained:x ad=CONSISTENT bd=CONSISTENT cd=UNSCORED!none:empty
    q3 kidney ab=DIVERGENT/low ac=DIVERGENT/low bc=CONSISTENT ad=DIVERGENT/low bd=CONSISTENT cd=CONSISTENT
    q4 kidney ab=CONSISTENT ac=CONSISTENT bc=CONSISTENT d=absent
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("first")
    release = release_from(folder / "releases", TABLE, [handbook(letter) for letter in "abcd"])
    file = release / "comparisons" / "q3.json"
    compared = json.loads(file.read_text())
    next(pair for pair in compared["pairs"] if {pair["handbook_a"], pair["handbook_b"]} == {"a", "b"})["quote_a"] = (
        "never written"
    )
    file.write_text(json.dumps(compared))
    second = [("a", "b", "DIVERGENT"), ("c", "b", "CONSISTENT")]
    verdicts = [
        {"question_id": "q4", "handbook_a": a, "handbook_b": b, "kind": "second", "judge": "other", "label": label}
        for a, b, label in second
    ]
    (release / "further_verdicts.jsonl").write_text("\n".join(map(json.dumps, verdicts)))
    return load(release, folder / "data").run


def plan(**other: object) -> SamplePlan:
    return SamplePlan(**{"per_label": dict.fromkeys(LABELS, 4), "calibration": 0, "repeats": 0, "first_in_line": 0.4, **other})


def test_each_reason_is_a_stratum_of_its_own_and_the_others_hold_the_rest(run: Run) -> None:
    with open_store(run.path) as con:
        sizes = stratum_sizes(con, by_organ=False, screened=True, first=True)
        without = stratum_sizes(con, by_organ=False)
    assert {key: n for key, n in sizes.items() if key[1] in NAMES} == {
        ("DIVERGENT", DOUBTED): 1, ("unscored", UNSURE): 1, ("DIVERGENT", QUOTE): 1, ("CONSISTENT", DIFFER): 1
    }  # fmt: skip
    assert sizes["ABSENT", PRESCREENED] == 3
    assert sum(sizes.values()) == sum(without.values()) + 1  # the pair of which the judge could not tell


def test_they_are_drawn_in_full_and_their_verdicts_are_known_to_nobody_as_labels_where_the_judge_gave_none(
    run: Run, lite: LabelStore
) -> None:
    annotators = people(lite, "ana", "ben")
    drawn = draw_study(lite, run, plan(), study_id="s", title="T", annotators=annotators, now=NOW)
    first = [stratum for stratum in drawn.strata if stratum.second in NAMES]
    assert [(stratum.stratum, stratum.weight) for stratum in first] == [
        (f"DIVERGENT/{DOUBTED}", 1), (f"unscored/{UNSURE}", 1), (f"DIVERGENT/{QUOTE}", 1), (f"CONSISTENT/{DIFFER}", 1)
    ]  # fmt: skip
    assert (drawn.origin.pairs, drawn.origin.unscored) == (24, 1)
    table = labels_table(lite, "s")
    assert table["judge"].isna().sum() == 1
    assert table.loc[table["judge"].isna(), "stratum"].tolist() == [f"unscored/{UNSURE}"]
    design = study_ratings(lite, "s").design
    assert design is not None
    assert design.pairs.sum() == 23
    draw_study(lite, run, plan(first_in_line=0.0), study_id="t", title="T", annotators=annotators, now=NOW)
    assert poolable(lite, find_study(lite, "s")) == []


def test_reason_by_reason_in_full_as_far_as_the_items_go_and_two_at_least_of_each() -> None:
    free: dict[StratumKey, int] = {
        ("DIVERGENT", DOUBTED): 30,
        ("CONSISTENT", DOUBTED): 10,
        ("unscored", UNSURE): 20,
        ("ABSENT", QUOTE): 50,
    }
    assert share_out(free, 200) == free
    assert list(share_out(free, 75).values()) == [10, 30, 20, 15]
    assert list(share_out(free, 24).values()) == [5, 15, 2, 2]
    assert list(share_out(free, 0).values()) == [2, 3, 2, 2]
    assert share_out({}, 10) == {}


def test_what_they_take_the_other_strata_lack() -> None:
    sizes: dict[StratumKey, int] = {
        ("DIVERGENT", None): 900,
        ("CONSISTENT", None): 5000,
        ("DIVERGENT", DOUBTED): 30,
        ("ABSENT", PRESCREENED): 500,
    }
    usual = {key: n for key, n in sizes.items() if key[1] is None} | {("DIVERGENT", DOUBTED): 30}
    by_label = allocate_items(usual, plan(per_label={"DIVERGENT": 60, "CONSISTENT": 60}))
    assert {(one.label, one.second): one.study for one in by_label} == {
        ("CONSISTENT", None): 45, ("DIVERGENT", None): 45, ("DIVERGENT", DOUBTED): 30
    }  # fmt: skip
    designed = allocate_items(sizes, plan(design_for="r_div", items=120))
    assert sum(one.study for one in designed) == 120
    assert {one.study for one in designed if one.second == DOUBTED} == {30}
    assert 0 < expected_precision(designed, 0.8, "r_div").half_width < 0.2


def test_at_most_half_of_the_items_are_first_in_line(run: Run) -> None:
    with pytest.raises(StudyError, match="at most 50% of the items can be first in line"):
        draw_sample(run, plan(first_in_line=0.6), "s")


def test_every_reason_has_a_sentence_and_a_name_that_is_one_part_of_a_stratum() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert all(reason.sentence and "/" not in reason.name for reason in REASONS)


def test_a_share_of_the_run_stays_right_and_more_errors_are_found_in_a_world_of_known_truth() -> None:
    """3,000 pairs; the judge errs in 8 %, and half of its errors, with as many right labels, are first in line."""
    rng = np.random.default_rng(3)
    truth = rng.random(3000) < 0.2
    wrong = rng.random(3000) < 0.08
    judge = np.where(truth ^ wrong, Label.DIVERGENT.value, Label.CONSISTENT.value)
    doubted = np.where(wrong, rng.random(3000) < 0.5, rng.random(3000) < 0.04)
    found = {}
    for share in (0.0, 0.5, 0.2):  # at .2 the strata of the doubted pairs are too large to be drawn in full
        cell = [(label, DOUBTED if one and share else None) for label, one in zip(judge.tolist(), doubted, strict=True)]
        strata = allocate_items(Counter(cell), plan(per_label={"DIVERGENT": 300, "CONSISTENT": 300}, first_in_line=share))
        members = [np.flatnonzero([key == (one.label, one.second) for key in cell]) for one in strata]
        columns = {"stratum": [one.name for one in strata], "design_weight": [one.population / one.study for one in strata]}
        rows = pd.DataFrame(columns).loc[np.repeat(np.arange(len(strata)), [one.study for one in strata])]
        design = design_from(rows, np.array([Label(name.split("/")[0]).code for name in rows["stratum"]]), "world")
        assert design is not None
        runs = []
        for _ in range(400):
            chosen = [rng.choice(own, one.study, replace=False) for own, one in zip(members, strata, strict=True)]
            items = np.concatenate(chosen)
            counts = (np.bincount(design.stratum, weights=weight) for weight in (truth[items] * 1.0, np.ones(len(items))))
            value, low, high = (float(end) for end in design.share(*counts))
            runs.append((value, low <= truth.mean() <= high, high - low, wrong[items].sum()))
        found[share] = np.mean(runs, axis=0)
        assert found[share][0] == pytest.approx(truth.mean(), abs=0.002)
        assert found[share][1] >= 0.93
        assert found[share][2] <= 1.05 * found[0.0][2]
    assert found[0.5][3] > 1.7 * found[0.0][3]
