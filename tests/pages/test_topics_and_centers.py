"""Topics and Centers: names without underscores, order from the link."""

from __future__ import annotations


def test_names_are_shown_without_underscores(run, open_page):
    assert "work and money" in list(open_page("topics").dataframe[0].value["topic"])
    assert "Cedar Hill" in list(open_page("centers").dataframe[0].value["center"])


def test_tables_of_rates_begin_with_the_rates(run, open_page):
    for page in ("organs", "topics", "centers"):
        name, rate, within = list(open_page(page).dataframe[0].value)[:3]
        assert (name, within) == (page.removesuffix("s"), f"{rate}_interval")


def test_topics_are_ordered_as_the_link_says(run, open_page):
    assert list(open_page("topics", order="topic").dataframe[0].value["topic"]) == ["diet", "work and money"]


def test_a_question_with_two_topics_counts_in_both(run, open_page):
    table = open_page("topics", order="topic").dataframe[0].value
    assert list(table["questions"]) == [2, 2]


def test_disagreement_within_a_center_is_unknown_where_no_two_of_its_handbooks_answer(load_run, open_page):
    load_run("q1 kidney topics=diet ab=DIVERGENT/high", handbooks=None)
    at = open_page("centers")
    assert not at.exception
