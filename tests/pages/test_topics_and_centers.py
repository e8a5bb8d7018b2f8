"""Topics and Centers: names without underscores, order from the link."""

from __future__ import annotations

from pages._shared.explore import LABELS_OF_RATE, RowFilter
from tests.pages.conftest import lists, pick_row


def test_names_are_shown_without_underscores(run, open_page):
    assert "work and money" in list(lists(open_page("topics"))[0].value["topic"])
    assert "Cedar Hill" in list(lists(open_page("centers"))[0].value["center"])


def test_tables_of_rates_begin_with_the_rates(run, open_page):
    for page in ("organs", "topics", "centers"):
        name, rate, within = list(lists(open_page(page))[0].value)[:3]
        assert (name, within) == (page.removesuffix("s"), f"{rate}_interval")


def test_topics_are_ordered_as_the_link_says(run, open_page):
    assert list(lists(open_page("topics", order="topic"))[0].value["topic"]) == ["diet", "work and money"]


def test_a_question_with_two_topics_counts_in_both(run, open_page):
    table = lists(open_page("topics", order="topic"))[0].value
    assert list(table["questions"]) == [2, 2]


def test_a_click_on_a_row_opens_its_disagreements(run, open_page, monkeypatch):
    for page, row, param, value in (
        ("topics", 1, "topic", "work_and_money"), ("centers", 0, "center", "Alder"), ("organs", 0, "organ", "kidney"),
    ):  # fmt: skip
        at = open_page(page, order="topic" if page == "topics" else "center")
        name = page.removesuffix("s")
        pick_row(monkeypatch, at, f"{name}_table", row)
        assert not at.exception
        assert at.query_params[param] in (value, [value]), page
        assert at.query_params["run"]


def test_a_row_of_the_whole_run_and_a_dot_of_another_rate_open_what_they_count(run, monkeypatch):
    opened = []
    monkeypatch.setattr("pages._shared.explore.go_to", lambda script, run, **params: opened.append((script, params)))
    RowFilter("organ", "organ", whole="(all)").open(run, "(all)")
    RowFilter("topic", "subtopic").open(run, "salt", LABELS_OF_RATE["r_abs"])
    assert opened == [("disagreements", {}), ("disagreements", {"subtopic": "salt", "label": "ABSENT"})]


def test_where_each_center_has_one_handbook_the_page_says_so(load_run, open_page):
    from tests.support.tiny import handbook

    load_run("q1 kidney topics=diet ab=DIVERGENT/high", [handbook("a", "kidney", "Oak"), handbook("b", "kidney", "Elm")])
    assert "Each center of this run has one handbook" in " ".join(info.value for info in open_page("centers").info)


def test_disagreement_within_a_center_is_unknown_where_no_two_of_its_handbooks_answer(load_run, open_page):
    load_run("q1 kidney topics=diet ab=DIVERGENT/high", handbooks=None)
    at = open_page("centers")
    assert not at.exception
