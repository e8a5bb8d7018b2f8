"""The Prevalence page: corrected shares of the run, and a plan for more ratings."""

from __future__ import annotations

import pytest

from annotation.prevalence.estimates import CORRECTED, DISAGREES, prevalence
from annotation.studies.study_tables import study_ratings
from annotation.studies.verdict_store import SampleOrigin, StoredVerdict, Stratum, store_sample
from audit.charts.style import interval
from tests.pages.conftest import lists, words_on
from tests.pages.studies.conftest import SignIn
from tests.support.studies import rate, study_of


@pytest.fixture
def judged(folk):
    """The judge calls all 100 pairs CONSISTENT; of ten that people read, two are COMPLEMENTARY."""
    study_of(folk, 10)
    stored = [StoredVerdict(f"i{n:03}", "CONSISTENT", "CONSISTENT", None, None, None) for n in range(1, 11)]
    with folk.begin() as tx:
        store_sample(
            tx, "s", SampleOrigin("run", "0" * 64, 100, 0, {}), [Stratum("CONSISTENT", "CONSISTENT", None, 100, 10)], stored
        )
    for number in range(1, 11):
        for name in ("ana", "ben"):
            rate(folk, name, number, "CONSISTENT" if number <= 8 else "COMPLEMENTARY")
    return folk


def methods_on(at) -> dict[str, tuple[float, str, int]]:
    """Method -> (share in percent, interval, items rated) of the label that is chosen."""
    table = next(frame.value for frame in lists(at) if "method" in frame.value)
    return {row.method: (row.value, row.value_interval, row.n) for row in table.itertuples()}


def test_the_corrected_share_is_shown_with_the_judges_own(judged, as_user: SignIn):
    at = as_user("petra", "prevalence")
    assert not at.exception
    assert not at.error
    shares = lists(at)[0].value.set_index("label")
    assert shares.loc["consistent", ["value", "judge", "n"]].tolist() == pytest.approx([80.0, 100.0, 10])
    words = words_on(at).replace("\\", "")
    assert "0.0 % of all pairs of the run disagree (divergent or contradictory; 95 % interval 0" in words
    assert "by the gold labels for 10 items, weighted to the run. The judge says 0.0 %, which the interval includes." in words
    assert "Where all of them are wrong together" in words


def test_every_estimator_is_shown_with_its_n_and_interval(judged, as_user: SignIn):
    at = as_user("petra", "prevalence")
    (label_picker,) = [group for group in at.get("button_group") if group.proto.label == "Label"]
    at = label_picker.set_value("COMPLEMENTARY").run()
    assert not at.exception
    methods = methods_on(at)
    words = words_on(at).replace("**", "").replace("\\", "")
    assert "Corrected is the figure to use" in words
    assert "drawn without the judge's labels, would need about 12 items to be as precise" in words
    assert list(methods) == ["Corrected", "Random sample (expected)", "Judge's own count", "Unweighted sample"]
    assert methods["Judge's own count"] == (0.0, "no interval", 0)
    for method in ("Corrected", "Random sample (expected)"):
        share, between, n = methods[method]
        assert (share, n) == (pytest.approx(20.0), 10)
        assert " to " in between
    assert len(at.get("plotly_chart")) == 1


def test_shared_errors_of_annotators_have_a_sentence_and_a_table(judged, as_user: SignIn):
    at = as_user("petra", "prevalence")
    assert "If annotators are wrong together on 5 % of the items" in words_on(at).replace("\\", "")
    (table,) = [frame.value for frame in lists(at) if "wrong" in frame.value]
    assert table["wrong"].tolist() == pytest.approx([0, 2, 5, 10])


def test_a_plan_says_what_halves_the_interval(judged, as_user: SignIn):
    at = as_user("petra", "prevalence")
    (wanted,) = [field for field in at.number_input if field.label.startswith("Half-width")]
    low, high = prevalence_of(judged)
    assert wanted.value == pytest.approx(50 * (high - low) / 2, abs=0.06)
    plan = next(frame.value for frame in lists(at) if "wanted" in frame.value)
    assert f"**{plan['more'].sum():,} more items** are needed" in words_on(at)
    assert f"is {100 * (high - low):.1f} percentage points wide" in words_on(at)
    assert f", from {interval(low, high)}. To make it {2 * wanted.value:.1f} points wide" in words_on(at)
    assert plan["more"].sum() > 0


def prevalence_of(store) -> tuple[float, float]:
    """The interval of disagreeing pairs, for one look at a complete study."""
    shares = prevalence(study_ratings(store, "s").as_live(live=False)).set_index(["method", "label"])
    return tuple(shares.loc[(CORRECTED, DISAGREES), ["low", "high"]])


def test_a_plan_without_its_run_says_what_to_load(judged, as_user: SignIn):
    at = as_user("petra", "prevalence").button(key="further").click().run()
    assert "The run that this study was drawn from is not loaded" in words_on(at)


def test_without_ratings_the_page_shows_a_sentence(folk, as_user: SignIn):
    study_of(folk, 2)
    stored = [StoredVerdict(f"i{n:03}", "ABSENT", "ABSENT", None, None, None) for n in (1, 2)]
    with folk.begin() as tx:
        store_sample(tx, "s", SampleOrigin("run", "0" * 64, 9, 0, {}), [Stratum("ABSENT", "ABSENT", None, 9, 2)], stored)
    at = as_user("petra", "prevalence")
    assert not at.exception
    assert "Nothing was estimated" in words_on(at)
