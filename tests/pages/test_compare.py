"""Compare: what changed between two runs is summarised in a sentence, with counts, by question, and pair by pair."""

from __future__ import annotations

import pytest

from tests.pages.conftest import HANDBOOKS, lists, pick_row, words_on
from tests.simulator.build import write_earlier
from tests.support.loading import load
from tests.support.systems import systems_release
from tests.support.tiny import release_from

BEFORE = """
    q1 kidney ab=DIVERGENT/high ac=CONSISTENT bc=UNSCORED
    q2 kidney ab=COMPLEMENTARY ac=COMPLEMENTARY bc=ABSENT d=absent
"""
AFTER = """
    q1 kidney ab=COMPLEMENTARY ac=CONSISTENT bc=CONSISTENT
    q2 kidney ab=COMPLEMENTARY ac=DIVERGENT/low bc=DIVERGENT/low d=absent
    q3 kidney ab=DIVERGENT
"""


def table_with(at, column: str):
    return next(table.value for table in lists(at) if column in table.value)


def plain(at) -> str:
    return words_on(at).replace("**", "")


@pytest.fixture(scope="module")
def both_loaded(tmp_path_factory):
    """A data folder with two runs, which no test changes: comparing them takes a second, and their pages keep the result."""
    folder = tmp_path_factory.mktemp("both")
    first, second = (
        load(release_from(folder / name, table, HANDBOOKS, run_id=name, **title), folder / "data").run.key
        for name, table, title in (("before", BEFORE, {}), ("after", AFTER, {"title": "Judged again"}))
    )
    return folder / "data", first, second


@pytest.fixture
def two_runs(both_loaded, data_dir, monkeypatch):
    """The keys of two runs over the same questions; the second was judged differently and has a question more."""
    folder, *keys = both_loaded
    monkeypatch.setenv("AUDIT_DATA_DIR", str(folder))
    return tuple(keys)


def test_with_a_single_run_the_page_explains_how_to_get_another(run, open_page):
    at = open_page("compare")
    assert "Only this run is loaded" in words_on(at)
    assert f"audit judge {run.key} --out rejudged --load" in words_on(at)


def test_a_run_of_answering_systems_alone_is_not_offered(run, data_dir, tmp_path, open_page):
    load(systems_release(tmp_path / "systems"), data_dir)
    assert "Only this run is loaded" in words_on(open_page("compare", run=run.key))


def test_runs_without_a_common_pair_say_so_and_list_what_only_one_has(load_run, open_page):
    before, after = load_run("q1 kidney ab=DIVERGENT", run_id="x").key, load_run("q9 kidney ab=DIVERGENT", run_id="y").key
    at = open_page("compare", run=before, against=after)
    assert "The two runs have no pair in common" in words_on(at)
    assert sorted(table_with(at, "run")["id"]) == ["q1", "q9"]


def test_both_runs_are_in_the_address_even_if_only_one_was_requested(two_runs, open_page):
    before, after = two_runs
    at = open_page("compare")
    assert at.query_params["run"] in (after, [after])
    assert at.query_params["against"] in (before, [before])


def test_a_comparison_goes_from_the_run_loaded_earlier_and_can_be_reversed(two_runs, open_page):
    before, after = two_runs
    # 8 pairs scored in both (not q1 bc): 1 disagrees before (q1 ab); 2 after (q2 ac has another label, q2 bc is newly present)
    assert "From before to after, disagreeing pairs went from 1 to 2, out of 8 pairs that both runs scored: +1 where" in plain(
        open_page("compare", run=before, against=after)
    )
    reversed_words = plain(open_page("compare", run=before, against=after, read="back"))
    assert (
        "From after to before, disagreeing pairs went from 2 to 1, out of 8 pairs that both runs scored: 0 where"
        in reversed_words
    )
    assert "−1 where answers were lost" in reversed_words


def test_too_few_questions_allow_no_conclusion(two_runs, open_page):
    words = plain(open_page("compare"))
    assert "No change beyond what chance could produce." in words
    assert "too few questions to draw a conclusion" in words
    words = plain(open_page("compare", view="organ"))
    assert "of 20 rows without any difference, about one is marked by chance" in words


def test_items_in_only_one_run_are_counted_and_listed(two_runs, open_page):
    at = open_page("compare")
    assert "2 questions in both, 1 only in after" in words_on(at)
    assert "9 pairs in both, 1 only in after" in words_on(at)
    assert table_with(at, "run")[["run", "id"]].to_numpy().tolist() == [["after", "q3"]]


def test_the_questions_and_handbooks_that_changed_most_lead_to_their_pages(two_runs, open_page, monkeypatch):
    before, after = two_runs
    at = open_page("compare", run=before, against=after, view="moved")
    listed = table_with(at, "text")
    assert listed.set_index("text")[["moved", "revealed", "judged_new", "judged_gone"]].T.to_dict("list") == {
        "What about q1?": [1, 0, 0, 1], "What about q2?": [2, 1, 1, 0],
    }  # fmt: skip
    assert listed["text"].iloc[0] == "What about q1?"
    pick_row(monkeypatch, at, f"questions_{before}_{after}_disagreement", 0)
    assert (at.query_params["question"], at.query_params["run"]) == ("q1", after)


def test_the_kind_of_change_is_in_the_address(two_runs, open_page):
    assert list(table_with(open_page("compare", view="moved", moved_in="absence"), "text")["moved"]) == [1]


def test_judges_are_compared_on_the_pairs_that_both_were_asked_about(two_runs, open_page):
    at = open_page("compare", view="labels")
    at.session_state["tabs_transitions_Labels"] = "Figures"
    at.run()
    agreed = table_with(at, "figure").set_index("figure")
    assert tuple(agreed.loc["Same label", ["count", "of"]]) == (2, 5)
    assert tuple(agreed.loc["Divergent in both, of those divergent in the first", ["count", "of"]]) == (0, 1)
    assert "On the 5 pairs that both judges labelled" in words_on(at)


def test_pairs_whose_label_changed_are_listed_and_one_opens_with_both_verdicts(two_runs, open_page, monkeypatch):
    before, after = two_runs
    at = open_page("compare", run=before, against=after, view="labels")
    moved = table_with(at, "question_text")
    assert list(zip(moved["first"], moved["second"], strict=True)) == [
        ("divergent", "complementary"), ("complementary", "divergent"), ("unscored", "consistent"), ("absent", "divergent"),
    ]  # fmt: skip
    pick_row(monkeypatch, at, f"moved_{before}_{after}_any_any", 0)
    shown = "\n".join(str(element.proto.body) for element in at.get("html"))
    assert "Judged again" in words_on(at)
    assert ">different advice (divergent)<" in shown
    assert ">complementary<" in shown


def test_a_clicked_cell_lists_its_pairs_only(two_runs, open_page):
    before, after = two_runs
    at = open_page("compare", run=before, against=after, view="labels")
    at.session_state["cell"] = (f"{before}_{after}", "DIVERGENT", "COMPLEMENTARY")
    at.run()
    assert "1 pair divergent before and complementary after" in plain(at)
    assert len(table_with(at, "question_text")) == 1


def test_the_weaker_run_of_the_demo_hides_what_the_main_run_reveals(data_dir, tmp_path, open_page, written_demo):
    earlier = load(write_earlier(tmp_path / "earlier"), data_dir).run
    main = load(written_demo(), data_dir).run
    words = plain(open_page("compare", run=main.key, against=earlier.key))
    assert "demo finds answers that demo-earlier did not, and so shows disagreement that was there before." in words
    assert "all verdicts on disagreement are the same" in words
    reversed_words = plain(open_page("compare", run=main.key, against=earlier.key, read="back"))
    assert "demo-earlier finds fewer answers, and so hides disagreement rather than resolving it." in reversed_words
