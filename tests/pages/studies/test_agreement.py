"""The Agreement page: live figures with intervals and counts, for those who may see them."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from annotation.label_store.rationales import MarkedSentence
from annotation.label_store.results import NewDecision, submit_decision
from annotation.label_store.seals import looks
from annotation.label_store.studies import ItemKind, StudyState
from annotation.studies.adjudication import close_study
from annotation.studies.verdict_store import SampleOrigin, StoredVerdict, Stratum, store_sample, strata, verdicts
from tests.pages.conftest import lists, words_on
from tests.pages.studies.conftest import SignIn
from tests.support.studies import NOW, item, rate, step, study_of

ITEMS = 10
pytestmark = pytest.mark.usefixtures("every_tab")


@pytest.fixture
def judged(folk):
    """Ten items; the judge labels every one CONSISTENT. Ana agrees on all, ben on the first eight."""
    study_of(folk, ITEMS)
    stored = [StoredVerdict(f"i{n:03}", "CONSISTENT", "CONSISTENT", None, None, "Both say it.") for n in range(1, ITEMS + 1)]
    with folk.begin() as tx:
        store_sample(
            tx,
            "s",
            SampleOrigin("run", "0" * 64, 100, 0, {}),
            [Stratum("CONSISTENT", "CONSISTENT", None, 100, ITEMS)],
            stored,
        )
    for number in range(1, ITEMS + 1):
        rate(folk, "ana", number, "CONSISTENT")
        rate(folk, "ben", number, "CONSISTENT" if number <= 8 else "COMPLEMENTARY")
    return folk


def figures_on(at) -> dict[str, object]:
    table = next(frame.value for frame in lists(at) if {"figure", "sample"} <= set(frame.value))
    return dict(zip(table["figure"], zip(table["sample"], table["n"], strict=True), strict=True))


@pytest.mark.parametrize("name", ["petra", "ada"])
def test_raw_agreement_is_eight_of_ten_with_its_interval(name, judged, as_user: SignIn):
    step(judged, StudyState.LABELLING)
    at = as_user(name, "agreement")
    assert not at.exception
    assert figures_on(at)["raw agreement"] == (0.8, 10)
    assert "State: adjudication" in words_on(at)
    assert "95 % interval" in words_on(at)
    assert [metric.label for metric in at.metric][1] == "Raw agreement"


def test_overlap_of_marked_sentences_is_shown_with_its_definition_once_somebody_has_marked_one(judged, as_user: SignIn):
    assert "sentence-level F1" not in words_on(as_user("petra", "agreement"))
    both = (MarkedSentence(0, 0, 5), MarkedSentence(1, 0, 5))  # the first word of each answer, whatever side it is on
    for annotator, number in (("ana", 1), ("ben", 1), ("ana", 9), ("ben", 9), ("ana", 2)):
        rate(judged, annotator, number, "ABSENT" if (annotator, number) == ("ana", 9) else "CONSISTENT", rationale=both)
    step(judged, StudyState.LABELLING)
    at = as_user("ada", "agreement")
    assert not at.exception
    (table,) = (frame.value for frame in lists(at) if "one" in frame.value)
    assert table[["rated", "one", "n"]].to_numpy().tolist() == [[10, 1, 2], [8, 1, 1], [2, 0, 1]]
    assert table["value"].tolist() == [100, 100, 100]  # in percent, on a page
    assert "sentence-level F1" in words_on(at)


def test_captions_of_headline_figures_are_sentences(judged, as_user: SignIn):
    rate(judged, "ana", 9, "COMPLEMENTARY")  # of ten, both say COMPLEMENTARY of one and ben of another
    captions = [caption.value.replace("\\", "") for caption in as_user("petra", "agreement").caption]
    assert sum(caption.endswith("; 10 items.") and "interval" in caption for caption in captions) == 1


def test_a_new_rating_changes_the_figures(judged, as_user: SignIn):
    at = as_user("petra", "agreement")
    rate(judged, "ben", 9, "CONSISTENT")
    assert figures_on(at.run())["raw agreement"] == (0.9, 10)


def test_an_undefined_figure_explains_why(folk, as_user: SignIn):
    study_of(folk, 3)
    stored = [StoredVerdict(f"i{n:03}", "ABSENT", "ABSENT", None, None, None) for n in (1, 2, 3)]
    with folk.begin() as tx:
        store_sample(tx, "s", SampleOrigin("run", "0" * 64, 9, 0, {}), [Stratum("ABSENT", "ABSENT", None, 9, 3)], stored)
    at = as_user("petra", "agreement")
    assert not at.exception
    assert not [frame for frame in lists(at) if "word" in frame.value]  # a table of what is undefined says nothing
    words = words_on(at)
    assert words.count("Not defined, because no item has both labels: None of these figures.") == 1
    assert "agreement is not known (no item has both labels)" in words
    assert not at.metric


def test_the_items_behind_an_error_of_the_judge_are_one_click_away(judged, as_user: SignIn):
    at = as_user("petra", "agreement")
    decide_all(judged)
    at.session_state["matrix_label_gold_judge_sample"] = {"selection": {"points": [{"customdata": "COMPLEMENTARY\tCONSISTENT"}]}}
    at = at.run()
    assert not at.exception
    assert "Birch says" in words_on(at)
    assert "Gold: complementary. The judge: consistent. 1 items." in words_on(at).replace("\\", "")
    assert "the judge: consistent. Both say it." in words_on(at)


def test_the_page_leads_with_people_and_then_the_judge(judged, as_user: SignIn):
    at = as_user("petra", "agreement")
    words = words_on(at).replace("\\", "")
    people = words.index("A (ana) and B (ben) gave the same label to 8 of 10 items (80 %, 95 % interval 26 to 98 %)")
    judge = words.index("The judge gave the majority's label to 8 of 8 items (100 %")
    assert people < judge
    assert "Without a gold label: 2 items in open dispute. These count in parts in the judge's precision alone." in words
    rows = next(frame.value for frame in lists(at) if "precision" in frame.value).set_index("label")
    assert rows.loc["consistent", "precision"].startswith("8 of 10, divided on 2, which count in parts (90 %, ")
    assert rows.loc["consistent", "precision"].endswith(" to 100 % of the run's 100)")
    assert "Left out, because neither the majority nor the judge gave them: absent, complementary" in words
    assert len(at.get("plotly_chart")) == 2  # people with people, and the judge with people


def decide_all(store) -> None:
    """The last two items are decided: one as ana said, one as ben said."""
    step(store, StudyState.LABELLING)
    decided(store, 9)
    submit_decision(store, "ada", NewDecision("i010", "COMPLEMENTARY", None, "More detail.", "k10"), NOW)


def everything_on(at) -> str:
    """Words, options and table cells."""
    options = [option for box in at.selectbox for option in box.options]
    return "\n".join([words_on(at), *options, *(frame.value.to_csv() for frame in lists(at))])


def decided(store, number: int) -> None:
    submit_decision(store, "ada", NewDecision(f"i{number:03}", "CONSISTENT", None, "The same.", f"k{number}"), NOW)


def test_an_adjudicator_sees_nothing_of_the_judge_until_every_dispute_is_decided(judged, as_user: SignIn):
    def judge_seen(name: str) -> bool:
        at = as_user(name, "agreement")
        assert not at.exception
        return "the judge against" in everything_on(at) or any("precision" in frame.value for frame in lists(at))

    assert judge_seen("petra")
    assert "No study waits for your decisions" in words_on(as_user("ada", "agreement"))
    step(judged, StudyState.LABELLING)
    assert not judge_seen("ada")
    decided(judged, 9)
    assert not judge_seen("ada")
    assert "decide without the judge" in words_on(as_user("ada", "agreement"))
    decided(judged, 10)
    assert judge_seen("ada")
    close_study(judged, "s", NOW)
    assert judge_seen("ada")


def test_what_an_adjudicator_sees_before_does_not_depend_on_the_judge(judged, as_user: SignIn):
    step(judged, StudyState.LABELLING)
    before = everything_on(as_user("ada", "agreement"))
    assert "Study 1 (pairs)" in before
    assert not any(name in before for name in ("ana", "ben"))
    with judged.begin() as tx:
        tx.execute(update(verdicts).values(label="DIVERGENT", significance="high"))
        tx.execute(update(strata).values(label="DIVERGENT"))
    assert everything_on(as_user("ada", "agreement")) == before


def test_an_adjudicator_opens_the_items_of_a_cell_only_when_every_dispute_is_decided_and_never_with_names(
    judged, as_user: SignIn
):
    def opened(name: str) -> str:
        at = as_user(name, "agreement")
        cell = {"selection": {"points": [{"customdata": "CONSISTENT\tCOMPLEMENTARY"}]}}
        at.session_state["matrix_label_annotator_a_annotator_b_sample"] = cell
        return words_on(at.run())

    step(judged, StudyState.LABELLING)
    assert "Alder Handbook" in opened("petra")
    decided(judged, 9)
    before = opened("ada")
    assert "the items behind a cell, appear here when every dispute is decided" in before
    assert not any(words in before for words in ("Alder", "Birch", "Question 9", "Click a cell"))
    decided(judged, 10)
    after = opened("ada")
    assert "Alder says 9." in after
    assert not any(words in after for words in ("Alder Handbook", "Birch Handbook"))


def test_items_with_different_labels_are_listed_and_an_adjudicator_reads_those_that_are_decided(judged, as_user: SignIn):
    def listed(name: str) -> list[list[str]]:
        frames = [frame.value for frame in lists(as_user(name, "agreement")) if "question" in frame.value]
        return [row for frame in frames for row in frame[["question", "annotator_a", "annotator_b", "gold"]].to_numpy().tolist()]

    step(judged, StudyState.LABELLING)
    ninth, tenth = (["Question 9?", "consistent", "complementary", "-"], ["Question 10?", "consistent", "complementary", "-"])
    assert (listed("petra"), listed("ada")) == ([ninth, tenth], [])
    submit_decision(judged, "ada", NewDecision("i010", "COMPLEMENTARY", None, "Ben is right.", "key"), NOW)
    tenth[-1] = "complementary"
    assert (listed("petra"), listed("ada")) == ([ninth, tenth], [tenth])


def test_how_often_each_label_was_chosen_is_shown(judged, as_user: SignIn):
    shares = next(frame.value for frame in lists(as_user("petra", "agreement")) if "first" in frame.value)
    ben = shares[shares["first"] == "B (ben)"].set_index("label")
    assert (ben.loc["complementary", "sample"], ben.loc["complementary", "n"]) == (20.0, 10)


def test_intra_rater_agreement_has_n_and_interval(folk, as_user: SignIn):
    """Ana says of both items what she said before, ben of one."""
    again = [item(10 + n, ItemKind.REPEAT, f"i{n:03}") for n in (1, 2)]
    study_of(folk, [item(1), item(2), *again])
    stored = [StoredVerdict(f"i{n:03}", "ABSENT", "ABSENT", None, None, None) for n in (1, 2, 11, 12)]
    with folk.begin() as tx:
        store_sample(tx, "s", SampleOrigin("run", "0" * 64, 9, 0, {}), [Stratum("ABSENT", "ABSENT", None, 9, 2)], stored)
    for number in (1, 2, 11, 12):
        rate(folk, "ana", number, "ABSENT")
        rate(folk, "ben", number, "CONSISTENT" if number == 12 else "ABSENT")
    at = as_user("petra", "agreement")
    shown = next(frame.value for frame in lists(at) if "annotator" in frame.value and "figure" in frame.value)
    raw = shown[shown["figure"] == "raw agreement"].set_index("annotator")
    assert [(raw.loc[name, "value"], raw.loc[name, "n"]) for name in ("ana", "ben")] == [(1.0, 2), (0.5, 2)]
    assert raw.loc["ben", "value_interval"] == "0.011 to 0.989"
    assert "too small" in raw.loc["ben", "note"]


def test_significance_is_shown_for_all_three_together_or_says_why_not(judged, as_user: SignIn):
    at = as_user("petra", "agreement")
    box = at.selectbox(key="comparison")
    (together,) = [option for option in box.options if "together" in option]
    assert together.startswith("Significance, where all chose one")
    at = box.set_value(("significance", "annotators and judge", "")).run()
    assert not at.exception
    assert "Not defined, because no item has a significance from each of" in words_on(at).replace("\\", "")


def test_without_a_study_the_page_says_so(folk, as_user: SignIn):
    assert "There is no study yet" in words_on(as_user("petra", "agreement"))


def test_a_running_study_shows_wide_intervals_and_a_closed_one_the_usual_with_one_look_a_person_in_the_ledger(
    judged, as_user: SignIn
):
    running = as_user("petra", "agreement").run()
    assert "about 1.6 times as wide as usual" in words_on(running)
    assert looks(judged, "s") == [{"account": "petra", "ratings": 20}]
    decide_all(judged)
    close_study(judged, "s", NOW)
    words = words_on(as_user("petra", "agreement")).replace("\\", "")
    assert "The study is closed with every planned rating, so each 95 % interval is the usual one" in words
    assert "(80 %, 95 % interval 49 to 94 %)" in words
    assert len(looks(judged, "s")) == 1
