"""Glossary: every word has one meaning, in the run's own terms, and the words of the metrics are among them."""

from __future__ import annotations

from audit.metrics import glossary
from tests.pages.conftest import words_on


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
        assert words.count(shown.format(center="center")) == 1, word
    assert "handbook" not in words_on(at)
