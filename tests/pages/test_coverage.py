"""Coverage: order, filter and a way to open a handbook without a mouse."""

from __future__ import annotations

from tests.pages.conftest import lists, pick_row, words_on


def test_the_list_of_handbooks_leads_to_the_page_of_each_on_the_same_run(run, open_page, monkeypatch):
    at = open_page("coverage", order="name")
    (listed, *_) = lists(at)
    names = list(listed.value["name"])
    at = pick_row(monkeypatch, at, "coverage_list", next(place for place, name in enumerate(names) if "Cedar" in name))
    assert not at.exception
    assert at.title[0].value == "lung · Cedar Hill · combined"
    assert at.query_params["handbook"] == "d"


def test_a_filter_in_the_link_narrows_the_handbooks(run, open_page):
    words = words_on(open_page("coverage", of_organ="lung"))
    # c was asked the general question and that on the lung, d the general one alone, which it does not address.
    assert "2 handbooks. Answers that should be given: 3; missing: 1." in words


def test_an_unknown_filter_or_order_is_ignored_with_a_warning(run, open_page):
    words = words_on(open_page("coverage", of_organ="spleen", order="size"))
    assert "of_organ = spleen" in words
    assert "order = size" in words
    assert "4 handbooks" in words
