"""Disagreements: the list by question and by pair, its filters in the address, and what is open."""

from __future__ import annotations

import json

import pytest

from audit.release.write import write_jsonl
from audit.store.connection import create_store
from pages._shared.pair_list import _picked
from pages.disagreements import pair_downloads
from tests.metrics.test_within_handbook import CHEESE, COUNTS, FEVER
from tests.pages.conftest import TABLE, words_on
from tests.support.directions import without_directions
from tests.support.loading import BASE, load
from tests.support.tiny import release_from


def html_on(at):
    """Everything that a page shows as HTML."""
    return without_directions("\n".join(str(element.proto.body) for element in at.get("html")))


def shown_list(at):
    """What the list of a page gets: its rows, which of them is open, its headings and name; None where it draws none."""
    drawn = [part.proto for part in at.get("bidi_component") if part.proto.component_name.endswith("pick_list")]
    return json.loads(drawn[0].json) if drawn else None


def listed(at):
    drawn = shown_list(at)
    return [(row["about"], row["label"], row["significance"]) for row in drawn["rows"]] if drawn else []


def test_questions_are_listed_the_gravest_first_and_the_first_is_open(run, open_page):
    at = open_page("disagreements")
    assert "2 questions with 2 pairs match" in words_on(at).replace("*", "")
    assert listed(at) == [("What about q1?", "divergent", "high"), ("What about q2?", "contradictory", "low")]
    assert [row["more"] for row in shown_list(at)["rows"]] == ["1 pair of 2 handbooks"] * 2
    assert shown_list(at)["opened"] == "q1"
    html = html_on(at)
    assert "a against b" in html  # what the judge says of the pair that differs most
    assert html.count('class="position certain"') == 1
    assert "question" not in at.query_params  # nothing is picked, so that a narrow window shows the list


def test_the_reader_chooses_rows_and_order(run, open_page):
    at = open_page("disagreements", list="pairs", sort="label")
    assert [row[1] for row in listed(at)] == ["contradictory", "divergent"]
    assert json.loads(shown_list(at)["opened"]) == ["q2", "a", "b"]
    assert [row[1] for row in listed(open_page("disagreements", sort="label"))] == ["contradictory", "divergent"]


def test_a_link_reopens_filters_and_pair(run, open_page):
    at = open_page("disagreements", list="pairs", label=["COMPLEMENTARY"], organ=["lung"], question="q1", a="c", b="a")
    assert [row["more"] for row in shown_list(at)["rows"]] == ["What about q3?", "What about q3?"]
    assert "What about q1?" in html_on(at)
    assert html_on(at).index("Alder \N{MIDDLE DOT} pre") < html_on(at).rindex("Alder \N{MIDDLE DOT} pre")


def test_what_is_chosen_is_shown_in_full_and_a_click_takes_it_back(run, open_page):
    at = open_page("disagreements", topic=["diet", "work_and_money"], label=["DIVERGENT"])
    chips = {button.label: button for button in at.button if str(button.key).startswith("without")}
    assert list(chips) == ["divergent", "diet", "work and money"]
    chips["work and money"].click().run()
    assert [button.label for button in at.button if str(button.key).startswith("without")] == ["divergent", "diet"]
    assert at.multiselect(key="topic").value == ["diet"]


def test_a_linked_pair_is_open_in_the_list_of_questions_too(run, open_page):
    html = html_on(open_page("disagreements", question="q1", a="c", b="a"))
    assert "What about q1?" in html
    assert "complementary" in html
    assert "divergent" not in html


@pytest.mark.parametrize(
    ("link", "warning"),
    [
        ({"organ": "spleen"}, "organ = spleen"),
        ({"label": "DREADFUL"}, "label = DREADFUL"),
    ],
)
def test_a_value_that_the_run_does_not_have_is_ignored_with_a_warning(run, open_page, link, warning):
    at = open_page("disagreements", **link)
    assert not at.exception
    assert warning in words_on(at)
    assert len(listed(at)) == 2


def test_an_impossible_page_number_is_ignored(run, open_page):
    at = open_page("disagreements")
    at.query_params["page"] = "minus one"
    assert "page = minus one" in words_on(at.run())
    at.query_params["page"] = "77"
    assert len(listed(at.run())) == 2


@pytest.mark.parametrize(("rows", "words"), [("pairs", "Handbook 'zeta' is not in this run"), ("questions", "Question 'q99'")])
def test_what_is_not_in_the_run_is_explained_and_the_list_stays(run, open_page, rows, words):
    at = open_page("disagreements", list=rows, question="q1" if rows == "pairs" else "q99", a="a", b="zeta")
    assert not at.exception
    assert words in words_on(at)
    assert len(listed(at)) == 2


def test_without_a_match_the_page_says_what_to_do(run, open_page):
    at = open_page("disagreements", words="no such words anywhere")
    assert "No pair matches these filters" in words_on(at)
    assert shown_list(at) is None


def test_a_row_says_where_the_searched_words_are_and_shows_them(run, open_page):
    assert [row["found"] for row in shown_list(open_page("disagreements"))["rows"]] == ["", ""]
    (row,) = shown_list(open_page("disagreements", words="q2"))["rows"]
    assert row["found"] == "Found in the question and 2 answers"
    assert row["hits"] == [["What about ", False], ["q2", True], ["?", False]]
    assert row["excerpt"] == [["Handbook a on ", False], ["q2", True], [".", False]]  # the question is in the row anyway
    (row,) = shown_list(open_page("disagreements", list="pairs", words="topic q1"))["rows"]
    assert row["found"] == "Found in the question, 2 answers and the judge's words"
    assert [text for text, is_hit in row["excerpt"] if is_hit] == ["q1"]


def test_typed_words_are_not_patterns(run, open_page):
    assert "No pair matches" in words_on(open_page("disagreements", words="%"))
    assert len(listed(open_page("disagreements", words="WHAT q2"))) == 1


def test_next_and_previous_step_through_the_list_and_update_the_address(run, open_page):
    at = open_page("disagreements")
    at.button(key="Next").click().run()
    assert at.query_params["question"] == shown_list(at)["opened"] == "q2"
    assert at.button(key="Next").disabled
    at.button(key="Previous").click().run()
    assert at.query_params["question"] == "q1"
    at.button(key="back").click().run()
    assert "question" not in at.query_params


def test_pairs_are_stepped_through_too(run, open_page):
    at = open_page("disagreements", list="pairs")
    at.button(key="Next").click().run()
    assert [at.query_params[name] for name in ("question", "a", "b")] == ["q2", "a", "b"]


def test_another_filter_opens_its_own_first_question(run, open_page):
    at = open_page("disagreements", question="q1", a="a", b="b")
    assert "What about q1?" in html_on(at)
    at.text_input(key="words").input("q2").run()
    assert "question" not in at.query_params
    assert 'What about <mark class="hit">q2</mark>?' in html_on(at)


def test_a_row_that_the_list_does_not_have_is_never_opened(monkeypatch):
    picked = []
    for key in ("q1", "q2", None):
        monkeypatch.setattr("pages._shared.pair_list.st.session_state", {"pick_list": type("State", (), {"picked": key})})
        _picked(picked.append, {"q1"})
    assert picked == ["q1"]


def test_every_match_can_be_downloaded_and_too_many_are_not_offered(run, open_page, monkeypatch):
    at = open_page("disagreements", label=["COMPLEMENTARY"])
    assert "4 pairs with both answers" in words_on(at)
    assert {button.proto.label for button in at.get("download_button")} >= {"CSV", "XLSX", "Parquet"}
    monkeypatch.setitem(pair_downloads.KINDS, ".xlsx", ("XLSX", "text/plain", 3))
    words = words_on(at.run())
    assert "4 pairs are too many for XLSX in a browser" in words


def test_unscored_and_prescreened_pairs_are_described_in_words(run, open_page):
    assert "no readable verdict" in html_on(open_page("disagreements", list="pairs", question="q3", a="a", b="b"))
    prescreened = html_on(open_page("disagreements", list="pairs", question="q1", a="a", b="d"))
    assert "Pre-screened" in prescreened
    assert "Does not address the question" in prescreened
    assert "not in the run" in html_on(open_page("disagreements", list="pairs", question="q3", a="a", b="d"))


def test_marks_can_be_turned_off(run, open_page):
    assert "<mark" in html_on(open_page("disagreements", mark="all"))
    assert "<mark" not in html_on(open_page("disagreements", mark="none"))


def test_answers_that_do_not_disagree_open_without_marks(run, open_page):
    assert "<mark" not in html_on(open_page("disagreements", list="pairs", label=["COMPLEMENTARY"]))
    assert "<mark" in html_on(open_page("disagreements", list="pairs", label=["COMPLEMENTARY"], mark="all"))


HOSTILE = "<script>alert(1)</script> **bold** $x$ [x](http://evil.test) <img src=x onerror=alert(1)>"


def test_text_of_a_release_is_shown_literally(load_run, open_page):
    run = load_run(TABLE)
    run.path.chmod(0o644)
    con = create_store(run.path, "")
    for column, table in (("answer", "answers"), ("reasoning", "pairs"), ("divergence_topic", "pairs"), ("text", "questions")):
        con.execute(f"update {table} set {column} = $text || {column}", {"text": HOSTILE})
    con.execute("update answers set sections = [$text], url = 'javascript:alert(1)', mode = $text", {"text": HOSTILE})
    con.execute("update handbooks set title = $text, center = $text || center", {"text": HOSTILE})
    # Results of the run as other tests load it are kept by its time of loading.
    con.execute("update run set loaded_at = '2001-01-01'")
    con.close()
    for page in ("disagreements", "question"):
        at = open_page(page)
        at.session_state["all_answers"] = True
        assert not at.run().exception
        html = html_on(at)
        assert "&lt;script&gt;" in html
        assert "<script" not in html
        assert "<img" not in html
        assert "javascript:" not in html
        markdown = "\n".join(str(element.value) for kind in ("markdown", "caption", "info") for element in at.get(kind))
        assert "**bold**" not in markdown
        assert "[x](http" not in markdown


# -- the other tabs ----------------------------------------------------------------------------------------------------


@pytest.fixture
def compared_within(data_dir, tmp_path):
    """A run in which b contradicts itself, no pair of c has a verdict, and nobody compared a and d."""
    folder = release_from(tmp_path / "releases", BASE)
    write_jsonl(folder / "within_handbook.jsonl", [FEVER, CHEESE])
    write_jsonl(folder / "within_handbook_counts.jsonl", COUNTS)
    load(folder, data_dir)
    return folder


def test_within_one_handbook_each_finding_has_its_handbook_quotes_and_the_way_to_the_page(compared_within, open_page):
    at = open_page("disagreements", tab="within")
    assert not at.exception
    words = words_on(at)
    assert "judge-1 compared passages of 1 of 4 handbooks with passages of the same handbook" in words
    assert "**1** of them contradicts themselves, on 2 subjects" in words
    assert all(text in words for text in ("fever", "Call for 100.4 °F.", "Call above 101.4 °F.", "Do not eat it."))
    addresses = [link.proto.query_string for link in at.get("page_link")]
    assert any(all(part in address for part in ("handbook=b", "section=s1", "start=0", "end=18")) for address in addresses)


def test_what_nobody_compared_within_a_handbook_is_not_checked(run, open_page):
    words = words_on(open_page("disagreements", tab="within"))
    assert "Not checked: no model has compared passages within one handbook" in words
    assert "none differs" not in words


def test_pairs_that_no_model_read_are_not_checked_either(compared_within, data_dir, open_page):
    write_jsonl(compared_within / "within_handbook.jsonl", [])
    counts = [COUNTS[0] | {"judge": "baseline judge (rules, no model)", "disagreeing": 0}, COUNTS[1]]
    write_jsonl(compared_within / "within_handbook_counts.jsonl", counts)
    load(compared_within, data_dir)
    assert "Not checked" in words_on(open_page("disagreements", tab="within"))


def test_that_none_differs_is_said_where_a_model_compared(compared_within, data_dir, open_page):
    write_jsonl(compared_within / "within_handbook.jsonl", [])
    write_jsonl(compared_within / "within_handbook_counts.jsonl", [COUNTS[0] | {"disagreeing": 0}, COUNTS[1]])
    load(compared_within, data_dir)
    words = words_on(open_page("disagreements", tab="within"))
    assert "compared passages of 1 of 4 handbooks with passages of the same handbook: of 3 pairs, none differs." in words


def test_what_ones_own_handbook_leaves_out_is_asked_for_and_kept_in_the_address(run, open_page):
    at = open_page("disagreements", tab="left-out")
    assert "Choose a handbook to see which questions most comparable handbooks answer" in words_on(at)
    at.selectbox(key="mine").select("d").run()
    assert at.query_params["mine"] == "d"
    assert "most comparable handbooks answer" in words_on(at)


def test_a_run_that_nothing_has_compared_has_the_other_two_tabs(load_run, open_page):
    run = load_run(TABLE)
    run.path.chmod(0o644)
    con = create_store(run.path, "")
    con.execute("update run set has_pairs = false, loaded_at = '2001-01-02'")
    con.close()
    at = open_page("disagreements")
    assert not at.exception
    assert "Not checked" in words_on(at)
    (tabs,) = [part for part in at.get("button_group") if part.key == "tab"]
    assert tabs.options == ["Within one handbook", "Left out by mine"]
