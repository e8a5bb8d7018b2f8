"""Disagreements: the list, its filters in the address, and the opened pair."""

from __future__ import annotations

import pytest

from audit.store.connection import create_store
from tests.pages.conftest import TABLE, words_on


def html_on(at):
    """Everything that a page shows as HTML."""
    return "\n".join(str(element.proto.body) for element in at.get("html"))


def listed(at):
    return at.dataframe[0].value["about"].tolist()


def test_the_most_serious_pair_is_first_and_open(run, open_page):
    at = open_page("disagreements")
    assert "2 pairs match" in words_on(at).replace("*", "")
    assert listed(at) == ["topic of ab", "topic of ab"]
    assert at.dataframe[0].value["label"].tolist() == ["divergent\nhigh", "contradictory\nlow"]
    assert "What about q1?" in html_on(at)
    assert "b against a" not in html_on(at)
    assert "a against b" in html_on(at)


def test_a_link_reopens_filters_and_pair(run, open_page):
    at = open_page("disagreements", label=["COMPLEMENTARY"], organ=["lung"], question="q1", a="c", b="a")
    assert at.dataframe[0].value["question"].tolist() == ["What about q3?", "What about q3?"]
    assert "What about q1?" in html_on(at)
    assert html_on(at).index("Alder · pre") < html_on(at).rindex("Alder · pre")


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


def test_a_pair_that_is_not_in_the_run_is_explained_and_the_list_stays(run, open_page):
    at = open_page("disagreements", question="q1", a="a", b="zeta")
    assert not at.exception
    assert "Handbook 'zeta' is not in this run" in words_on(at)
    assert len(listed(at)) == 2


def test_without_a_match_the_page_says_what_to_do(run, open_page):
    at = open_page("disagreements", words="no such words anywhere")
    assert "No pair matches these filters" in words_on(at)
    assert not at.dataframe


def test_typed_words_are_not_patterns(run, open_page):
    assert "No pair matches" in words_on(open_page("disagreements", words="%"))
    assert len(listed(open_page("disagreements", words="WHAT q2"))) == 1


def test_next_and_previous_step_through_the_list_and_update_the_address(run, open_page):
    at = open_page("disagreements")
    at.button(key="Next").click().run()
    assert [at.query_params[name] for name in ("question", "a", "b")] == ["q2", "a", "b"]
    assert "What about q2?" in html_on(at)
    assert at.button(key="Next").disabled
    at.button(key="Previous").click().run()
    assert at.query_params["question"] == "q1"


def test_another_filter_opens_its_own_first_pair(run, open_page):
    at = open_page("disagreements", question="q1", a="a", b="b")
    assert "What about q1?" in html_on(at)
    at.text_input(key="words").input("q2").run()
    assert "question" not in at.query_params
    assert 'What about <mark class="hit">q2</mark>?' in html_on(at)


def test_unscored_and_prescreened_pairs_are_described_in_words(run, open_page):
    assert "no readable verdict" in html_on(open_page("disagreements", question="q3", a="a", b="b"))
    prescreened = html_on(open_page("disagreements", question="q1", a="a", b="d"))
    assert "Pre-screened" in prescreened
    assert "Does not address the question" in prescreened
    assert "not in the release" in html_on(open_page("disagreements", question="q3", a="a", b="d"))


def test_marks_can_be_turned_off(run, open_page):
    assert "<mark" in html_on(open_page("disagreements"))
    assert "<mark" not in html_on(open_page("disagreements", mark="none"))


HOSTILE = "<script>alert(1)</script> **bold** $x$ [x](http://evil.test) <img src=x onerror=alert(1)>"


def test_text_of_a_release_is_shown_literally(load_run, open_page):
    run = load_run(TABLE)
    run.path.chmod(0o644)
    con = create_store(run.path, "")
    for column, table in (("answer", "answers"), ("reasoning", "pairs"), ("divergence_topic", "pairs"), ("text", "questions")):
        con.execute(f"update {table} set {column} = $text || {column}", {"text": HOSTILE})
    con.execute("update answers set sections = [$text], url = 'javascript:alert(1)', mode = $text", {"text": HOSTILE})
    con.execute("update handbooks set title = $text, center = $text || center", {"text": HOSTILE})
    con.close()
    for page in ("disagreements", "question"):
        at = open_page(page)
        assert not at.exception
        html = html_on(at)
        assert "&lt;script&gt;" in html
        assert "<script" not in html
        assert "<img" not in html
        assert "javascript:" not in html
        markdown = "\n".join(str(element.value) for kind in ("markdown", "caption", "info") for element in at.get(kind))
        assert "**bold**" not in markdown
        assert "[x](http" not in markdown
