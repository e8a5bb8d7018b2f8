"""Results that are kept when a run is loaded are those that the metrics compute, and are shown for no other load or code."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest

from audit import result_cache
from audit.errors import NotInRunError
from audit.metrics import METRICS
from audit.metrics.disagreements import Filters
from audit.queries.themes import taxonomy_path
from audit.release.taxonomy import Taxonomy, Theme, write_taxonomy
from audit.release.write import write_jsonl
from audit.result_cache import BY_QUESTION, KEPT, ON_A_THEME, cached_or_computed, precompute_results, precompute_themes
from audit.store.connection import open_store, open_two
from audit.store.runs import Run
from tests.support.loading import load
from tests.support.systems import system_tables
from tests.support.tiny import release_from

TABLE = """
    q1 kidney  topics=diet       ab=DIVERGENT/high  ac=COMPLEMENTARY bc=CONSISTENT  ad=CONSISTENT bd=CONSISTENT cd=UNSCORED
    q2 general topics=diet,work  ab=CONTRADICTORY   ac=ABSENT        bc=CONSISTENT  d=absent
    q3 lung                      ab=CONSISTENT      cd=DIVERGENT/low
"""


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return load(release_from(tmp_path, TABLE), tmp_path / "data").run


def test_what_is_kept_is_what_the_metrics_compute(run: Run):
    files = precompute_results(run, min_pairs=0)
    with open_store(run.path) as con:
        for name, choices in KEPT.items():
            for arguments in choices:
                if any(file.name.startswith(f"{name}-") for file in files):
                    kept = cached_or_computed(METRICS[name], con, run.path, {**METRICS[name].options, **arguments})
                    pd.testing.assert_frame_equal(kept, METRICS[name](con, **arguments), obj=name)
    assert {file.name.rpartition("-")[0] for file in files} >= {"labels", "organs", "topics", "centers", "handbooks"}


def test_figures_of_systems_are_kept_for_every_type_of_question(tmp_path: Path):
    release = release_from(tmp_path, TABLE)
    for name, records in system_tables().items():
        write_jsonl(release / f"{name}.jsonl", records)
    run = load(release, tmp_path / "data").run
    precompute_results(run, min_pairs=0)
    with open_store(run.path) as con:
        for question_type in ("information", "treatment"):
            options = {**METRICS["systems"].options, "question_type": question_type}
            expected = METRICS["systems"](con, **options)
            kept = cached_or_computed(METRICS["systems"], con, run.path, options)
            pd.testing.assert_frame_equal(kept, expected)
            assert kept["answered"].sum() > 0


def test_a_kept_result_is_read_and_not_computed_again(run: Run, monkeypatch: pytest.MonkeyPatch):
    (first, *_) = precompute_results(run, min_pairs=0)
    pd.DataFrame({"read": [1]}).to_parquet(first)
    with open_store(run.path) as con:
        assert list(cached_or_computed(METRICS["labels"], con, run.path, {})) == ["read"]
        monkeypatch.setattr(result_cache, "_code_fingerprint", lambda: "another version")
        assert "share" in cached_or_computed(METRICS["labels"], con, run.path, {})
        monkeypatch.undo()
        first.write_bytes(b"damaged")
        assert "share" in cached_or_computed(METRICS["labels"], con, run.path, {})


def test_another_load_of_the_run_leaves_nothing_of_the_first(run: Run, tmp_path: Path):
    before = precompute_results(run, min_pairs=0)
    again = load(release_from(tmp_path, TABLE), tmp_path / "data", again=True).run
    with open_store(again.path) as con:
        assert "share" in cached_or_computed(METRICS["labels"], con, again.path, {})
    after = precompute_results(again, min_pairs=0)
    assert set(before).isdisjoint(after)
    assert {file for file in again.path.with_suffix(".results").rglob("*") if file.is_file()} == set(after)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every result counts as slow."""
    monkeypatch.setattr(result_cache, "SLOW_S", -1)


def files_of(run: Run) -> list[Path]:
    return sorted(file for file in run.path.with_suffix(".results").rglob("*") if file.is_file())


def test_a_slow_result_is_kept_for_the_next_visitor(run: Run, slow: None, monkeypatch: pytest.MonkeyPatch):
    coverage = METRICS["coverage"]
    with open_store(run.path) as con:
        computed = cached_or_computed(coverage, con, run.path, {})
        (file,) = files_of(run)
        pd.testing.assert_frame_equal(pd.read_parquet(file), computed)
        pd.DataFrame({"read": [1]}).to_parquet(file)
        assert list(cached_or_computed(coverage, con, run.path, {})) == ["read"]
        # Another version of the code deletes what an earlier one kept
        monkeypatch.setattr(result_cache, "_code_fingerprint", lambda: "another version")
        cached_or_computed(coverage, con, run.path, {})
        (again,) = files_of(run)
        assert again != file


def test_a_quick_result_is_not_kept_nor_what_somebody_searched_for(run: Run, monkeypatch: pytest.MonkeyPatch):
    with open_store(run.path) as con:
        cached_or_computed(METRICS["coverage"], con, run.path, {})
        monkeypatch.setattr(result_cache, "SLOW_S", -1)
        cached_or_computed(METRICS["disagreements"], con, run.path, {"filters": Filters(words=("pain",))})
        assert files_of(run) == []
        # the filters that nobody changed are no search
        cached_or_computed(METRICS["disagreements"], con, run.path, {"filters": Filters()})
        assert len(files_of(run)) == 1


def test_a_comparison_is_kept_until_one_of_the_two_is_loaded_again(run: Run, tmp_path: Path, slow: None):
    other_release = release_from(tmp_path, TABLE.replace("ab=CONTRADICTORY", "ab=CONSISTENT"), run_id="other")
    other = load(other_release, tmp_path / "data").run
    with open_two(run.path, other.path) as con:
        computed = cached_or_computed(METRICS["runs"], con, run.path, {}, other=other.path)
        (file,) = files_of(run)
        pd.testing.assert_frame_equal(pd.read_parquet(file), computed)
        pd.DataFrame({"read": [1]}).to_parquet(file)
        assert list(cached_or_computed(METRICS["runs"], con, run.path, {}, other=other.path)) == ["read"]
    again = load(other_release, tmp_path / "data", again=True).run
    with open_two(run.path, again.path) as con:
        assert len(cached_or_computed(METRICS["runs"], con, run.path, {}, other=again.path)) == len(computed)


def test_there_is_an_end_to_what_is_kept_and_a_folder_that_cannot_be_written_hinders_nothing(
    run: Run, slow: None, monkeypatch: pytest.MonkeyPatch
):
    with open_store(run.path) as con:
        monkeypatch.setattr(result_cache, "MAX_FILES", 1)
        for handbook in "ab":
            assert len(cached_or_computed(METRICS["profile"], con, run.path, {"handbook_id": handbook}))
        assert len(files_of(run)) == 1

        def refused(_: Path) -> None:
            raise OSError("read-only file system")

        monkeypatch.setattr(result_cache, "_prepare_folder", refused)
        assert "absence" in cached_or_computed(METRICS["coverage"], con, run.path, {})


def test_a_table_that_a_file_would_change_is_not_kept(tmp_path: Path):
    file = tmp_path / "folder" / "one.parquet"
    assert not result_cache._write(file, pd.DataFrame({"pair": [("a", "b")]}))
    assert not result_cache._write(file, "no table")
    assert not file.exists()


def test_counts_by_theme_are_kept_by_the_content_of_the_themes(run: Run, slow: None):
    first, same = (Taxonomy((Theme("t1", "diet", None, ("food",)),)) for _ in range(2))
    edited = Taxonomy((Theme("t1", "meals", None, ("food",)),))
    with open_store(run.path) as con:
        for taxonomy in (first, same):
            cached_or_computed(METRICS["themes"], con, run.path, {"taxonomy": taxonomy})
        assert len(files_of(run)) == 1
        names = cached_or_computed(METRICS["themes"], con, run.path, {"taxonomy": edited})["name"]
        assert "meals" in set(names)
        assert len(files_of(run)) == 2


def test_who_says_what_is_kept_for_every_question_and_is_what_the_metrics_compute(run: Run, monkeypatch: pytest.MonkeyPatch):
    steps: list[str] = []
    monkeypatch.setattr(result_cache, "QUESTIONS_AT_ONCE", 2)  # so that the three are written in two parts
    precompute_results(run, min_pairs=0, progress=steps.append)
    assert steps[-1] == "Finding who says what on 3 questions"
    with open_store(run.path) as con:
        for name in BY_QUESTION:
            for question_id in ("q1", "q2", "q3"):
                kept = cached_or_computed(METRICS[name], con, run.path, {"question_id": question_id})
                computed = METRICS[name](con, question_id=question_id)
                pd.testing.assert_frame_equal(kept, computed, obj=f"{name} of {question_id}")
        with pytest.raises(NotInRunError):
            cached_or_computed(METRICS["position_groups"], con, run.path, {"question_id": "q9"})
        (file,) = run.path.with_suffix(".results").rglob("position_groups-of-every-question.parquet")
        pd.read_parquet(file).assign(center="read").to_parquet(file)
        centers = cached_or_computed(METRICS["position_groups"], con, run.path, {"question_id": "q1"})["center"]
        assert set(centers) == {"read"}
        file.write_bytes(b"damaged")
        assert len(cached_or_computed(METRICS["position_groups"], con, run.path, {"question_id": "q1"})) == 4


def test_the_themes_that_are_built_for_a_large_run_are_counted_at_once(run: Run):
    taxonomy = Taxonomy((Theme("t1", "diet", None, ("food",)),))
    assert precompute_themes(run, taxonomy) == []
    kept = precompute_themes(run, taxonomy, min_pairs=0)
    with open_store(run.path) as con:
        themes = METRICS["themes"](con, taxonomy=taxonomy)
        first = {"taxonomy": taxonomy, "theme_id": themes["theme_id"][0]}
        of_the_first = [METRICS[name](con, **first) for name in ON_A_THEME]
    pd.testing.assert_frame_equal(pd.read_parquet(kept[0]), themes)
    for file, result in zip(kept[2:], of_the_first, strict=True):
        pd.testing.assert_frame_equal(pd.read_parquet(file), result)
    assert set(files_of(run)) == set(kept)


def test_themes_that_a_run_has_when_it_is_loaded_again_are_counted_at_once(run: Run, tmp_path: Path):
    assert result_cache.precompute_loaded_themes(run, tmp_path, min_pairs=0) == []
    points = pd.DataFrame([{"phrase": "food", "theme_id": "t1", "count": 1, "x": 0.0, "y": 0.0}])
    write_taxonomy(Taxonomy((Theme("t1", "diet", None, ("food",)),)), points, taxonomy_path(run, tmp_path))
    assert len(result_cache.precompute_loaded_themes(run, tmp_path, min_pairs=0)) == 2 + len(ON_A_THEME)
    taxonomy_path(run, tmp_path).write_text("damaged")
    assert result_cache.precompute_loaded_themes(run, tmp_path, min_pairs=0) == []


def test_a_load_does_not_wait_for_what_pages_show_first(run: Run, tmp_path: Path):
    outdated = run.path.with_suffix(".results") / "earlier" / "labels-x.parquet"
    outdated.parent.mkdir(parents=True)
    outdated.touch()
    process = result_cache.prepare_in_background(run, tmp_path, min_pairs=0)
    assert process is not None
    assert process.wait(120) == 0
    kept = {file.name.rpartition("-")[0] for file in files_of(run)}
    assert kept >= {"labels", "organs", "topics", "centers"}
    assert not outdated.exists()


def test_of_a_small_run_only_the_positions_are_found_and_without_a_process(run: Run, tmp_path: Path):
    assert result_cache.prepare_in_background(run, tmp_path) is None
    assert files_of(run) == precompute_results(run)
    assert [file.name for file in files_of(run)] == ["question_positions-of-every-question.parquet"]


def test_results_of_a_store_that_was_loaded_again_meanwhile_are_not_kept(run: Run, monkeypatch: pytest.MonkeyPatch):
    computed = []

    def replaced_meanwhile(*_: object) -> None:
        computed.append(run)
        os.utime(run.path, ns=(1, 1))

    monkeypatch.setattr(result_cache, "_compute_and_store", replaced_meanwhile)
    monkeypatch.setattr(result_cache, "_store_question_results", lambda *_: [])
    assert precompute_results(run, min_pairs=0) == []
    assert len(computed) == 1
