"""Glossary: every word has one meaning, in the run's own terms, and the words of the metrics are among them."""

from __future__ import annotations

from audit.metrics import glossary
from tests.pages.conftest import lists, words_on


def test_every_word_of_a_metric_is_defined_once_in_the_terms_of_the_run(load_run, open_page):
    load_run(terms={"handbook": "institute", "question": "query"})
    at = open_page("glossary")
    assert not at.exception
    words = [str(element.value).split("  \n")[0].replace("\\", "").strip("*") for element in at.markdown]
    terms = {"{question}": "query", "{questions}": "queries", "{handbooks}": "institutes", "{a_handbook}": "an institute"}
    for word in glossary():
        shown = word
        for name, term in terms.items():
            shown = shown.replace(name, term)
        assert words.count(shown.format(center="center", significance="clinical significance")) == 1, word
    assert "handbook" not in words_on(at)


def test_a_search_leaves_the_words_that_contain_it_and_works_without_a_run(data_dir, open_page):
    at = open_page("glossary", word="quarantined")
    assert not at.exception
    words = [str(element.value).split("  \n")[0] for element in at.markdown]
    assert "**quarantined**" in words
    assert len(at.markdown) < 5
    assert [header.value for header in at.header] == ["Where the data comes from"]
    assert "No other word contains" in words_on(open_page("glossary", word="xyzzy"))


def test_a_search_for_a_label_shows_its_colour(run, open_page):
    at = open_page("glossary", run=run.key, word="contradictory")
    html = "\n".join(str(element.proto.body) for element in at.get("html"))
    assert "<b>contradictory</b>: Both answer, and following one means going against the other." in html
    assert "<b>consistent</b>" not in html


def test_the_pairs_that_pages_count_are_listed_with_their_numbers_in_the_run(run, open_page):
    (listed,) = [frame.value for frame in lists(open_page("glossary", run=run.key)) if "which" in frame.value]
    # Six pairs of q1 and of q2, three of q3, of which one is unscored; of their own organ: ab of q1, and all of q2
    assert dict(zip(listed["word"], listed["n"], strict=True)) == {
        "all pairs": 15, "labelled pairs": 14, "pairs that both answer": 7, "pairs that should answer": 7,
        "pairs that should answer and do": 3, "rated pairs": 0,
    }  # fmt: skip
