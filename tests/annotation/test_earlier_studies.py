"""A further study of a run leaves out the pairs of earlier ones, and their ratings are pooled as one sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.results import assignment_rows
from annotation.label_store.studies import find_study
from annotation.prevalence.estimates import prevalence
from annotation.studies.earlier_studies import PAIR, pairs_of_studies, poolable, pooled_ratings
from annotation.studies.sampling import draw_study
from annotation.studies.study_tables import labels_table
from annotation.studies.verdict_store import find_origin, list_strata
from audit.store.runs import Run
from tests.annotation.test_sampling import COUNTS, TABLE, plan
from tests.support.loading import load
from tests.support.studies import NOW, people, rate_all
from tests.support.tiny import release_from

Draw = Callable[..., None]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("earlier")
    return load(release_from(folder / "releases", TABLE), folder / "data").run


@pytest.fixture
def draw(store: LabelStore, run: Run) -> Draw:
    people(store, "ana", "ben")

    def made(study_id: str, **other: object) -> None:
        draw_study(store, run, plan(**other), study_id=study_id, title=study_id, annotators=["ana", "ben"], now=NOW)

    return made


def pairs_in(store: LabelStore, study_id: str) -> set[tuple[str, ...]]:
    return {tuple(row[name] for name in PAIR) for row in assignment_rows(store, study_id)}


def rated(store: LabelStore, study_id: str, label: str) -> None:
    for annotator in ("ana", "ben"):
        rate_all(store, annotator, label, "low" if label == "DIVERGENT" else None, study_id=study_id)


def test_a_further_study_has_none_of_the_earlier_pairs(store: LabelStore, run: Run, draw: Draw) -> None:
    draw("s", calibration=3)
    assert len(pairs_of_studies(store, run, ["s"])) == len(pairs_in(store, "s")) == 12
    draw("t", per_label=dict.fromkeys(COUNTS, 99), after=("s",))
    first, further = pairs_in(store, "s"), pairs_in(store, "t")
    assert not first & further
    assert len(first | further) == sum(COUNTS.values())
    assert {stratum.stratum: stratum.population for stratum in list_strata(store, "t")} == COUNTS
    assert find_origin(store, "t").plan["after"] == ["s"]


def test_a_further_study_spread_over_organs_leaves_the_same_pairs_out(store: LabelStore, draw: Draw) -> None:
    draw("s", second="organ")
    draw("t", second="organ", seed=2, after=("s",))
    assert not pairs_in(store, "s") & pairs_in(store, "t")


def test_pooled_ratings_are_those_of_both_and_weigh_as_one_sample(store: LabelStore, draw: Draw) -> None:
    draw("s"), draw("t", after=("s",), seed=5)
    rated(store, "s", "CONSISTENT"), rated(store, "t", "DIVERGENT")
    pooled = pooled_ratings(store, ["s", "t"])
    assert len(pooled.items) == len(labels_table(store, "s")) + len(labels_table(store, "t"))
    assert pooled.design is not None
    assert dict(zip(pooled.design.strata, pooled.design.pairs, strict=True)) == COUNTS
    shares = prevalence(pooled).query("method == 'corrected'").set_index("label")["value"]
    # Two items of each study in every stratum but CONTRADICTORY, whose only pair is in the first
    divergent = sum(n / 2 for label, n in COUNTS.items() if label != "CONTRADICTORY")
    assert shares["DIVERGENT"] == pytest.approx(divergent / sum(COUNTS.values()))


def test_a_pair_that_two_studies_drew_counts_once(store: LabelStore, draw: Draw) -> None:
    draw("s"), draw("t", per_label=dict.fromkeys(COUNTS, 99))  # not after "s", so it has all pairs
    rated(store, "s", "CONSISTENT"), rated(store, "t", "DIVERGENT")
    assert Counter(pooled_ratings(store, ["s", "t"]).items.tolist()).most_common(1)[0][1] == 1
    assert len(pooled_ratings(store, ["s", "t"]).items) == sum(COUNTS.values())
    assert len(pooled_ratings(store, ["s", "s"]).items) == len(pooled_ratings(store, ["s"]).items)


def test_studies_divided_differently_or_of_another_run_are_not_pooled(store: LabelStore, draw: Draw, run: Run, tmp_path) -> None:
    draw("s"), draw("t", second="organ", after=("s",)), draw("u", after=("s",))
    other = load(release_from(tmp_path / "releases", TABLE.replace("q5", "q6")), tmp_path / "data").run
    draw_study(store, other, plan(), study_id="x", title="x", annotators=["ana", "ben"], now=NOW)
    assert poolable(store, find_study(store, "s")) == ["u"]
    with pytest.raises(StudyError, match="'s' and 't' cannot be pooled: one of them is divided by organ"):
        pooled_ratings(store, ["s", "t"])
    with pytest.raises(StudyError, match="not drawn from the same run"):
        pooled_ratings(store, ["s", "x"])
    with pytest.raises(StudyError, match="Study 'x' was not drawn from the pairs of run"):
        draw("y", after=("x",))
    with pytest.raises(StudyError, match="no study 'nowhere'"):
        pairs_of_studies(store, run, ["nowhere"])
